"""The judges' page: what `selfpref measure` answers of each judge, and a table of judges a study.

A judge is whoever has verdicts or ratings in a study's table `asked`. In brackets behind a column
stands the value of no difference, where there is a fixed one.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from selfpref.card.rule import answer, on_both_sides
from selfpref.plots import show
from selfpref.plots.names import called
from selfpref.statistics.scaled import EACH
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
NOTES = {
    "wataoka": "Equal-opportunity bias; pairs that its own response won and lost with people. A "
    "judge without self-preference is not at 0: compare with another person's and with the other "
    "judges'. Only the regression takes out how noisily each judge errs.",
    "panickssery": "Confidence over both orders, corrected; 0.5 is neither.",
    "xu": "Points of MQM, mean of the languages. Selection alone makes a rise: a judge of noise "
    "under the same rule has one as well.",
    "livebench": "By category. Where a judge's own response always stands in one place, as that of "
    "o3-mini in the release, self and place cannot be told apart.",
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
        Excerpt(
            *("wataoka", "position", "pairs == 'all'"),
            {
                "first_share": "verdicts for what is read first (0.5)",
                "reversal_rate": "pairs that the order decides",
            },
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
        Excerpt(
            *("xu", "gains", AVERAGE),
            {"bias_change": "change of its self-bias from the first to the last step (0)"},
        ),
        Excerpt(
            *("xu", "refined_by_noise", AVERAGE),
            {"beyond": "its self-bias at the last step beyond that of a judge of noise (0)"},
        ),
    ],
    "livebench": [
        Excerpt(
            *("livebench", "position", "quantity == 'first position'"),
            {"share": "choices of what is read first", "chance": "by chance"},
        ),
        Excerpt(
            *("livebench", "excess", "task == 'all'"),
            {"excess": "choices of its own beyond the other judges' (0)"},
        ),
    ],
}
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


def answers(judge: str, found: Frames) -> list[str]:
    """What `selfpref measure` says of a judge of pairs, a sentence for each data set with votes.

    Not where the answer needs single votes, which the tables of the figures do not hold.

    Args:
        judge: How it is called.
        found: The studies' tables, of them `beyond` and `placebo` of the study beyond.
    """
    if ("beyond", "beyond") not in found:
        return []
    statistics = found["beyond", "beyond"].query(
        "study == 'wataoka' and gold == 'human' and judge == @judge"
    )
    placebo = found.get(("beyond", "placebo"), pd.DataFrame(columns=["dataset", "judge", "model"]))
    placebo = placebo[placebo["judge"].eq(judge) & placebo["model"].eq(EACH)]
    places = found["wataoka", "position"].query("judge == @judge and pairs == 'own'")
    stood = places.set_index("dataset")[["reversal_rate", "one_place"]].to_dict("index")
    told = []
    for dataset, part in statistics.groupby("dataset"):
        rows = part.set_index("statistic")
        if NEEDED - {*rows.index}:
            continue
        votes, regression = rows.loc["beyond_no_preference"], rows.loc["regression_scaled"]
        if not regression["n"] and votes["n"] and votes["hi"] < on_both_sides(rows):
            continue
        of_set = placebo[placebo["dataset"].eq(dataset)]
        said = answer(judge, rows, of_set, math.nan, math.nan, stood.get(str(dataset), {}))
        told.append(f"On {dataset}: {said.verdict}, because {said.because}.")
    return told


def first_lines(found: Frames) -> dict[str, list[str]]:
    """What is known of every judge in a line, or in one a data set, by judge.

    Args:
        found: The studies' tables.
    """
    counts, lines = asked(found), {}
    for judge in sorted({str(name) for name in counts["judge"]} - {*NOBODY} - tuned(found)):
        own = counts[counts["judge"].eq(judge)]
        studies = ", ".join(sorted(set(own["study"])))
        if not own["status"].eq("ok").any():
            counted = own.groupby("status")["n"].sum()
            failed = [f"{n:g} {status}" if n else status for status, n in counted.items()]
            lines[judge] = [f"Nothing is known of it. Asked in {studies}: {', '.join(failed)}."]
            continue
        lines[judge] = answers(judge, found) or [
            f"No answer, in {studies}: no set of pairs of its own responses has votes."
        ]
    return lines


def tables(found: Frames) -> dict[str, tuple[show.Table, show.Table]]:
    """By study the table of its judges, and of the evaluators that it tuned, as readers see them.

    Args:
        found: The studies' tables.
    """
    made, others = {}, tuned(found)
    for study in [study for study in SHOWN if study in {key for key, _ in found}]:
        if len(whole := table(study, found)):
            of_tuned = whole["judge"].isin(others)
            whole = whole.assign(judge=called(whole["judge"]), data=called(whole["data"]))
            columns = [name for name in whole if not name.endswith("_few")]
            made[study] = (
                show.table(whole[~of_tuned], columns),
                show.table(whole[of_tuned], columns),
            )
    return made
