"""What refinement does to scores and texts, and what they are held against (Xu et al.)."""

import pandas as pd
from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from selfpref.plots.marks import (
    BLUE,
    GREY,
    ORANGE,
    dots,
    legend,
    no_data,
    nothing,
    row_labels,
    styled,
)
from selfpref.plots.save import COLUMN, PAGE, STYLE
from selfpref.plots.steps import CONVENTIONS, level, line, looks, panels

AVERAGE = "average"


@style.context(STYLE)
def format_accuracy(rows: pd.DataFrame, steps: tuple[int, ...], printed: pd.DataFrame) -> Figure:
    """Share of feedback that keeps to the grammar, averaged over languages, at some steps.

    Args:
        rows: The frame `format`.
        steps: Which steps.
        printed: The published rows of `format`: the least and the greatest share of any model.
    """
    here = rows[rows["step"].isin(steps)] if len(rows) else rows
    if len(here) and here["language"].eq(AVERAGE).any():
        here = here[here["language"].eq(AVERAGE)]
    if here.empty:
        return no_data("no feedback at these steps")
    here = here.sort_values(["model", "step"], ignore_index=True)
    figure = styled(PAGE * 0.72, 0.24 * len(here) + 0.95)
    axes = figure.subplots()
    if len(printed):
        axes.axvspan(
            printed["value"].min(),
            printed["value"].max(),
            color=GREY,
            alpha=0.2,
            linewidth=0,
            label="range printed in the paper",
        )
    shown = here.assign(but_for_cut=here["well_formed"] + here["cut_off"])
    for value, marker, color, filled, label in (
        ("well_formed", "o", BLUE, True, "well formed"),
        ("but_for_cut", "o", BLUE, False, "well formed but for a last line cut off"),
        ("usable", "x", ORANGE, True, "a score can be read"),
    ):
        dots(axes, shown, value, marker=marker, color=color, filled=filled, label=label)
    row_labels(axes, [f"{row.model}, step {row.step}" for row in here.itertuples()])
    axes.set_xlabel("share of feedback")
    axes.set_xlim(right=1.02)
    legend(figure, [axes], 2)
    return figure


@style.context(STYLE)
def scale(rows: pd.DataFrame) -> Figure:
    """The recovered map from BLEURT to the scale of MQM.

    Args:
        rows: The frame `scale`.
    """
    if rows.empty:
        return no_data("no text with BLEURT and its map")
    figure = styled(COLUMN, 2.2)
    axes = figure.subplots()
    axes.plot(rows["bleurt"], rows["mqm"], color=BLUE)
    axes.grid(visible=True, axis="y")
    axes.set_xlabel("BLEURT-20")
    axes.set_ylabel("on the scale of MQM")
    return figure


@style.context(STYLE)
def second_truth(rows: pd.DataFrame) -> Figure:
    """Bias and D against chrF beside those against the truth, one mark a step.

    Args:
        rows: The frame `second_truth`.
    """
    shown = rows[rows["convention"].eq("released") & rows["bias"].notna()] if len(rows) else rows
    if shown.empty:
        return no_data("no text with a reference and a true score")
    figure = styled(PAGE * 0.85, 3.0)
    for axes, value, label in zip(
        figure.subplots(1, 2), ("bias", "dskew"), ("bias (points)", "D"), strict=True
    ):
        for model, look in looks(shown["model"]).items():
            part = shown[shown["model"].eq(model)]
            axes.plot(
                part[value],
                part[f"{value}_chrf"],
                linestyle="none",
                markersize=3,
                alpha=0.8,
                label=model,
                **look,
            )
        both = shown[[value, f"{value}_chrf"]]
        ends = [both.min().min(), both.max().max()]
        axes.plot(ends, ends, color=GREY, linewidth=0.8)
        axes.grid(visible=True, axis="both")
        axes.set_xlabel(f"{label}, against the true score")
        axes.set_ylabel(f"{label}, against chrF")
    legend(figure, [figure.axes[0]], 4)
    return figure


