"""The judges' page: what `selfpref measure` answers of each judge, and excerpts of the studies.

A judge is whoever has verdicts or ratings in a study's table `asked`.
"""

import math
from collections.abc import Iterable, Mapping

import pandas as pd

from selfpref.card import marks
from selfpref.card.rule import Answer, answer, on_both_sides
from selfpref.plots import show
from selfpref.plots.names import called
from selfpref.statistics.scaled import EACH
from selfpref.statistics.third import BOTH
from selfpref.tables.asked import ITEMS

# By study and name.
Frames = Mapping[tuple[str, str], pd.DataFrame]
# Whose row it is, and on what: columns of the studies' tables.
ROLES = {"evaluator": "judge", "model": "judge"}
ROLES |= {"dataset": "data", "language": "data", "category": "data"}
# No judges: a null judge, and people.
NOBODY = ("noise", "human")
# What the rule of `selfpref measure` reads; without votes some of it is not there.
NEEDED = {"equal_opportunity", "regression_scaled", "beyond_no_preference", "harmful"}
CORRECTED = "convention == 'corrected'"
# Of several languages what holds over all of them.
AVERAGE = f"{CORRECTED} and language == 'average'"
PAIRS = "study == 'wataoka' and gold == 'human'"
RULED = [
    ("livebench", "third_judge", "category == 'all' and scoring == 'strict' and scale == 'marks'"),
    ("beyond", "beyond", PAIRS),
    ("beyond", "placebo", f"model == '{EACH}'"),
    ("wataoka", "position", "pairs == 'own'"),
]
# Beside an answer: how often the order decides, and how often the judge agrees with people.
ORDER, AGREES = "pairs that the order decides", "agrees with people"
BESIDE = [
    ("wataoka", "position", "pairs == 'all'", "reversal_rate", ORDER),
    ("wataoka", "keyed_bias", "", "reversal_rate", ORDER),
    ("wataoka", "agreement_with_human", "", "agreement", AGREES),
    ("panickssery", "ordering", "task == 'preference'", "ambiguous", ORDER),
]
FIRST = ["judge", "data", "does it favour itself?", ORDER, AGREES, "evidence"]
UNVOTED = "no votes on its own responses, nor marks beside a key: see its study below"
# What the studies measure: table, which rows, which columns.
BIAS = ["eo", "eo_no_preference", "eo_others", "excess", "n_human_own", "n_human_other"]
WITHOUT_VOTES = "statistic == 'demographic_parity' and gold == 'none'"
SCALED = f"statistic == 'regression_scaled' and {PAIRS}"
SHOWN = [
    ("wataoka", "fig1b_bias", "", BIAS),
    ("wataoka", "keyed_bias", "", ["eo", "n_human_own", "n_human_other"]),
    ("panickssery", "fig1_recognition_vs_preference", CORRECTED, ["recognition", "preference"]),
    ("xu", "gains", AVERAGE, ["bias_change"]),
    ("xu", "refined_by_noise", AVERAGE, ["beyond"]),
    ("livebench", "position", "quantity == 'first position'", ["share", "lo", "hi", "chance"]),
    ("livebench", "excess", "task == 'all'", ["excess", "lo", "hi"]),
    ("beyond", "beyond", SCALED, ["value", "lo", "hi", "statistic"]),
    ("beyond", "beyond", WITHOUT_VOTES, ["value", "lo", "hi", "statistic"]),
]
# What Markdown and HTML read as itself within a line: brackets without a round one make no link.
PLAIN = " .,:;-/%+?[]'\N{MINUS SIGN}\N{RIGHT SINGLE QUOTATION MARK}"


def inert(text: str) -> str:
    """A text that neither Markdown nor HTML reads as more than that."""
    return "".join(one if one.isalnum() or one in PLAIN else f"&#{ord(one)};" for one in text)


