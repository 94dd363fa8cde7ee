"""A judge's card: all that a profile's tables know of one judge.

A judge is whoever has verdicts, ratings or likelihoods in the tables. Its rows are found by name in
every table of every study; the well-known tables stand in order of topic with the columns that
matter, those of a study that is unknown here stand whole, and of the rest the card names the files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from selfpref.params import Params
from selfpref.plots import show
from selfpref.report.facts import Fact, answers, facts
from selfpref.report.gather import Study, frames, titled
from selfpref.report.topics import KNOWN, PLACED, TOPICS, Part
from selfpref.tables.asked import ITEMS

# The column that says whose row it is, in order of precedence.
ROLES = ("judge", "evaluator", "model")
# No judges: a null judge, and people.
NOBODY = ("noise", "human")
# What one study's release calls a judge that others call by its vendor's name.
SAME = {"gpt35": "gpt-3.5-turbo", "gpt4": "gpt-4"}
# Rows of an unknown study's table that a card holds.
MOST = 60
ASKED = ["judge", "study", "table", "task", "status", "n"]


# Study and table.
Key = tuple[str, str]


@dataclass(frozen=True)
class Section:
    """Some rows of one table on a card.

    Attributes:
        study: Which study.
        name: Which of its tables.
        title: The same in words.
        table: The rows.
        note: How to read them.
    """

    study: str
    name: str
    title: str
    table: show.Table
    note: str


@dataclass(frozen=True)
class Card:
    """One judge.

    Attributes:
        name: As most studies call it.
        names: As the studies call it.
        facts: What it is, by term.
        finetuned: Whether a study tuned it, so that it is no judge that anyone has.
        answers: What `selfpref measure` says of it, a sentence for each set of pairs.
        main: What the studies measure of it, one number a row.
        studies: Keys of the studies that know it.
        topics: Sections by topic; a topic without rows is empty.
        work: What it did, by study and table, with every status.
        others: Further tables with rows of it: study, table, title, number of rows.
    """

    name: str
    names: list[str]
    facts: dict[str, str]
    finetuned: bool
    answers: list[str]
    main: list[Fact]
    studies: list[str]
    topics: dict[str, list[Section]]
    work: show.Table
    others: list[tuple[str, str, str, int]]


def work(found: Mapping[Key, pd.DataFrame]) -> pd.DataFrame:
    """What every judge was asked, and what came of it.

    Args:
        found: The studies' tables; `asked` is written by a study's chapter.

    Returns:
        One row a judge, study, table, task and status, with n; the table `responses` counts what
        a judge wrote itself.
    """
    asked = [frame.assign(study=study) for (study, name), frame in found.items() if name == "asked"]
    made = pd.concat([pd.DataFrame(columns=ASKED), *asked])
    # Who only writes, or only reads, judges nothing.
    others = made["table"].isin(["responses", "perplexities", ITEMS])
    judges = set(made.loc[~others, "judge"]) - set(NOBODY)
    return made.loc[made["judge"].isin(judges), ASKED].sort_values(ASKED, ignore_index=True)


def _by_judge(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """A table's rows by whose they are; none where it does not say."""
    for role in ROLES:
        if role in frame:
            return {str(name): rows for name, rows in frame.drop(columns=role).groupby(frame[role])}
    return {}


def _rows(
    tables: Mapping[Key, Mapping[str, pd.DataFrame]], names: Sequence[str]
) -> dict[Key, pd.DataFrame]:
    """One judge's rows of every table that has some."""
    found = {}
    for key, rows in tables.items():
        if own := [rows[name] for name in names if name in rows]:
            found[key] = pd.concat(own)
    return found


def _section(
    key: Key, rows: pd.DataFrame, whole: pd.DataFrame, part: Part | None = None
) -> Section:
    study, name = key
    columns, note = (part.columns.split(), part.note) if part else ((), "")
    return Section(study, name, titled(name), show.table(rows, columns, whole), note)


def _part(
    part: Part, own: Mapping[Key, pd.DataFrame], found: Mapping[Key, pd.DataFrame]
) -> Section | None:
    """What a card shows of a well-known table; None where it has nothing of the judge."""
    key = (part.study, part.table)
    if key not in own:
        return None
    rows = own[key]
    for column, value in part.where:
        rows = rows[rows[column].eq(value)]
    return None if rows.empty else _section(key, rows, found[key], part)


def _facts(params: Params, names: Sequence[str], evaluator: pd.DataFrame | None) -> dict[str, str]:
    for key, model in params.every_model().items():
        if (model.responder or key) in names:
            shown = ("engine", "inner", "model", "revision", "dtype", "template", "reasoning")
            values = {name: getattr(model, name, None) for name in shown}
            return {name: str(value) for name, value in values.items() if isinstance(value, str)}
    if evaluator is not None:
        kept = ["family", "variant", "trained_on", "examples", "duplicate_of"]
        row = evaluator.iloc[0].reindex(kept).dropna()
        return {str(name).replace("_", " "): str(value) for name, value in row.items()}
    return {"source": "released verdicts; no model ran here"}


def _rest(
    own: Mapping[Key, pd.DataFrame],
) -> tuple[dict[Key, pd.DataFrame], list[tuple[str, str, str, int]]]:
    """Rows outside the topics: those that the card holds whole, and those that it points to."""
    whole: dict[Key, pd.DataFrame] = {}
    others = []
    for (study, name), found in own.items():
        if (study, name) in PLACED:
            continue
        if study in KNOWN or len(found) > MOST:
            others.append((study, name, titled(name), len(found)))
            continue
        rows = found.dropna(axis="columns", how="all").reset_index(drop=True)
        # A picture often draws a table that stands on the card already.
        if not any(
            set(rows) <= set(other) and rows.equals(other[list(rows)]) for other in whole.values()
        ):
            whole[study, name] = rows
    return whole, others


def cards(params: Params, studies: Sequence[Study]) -> list[Card]:
    """A card for every judge of the profile, by name.

    Args:
        params: The whole parameters.
        studies: As `gather.studies` returns them.
    """
    found = frames(studies)
    done = work(found)
    tables = {key: _by_judge(frame) for key, frame in found.items()}
    known = {str(name) for name in done["judge"]}
    made = []
    for name in sorted({SAME.get(name, name) for name in known}):
        names = [name, *(other for other, same in SAME.items() if same == name and other in known)]
        own = _rows(tables, names)
        topics = {
            topic: [section for part in parts if (section := _part(part, own, found))]
            for topic, parts in TOPICS.items()
        }
        whole, others = _rest(own)
        evaluator = own.get(("panickssery", "evaluators"))
        for key, rows in whole.items():
            topics.setdefault(key[0].capitalize(), []).append(_section(key, rows, found[key]))
        asked = done[done["judge"].isin(names)]
        in_studies = {*asked["study"], *(study for study, _ in own)}
        made.append(
            Card(
                name,
                names,
                _facts(params, names, evaluator),
                evaluator is not None and evaluator["variant"].ne("base").all(),
                answers(name, own),
                facts(own),
                [study.key for study in studies if study.key in in_studies],
                topics,
                show.table(asked.drop(columns="judge")),
                others,
            )
        )
    return made
