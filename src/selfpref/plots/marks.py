"""The marks of the studies' figures: rows with intervals, lines or points, matrices."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from selfpref.plots import frame
from selfpref.plots.frame import GREY, PAGE, STYLE, Look, Looks

# Inches between the marks of two series in a row, and above and below them.
STEP, AIR = 0.072, 0.09
STRIPE = "#F4F4F4"
# How dark the interval of a hollow mark is.
FADED = 0.4


def _places(rows: pd.DataFrame, row: str, group: str | None) -> dict[tuple[str, str], int]:
    """The line of each row, counted from the top; a group's heading has a line, under ''."""
    keys = [
        (name, entry)
        for name, part in frame.split(rows, group).items()
        for entry in [*[""] * bool(group), *frame.order(part[row])]
    ]
    return {key: place for place, key in enumerate(keys)}


def _shifts(rows: pd.DataFrame, at: pd.Series, series: str, shown: list[str]) -> pd.Series:
    """How far each mark stands below the middle of its row, in marks: side by side, no gaps."""
    kind = pd.Series(pd.Categorical(rows[series], shown).codes, rows.index)
    drawn = kind[kind.ge(0) & rows["value"].notna()]
    rank = drawn.groupby(at).rank(method="dense")
    middle = (rank.groupby(at).transform("max") + 1) / 2
    return (rank - middle).reindex(rows.index, fill_value=0.0)


@style.context(STYLE)
def forest(
    rows: pd.DataFrame,
    *,
    row: str,
    label: str,
    looks: Looks | None = None,
    series: str = "series",
    group: str | None = None,
    panel: str | None = None,
    wrap: int = 5,
    rows_by_panel: bool = False,
    joined: bool = False,
    reference: float | str | None = 0.0,
    limits: tuple[float, float] | None = None,
    share_x: bool = True,
    hollow: str = "",
    note: str | None = None,
    width: float = 0.0,
    message: str = "",
) -> Figure | None:
    """A row an entry of a column, in each a mark with its interval for each series.

    Args:
        rows: A long frame with `value`, `lo`, `hi`, `hollow` (or without the last three).
        row: The column whose entries are the rows.
        label: Of the horizontal axis.
        looks: The series in their order: entry of the column `series` to its look; without it as
            `looks_of` has them.
        series: The column of the series, if there is one. What has no name is not in the legend.
        group: A column that groups the rows, each group under its heading.
        panel: A column with a panel an entry.
        wrap: At most so many panels beside one another.
        rows_by_panel: Whether each panel has rows of its own; else they share them.
        joined: Whether the marks of a row stand on one line, which a rule joins.
        reference: Where a thin line stands: a value that means none, or the column that holds it.
        limits: Of the horizontal axis.
        share_x: Whether panels have one horizontal axis.
        hollow: Why marks are hollow, for the legend.
        note: A column of texts for the right-hand side, the same in every series of a row; such as
            the number of pairs.
        width: Of the figure in inches; without it a page, or less for a single panel without note.
        message: What the figure shows, above its legend.

    Returns:
        The figure; `legend` again after adding labelled marks to it. None without any value.

    >>> rows = pd.DataFrame({"judge": ["j", "k"], "value": [0.1, 0.2], "lo": 0.0, "hi": 0.3})
    >>> figure = forest(rows, row="judge", label="bias")
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['j', 'k']
    """
    if rows["value"].isna().all():
        return None
    rows = (rows if series in rows else rows.assign(**{series: ""})).reset_index(drop=True)
    known = rows[rows["value"].notna()]
    shown = frame.looks_of(known, series, looks)
    group = group if group and rows[group].nunique() > 1 else None
    apart = len(shown) > 1 and not joined
    step = 2 * AIR + STEP * (len(shown) - 1) * apart
    parts = frame.split(rows, panel)
    within = parts if rows_by_panel else dict.fromkeys(parts, rows)
    places_of = {name: _places(of, row, group) for name, of in within.items()}
    heights = {name: step * len(places) + 0.45 for name, places in places_of.items()}
    longest = max(len(entry) for places in places_of.values() for _, entry in places)
    columns = min(wrap, len(parts))
    beside = 0.058 * longest * (columns if rows_by_panel else 1)
    shape: dict[str, Any] = {"share_x": share_x, "share_y": not rows_by_panel, "beside": beside}
    shape["width"] = width or PAGE * bool(note)
    figure, panels = frame.grid(heights, wrap, (label, ""), **shape)
    for axes, part, places in zip(panels, parts.values(), places_of.values(), strict=True):
        keys = zip(part[group] if group else [""] * len(part), part[row], strict=True)
        at = pd.Series([places[key] for key in keys], part.index, dtype=float)
        _name_rows(axes, places)
        if joined:
            ends = part["value"].groupby(at)
            axes.hlines([*ends.groups], ends.min(), ends.max(), color=GREY, lw=0.8, alpha=0.5)
        for place in [place for (_, entry), place in places.items() if entry][::2] * apart:
            axes.axhspan(place - 0.5, place + 0.5, color=STRIPE, linewidth=0, zorder=0)
        null = part[reference].dropna() if isinstance(reference, str) else [reference]
        for value in {*null} - {None}:
            axes.axvline(value, color=GREY, linewidth=0.8)
        if note and (rows_by_panel or axes is panels[-1]):
            right = axes.get_yaxis_transform()
            for place, text in part[note].groupby(at).first().items():
                axes.text(1.02, place, text, fontsize=7, va="center", transform=right)
        if apart:
            at += _shifts(part, at, series, [*shown]) * STEP / step
        for one, look in shown.items():
            drawn = part[part[series].eq(one)]
            if "lo" in drawn:
                colors = [(look.color, FADED if weak else 1.0) for weak in frame.weak(drawn)]
                axes.hlines(at[drawn.index], drawn["lo"], drawn["hi"], color=colors, lw=1.1)
            frame.dots(axes, drawn, drawn["value"], at[drawn.index], look, 4.2)
        axes.locator_params(axis="x", nbins=max(3, int(1.5 * figure.get_figwidth() / columns)))
        if limits:
            axes.set_xlim(limits)
    unjoined = {name: look._replace(dash="none") for name, look in shown.items()}
    frame.announce(figure, known, unjoined, hollow, message)
    return figure


