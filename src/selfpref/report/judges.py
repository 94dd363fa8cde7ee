"""The judges' page: what `selfpref measure` answers of each judge, and a table of judges a study.

A judge is whoever has verdicts or ratings in a study's table `asked`. In brackets behind a column
stands the value of no difference, where there is a fixed one.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from selfpref.card import marks
from selfpref.card.rule import Answer, answer, on_both_sides
from selfpref.plots import show
from selfpref.plots.names import LONGEST, called
from selfpref.statistics.scaled import EACH
from selfpref.statistics.third import BOTH
from selfpref.tables.asked import ITEMS

# By study and name.
Frames = Mapping[tuple[str, str], pd.DataFrame]
# The column that says whose row it is.
ROLES = ("judge", "evaluator", "model")
# No judges: a null judge, and people.
NOBODY = ("noise", "human")
# What the rule of `selfpref measure` reads; without votes some of it is not there.
NEEDED = {"equal_opportunity", "regression_scaled", "beyond_no_preference", "harmful"}
CORRECTED = "convention == 'corrected'"
# Of several languages what holds over all of them.
AVERAGE = f"{CORRECTED} and language == 'average'"
PAIRS = "study == 'wataoka'"
MARKED = "category == 'all' and scoring == 'strict' and scale == 'marks'"
UNVOTED = "no votes on its own responses, nor marks beside a key: see its study below"
NOTES = {
    "wataoka": "Equal-opportunity bias. A judge without self-preference is not at 0: compare with "
    "another person's. Only the regression takes out how noisily each judge errs.",
    "panickssery": "Confidence over both orders, corrected; 0.5 is neither.",
    "xu": "Points of MQM, mean of the languages, at the last step. A judge of noise rises, too.",
    "livebench": "By category. o3-mini's own response stood first: self and place are confounded.",
}


class Excerpt(NamedTuple):
    """Rows of a table, and which of its columns stand beside a judge.

    Attributes:
        study: Whose the table is.
        table: Its name.
        where: Which rows; of several steps only the last is shown.
        columns: By column what it is called.
    """

    study: str
    table: str
    where: str
    columns: Mapping[str, str]


SHOWN = {
    "wataoka": [
        Excerpt(
            *("wataoka", "fig1b_bias", "index == index"),
            {
                "n_human_own": "pairs won",
                "n_human_other": "pairs lost",
                "eo": "bias towards its own responses",
                "eo_no_preference": "another person's in its place",
                "eo_others": "other judges'",
                "excess": "beyond the other judges (0)",
            },
        ),
        Excerpt(
            *("wataoka", "keyed_bias", "index == index"),
            {"eo": "bias against an answer key", "reversal_rate": "winner reverses with the order"},
        ),
        Excerpt(
            *("beyond", "beyond"),
            f"{PAIRS} and statistic == 'regression_scaled' and gold == 'human'",
            {"value": "in a regression with a scale for each judge (0)"},
        ),
        Excerpt(
            *("beyond", "beyond"),
            f"{PAIRS} and statistic == 'demographic_parity' and gold == 'none'",
            {"value": "demographic parity, which needs no votes (0)"},
        ),
    ],
    "panickssery": [
        Excerpt(
            *("panickssery", "fig1_recognition_vs_preference", CORRECTED),
            {
                "recognition": "confidence that its own summary is its own (0.5)",
                "preference": "confidence that its own summary is the better one (0.5)",
            },
        ),
    ],
    "xu": [
        Excerpt("xu", "gains", AVERAGE, {"bias_change": "change of its self-bias (0)"}),
        Excerpt("xu", "refined_by_noise", AVERAGE, {"beyond": "its self-bias beyond noise (0)"}),
    ],
    "livebench": [
        Excerpt(
            *("livebench", "position", "quantity == 'first position'"),
            {"share": "choices of what is read first", "chance": "by chance"},
        ),
        Excerpt("livebench", "excess", "task == 'all'", {"excess": "excess over the others (0)"}),
    ],
}
# Beside an answer: how often the order decides, and how often the judge agrees with people.
ORDER, AGREES = "pairs that the order decides", "agrees with people"
BESIDE = [
    Excerpt("wataoka", "position", "pairs == 'all'", {"reversal_rate": ORDER}),
    Excerpt("wataoka", "keyed_bias", "index == index", {"reversal_rate": ORDER}),
    Excerpt("wataoka", "agreement_with_human", "index == index", {"agreement": AGREES}),
    Excerpt("panickssery", "ordering", "task == 'preference'", {"ambiguous": ORDER}),
]
FIRST = ("judge", "data", "does it favour itself?", ORDER, AGREES, "evidence")
# What stands in the table's second column.
DATA = {"wataoka": "dataset", "panickssery": "dataset", "xu": "language", "livebench": "category"}


def _columns(rows: Excerpt, data: str, frame: pd.DataFrame) -> pd.DataFrame:
    """What `rows` names of a table, with bounds and marks of too few pairs, by judge and data."""
    (role,) = (name for name in ROLES if name in frame)
    key, found = [role, data], frame.query(rows.where)
    if "step" in found:
        found = found[found["step"].eq(found.groupby(key)["step"].transform("max"))]
    made = found[key].set_axis(["judge", "data"], axis="columns")
    for column, name in rows.columns.items():
        made[name] = found[column]
        # Counts and what chance gives have neither bounds nor too few pairs.
        for mark in () if column.startswith("n_") or column == "chance" else ("lo", "hi", "few"):
            own = f"{column}_{mark}" if f"{column}_{mark}" in found else mark
            if own in found:
                made[f"{name}_{mark}"] = found[own]
    return made.set_index(["judge", "data"])


def table(study: str, found: Frames) -> pd.DataFrame:
    """What a study measures of its judges: a row a judge and data set, sorted.

    Args:
        study: A key of `SHOWN`.
        found: The studies' tables.

    Returns:
        `judge, data` and the columns that `SHOWN` names, each with its bounds `x_lo, x_hi` and
        `x_few` where the table has them; rows without a number are left out.
    """
    there = [rows for rows in SHOWN[study] if len(found.get(rows[:2], ()))]
    if not there:
        return pd.DataFrame()
    parts = [_columns(rows, DATA[study], found[rows[:2]]) for rows in there]
    numbers = [name for rows in there for name in rows.columns.values()]
    whole = pd.concat(parts, axis="columns").sort_index()
    return whole.dropna(subset=numbers, how="all").reset_index()


def tuned(found: Frames) -> set[str]:
    """Evaluators that a study tuned: no judges that anyone has."""
    frame = found.get(("panickssery", "evaluators"), pd.DataFrame(columns=["evaluator", "variant"]))
    return set(frame.loc[frame["variant"].ne("base"), "evaluator"])


def asked(found: Frames) -> pd.DataFrame:
    """What every judge was asked, and what came of it: `judge, study, table, task, status, n`."""
    counts = [
        frame.assign(study=study) for (study, name), frame in found.items() if name == "asked"
    ]
    whole = pd.concat([pd.DataFrame(columns=["judge", "table"]), *counts], ignore_index=True)
    # Who only writes, or only reads, judges nothing.
    return whole[~whole["table"].isin(["responses", "perplexities", ITEMS])]


def answers(judge: str, found: Frames) -> dict[str, Answer]:
    """What `selfpref measure` says of a judge, by data set with votes, or with marks and a key.

    Not where the answer needs single votes, which the tables of the figures do not hold.

    Args:
        judge: How it is called.
        found: The studies' tables, of them `beyond` and `placebo` of the study beyond.
    """
    told: dict[str, Answer] = {}
    third = found.get(("livebench", "third_judge"), pd.DataFrame())
    third = third.query(f"judge == @judge and {MARKED}").set_index("kind") if len(third) else third
    if BOTH in third.index:
        told["livebench"] = marks.answer(judge, third)
    if ("beyond", "beyond") not in found:
        return told
    statistics = found["beyond", "beyond"].query(f"{PAIRS} and gold == 'human' and judge == @judge")
    placebo = found.get(("beyond", "placebo"), pd.DataFrame(columns=["dataset", "judge", "model"]))
    placebo = placebo[placebo["judge"].eq(judge) & placebo["model"].eq(EACH)]
    places = found["wataoka", "position"].query("judge == @judge and pairs == 'own'")
    stood = places.set_index("dataset")[["reversal_rate", "one_place"]].to_dict("index")
    for dataset, part in statistics.groupby("dataset"):
        rows = part.set_index("statistic")
        if NEEDED - {*rows.index}:
            continue
        votes, regression = rows.loc["beyond_no_preference"], rows.loc["regression_scaled"]
        if not regression["n"] and votes["n"] and votes["hi"] < on_both_sides(rows):
            continue
        of_set = placebo[placebo["dataset"].eq(dataset)]
        order = stood.get(str(dataset), {})
        told[str(dataset)] = answer(judge, rows, of_set, math.nan, math.nan, order)
    return told


def _range(values: pd.Series) -> str:
    """The least and the greatest of some shares; empty without any."""
    return " to ".join(sorted({f"{one:.2f}" for one in (values.min(), values.max())} - {"nan"}))


def first(found: Frames) -> show.Table:
    """What is known of every judge: a row a data set that answers, else one in all.

    Args:
        found: The studies' tables.
    """
    counts, made = asked(found), []
    there = [one for one in BESIDE if len(found.get(one[:2], ()))]
    parts = (_columns(one, DATA[one.study], found[one[:2]]).reset_index() for one in there)
    numbers = pd.concat([pd.DataFrame(), *parts]).reindex(columns=["judge", "data", ORDER, AGREES])
    for judge in sorted({str(name) for name in counts["judge"]} - {*NOBODY} - tuned(found)):
        own, beside = (rows[rows["judge"].eq(judge)] for rows in (counts, numbers))
        said = answers(judge, found)
        sets = ", ".join(called((beside["data"] if len(beside) else own["study"]).unique()))
        if not own["status"].eq("ok").any():
            counted = own.groupby("status")["n"].sum().items()
            failed = ", ".join(f"{n:g} {status}" if n else status for status, n in counted)
            said = {sets: Answer(judge, None, f"nothing is known of it: {failed}")}
        for data, one in (said or {sets: Answer(judge, None, UNVOTED)}).items():
            rows = beside[beside["data"].eq(data) | (not said)]
            spans = (_range(rows[name]) for name in (ORDER, AGREES))
            name = judge if len(judge) > LONGEST else called([judge])[0]
            made.append([name, *called([data]), one.verdict, *spans, one.because])
    made.sort(key=lambda row: (row[-1] == UNVOTED, row))
    return show.Table([(name, False) for name in FIRST], made)


def tables(found: Frames) -> dict[str, show.Table]:
    """By study the table of its judges as readers see them, without evaluators that it tuned.

    Args:
        found: The studies' tables.
    """
    made = {}
    for study in [study for study in SHOWN if study in {key for key, _ in found}]:
        if len(whole := table(study, found)):
            whole = whole[~whole["judge"].isin(tuned(found))]
            whole = whole.assign(judge=called(whole["judge"]), data=called(whole["data"]))
            columns = [name for name in whole if not name.endswith("_few")]
            made[study] = show.table(whole, columns)
    return made
