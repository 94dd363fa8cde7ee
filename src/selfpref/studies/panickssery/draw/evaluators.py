"""Panickssery et al., evaluator by evaluator: rows with intervals."""

from itertools import product

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.figure import Figure

from selfpref.plots.marks import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    dots,
    legend,
    no_data,
    row_labels,
    styled,
)
from selfpref.plots.save import PAGE, STYLE
from selfpref.studies.panickssery.draw import MARKERS, title

Look = tuple[str, str, bool]
# Colour, marker, filled.
SERIES: tuple[Look, ...] = (
    (BLUE, "o", True),
    (ORANGE, "D", False),
    (GREEN, "s", True),
    (BLACK, "^", False),
)

BOTH: dict[str, Look] = {"released": (ORANGE, "D", False), "corrected": (BLUE, "o", True)}


@style.context(STYLE)
def before_tuning(
    pairwise: pd.DataFrame, individual: pd.DataFrame, evaluators: pd.DataFrame, task: str
) -> Figure:
    """Figs. 2 and 3: the base evaluators by other source, in pairs and one text at a time.

    Args:
        pairwise: The frame `pairwise`.
        individual: The frame `individual`.
        evaluators: The frame `evaluators`.
        task: `recognition` or `preference`.
    """
    base = sorted(evaluators.loc[evaluators["variant"].eq("base"), "evaluator"])
    mine = pairwise["evaluator"].isin(base) & pairwise["task"].eq(task)
    pairs = pairwise[mine & pairwise["convention"].eq("corrected")]
    pairs = pairs.rename(columns={"other": "target", "mean": "value"}).assign(statistic="pairs")
    single = "quality" if task == "preference" else task
    alone = individual[individual["evaluator"].isin(base) & individual["task"].eq(single)]
    columns = ["dataset", "evaluator", "target", "statistic", "value", "lo", "hi"]
    rows = pd.concat([pairs[columns], alone[columns]], ignore_index=True)
    # Of scores that a source stored there is the ratio that the paper has.
    ratio = "ratio" if alone["statistic"].eq("ratio").any() else "ratio_held_out"
    shown = {
        "pairs": "pairs: mean confidence",
        ratio: "alone: own / (own + other)",
        "auroc": "alone: AUROC of own",
    }
    base = [name for name in base if name in set(rows["evaluator"])]
    if not base:
        return no_data("no base evaluator")
    targets = {
        name: [*sorted(set(rows.loc[rows["evaluator"].eq(name), "target"]) - {name, "all"}), "all"]
        for name in base
    }
    heights = [len(targets[name]) + 0.6 for name in base]
    figure = styled(PAGE, 0.2 * sum(heights) + 0.95)
    grid = figure.subplots(len(base), 3, sharex="col", height_ratios=heights, squeeze=False)
    datasets = sorted(rows["dataset"].unique())
    for (line, name), (column, (statistic, label)) in product(
        enumerate(base), enumerate(shown.items())
    ):
        axes = grid[line, column]
        frame = pd.DataFrame({"target": targets[name]})
        for place, (dataset, (color, marker, filled)) in enumerate(
            zip(datasets, SERIES, strict=False)
        ):
            part = rows[rows["evaluator"].eq(name) & rows["dataset"].eq(dataset)]
            part = part[part["statistic"].eq(statistic)]
            part = frame.merge(part, on="target", how="left").rename(
                columns={"lo": "value_lo", "hi": "value_hi"}
            )
            shift = 0.3 * (place - (len(datasets) - 1) / 2)
            dots(
                axes,
                part,
                "value",
                shift=shift,
                color=color,
                marker=marker,
                filled=filled,
                label=title(dataset),
            )
        axes.axvline(0.5, color=GREY, linewidth=0.8)
        row_labels(axes, targets[name] if not column else [""] * len(targets[name]))
        axes.set_title(f"{name} against" if not column else "")
        if line + 1 == len(base):
            axes.set_xlabel(label)
    legend(figure, [grid[0, 0]], below=True)
    return figure


def _side_by_side(
    rows: pd.DataFrame,
    series: dict[str, Look],
    by: str,
    label: str,
    *,
    order: list[str],
) -> Figure:
    """A panel a data set, a row an evaluator, a mark a value of the column `by`."""
    datasets = sorted(rows["dataset"].unique())
    names = [name for name in order if name in set(rows["evaluator"])]
    figure = styled(PAGE, max(1.6, 0.19 * len(names) + 0.95))
    panels = figure.subplots(1, len(datasets), sharey=True, squeeze=False)[0]
    frame = pd.DataFrame({"evaluator": names})
    for axes, dataset in zip(panels, datasets, strict=True):
        for place, (name, (color, marker, filled)) in enumerate(series.items()):
            part = rows[rows["dataset"].eq(dataset) & rows[by].eq(name)]
            part = frame.merge(part, on="evaluator", how="left")
            part = part.rename(columns={"mean": "value", "lo": "value_lo", "hi": "value_hi"})
            shift = 0.24 * (place - (len(series) - 1) / 2)
            dots(
                axes,
                part,
                "value",
                shift=shift,
                color=color,
                marker=marker,
                filled=filled,
                label=name,
            )
        axes.axvline(0.5, color=GREY, linewidth=0.8)
        axes.set_title(title(dataset))
        axes.set_xlabel(label)
    row_labels(panels[0], names)
    legend(figure, [panels[0]], below=True)
    return figure


