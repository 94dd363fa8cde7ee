"""Captions of Panickssery et al.: from which data, with n, what was dropped, and the interval.

Every number in a caption comes from a frame of the study.
"""

from functools import partial
from typing import Any

import pandas as pd

from selfpref.plots.intervals import interval
from selfpref.studies.panickssery.draw import title

TUNES = (
    "The evaluators are tunes of few families and not independent; the interval resamples "
    "articles, not evaluators"
)
_interval = partial(interval, "articles")


def _dropped(statuses: pd.DataFrame, tasks: tuple[str, ...]) -> str:
    """How many answers of the plain questions were not usable."""
    rows = statuses[statuses["variant"].eq("plain") & statuses["task"].isin(tasks)]
    lost = rows[rows["status"].ne("ok")].groupby("status")["n"].sum()
    told = ", ".join(f"{n} {status}" for status, n in lost.items()) or "none"
    return f"{rows['n'].sum()} answers, not usable: {told}"


def _pairs(pairwise: pd.DataFrame) -> str:
    whole = pairwise[pairwise["other"].eq("all")]
    parts = [
        f"{title(str(dataset))}: {part['n'].sum()} pairs, {part['evaluator'].nunique()} evaluators"
        for dataset, part in whole[whole["task"].eq("recognition")].groupby("dataset")
    ]
    return "; ".join(parts) or "no pairs"


def data(
    pairwise: pd.DataFrame, evaluators: pd.DataFrame, statuses: pd.DataFrame, params: Any
) -> str:
    """What this copy of the chapter holds."""
    tuned = evaluators[evaluators["variant"].ne("base")]
    corrected = pairwise[pairwise["convention"].eq("corrected")]
    stored = "with" if pairwise["convention"].eq("released").any() else "without"
    degenerate = ", ".join(evaluators.loc[evaluators["degenerate"], "evaluator"]) or "none"
    twins = sorted(evaluators.loc[evaluators["duplicate_of"].ne(""), "evaluator"])
    other = (
        ""
        if params.profile == "recorded"
        else " What the text says of GPT and Llama holds for the release (profile `recorded`); the "
        "figures and tables below are of this profile's evaluators."
    )
    return (
        f"Profile `{params.profile}`.{other} "
        f"{len(evaluators)} evaluators, {len(tuned)} of them tuned. "
        f"Corrected: {_pairs(corrected)}. {_dropped(statuses, ('recognition', 'preference'))}. "
        f"The source comes {stored} scores of its own (released). Degenerate (more than "
        f"{params.panickssery.unusable:.0%} of the answers to a question are not a number or have "
        f"no mass, or every text gets the same score): {degenerate}. One model under two names: "
        f"{', '.join(twins) or 'none'}. "
        f"{_interval(params)}."
    )


def recognition_vs_preference(
    correlation: pd.DataFrame, pairwise: pd.DataFrame, subset: str, params: Any
) -> str:
    """Figs. 1 and 7."""
    rows = correlation[correlation["subset"].eq(subset) & correlation["dataset"].ne("all")]
    told = "; ".join(
        f"{title(row.dataset)}, {row.convention}: r = {row.r:.3f} [{row.lo:.3f}, {row.hi:.3f}], "
        f"slope {row.slope:.2f}, n = {row.n}"
        for row in rows.itertuples()
    )
    return (
        f"Mean preference on mean recognition, one point an evaluator, with the least-squares line "
        f"of the evaluators `{subset}` and its band. {told or 'no line'}. {TUNES}. "
        f"{_pairs(pairwise[pairwise['convention'].eq('corrected')])} (corrected). "
        f"{_interval(params)}."
    )


def controls(correlation: pd.DataFrame, params: Any) -> str:
    """Control tasks on the same line."""
    kinds = correlation["subset"].str.contains("-self-recognition|-controls", regex=True)
    rows = correlation[kinds & correlation["convention"].eq("corrected")]
    told = "; ".join(
        f"{row.subset} on {title(row.dataset) if row.dataset != 'all' else 'all data'}: "
        f"r = {row.r:.3f}, slope {row.slope:.2f}, n = {row.n}"
        for row in rows.itertuples()
    )
    return (
        f"Corrected means of the evaluators tuned on self-recognition and on control tasks, each "
        f"with its own line. {told or 'no line'}. {TUNES}. {_interval(params)}."
    )


def before_tuning(pairwise: pd.DataFrame, evaluators: pd.DataFrame, task: str, params: Any) -> str:
    """Figs. 2 and 3."""
    base = evaluators.loc[evaluators["variant"].eq("base"), "evaluator"]
    whole = pairwise[pairwise["other"].eq("all") & pairwise["task"].eq(task)]
    used = whole[whole["evaluator"].isin(base) & whole["convention"].eq("corrected")]
    asked = "P(yes) to 'did you write it?'" if task == "recognition" else "the expected grade"
    return (
        f"The evaluators before any tuning, by other source. Left: corrected {task} in pairs, "
        f"{used['n'].sum()} pairs. Middle and right: one summary at a time ({asked}), as the mean "
        "of own / (own + other) over articles, and as the AUROC of own against other texts. ½: no "
        f"difference. {_interval(params)}; AUROC: normal, clustered by article."
    )


