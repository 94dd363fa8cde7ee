"""The figures of Xu et al. (arXiv 2402.11436), from the frames of `selfpref.studies.xu.measure`."""

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

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
from selfpref.plots.steps import CONVENTIONS, Look, flawed, level, line, looks, panels

AVERAGE = "average"
QUANTITIES = {"bias": "bias (points of MQM)", "dskew": "distance skewness D"}


def _whole_steps(axes: Axes) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))


def _by_convention(
    rows: pd.DataFrame, marks: dict[str, Look], labels: dict[str, str], columns: int
) -> Figure:
    """One row of panels a quantity, one column a convention, one line a model."""
    figure = styled(PAGE, 4.3)
    grid = figure.subplots(len(labels), len(CONVENTIONS), sharex=True, sharey="row")
    for line_of, (value, label) in zip(grid, labels.items(), strict=True):
        for axes, (name, heading) in zip(line_of, CONVENTIONS.items(), strict=True):
            here = rows[rows["convention"].eq(name)]
            for model, look in marks.items():
                line(axes, here[here["model"].eq(model)], value, look, label=model)
            level(axes)
            axes.grid(visible=True, axis="y")
            _whole_steps(axes)
            axes.set_title(heading)
        line_of[0].set_ylabel(label)
    figure.supxlabel("step of refinement", fontsize=8)
    legend(figure, grid.flat, columns)
    return figure


@style.context(STYLE)
def average(rows: pd.DataFrame, integrity: pd.DataFrame) -> Figure:
    """Bias and D by step, averaged over the languages, in both conventions.

    Args:
        rows: The frame `translation`.
        integrity: The frame `integrity`.
    """
    rows = rows[rows["language"].eq(AVERAGE)]
    if rows.empty:
        return no_data("no model with scores and truths in several languages")
    rows = rows.assign(flawed=flawed(rows, integrity))
    return _by_convention(rows, looks(rows["model"]), QUANTITIES, 6)


@style.context(STYLE)
def by_language(
    rows: pd.DataFrame, integrity: pd.DataFrame, value: str, band: float | None = None
) -> Figure:
    """Bias or D by step, one column a language, the conventions one above the other.

    Args:
        rows: The frame `translation`.
        integrity: The frame `integrity`.
        value: `bias` or `dskew`.
        band: Upper end of the null band of D, drawn from 0; None: none.
    """
    rows = rows[rows["language"].ne(AVERAGE)]
    if rows.empty:
        return no_data("no step with scores and truths")
    rows = rows.assign(flawed=flawed(rows, integrity))
    languages = sorted(rows["language"].unique())
    figure = styled(PAGE, 4.4)
    grid = figure.subplots(2, len(languages), sharey=True, sharex="col", squeeze=False)
    for line_of, (name, heading) in zip(grid, CONVENTIONS.items(), strict=True):
        for axes, language in zip(line_of, languages, strict=True):
            here = rows[rows["convention"].eq(name) & rows["language"].eq(language)]
            for model, look in looks(rows["model"]).items():
                line(axes, here[here["model"].eq(model)], value, look, label=model)
            level(axes)
            if band is not None:
                axes.axhspan(0, band, color=GREY, alpha=0.25, linewidth=0)
            axes.grid(visible=True, axis="y")
            _whole_steps(axes)
            axes.set_title(f"{language}\n{heading}")
        line_of[0].set_ylabel(QUANTITIES[value])
    figure.supxlabel("step of refinement", fontsize=8)
    legend(figure, grid.flat, 6)
    return figure


_PERCEIVED = {
    "released": (BLUE, "o", "-", "own score, as released"),
    "corrected": (BLUE, "o", ":", "own score, usable feedback only"),
}


