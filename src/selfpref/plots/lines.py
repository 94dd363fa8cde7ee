"""Lines along steps, sizes or bins, with bands; and points in a plane."""

from collections.abc import Mapping
from itertools import product

import pandas as pd
import seaborn as sns
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from selfpref.plots.frame import (
    GREY,
    PAGE,
    STYLE,
    Look,
    announce,
    blank,
    dots,
    empty,
    grid,
    head,
    legend,
    looks_of,
    order,
    weak,
)


def line(axes: Axes, rows: pd.DataFrame, x: str, look: Look) -> None:
    """A line with its band, from left to right; what is hollow or not joined has bars.

    Args:
        axes: Where to draw.
        rows: With `x` and `value`, and `lo`, `hi` and `hollow` (or without).
        x: The column along.
        look: Colour, marker and dash.
    """
    rows = rows[rows["value"].notna()].sort_values(x)
    color, hollow = look.color, weak(rows)
    firm, beside = rows[~hollow], rows[hollow | (look.dash == "none")]
    if "lo" in rows and rows["lo"].notna().any():
        if look.dash != "none":
            axes.fill_between(firm[x], firm["lo"], firm["hi"], color=color, alpha=0.14, linewidth=0)
        axes.vlines(beside[x], beside["lo"], beside["hi"], color=color, linewidth=0.6, alpha=0.6)
    if len(firm) and look.dash != "none":
        sns.lineplot(
            x=firm[x].to_numpy(), y=firm["value"].to_numpy(), ax=axes,
            color=color, linestyle=look.dash, linewidth=1.0, estimator=None,
        )  # fmt: skip
    dots(axes, rows[x], rows["value"], look, hollow, 3.2)


def _tick(axes: Axes, ticks: Mapping[float, str], *, whole: bool) -> None:
    """Named places along the horizontal axis, or whole numbers."""
    if ticks:
        axes.set_xticks(list(ticks), list(ticks.values()))
    elif whole:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))


@style.context(STYLE)
def lines(
    rows: pd.DataFrame,
    *,
    x: str,
    label: tuple[str, str],
    looks: Mapping[str, Look] | None = None,
    series: str = "series",
    panel: str | None = None,
    wrap: int = 4,
    quantity: str | None = None,
    reference: float | None = None,
    limits: tuple[float, float] | None = None,
    share_x: bool = True,
    share_y: bool = True,
    hollow: str = "",
    width: float = 0.0,
    message: str = "",
) -> Figure | None:
    """A line a series, a panel an entry of a column.

    Args:
        rows: A long frame with `x`, `value`, `lo`, `hi`, `hollow` (or without the last three).
        x: The column along: numbers, or an ordered categorical, drawn at even distances.
        label: Of the horizontal and of the vertical axis.
        looks: The series in their order: entry of the column `series` to its look; without it as
            `looks_of` has them.
        series: The column of the series.
        panel: A column with a panel an entry.
        wrap: At most so many panels beside one another.
        quantity: A column with a line of panels an entry, whose vertical axis has its name; the
            entries of `panel` then stand beside one another.
        reference: Where a thin horizontal line stands: a value that means none.
        limits: Of the vertical axis.
        share_x: Whether panels have one horizontal axis.
        share_y: Whether panels have one vertical axis.
        hollow: Why marks are hollow, for the legend.
        width: Of the figure in inches; without it a page, or less for a single panel.
        message: What the figure shows, above its legend.

    Returns:
        The figure; `legend` again after adding labelled marks to it. None without any value.

    >>> rows = pd.DataFrame({"step": [0, 1], "series": "gpt-4", "value": [0.1, 0.2]})
    >>> figure = lines(rows, x="step", label=("step", "bias"), looks={"gpt-4": Look("#0072B2")})
    >>> [line.get_ydata().tolist() for line in figure.axes[0].lines[:1]]
    [[0.1, 0.2]]
    """
    if rows["value"].isna().all():
        return None
    looks = looks or looks_of(rows, series)
    names = order(rows[panel]) if panel else [""]
    ticks: dict[float, str] = {}
    if isinstance(rows[x].dtype, pd.CategoricalDtype):
        ticks = dict(enumerate(map(str, rows[x].cat.categories)))
        rows = rows.assign(**{x: rows[x].cat.codes})
    if quantity:
        kinds = order(rows[quantity])
        figure = empty(width or PAGE, 1.65 * len(kinds) + 0.8)
        grid_of = figure.subplots(
            len(kinds), len(names), sharex="col" if share_x else False, sharey="row", squeeze=False
        )
        panels = list(grid_of.flat)
        for one, kind in zip(grid_of, kinds, strict=True):
            one[0].set_ylabel(kind)
    else:
        kinds = [""]
        heights = [1.25 if width else 1.7] * len(names)
        figure, panels = grid(heights, wrap, share_x=share_x, share_y=share_y, width=width)
        figure.supylabel(label[1], fontsize=8)
    shown = {name: look for name, look in looks.items() if rows[series].eq(name).any()}
    for axes, (kind, name) in zip(panels, product(kinds, names), strict=True):
        part = rows[rows[panel].eq(name)] if panel else rows
        part = part[part[quantity].eq(kind)] if quantity else part
        if reference is not None:
            axes.axhline(reference, color=GREY, linewidth=0.7)
        for one, look in shown.items():
            line(axes, part[part[series].eq(one)], x, look)
        if part["value"].isna().all():
            blank(axes)
        axes.grid(visible=True, axis="y")
        axes.grid(visible=False, axis="x")
        _tick(axes, ticks, whole=pd.api.types.is_integer_dtype(rows[x].dtype))
        if limits:
            axes.set_ylim(limits)
        if kind == kinds[0]:
            head(axes, str(name), len(names) if quantity else min(wrap, len(names)), beside=0.5)
    figure.supxlabel(label[0], fontsize=8)
    announce(
        panels[0],
        shown if len(looks) > 1 else {},
        hollow=hollow if weak(rows).any() else "",
        joined=True,
    )
    legend(figure, message=message)
    return figure