@style.context(STYLE)
def gains(rows: pd.DataFrame) -> Figure:
    """What refinement brought by its last step: to the own score, and to the truth.

    Args:
        rows: The frame `gains`.
    """
    shown = rows[rows["language"].ne(AVERAGE)] if len(rows) else rows
    if shown.empty:
        return no_data("no chain of steps with a truth")
    cells = shown[["language", "model"]].drop_duplicates().sort_values(["language", "model"])
    parts = list(cells.groupby("language"))
    heights = [len(part) + 0.7 for _, part in parts]
    figure = styled(PAGE * 0.85, 0.22 * sum(heights) + 0.9)
    axes_of = figure.subplots(len(parts), 1, sharex=True, height_ratios=heights, squeeze=False)
    for axes, (language, part) in zip(axes_of[:, 0], parts, strict=True):
        for name, shift in (("released", -0.15), ("corrected", 0.15)):
            here = shown[shown["convention"].eq(name)]
            here = part.merge(here, on=["language", "model"], how="left")
            for value, color, marker, label in (
                ("self_change", BLUE, "o", "own score"),
                ("truth_change", ORANGE, "s", "true score"),
            ):
                dots(
                    axes,
                    here,
                    value,
                    shift=shift,
                    marker=marker,
                    color=color,
                    filled=name == "released",
                    label=f"{label}, {CONVENTIONS[name]}",
                )
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.set_title(str(language))
        row_labels(axes, list(part["model"]))
    axes_of[-1, 0].set_xlabel("change since step 0 (points of MQM), with intervals")
    legend(figure, [axes_of[0, 0]], 2)
    return figure


@style.context(STYLE)
def arms(rows: pd.DataFrame) -> Figure:
    """Bias by step under each condition: another run, another rule of acceptance.

    Args:
        rows: The frame `arms`.
    """
    if rows.empty:
        return no_data("no refinement under a second condition")
    shown = rows[rows["convention"].eq("released")]
    parts = list(shown.groupby(["language", "model"]))
    figure, axes_of = panels(len(parts), 3, 2.0, 0.75)
    for axes, ((language, model), part) in zip(axes_of, parts, strict=True):
        for condition, look in looks(shown["condition"]).items():
            line(axes, part[part["condition"].eq(condition)], "bias", look, label=condition)
        level(axes)
        axes.set_title(f"{model}, {language}")
        axes.set_xlabel("step of refinement")
    axes_of[0].set_ylabel("bias (points of MQM)")
    legend(figure, axes_of, 4)
    return figure


@style.context(STYLE)
def unusable(rows: pd.DataFrame) -> Figure:
    """Share of feedback that says nothing, by step.

    Args:
        rows: The frame `integrity`.
    """
    shown = rows[rows["condition"].eq("")] if len(rows) else rows
    if shown.empty:
        return no_data("no feedback")
    shown = shown.assign(share=shown["unusable"] / shown["n"])
    languages = sorted(shown["language"].unique())
    figure, axes_of = panels(len(languages), 5, 2.1, 0.75)
    for axes, language in zip(axes_of, languages, strict=True):
        for model, look in looks(shown["model"]).items():
            part = shown[shown["language"].eq(language) & shown["model"].eq(model)]
            line(axes, part, "share", look, label=model)
        axes.set_title(str(language))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    axes_of[0].set_ylabel("share of feedback")
    figure.supxlabel("step of refinement", fontsize=8)
    legend(figure, axes_of, 6)
    return figure


@style.context(STYLE)
def fluency(rows: pd.DataFrame) -> Figure:
    """Length and diversity of the texts by step.

    Args:
        rows: The frame `fluency`.
    """
    shown = rows[rows["condition"].eq("")] if len(rows) else rows
    if shown.empty:
        return no_data("no refined text")
    labels = {"words": "words a text", "distinct_2": "distinct pairs of words"}
    if shown["nats"].notna().any():
        labels["nats"] = "nats a token, other models"
    languages = sorted(shown["language"].unique())
    figure = styled(PAGE, 1.6 * len(labels) + 0.9)
    grid = figure.subplots(len(labels), len(languages), sharex="col", squeeze=False)
    for line_of, (value, label) in zip(grid, labels.items(), strict=True):
        for axes, language in zip(line_of, languages, strict=True):
            for model, look in looks(shown["model"]).items():
                part = shown[shown["language"].eq(language) & shown["model"].eq(model)]
                line(axes, part, value, look, label=model)
            if shown.loc[shown["language"].eq(language), value].isna().all():
                nothing(axes)
            axes.grid(visible=True, axis="y")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
            axes.tick_params(labelsize=6.5)
        line_of[0].set_ylabel(label)
    for axes, language in zip(grid[0], languages, strict=True):
        axes.set_title(str(language))
    figure.supxlabel("step of refinement", fontsize=8)
    legend(figure, grid.flat, 6)
    return figure