@style.context(STYLE)
def perceived(
    rows: pd.DataFrame, second: pd.DataFrame, human: pd.DataFrame, integrity: pd.DataFrame
) -> Figure:
    """What a model thinks of its texts by step, beside what they are.

    Args:
        rows: The frame `translation`, of one language.
        second: The frame `second_truth`, of this language.
        human: The frame `human_truth`, of this language.
        integrity: The frame `integrity`.
    """
    if rows.empty:
        return no_data("no step with scores and truths")
    rows = rows.assign(flawed=flawed(rows, integrity))
    models = list(looks(rows["model"]))
    figure, axes_of = panels(len(models), 4, 1.65, 0.75)
    truth: dict[str, str] = {"color": ORANGE, "marker": "s"}
    for axes, model in zip(axes_of, models, strict=True):
        here = rows[rows["model"].eq(model)]
        for name, (color, marker, dash, label) in _PERCEIVED.items():
            part = here[here["convention"].eq(name)]
            look = {"color": color, "marker": marker}
            line(axes, part, "self_mean", look, label=label, style=dash)
        part = here[here["convention"].eq("released")]
        line(axes, part, "truth_mean", truth, label="true score")
        other = second[second["convention"].eq("released")] if len(second) else second
        if len(other):
            chrf = other[other["model"].eq(model)]
            look = {"color": GREY, "marker": "x"}
            line(axes, chrf, "chrf_mean", look, label="chrF, mapped", style="--")
        if len(human):
            people = human[human["model"].eq(model)]
            axes.plot(
                people["step"],
                people["human_mean"],
                linestyle="none",
                marker="*",
                markersize=7,
                color=BLACK,
                label="human MQM (first sentences)" if len(people) else None,
            )
        axes.set_title(model)
        _whole_steps(axes)
    figure.supxlabel("step of refinement", fontsize=8)
    figure.supylabel("mean score (MQM, 0: no error)", fontsize=8)
    legend(figure, axes_of, 3)
    return figure


@style.context(STYLE)
def human(rows: pd.DataFrame) -> Figure:
    """The human study: bias and D against human MQM, with the printed bias.

    Args:
        rows: The frame `human`.
    """
    if rows.empty:
        return no_data("no text with a human rating and an own score")
    figure = styled(PAGE * 0.85, 0.27 * len(rows) + 0.95)
    left, right = figure.subplots(1, 2, sharey=True)
    dots(left, rows, "bias", label="recomputed")
    dots(left, rows, "bias_published", marker="x", color=ORANGE, label="printed in the paper")
    dots(right, rows, "dskew", color=GREEN, marker="D", label="recomputed")
    left.axvline(0, color=GREY, linewidth=0.8)
    left.set_xlabel("bias against human MQM (points)")
    right.set_xlabel("distance skewness D")
    right.set_xlim(-0.03, 1.03)
    names = [f"{row.model}, step {row.step}  n={row.n}" for row in rows.itertuples()]
    row_labels(left, names)
    legend(figure, [left], 2)
    return figure


_COVERAGE = (
    ("predicted", "released", "lemma", BLUE, "o", "-", "says all covered, as released"),
    ("predicted", "corrected", "lemma", BLUE, "o", ":", "says all covered, usable feedback only"),
    ("true", "released", "lemma", ORANGE, "s", "-", "all there, as word or lemma"),
    ("true", "released", "surface", GREY, "x", "--", "all there, as word"),
)


@style.context(STYLE)
def coverage(rows: pd.DataFrame, integrity: pd.DataFrame) -> Figure:
    """Constrained generation: share of sentences said to hold every concept, and share that do.

    Args:
        rows: The frame `commongen_intervals`.
        integrity: The frame `integrity`.
    """
    if rows.empty:
        return no_data("no sentence with given concepts")
    rows = rows.assign(language="commongen")
    rows = rows.assign(flawed=flawed(rows, integrity))
    models = list(looks(rows["model"]))
    figure, axes_of = panels(len(models), 3, 1.7, 0.85)
    for axes, model in zip(axes_of, models, strict=True):
        for value, name, matcher, color, marker, dash, label in _COVERAGE:
            part = rows[rows["model"].eq(model) & rows["convention"].eq(name)]
            part = part[part["matcher"].eq(matcher)]
            look = {"color": color, "marker": marker}
            line(axes, part, value, look, label=label, style=dash)
        axes.set_title(model)
        axes.set_ylim(-0.04, 1.04)
        _whole_steps(axes)
    figure.supxlabel("step of refinement", fontsize=8)
    figure.supylabel("share of sentences", fontsize=8)
    legend(figure, axes_of, 2)
    return figure


@style.context(STYLE)
def coverage_bias(rows: pd.DataFrame, integrity: pd.DataFrame, matcher: str) -> Figure:
    """Bias and D of constrained generation by step, in both conventions.

    Args:
        rows: The frame `commongen_intervals`.
        integrity: The frame `integrity`.
        matcher: Which matcher's truth.
    """
    rows = rows[rows["matcher"].eq(matcher)] if len(rows) else rows
    if rows.empty:
        return no_data("no sentence with given concepts")
    rows = rows.assign(language="commongen")
    rows = rows.assign(flawed=flawed(rows, integrity))
    labels = {"bias": "bias (share of sentences)", "dskew": QUANTITIES["dskew"]}
    return _by_convention(rows, looks(rows["model"]), labels, 6)