def _name_rows(axes: Axes, places: Mapping[tuple[str, str], int]) -> None:
    """Names of rows beside them, those of groups bold and in a line of their own."""
    axes.set_yticks(range(len(places)), [entry or name for name, entry in places])
    axes.set_ylim(len(places) - 0.4, -0.6)
    for tick, (_, entry) in zip(axes.yaxis.get_major_ticks(), places, strict=True):
        tick.label1.set_fontweight("normal" if entry else "bold")


def line(axes: Axes, rows: pd.DataFrame, x: str, look: Look, size: float) -> None:
    """A line with its band, from left to right; what is hollow or not joined has bars."""
    rows = rows.sort_values(x, kind="stable")
    joined = ~frame.weak(rows) & (look.dash != "none")
    firm, beside, faint = rows[joined], rows[~joined], (look.color, 0.6)
    if "lo" in rows:
        band = firm[x], firm["lo"], firm["hi"]
        axes.fill_between(*band, color=look.color, alpha=0.14, linewidth=0)
        axes.vlines(beside[x], beside["lo"], beside["hi"], color=faint, linewidth=0.7)
    if f"{x}_lo" in rows:
        axes.hlines(rows["value"], rows[f"{x}_lo"], rows[f"{x}_hi"], color=faint, linewidth=0.7)
    axes.plot(firm[x], firm["value"], color=look.color, linestyle=look.dash, linewidth=1.0)
    frame.dots(axes, rows, rows[x], rows["value"], look, size)