def markdown(made: pd.DataFrame) -> str:
    """What `show.table` made as a table of Markdown, numbers on the right."""
    numbers = [bool(made[name].str.fullmatch(show.NUMBER).all()) for name in made]
    rows: list[Iterable[str]] = [made.columns, ["---:" if number else "---" for number in numbers]]
    rows += [map(inert, texts) for texts in made.itertuples(index=False, name=None)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def excerpt(found: Frames, study: str, table: str, where: str = "") -> pd.DataFrame:
    """Rows of a study's table with `judge` and `data`, sorted; of several steps the last.

    Evaluators that a study tuned are no judges that anyone has.
    """
    frame = found.get((study, table), pd.DataFrame(columns=["judge", "data"]))
    rows = frame.query(where) if where and len(frame) else frame
    rows = rows.rename(columns={old: new for old, new in ROLES.items() if new not in frame})
    if "step" in rows:
        rows = rows.sort_values("step").drop_duplicates(["judge", "data"], keep="last")
    return rows[~rows["judge"].isin(tuned(found))].sort_values(["judge", "data"], kind="stable")


def tuned(found: Frames) -> set[str]:
    """Evaluators that a study tuned."""
    frame = found.get(("panickssery", "evaluators"), pd.DataFrame(columns=["evaluator", "variant"]))
    return set(frame.loc[frame["variant"].ne("base"), "evaluator"])


def asked(found: Frames) -> pd.DataFrame:
    """What every judge was asked, and what came of it: `judge, study, table, task, status, n`."""
    counts = [rows.assign(study=study) for (study, name), rows in found.items() if name == "asked"]
    whole = pd.concat([pd.DataFrame(columns=["judge", "table", "study"]), *counts])
    # Who only writes, or only reads, judges nothing.
    others = whole["table"].isin(["responses", "perplexities", ITEMS])
    return whole[~others & ~whole["judge"].isin({*NOBODY, *tuned(found)})]


def answers(judge: str, found: Frames) -> dict[str, Answer]:
    """What `selfpref measure` says of a judge, by data set with votes, or with marks and a key.

    Not where the answer needs single votes, which the tables of the figures do not hold.

    Args:
        judge: How it is called.
        found: The studies' tables.
    """
    read = (excerpt(found, *one) for one in RULED)
    third, statistics, placebo, place = (rows[rows["judge"].eq(judge)] for rows in read)
    told: dict[str, Answer] = {}
    if BOTH in {*third.get("kind", ())}:
        told["livebench"] = marks.answer(judge, third.set_index("kind"))
    place = place.set_index("data").reindex(columns=["reversal_rate", "one_place"])
    for data, part in statistics.groupby("data"):
        rows = part.set_index("statistic")
        if NEEDED - {*rows.index}:
            continue
        votes, regression = rows.loc["beyond_no_preference"], rows.loc["regression_scaled"]
        if not regression["n"] and votes["n"] and votes["hi"] < on_both_sides(rows):
            continue
        order = place.to_dict("index").get(data, {})
        of_set = placebo[placebo["data"].eq(data)]
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
    made, numbers = [], pd.DataFrame(columns=["judge", "data", ORDER, AGREES])
    for study, table, where, column, name in BESIDE:
        rows = excerpt(found, study, table, where).rename(columns={column: name})
        numbers = pd.concat([numbers, rows.reindex(columns=["judge", "data", name])])
    for judge, own in asked(found).groupby("judge"):
        beside, said = numbers[numbers["judge"].eq(judge)], answers(str(judge), found)
        sets = ", ".join(called((beside["data"] if len(beside) else own["study"]).unique()))
        if not own["status"].eq("ok").any():
            counted = own.groupby("status")["n"].sum().items()
            failed = ", ".join(f"{n:g} {status}" if n else str(status) for status, n in counted)
            said = {sets: Answer(str(judge), None, f"nothing is known of it: {failed}")}
        for data, one in (said or {sets: Answer(str(judge), None, UNVOTED)}).items():
            rows = beside[beside["data"].eq(data) | (not said)]
            spans = (_range(rows[name]) for name in (ORDER, AGREES))
            made.append([*called([judge, data]), one.verdict, *spans, one.because])
    made.sort(key=lambda row: (row[-1] == UNVOTED, row))
    return pd.DataFrame(made, columns=FIRST, dtype="str")


def tables(found: Frames) -> list[tuple[str, str]]:
    """Excerpts of the studies' tables in Markdown, each behind its study's key.

    Args:
        found: The studies' tables.
    """
    made = []
    for study, table, where, columns in SHOWN:
        rows = excerpt(found, study, table, where)
        if len(rows):
            rows = rows.dropna(subset=columns[0])
            rows = rows.assign(judge=called(rows["judge"]), data=called(rows["data"]))
            made.append((study, markdown(show.table(rows, ["judge", "data", *columns]))))
    return made
