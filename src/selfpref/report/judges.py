"""The judges' page: what `selfpref measure` answers of each judge, from the studies' tables.

A judge is whoever has verdicts or ratings in a study's table `asked`.
"""

import math
from collections.abc import Mapping

import pandas as pd

from selfpref.card import marks
from selfpref.card.rule import Answer, answer, on_both_sides
from selfpref.plots.names import called
from selfpref.statistics.scaled import EACH
from selfpref.statistics.third import BOTH
from selfpref.tables.asked import ITEMS

# By study and name.
Frames = Mapping[tuple[str, str], pd.DataFrame]
# No judges: a null judge, and people.
NOBODY = ("noise", "human")
# What the rule of `selfpref measure` reads; without votes some of it is not there.
NEEDED = {"equal_opportunity", "regression_scaled", "beyond_no_preference", "harmful"}
RULED = [
    ("livebench", "third_judge", "category == 'all' and scoring == 'strict' and scale == 'marks'"),
    ("beyond", "placebo", f"model == '{EACH}'"),
    ("wataoka", "position", "pairs == 'own'"),
    ("beyond", "beyond", "study == 'wataoka' and gold == 'human'"),
]
# How often the order decides, and how often the judge agrees with people.
ORDER, AGREES = "pairs that the order decides", "agrees with people"
BESIDE = [
    ("wataoka", "position", "pairs == 'all'", "reversal_rate", ORDER),
    ("wataoka", "keyed_bias", "", "reversal_rate", ORDER),
    ("wataoka", "agreement_with_human", "", "agreement", AGREES),
    ("panickssery", "ordering", "task == 'preference'", "ambiguous", ORDER),
]
FIRST = ["judge", "data", "does it favour itself?", ORDER, AGREES, "evidence"]
UNVOTED = "no votes on its own responses, nor marks beside a key: see its chapter"
# What Markdown and HTML read as itself within a line: brackets without a round one make no link.
PLAIN = " .,:;-/%+?[]'\N{MINUS SIGN}\N{RIGHT SINGLE QUOTATION MARK}"


def inert(text: str) -> str:
    """A text that neither Markdown nor HTML reads as more than that."""
    return "".join(one if one.isalnum() or one in PLAIN else f"&#{ord(one)};" for one in text)


def markdown(made: pd.DataFrame) -> str:
    """A frame of texts as a table of Markdown."""
    rows = [made.columns, ["---"] * made.shape[1]]
    rows += [[*map(inert, texts)] for texts in made.itertuples(index=False, name=None)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def tuned(found: Frames) -> set[str]:
    """Evaluators that a study tuned, which are no judges that anyone has."""
    frame = found.get(("panickssery", "evaluators"), pd.DataFrame(columns=["evaluator", "variant"]))
    return set(frame.loc[frame["variant"].ne("base"), "evaluator"])


def asked(found: Frames) -> pd.DataFrame:
    """What every judge was asked, and what came of it: `judge, study, table, task, status, n`."""
    counts = [rows.assign(study=study) for (study, name), rows in found.items() if name == "asked"]
    whole = pd.concat([pd.DataFrame(columns=["judge", "table", "study"]), *counts])
    # Who only writes, or only reads, judges nothing.
    others = whole["table"].isin(["responses", "perplexities", ITEMS])
    return whole[~others & ~whole["judge"].isin({*NOBODY, *tuned(found)})]


def _rows(found: Frames, study: str, table: str, where: str) -> pd.DataFrame:
    rows = found.get((study, table), pd.DataFrame(columns=["judge", "dataset"]))
    return rows.query(where) if where and len(rows) else rows


def answers(judge: str, found: Frames) -> dict[str, Answer]:
    """What `selfpref measure` says of a judge, by data set with votes, or with marks and a key.

    Not where the answer needs single votes, which the tables of the figures do not hold.

    Args:
        judge: How it is called.
        found: The studies' tables.
    """
    told: dict[str, Answer] = {}
    third, placebo, place, statistics = (
        rows[rows["judge"].eq(judge)] for rows in (_rows(found, *one) for one in RULED)
    )
    if BOTH in {*third.get("kind", ())}:
        told["livebench"] = marks.answer(judge, third.set_index("kind"))
    place = place.set_index("dataset").reindex(columns=["reversal_rate", "one_place"])
    for data, part in statistics.groupby("dataset"):
        rows = part.set_index("statistic")
        if NEEDED - {*rows.index}:
            continue
        votes, regression = rows.loc["beyond_no_preference"], rows.loc["regression_scaled"]
        if not regression["n"] and votes["n"] and votes["hi"] < on_both_sides(rows):
            continue
        order = place.to_dict("index").get(data, {})
        of_set = placebo[placebo["dataset"].eq(data)]
        told[str(data)] = answer(judge, rows, of_set, math.nan, math.nan, order)
    return told


def _range(values: pd.Series) -> str:
    """The least and the greatest of some shares; empty without any."""
    return " to ".join(sorted({f"{one:.2f}" for one in (values.min(), values.max())} - {"nan"}))


def first(found: Frames) -> pd.DataFrame:
    """What is known of every judge, in the columns `FIRST`: a row a data set that answers, or one.

    Args:
        found: The studies' tables.
    """
    made, numbers = [], pd.DataFrame(columns=["judge", "dataset", ORDER, AGREES])
    for study, table, where, column, name in BESIDE:
        rows = _rows(found, study, table, where)
        rows = rows.rename(columns={"evaluator": "judge", column: name})
        numbers = pd.concat([numbers, rows.reindex(columns=["judge", "dataset", name])])
    for judge, own in asked(found).groupby("judge"):
        beside, said = numbers[numbers["judge"].eq(judge)], answers(str(judge), found)
        sets = ", ".join(sorted(called({*(beside["dataset"] if len(beside) else own["study"])})))
        if not own["status"].eq("ok").any():
            counted = own.groupby("status")["n"].sum().items()
            failed = ", ".join(f"{n:g} {status}" if n else str(status) for status, n in counted)
            said = {sets: Answer(str(judge), None, f"nothing is known of it: {failed}")}
        for data, one in (said or {sets: Answer(str(judge), None, UNVOTED)}).items():
            rows = beside[beside["dataset"].eq(data) | (not said)]
            spans = (_range(rows[name]) for name in (ORDER, AGREES))
            made.append([*called([judge, data]), one.verdict, *spans, one.because])
    made.sort(key=lambda row: (row[-1] == UNVOTED, row))
    return pd.DataFrame(made, columns=FIRST, dtype="str")
