"""The judges' page: what `selfpref measure` answers of each judge, and a table of judges a study.

A judge is whoever has verdicts or ratings in a study's table `asked`. In brackets behind a column
stands the value of no difference, where there is a fixed one.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from selfpref.card.rule import MATTERS, answer
from selfpref.plots import show
from selfpref.plots.names import called
from selfpref.statistics.scaled import EACH
from selfpref.tables.asked import ITEMS

# By study and name, as `gather.frames` returns them.
Frames = Mapping[tuple[str, str], pd.DataFrame]
# The column that says whose row it is.
ROLES = ("judge", "evaluator", "model")
# No judges: a null judge, and people.
NOBODY = ("noise", "human")
# What the rule of `selfpref measure` reads; without votes some of it is not there.
NEEDED = {"equal_opportunity", "regression_scaled", "beyond_no_preference"}
CORRECTED = "convention == 'corrected'"
# Of several languages what holds over all of them.
AVERAGE = f"{CORRECTED} and language == 'average'"
STATISTIC = "study == 'wataoka' and statistic == '{}' and gold == '{}'"


@dataclass(frozen=True)
class Rows:
    """Rows of a table, and which of its columns stand beside a judge.

    Attributes:
        table: Study and table.
        data: The column of the data set, language or category.
        columns: By column what it is called.
        where: Which rows; of several steps only the last is shown.
    """

    table: tuple[str, str]
    data: str
    columns: Mapping[str, str]
    where: str = "index == index"


SHOWN = {
    "wataoka": (
        Rows(
            ("wataoka", "fig1b_bias"),
            "dataset",
            {
                "n_human_own": "pairs won",
                "n_human_other": "pairs lost",
                "eo": "bias towards its own responses",
                "eo_no_preference": "another person's in its place",
                "eo_others": "other judges'",
                "excess": "beyond the other judges (0)",
            },
        ),
        Rows(
            ("beyond", "beyond"),
            "dataset",
            {"value": "in a regression with a scale for each judge (0)"},
            STATISTIC.format("regression_scaled", "human"),
        ),
        Rows(
            ("beyond", "beyond"),
            "dataset",
            {"value": "demographic parity, which needs no votes (0)"},
            STATISTIC.format("demographic_parity", "none"),
        ),
        Rows(
            ("wataoka", "position"),
            "dataset",
            {"first_share": "verdicts for what is read first (0.5)"},
            "pairs == 'all'",
        ),
    ),
    "panickssery": (
        Rows(
            ("panickssery", "fig1_recognition_vs_preference"),
            "dataset",
            {
                "recognition": "confidence that its own summary is its own (0.5)",
                "preference": "confidence that its own summary is the better one (0.5)",
            },
            CORRECTED,
        ),
    ),
    "xu": (
        Rows(
            ("xu", "gains"),
            "language",
            {"bias_change": "change of its self-bias from the first to the last step (0)"},
            AVERAGE,
        ),
        Rows(
            ("xu", "refined_by_noise"),
            "language",
            {"beyond": "its self-bias at the last step beyond that of a judge of noise (0)"},
            AVERAGE,
        ),
    ),
    "livebench": (
        Rows(
            ("livebench", "position"),
            "category",
            {"share": "choices of what is read first", "chance": "by chance"},
            "quantity == 'first position'",
        ),
        Rows(
            ("livebench", "excess"),
            "category",
            {"excess": "choices of its own beyond the other judges' (0)"},
            "task == 'all'",
        ),
    ),
}


def _columns(rows: Rows, frame: pd.DataFrame) -> pd.DataFrame:
    """What `rows` names of a table, with bounds and marks of too few pairs, by judge and data."""
    (role,) = (name for name in ROLES if name in frame)
    key, found = [role, rows.data], frame.query(rows.where)
    if "step" in found:
        found = found[found["step"].eq(found.groupby(key)["step"].transform("max"))]
    made = found[key].set_axis(["judge", "data"], axis="columns")
    for column, name in rows.columns.items():
        made[name] = found[column]
        for end in ("lo", "hi"):
            bound = f"{column}_{end}" if f"{column}_{end}" in found else end
            if bound in found and column != "chance":
                made[f"{name}_{end}"] = found[bound]
        few = f"{column}_few" if f"{column}_few" in found else "few"
        if few in found and not column.startswith("n_"):
            made[f"{name}_few"] = found[few]
    return made.set_index(["judge", "data"])


def table(study: str, found: Frames) -> pd.DataFrame:
    """What a study measures of its judges: a row a judge and data set, sorted.

    Args:
        study: A key of `SHOWN`, or another study, which has no table.
        found: The studies' tables.

    Returns:
        `judge, data` and the columns that `SHOWN` names, each with its bounds `x_lo, x_hi` and
        `x_few` where the table has them; rows without a number are left out.
    """
    parts = [
        _columns(rows, found[rows.table])
        for rows in SHOWN.get(study, ())
        if len(found.get(rows.table, ()))
    ]
    if not parts:
        return pd.DataFrame()
    whole = pd.concat(parts, axis="columns").sort_index()
    numbers = [name for rows in SHOWN[study] for name in rows.columns.values() if name in whole]
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
    told = []
    for dataset, part in statistics.groupby("dataset"):
        rows = part.set_index("statistic")
        if NEEDED - {*rows.index}:
            continue
        votes, regression = rows.loc["beyond_no_preference"], rows.loc["regression_scaled"]
        if not regression["n"] and votes["n"] and votes["hi"] < MATTERS:
            continue
        of_set = placebo[placebo["dataset"].eq(dataset)]
        said = answer(judge, rows, of_set, math.nan, math.nan)
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
    for study in SHOWN:
        whole = table(study, found)
        if whole.empty or study not in {own for own, _ in found}:
            continue
        of_tuned = whole["judge"].isin(others)
        whole = whole.assign(judge=called(whole["judge"]), data=called(whole["data"]))
        columns = [name for name in whole if not name.endswith("_few")]
        made[study] = (
            show.table(whole[~of_tuned], columns),
            show.table(whole[of_tuned], columns),
        )
    return made
