"""Captions of the LiveBench study; every number comes from the frame that the figure draws."""

from functools import partial
from typing import Any

import pandas as pd

from selfpref.plots.intervals import interval

ALL = "all"
_interval = partial(interval, "question stems")


def _rows(shares: pd.DataFrame, outcomes: pd.DataFrame) -> str:
    """Verdicts in the figure, and what became of the others."""
    one = shares.drop_duplicates(["category", "task", "judge"])
    whole = outcomes[outcomes["task"].eq(ALL)].groupby("outcome")["n"].sum()
    lost = int(whole.drop(["chosen", "tie", "unstable"], errors="ignore").sum())
    ties = {name: int(whole.get(name, 0)) for name in ("tie", "unstable")}
    return (
        f"{one.loc[one['task'].eq(ALL), 'n'].sum()} verdicts of {one['judge'].nunique()} judges, "
        f"{ties['tie']} of them ties, {ties['unstable']} ties because the orders disagree; "
        f"{lost} without a verdict dropped"
    )


def _variants(models: pd.DataFrame) -> str:
    """Names that stand for more than one model."""
    told = []
    for responder, part in models.groupby("responder", sort=True):
        if part["model"].nunique() > 1:
            kinds = part.groupby("model")["category"].agg(lambda names: ", ".join(sorted(names)))
            told.append(
                f"{responder} is "
                + "; ".join(
                    f"{model.rpartition('/')[2]} in {where}" for model, where in kinds.items()
                )
            )
    return f" {'. '.join(told)}." if told else ""


def _printed(checks: pd.DataFrame) -> str:
    """How the release's percentages compare."""
    if checks.empty:
        return ""
    most = checks["difference"].abs().max()
    return (
        f" The release prints {len(checks)} of these percentages; the largest difference is "
        f"{most:.2f} points, and a tenth is all that it prints."
    )


def data(items: pd.DataFrame, outcomes: pd.DataFrame, models: pd.DataFrame, params: Any) -> str:
    """How much data there is."""
    if items.empty:
        return f"Profile `{params.profile}`: no items."
    whole = items[items["task"].eq(ALL)]
    parts = ", ".join(f"{row.category} {row.items}" for row in whole.itertuples())
    judged = outcomes[outcomes["task"].eq(ALL)]
    return (
        f"Profile `{params.profile}`. {whole['items'].sum()} questions ({parts}) of "
        f"{whole['clusters'].sum()} stems; {whole['keyed'].sum()} have a usable answer key. "
        f"{judged['n'].sum()} choices; {whole['failed'].sum()} ratings have no total."
        f"{_variants(models)} {_interval(params)}."
    )


def released(
    shares: pd.DataFrame,
    outcomes: pd.DataFrame,
    checks: pd.DataFrame,
    models: pd.DataFrame,
    category: str,
) -> str:
    """One category as the release's plots show it."""
    part, ended, printed, named = (
        frame[frame["category"].eq(category)] for frame in (shares, outcomes, checks, models)
    )
    if part.empty:
        return f"No verdicts in {category}."
    told = "; ".join(f"{row.responder}: {row.model}" for row in named.itertuples())
    return (
        f"Whom each judge chose in {category}, as a whole and by task, and the majority vote. "
        f"{_rows(part, ended)}.{_printed(printed)}{f' Models: {told}.' if told else ''}"
    )


def dots(shares: pd.DataFrame, outcomes: pd.DataFrame, models: pd.DataFrame, params: Any) -> str:
    """The shares with intervals."""
    if shares.empty:
        return "No verdicts."
    return (
        "Share of rows on which each responder is chosen, by judge; filled: by itself. "
        f"{_rows(shares, outcomes)}. {_interval(params)}.{_variants(models)}"
    )


def excess(rows: pd.DataFrame, params: Any) -> str:
    """The paired excess."""
    if rows.empty:
        return "No judge with a response of its own and a second judge on the same rows."
    parts = []
    for heading, part in (
        ("by category", rows[rows["task"].eq(ALL)]),
        ("by task", rows[rows["task"].ne(ALL)]),
    ):
        counts = [
            f"{judge} {int(own['p_holm'].lt(0.05).sum())} of {len(own)}"
            for judge, own in part.groupby("judge", sort=True)
        ]
        parts.append(f"{heading}: {', '.join(counts)}")
    return (
        "How much more often a judge chooses itself than the other judges choose it on the same "
        f"{rows.loc[rows['task'].eq(ALL), 'n'].max()} or fewer rows of a category. Away from 0 at "
        f"5 % after Holm's adjustment, {'; '.join(parts)}. Families: all categories and judges; "
        f"the tasks of each judge. p by random signs of the stems' sums. {_interval(params)}."
    )


def objective(rows: pd.DataFrame, items: pd.DataFrame, params: Any) -> str:
    """Harmful against earned."""
    if rows.empty:
        return "No item has objective scores for all responses."
    whole = items[items["task"].eq(ALL)]
    without = whole["items"].sum() - whole["keyed"].sum()
    return (
        "How often a judge chooses itself where, by the answer key, its own response is worse than "
        "the best other, as good, or better than all. Crosses: how often the other judges choose "
        f"the same response on the same rows. {rows['n'].max()} items; {without} without a usable "
        f"key dropped. Hollow: fewer than {params.livebench.few} rows. Equal: within "
        f"{params.livebench.margin:g}. {_interval(params)}."
    )


def heatmap(shares: pd.DataFrame, scores: pd.DataFrame, models: pd.DataFrame) -> str:
    """Judge by responder."""
    chosen = shares[shares["task"].eq(ALL)].drop_duplicates(["category", "judge"])
    return (
        f"Above: share chosen, {chosen['n'].sum()} verdicts. Below: mean rubric total of 11, "
        f"{scores['n'].sum()} ratings, {scores['n'].min() if len(scores) else 0} to "
        f"{scores['n'].max() if len(scores) else 0} a cell.{_variants(models)}"
    )


def position(rows: pd.DataFrame, params: Any) -> str:
    """Position."""
    if rows.empty:
        return "No choice whose order of presentation is known."
    whole = rows[rows["category"].eq(ALL)]
    parts = "; ".join(
        f"{quantity}: {part['n'].sum()} choices on {part['items'].max()} items"
        for quantity, part in whole.groupby("quantity", sort=True)
    )
    return (
        f"How choices hang on the place in the prompt. {parts}. Grey: by chance. Copies say word "
        f"for word the same; only their place tells them apart. {_interval(params)}."
    )


def by_orders(rows: pd.DataFrame, params: Any) -> str:
    """One drawn order beside all orders."""
    if rows.empty:
        return "Every item was read in one order only."
    return (
        f"The same judges by one drawn order an item, and by all orders: a choice counts if it "
        f"survives them. {rows['n'].min()} to {rows['n'].max()} items a judge. Whoever picks what "
        "stands first is drawn to itself by one order no more often than by chance, and by all "
        f"orders never. {_interval(params)}."
    )


def vote_outcomes(ends: pd.DataFrame) -> str:
    """How the votes ended."""
    if ends.empty:
        return "No votes."
    lines = [
        f"- {rule}: "
        + ", ".join(
            f"{outcome} {count}" for outcome, count in part.groupby("outcome")["n"].sum().items()
        )
        for rule, part in ends.groupby("rule", sort=True)
    ]
    return "How the votes ended, all categories:\n\n" + "\n".join(lines)