@style.context([STYLE, {"axes.grid.axis": "y"}])
def lines(
    rows: pd.DataFrame,
    *,
    x: str,
    label: tuple[str, str],
    looks: Looks | None = None,
    series: str = "series",
    panel: str | None = None,
    wrap: int = 4,
    joined: bool = True,
    reference: float | None = None,
    limits: tuple[float, float] | None = None,
    share_x: bool | str = True,
    share_y: bool | str = True,
    hollow: str = "",
    size: float = 3.2,
    width: float = 0.0,
    height: float = 0.0,
    message: str = "",
) -> Figure | None:
    """A line a series, a panel an entry of a column; or points in a plane.

    Args:
        rows: A long frame with `x`, `value`, `lo`, `hi`, `hollow` (or without the last three).
        x: The column along: numbers, or an ordered categorical, drawn at even distances. Points
            may have its bounds, `<x>_lo` and `<x>_hi`.
        label: Of the horizontal and of the vertical axis.
        looks: The series in their order: entry of the column `series` to its look; without it as
            `looks_of` has them.
        series: The column of the series. What has no name is not in the legend.
        panel: A column with a panel an entry.
        wrap: At most so many panels beside one another.
        joined: Whether lines join the marks; else they are points.
        reference: Where a thin horizontal line stands: a value that means none.
        limits: Of the vertical axis.
        share_x: Whether panels have one horizontal axis.
        share_y: Whether panels have one vertical axis, or (`row`) those beside one another.
        hollow: Why marks are hollow, for the legend.
        size: Of a mark, in points.
        width: Of the figure in inches; without it a page, or less for a single panel.
        height: Of a panel in inches.
        message: What the figure shows, above its legend.

    Returns:
        The figure; `legend` again after adding labelled marks to it. None without any value.

    >>> rows = pd.DataFrame({"step": [0, 1], "series": "gpt-4", "value": [0.1, 0.2]})
    >>> figure = lines(rows, x="step", label=("step", "bias"), looks={"gpt-4": Look("#0072B2")})
    >>> [line.get_ydata().tolist() for line in figure.axes[0].lines[:1]]
    [[0.1, 0.2]]
    """
    rows = rows[rows["value"].notna() & rows[x].notna()]
    if rows.empty:
        return None
    shown = frame.looks_of(rows, series, looks)
    if not joined:
        shown = {name: look._replace(dash="none") for name, look in shown.items()}
    names = rows[x].cat.categories if isinstance(rows[x].dtype, pd.CategoricalDtype) else []
    rows = rows.assign(**{x: rows[x].cat.codes}) if len(names) else rows
    parts = frame.split(rows, panel)
    heights = dict.fromkeys(parts, height or (1.25 if width else 1.7))
    shape: dict[str, Any] = {"share_x": share_x, "share_y": share_y, "width": width}
    figure, panels = frame.grid(heights, wrap, label, **shape)
    for axes, part in zip(panels, parts.values(), strict=True):
        if reference is not None:
            axes.axhline(reference, color=GREY, linewidth=0.7)
        for one, look in shown.items():
            line(axes, part[part[series].eq(one)], x, look, size)
        if len(names):
            axes.set_xticks(range(len(names)), names)
        elif pd.api.types.is_integer_dtype(rows[x]):
            axes.locator_params(axis="x", integer=True, nbins=6)
        if limits:
            axes.set_ylim(limits)
        axes.grid(visible=not joined, axis="x")
    frame.announce(figure, rows, shown, hollow, message)
    return figure


@style.context([STYLE, {"axes.grid": False, "xtick.major.size": 0}])
def heatmap(
    rows: pd.DataFrame,
    *,
    row: str,
    column: str,
    label: tuple[str, str],
    panel: str,
    wrap: int = 4,
) -> Figure | None:
    """A matrix an entry of `panel`, each cell shaded by its value and holding a text.

    Args:
        rows: A long frame with a row a cell: its `value` from 0 to 1, its `text`, and the columns
            named below.
        row: The column whose entries are the rows.
        column: The column whose entries are the columns.
        label: Of the horizontal and of the vertical axis.
        panel: A column with a matrix an entry, its title.
        wrap: At most so many matrices beside one another.

    >>> cells = {"human": "own", "judge": ["own", "other"], "text": "", "value": 0.5, "panel": "j"}
    >>> where = {"row": "human", "column": "judge", "panel": "panel"}
    >>> figure = heatmap(pd.DataFrame(cells), **where, label=("judge", "human"))
    >>> figure.axes[0].get_title(loc="left")
    'j'
    """
    if rows["value"].isna().all():
        return None
    across, down = frame.order(rows[column]), frame.order(rows[row])
    parts = frame.split(rows, panel)
    figure, panels = frame.grid(dict.fromkeys(parts, 0.35 * len(down) + 0.5), wrap, label)
    # The darkest shade leaves its text readable.
    look = {"cmap": "Blues", "vmin": 0, "vmax": 1.15, "cbar": False, "annot_kws": {"size": 7}}
    for axes, part in zip(panels, parts.values(), strict=True):
        cells = part.set_index([row, column])[["value", "text"]].unstack().reindex(down)
        values, texts = (cells[name].reindex(columns=across) for name in ("value", "text"))
        named = {"xticklabels": across, "yticklabels": down}
        sns.heatmap(values.astype(float), annot=texts, fmt="", ax=axes, **named, **look)
        axes.set(xlabel="", ylabel="")
        axes.tick_params(rotation=0)
        axes.spines[:].set_visible(False)
    frame.legend(figure)
    return figure