@style.context(STYLE)
def scatter(
    rows: pd.DataFrame,
    *,
    x: str,
    y: str,
    label: tuple[str, str],
    looks: Mapping[str, Look] | None = None,
    series: str = "series",
    panel: str | None = None,
    wrap: int = 2,
    height: float = 2.7,
    diagonal: str = "",
) -> Figure | None:
    """Points in a plane, with an interval along each axis where the frame has one.

    Args:
        rows: With the columns `x` and `y`, each with `_lo` and `_hi` (or without).
        x: The column of the horizontal axis.
        y: The column of the vertical axis.
        label: Of the horizontal and of the vertical axis.
        looks: The series in their order: entry of the column `series` to its look; without it as
            `looks_of` has them.
        series: The column of the series.
        panel: A column with a panel an entry; panels share their axes.
        wrap: At most so many panels beside one another.
        height: Of a panel, in inches.
        diagonal: What the line of equal values means, for the legend; none without it.

    Returns:
        The figure; `legend` again after adding labelled marks to it. None without any value.

    >>> rows = pd.DataFrame({"own": [0.1], "other": [0.2], "series": "gpt-4"})
    >>> look = {"gpt-4": Look("#0072B2")}
    >>> figure = scatter(rows, x="own", y="other", label=("own", "other"), looks=look)
    >>> figure.axes[0].lines[0].get_xydata().tolist()
    [[0.1, 0.2]]
    """
    if rows[[x, y]].isna().any(axis=1).all():
        return None
    looks = looks or looks_of(rows, series)
    names = order(rows[panel]) if panel else [""]
    figure, panels = grid([height] * len(names), wrap, share_x=True, share_y=True)
    shown = {name: look for name, look in looks.items() if rows[series].eq(name).any()}
    for axes, name in zip(panels, names, strict=True):
        part = rows[rows[panel].eq(name)] if panel else rows
        for one, look in shown.items():
            mine = part[part[series].eq(one)]
            bars = []
            if f"{x}_lo" in rows:
                bars.append(axes.hlines(mine[y], mine[f"{x}_lo"], mine[f"{x}_hi"]))
            if f"{y}_lo" in rows:
                bars.append(axes.vlines(mine[x], mine[f"{y}_lo"], mine[f"{y}_hi"]))
            for bar in bars:
                bar.set(color=look.color, linewidth=0.7, alpha=0.6)
            dots(axes, mine[x], mine[y], look, weak(mine), 4)
        axes.grid(visible=True, axis="both")
        if diagonal:
            axes.axline((0, 0), slope=1, color=GREY, linewidth=0.8, label=diagonal, zorder=1)
        head(axes, str(name), min(wrap, len(names)))
    announce(panels[0], shown if len(looks) > 1 else {})
    figure.supxlabel(label[0], fontsize=8)
    figure.supylabel(label[1], fontsize=8)
    legend(figure)
    return figure