def in_order(evaluators: pd.DataFrame) -> list[str]:
    """Base models first, then by family, data set of the tuning, kind and size."""
    kinds = {name: place for place, name in enumerate(MARKERS)}
    keyed = evaluators.assign(
        base=evaluators["variant"].ne("base"), kind=evaluators["variant"].map(kinds)
    )
    columns = ["base", "family", "trained_on", "kind", "examples", "evaluator"]
    return list(keyed.sort_values(columns)["evaluator"])


@style.context(STYLE)
def inverted(wordings: pd.DataFrame, evaluators: pd.DataFrame) -> Figure:
    """The inverted question: confidence in the own text by each wording, and their mean.

    Args:
        wordings: The frame `wordings`, one convention.
        evaluators: The frame `evaluators`.
    """
    rows = wordings[wordings["other"].eq("all") & wordings["quantity"].ne("recognition")]
    if rows.empty:
        return no_data("no evaluator was asked which text is worse")
    series = {
        "prefer": (BLUE, "o", True),
        "worse": (ORANGE, "D", False),
        "mean": (BLACK, "s", True),
    }
    label = "mean confidence that the own text is better"
    return _side_by_side(rows, series, "quantity", label, order=in_order(evaluators))


@style.context(STYLE)
def individual(rows: pd.DataFrame, evaluators: pd.DataFrame) -> Figure:
    """One summary at a time: AUROC of own against others' texts, of P(yes) and of the grade.

    Args:
        rows: The frame `individual`.
        evaluators: The frame `evaluators`.
    """
    rows = rows[rows["statistic"].eq("auroc") & rows["target"].eq("all")]
    if rows.empty:
        return no_data("no evaluator rated single texts")
    # The normal interval of a few articles goes beyond what an AUROC can be.
    rows = rows.assign(lo=rows["lo"].clip(lower=0), hi=rows["hi"].clip(upper=1))
    series = {"recognition": (BLUE, "o", True), "quality": (ORANGE, "D", False)}
    label = "AUROC of own against other texts"
    return _side_by_side(rows, series, "task", label, order=in_order(evaluators))


@style.context(STYLE)
def released_and_corrected(
    pairwise: pd.DataFrame, evaluators: pd.DataFrame, task: str = "recognition"
) -> Figure:
    """What the correction changes: both conventions of one task, evaluator by evaluator.

    Where no source stored a score of its own, there is one convention.

    Args:
        pairwise: The frame `pairwise`.
        evaluators: The frame `evaluators`.
        task: Which question.
    """
    rows = pairwise[pairwise["other"].eq("all") & pairwise["task"].eq(task)]
    if rows.empty:
        return no_data("no evaluator with pairs")
    label = f"{task}: mean confidence"
    looks = {name: look for name, look in BOTH.items() if rows["convention"].eq(name).any()}
    return _side_by_side(rows, looks, "convention", label, order=in_order(evaluators))


@style.context(STYLE)
def labels(rows: pd.DataFrame, evaluators: pd.DataFrame) -> Figure:
    """Preference with labels shown, in both conventions, where both orders were asked.

    Args:
        rows: The frame `labels`.
        evaluators: The frame `evaluators`.
    """
    rows = rows[rows["other"].eq("all") & rows["orders"].eq(2)]
    rows = rows[rows["evaluator"].isin(rows.loc[rows["labels"].ne("none"), "evaluator"])]
    if rows.empty:
        return no_data("no evaluator was shown labels")
    kinds = ["none", "correct", "random-correct", "random-swapped", "swapped"]
    datasets = sorted(rows["dataset"].unique())
    names = [name for name in in_order(evaluators) if name in set(rows["evaluator"])]
    figure = styled(PAGE, 0.24 * len(kinds) * len(names) + 1.1)
    grid = figure.subplots(len(names), len(datasets), sharex=True, squeeze=False)
    frame = pd.DataFrame({"labels": kinds})
    for (line, name), (column, dataset) in product(enumerate(names), enumerate(datasets)):
        axes = grid[line, column]
        here = rows[rows["evaluator"].eq(name) & rows["dataset"].eq(dataset)]
        for convention, (color, marker, filled) in BOTH.items():
            part = frame.merge(here[here["convention"].eq(convention)], on="labels", how="left")
            part = part.rename(columns={"lo": "mean_lo", "hi": "mean_hi"})
            dots(
                axes,
                part,
                "mean",
                shift=-0.15 if filled else 0.15,
                color=color,
                marker=marker,
                filled=filled,
                label=convention,
            )
        axes.axvline(0.5, color=GREY, linewidth=0.8)
        row_labels(axes, kinds if not column else [""] * len(kinds))
        axes.set_title(f"{name} on {title(dataset)}")
        if here.empty:
            axes.text(0.5, 0.5, "not asked", transform=axes.transAxes, ha="center", color=GREY)
        if line + 1 == len(names):
            axes.set_xlabel("preference: mean confidence")
    legend(figure, [grid[0, 0]], 2, below=True)
    return figure


@style.context(STYLE)
def lengths(rows: pd.DataFrame, evaluators: pd.DataFrame) -> Figure:
    """Preference as it is and at equal length.

    Args:
        rows: The frame `lengths`.
        evaluators: The frame `evaluators`.
    """
    if rows.empty:
        return no_data("no pair with both texts")
    mine = rows[rows["task"].eq("preference")]
    raw = mine.assign(mean=mine["raw"], lo=np.nan, hi=np.nan, kind="as it is")
    held = mine.assign(
        mean=mine["held"], lo=mine["held_lo"], hi=mine["held_hi"], kind="at equal length"
    )
    series = {"as it is": (GREY, "x", True), "at equal length": (BLUE, "o", True)}
    both = pd.concat([raw, held], ignore_index=True)
    label = "preference: mean confidence"
    return _side_by_side(both, series, "kind", label, order=in_order(evaluators))