_VERDICTS = (
    ("predicted", BLUE, "o", "-", "says that it is correct"),
    ("true", ORANGE, "s", "-", "is correct"),
)


@style.context(STYLE)
def mathematics(rows: pd.DataFrame) -> Figure:
    """Mathematics: share of answers that the model calls correct, and share that are.

    Args:
        rows: The frame `mathematics`.
    """
    if rows.empty:
        return no_data("no problem with a boxed answer")
    cells = list(dict.fromkeys(zip(rows["model"], rows["condition"], strict=True)))
    figure, axes_of = panels(len(cells), 4, 1.8, 0.75)
    for axes, (model, condition) in zip(axes_of, cells, strict=True):
        here = rows[rows["model"].eq(model) & rows["condition"].eq(condition)]
        for value, color, marker, dash, label in _VERDICTS:
            line(axes, here, value, {"color": color, "marker": marker}, label=label, style=dash)
        axes.set_title(f"{model}\n{condition}")
        axes.set_ylim(-0.04, 1.04)
        _whole_steps(axes)
    figure.supxlabel("step of refinement, or round of votes", fontsize=8)
    figure.supylabel("share of answers", fontsize=8)
    legend(figure, axes_of, 2)
    return figure


@style.context(STYLE)
def size(rows: pd.DataFrame, integrity: pd.DataFrame) -> Figure:
    """Bias and D by step for models that differ in size alone.

    Args:
        rows: The frame `size`.
        integrity: The frame `integrity`.
    """
    if rows.empty:
        return no_data("no models that differ in size alone")
    rows = rows.assign(flawed=flawed(rows, integrity))
    shades = (("#56B4E9", "v"), (BLUE, "o"), (BLACK, "s"), (ORANGE, "D"))
    marks: dict[str, Look] = {
        model: dict(zip(("color", "marker"), shades[i % len(shades)], strict=True))
        for i, model in enumerate(dict.fromkeys(rows["model"]))
    }
    return _by_convention(rows, marks, QUANTITIES, 4)


@style.context(STYLE)
def example_bias(rows: pd.DataFrame) -> Figure:
    """Fig. 1 of the paper, from real sentences: own scores beside human ones, and their gaps.

    Args:
        rows: The frame `examples`, of figure 1.
    """
    if rows.empty:
        return no_data("no text with a human rating and an own score")
    figure = styled(PAGE, 2.5)
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    ordered = rows.sort_values(["truth", "said"], ignore_index=True)
    at = np.arange(len(ordered))
    left.vlines(at, ordered["truth"], ordered["said"], color=GREY, linewidth=0.8)
    left.plot(at, ordered["said"], "o", color=BLUE, markersize=3.2, label="the model's own score")
    left.plot(at, ordered["truth"], "s", color=ORANGE, markersize=3.2, label="human score")
    left.set_xlabel("sentence, ordered by the human score")
    left.set_ylabel("MQM (0: no error)")
    left.grid(visible=True, axis="y")
    _gaps(right, rows)
    legend(figure, [left], 2)
    return figure


@style.context(STYLE)
def example_skewness(rows: pd.DataFrame) -> Figure:
    """Fig. 2 of the paper, from real sentences: a bias of about 0 that hides an asymmetry.

    Args:
        rows: The frame `examples`, of figure 2.
    """
    if rows.empty:
        return no_data("no step whose bias is about 0")
    figure = styled(PAGE * 0.72, 2.4)
    left, right = figure.subplots(1, 2, sharey=True)
    _gaps(left, rows)
    gaps = rows["truth"] - rows["said"]
    _gaps(right, rows.assign(said=gaps, truth=0.0, bias=-rows["bias"]))
    left.set_title("gaps as they are")
    right.set_title("mirrored at 0")
    right.set_ylabel("")
    return figure


def _gaps(axes: Axes, rows: pd.DataFrame) -> None:
    edges = np.arange(-26.25, 27, 2.5).tolist()
    axes.hist(rows["said"] - rows["truth"], bins=edges, color=BLUE, alpha=0.75)
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.axvline(rows["bias"].iloc[0], color=ORANGE, linewidth=1.4)
    axes.set_xlabel("own score minus true score")
    axes.set_ylabel("sentences")