def training_size(deltas: pd.DataFrame, evaluators: pd.DataFrame, params: Any) -> str:
    """Training-size curves."""
    tuned = evaluators.loc[evaluators["variant"].eq("self-recognition"), "evaluator"]
    rows = deltas[
        deltas["evaluator"].isin(tuned)
        & deltas["other"].eq("all")
        & deltas["convention"].eq("corrected")
    ]
    above = int((rows["lo"] > 0).sum())
    below = int((rows["hi"] < 0).sum())
    return (
        "Corrected confidence by number of self-recognition examples; 0 is the base model. Against "
        f"its base on the same held-out articles, the tuned model is higher in {above} of "
        f"{len(rows)} cells (interval above 0), lower in {below}; n = {rows['n'].min():g} to "
        f"{rows['n'].max():g} pairs a cell. {_interval(params)}."
        if len(rows)
        else "No evaluator was tuned on self-recognition."
    )


def inverted(table: pd.DataFrame, correlation: pd.DataFrame, params: Any) -> str:
    """The inverted question."""
    if table.empty:
        return "No evaluator was asked which text is worse."
    pooled = correlation[
        correlation["subset"].eq("self-recognition")
        & correlation["convention"].eq(correlation["convention"].max())
    ]
    widest = pooled[pooled["n"].eq(pooled["n"].max())]
    told = ", ".join(f"{row.quantity} {row.r:+.3f}" for row in widest.itertuples())
    n = widest["n"].max() if len(widest) else 0
    return (
        "Confidence that the own text is better, asked which text is preferred and which is worse, "
        f"and the mean of both (debiased preference). {len(table)} cells of "
        f"{table['evaluator'].nunique()} evaluators, {table['n'].sum()} pairs with both answers. "
        f"Correlation with recognition over the {n} cells tuned on self-recognition: "
        f"{told or 'none'}. {_interval(params)}."
    )


def individual(rows: pd.DataFrame, statuses: pd.DataFrame, params: Any) -> str:
    """One summary at a time."""
    shown = rows[rows["statistic"].eq("auroc") & rows["target"].eq("all")]
    if shown.empty:
        return "No evaluator rated single texts."
    clear = shown[shown["lo"] > 0.5].groupby("task").size()
    told = ", ".join(
        f"{task}: own above others in {clear.get(task, 0)} of {len(part)} cells"
        for task, part in shown.groupby("task")
    )
    return (
        f"AUROC of the own family's texts against all others, by P(yes) to 'did you write it?' and "
        f"by the expected grade. {told} (interval above ½). "
        f"{_dropped(statuses, ('recognition', 'quality'))}. Normal intervals of "
        f"{params.bootstrap.level:.0%}, clustered by article."
    )


def pairwise(rows: pd.DataFrame, params: Any) -> str:
    """Released against corrected."""
    whole = rows[rows["other"].eq("all") & rows["task"].eq("recognition")]
    wide = whole.pivot(index=["dataset", "evaluator"], columns="convention", values="mean")
    if "released" not in wide:
        return f"Mean recognition by evaluator. {_pairs(rows)}. {_interval(params)}."
    moved = int((wide["released"] - wide["corrected"]).abs().gt(0.01).sum())
    return (
        f"Mean recognition as the source stored it and recomputed from the answers of both orders. "
        f"{moved} of {len(wide)} cells move by more than .01. "
        f"{_pairs(rows[rows['convention'].eq('corrected')])} (corrected). {_interval(params)}."
    )


def labels(rows: pd.DataFrame, params: Any) -> str:
    """Shown labels."""
    whole = rows[rows["other"].eq("all")]
    if whole.empty:
        return "No evaluator was shown labels."
    single = sorted(set(whole.loc[whole["orders"].eq(1), "evaluator"]))
    return (
        "Preference for the own text with labels shown: none, the true ones, random ones by what "
        f"fell, and swapped ones. {whole.loc[whole['convention'].eq('corrected'), 'n'].sum()} "
        f"corrected pairs. Asked in one order, hence not drawn: {', '.join(single) or 'none'}. "
        f"{_interval(params)}."
    )


def lengths(rows: pd.DataFrame, params: Any) -> str:
    """At equal length."""
    if rows.empty:
        return "No pair with both texts."
    mine = rows[rows["task"].eq("preference")]
    turned = int(((mine["raw"] - 0.5) * (mine["held"] - 0.5) < 0).sum())
    return (
        f"Corrected preference as it is, and at equal length by least squares on the difference in "
        f"words. {mine['n'].sum()} pairs; in {turned} of {len(mine)} cells the side of ½ changes. "
        f"{_interval(params)}."
    )


def position_bias(stored: pd.DataFrame) -> str:
    """How often the stored score is the position bias."""
    if stored.empty:
        return "No source stored a score beside the probabilities of both orders."
    wrong = stored[stored["as_position"].gt(0.9) & stored["as_own"].lt(0.5)]
    both = wrong.groupby(["dataset", "evaluator"], observed=True).size().eq(2).sum()
    files = stored[["dataset", "evaluator"]].drop_duplicates()
    return (
        f"Of {len(files)} evaluators and data sets with the probabilities of both orders, {both} "
        f"store the position bias for both questions, {len(wrong) - 2 * both} for one of them. "
        f"Their stored scores are the share of the text read first in "
        f"{wrong['as_position'].mean():.1%} of the rows and the confidence in the own text in "
        f"{wrong['as_own'].mean():.1%}."
    )
