"""The studies' figures: rows with intervals, lines or points; one look, one legend.

A mark (`forest`, `lines`) takes a long frame: a row a mark, with `value`, its bounds
`lo` and `hi` (NaN or absent: no interval), and columns that say where it belongs: which series,
which row, which panel. Order is that of first appearance. A column `hollow` of booleans marks what
is not to be relied on, because it is flawed or rests on too few observations: hollow means this
alone, in every picture, and the legend says why.
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("selfpref.mplstyle")
# Widths in inches: a text column, one panel with row labels, a page.
COLUMN, SINGLE, PAGE = 3.35, 5.2, 6.9
# After Okabe and Ito, told apart with any colour vision; 4.5:1 at least on white.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#C24E00", "#00815F", "#B4508A"
YELLOW, INDIGO, BLACK, GREY = "#966400", "#6B5FB5", "#000000", "#767676"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, YELLOW, INDIGO, BLACK, GREY)
MARKERS = ("o", "D", "s", "^", "v", "P", "X", "*")
# Inches between the marks of two series in a row, and above and below them; of a line of text.
STEP, AIR, LINE = 0.085, 0.09, 0.13
# The label of an interval, which no legend shows: a picture that has one says its level.
INTERVAL = "_interval"


class Look(NamedTuple):
    """How a series is drawn.

    Attributes:
        color: Of mark, line and interval.
        marker: A matplotlib marker.
        dash: A matplotlib line style; of `lines` alone.
    """

    color: str
    marker: str = "o"
    dash: str = "-"


Looks = Mapping[str, Look]
# What a series means decides how it looks, whatever is drawn; others take the palette's colours,
# so that what a judge does itself is blue.
_OTHERS = ("another judge", "pairs of others", "others' texts, or other readers")
LOOKS = {
    **dict.fromkeys(_OTHERS, Look(GREY, "D")),
    **dict.fromkeys(("another person", "people"), Look(PURPLE, "v")),
    "injected": Look(BLACK, "+"),
    "oracle rule (no preference)": Look(BLACK, "x"),
    **dict.fromkeys(("reference metric", "all are there", "is correct"), Look(ORANGE, "s")),
    "human raters": Look(BLACK, "*", "none"),
    "judge of pure noise": Look(GREY, "x", "--"),
    **dict.fromkeys(("translation", "before refinement"), Look(INDIGO, "v")),
}


def looks(names: Iterable[str], first: Sequence[str] = ()) -> dict[str, Look]:
    """Colour and marker of each name.

    Args:
        names: Of models, judges or conditions; sorted, so that a name keeps its look wherever the
            same names are drawn.
        first: Names that come first and keep their place whether they are among `names` or not.

    >>> looks(["b", "a"])["b"]
    Look(color='#C24E00', marker='D', dash='-')
    >>> looks(["b", "other"], first=["a", "b"])["other"].marker
    's'
    """
    held = set(names)
    ranked = [*(first if held & set(first) else ()), *sorted(held - set(first))]
    cycled = cycle(map(Look, PALETTE, MARKERS))
    return {name: look for name, look in zip(ranked, cycled, strict=False) if name in held}


def looks_of(
    rows: pd.DataFrame, series: str, given: Looks | None, *, joined: bool
) -> dict[str, Look]:
    """The look of each series that a long frame has.

    Args:
        rows: The frame.
        series: The column of the series.
        given: Of all of them, in their order; without it as above, in that of first appearance.
        joined: Whether lines join the marks.

    >>> [*looks_of(pd.DataFrame({"series": ["people", "mine"]}), "series", None, joined=True)]
    ['people', 'mine']
    """
    names = split(rows, series)
    known = given or LOOKS | looks({*names} - {*LOOKS})
    dash = {} if joined else {"dash": "none"}
    order = [*(given or names)]
    return {name: known[name]._replace(**dash) for name in sorted(names, key=order.index)}


def long(rows: pd.DataFrame, values: Mapping[str, str], into: str = "series") -> pd.DataFrame:
    """A frame with several values a row as one with a row a value.

    Args:
        rows: With the columns that `values` names, and each with `_lo` and `_hi` (or without).
        values: The new column's entry to the value's column.
        into: The new column.

    Returns:
        The other columns of `rows`, `into`, `value`, `lo` and `hi`; one block a value.

    >>> wide = pd.DataFrame({"judge": ["j"], "eo": [0.2], "eo_lo": [0.1], "eo_hi": [0.3], "dp": 1})
    >>> long(wide, {"bias": "eo", "parity": "dp"})[["judge", "series", "value", "lo"]]
      judge  series  value   lo
    0     j    bias    0.2  0.1
    1     j  parity    1.0  NaN
    """
    parts = []
    for name, column in values.items():
        bounds = {end: rows.get(f"{column}_{end}", np.nan) for end in ("lo", "hi")}
        parts.append(rows.assign(**{into: name, "value": rows[column], **bounds}))
    return pd.concat(parts, ignore_index=True)


def split(rows: pd.DataFrame, column: str | None) -> dict[str, pd.DataFrame]:
    """The rows of each entry of a column; all under '' without a column.

    In the order of first appearance; of a categorical, in its own.
    """
    if column is None:
        return {"": rows}
    ranked = isinstance(rows[column].dtype, pd.CategoricalDtype)
    return dict(iter(rows.groupby(column, sort=ranked, observed=True)))


def empty(width: float, height: float) -> Figure:
    """An empty figure, in inches. Draw within `matplotlib.style.context(STYLE)`."""
    return Figure(figsize=(width, height), layout="constrained")


def grid(
    heights: Mapping[str, float],
    label: tuple[str, str],
    *,
    wrap: int = 4,
    share_x: bool | str = True,
    share_y: bool | str = True,
    width: float = 0.0,
    beside: float = 0.3,
) -> tuple[Figure, list[Axes]]:
    """A figure with at most `wrap` panels beside one another; spare places stay empty.

    Args:
        heights: By the heading of each panel its height with it, in inches.
        label: Of the horizontal and of the vertical axis.
        wrap: At most so many in a line, which is as high as its highest panel.
        share_x: Whether panels have one horizontal axis.
        share_y: Whether panels have one vertical axis, or (`row`) those beside one another.
        width: Of the figure in inches; without it a page, or less for a single panel.
        beside: What labels beside the panels take of the width.
    """
    inches, columns = list(heights.values()), min(wrap, len(heights))
    tallest = [max(inches[first : first + columns]) for first in range(0, len(inches), columns)]
    width = width or (PAGE if columns > 1 else SINGLE)
    figure = empty(width, sum(tallest) + 0.75 + LINE * label[0].count("\n"))
    shape: dict[str, Any] = {"sharex": share_x, "sharey": share_y, "height_ratios": tallest}
    places = [*figure.subplots(len(tallest), columns, squeeze=False, **shape).flat]
    panels, spare = places[: len(heights)], places[len(heights) :]
    for axes in spare:
        axes.set_axis_off()
    for axes, name in zip(panels, heights, strict=True):
        axes.set_title(wrapped(str(name), (width - beside) / columns - 0.1))
    # Above a spare place the ticks of a shared axis are needed again.
    for axes in panels[-columns:]:
        axes.tick_params(labelbottom=True)
    figure.supxlabel(label[0])
    figure.supylabel(label[1])
    return figure, panels


def wrapped(text: str, width: float) -> str:
    """A bold text of 8 points in lines of a width in inches; line breaks stay."""
    # A letter takes about 0.066 inches.
    return "\n".join(textwrap.fill(line, int(width / 0.066)) for line in text.split("\n"))


def weak(rows: pd.DataFrame) -> pd.Series:
    """Whether each row has a value that is not to be relied on."""
    return rows.get("hollow", pd.Series(False, rows.index)).eq(True)


def as_interval(rows: pd.DataFrame) -> str:
    """The label of the rows' intervals, where one is known."""
    return INTERVAL * bool(rows["lo"].notna().any())


def dots(axes: Axes, rows: pd.DataFrame, x: str, y: str, look: Look, size: float) -> None:
    """Marks of a size in points, white inside where their rows are hollow."""
    for hollow, part in rows.groupby(weak(rows)):
        face = "white" if hollow else look.color
        axes.plot(part[x], part[y], look.marker, c=look.color, mfc=face, ms=size)


def announce(figure: Figure, rows: pd.DataFrame, shown: Looks, hollow: str, message: str) -> None:
    """Name in a figure's legend all series with a name, and why some marks are hollow."""
    axes = figure.axes[0]
    for name, look in shown.items():
        axes.plot([], [], look.marker, c=look.color, ls=look.dash, label=name)
    if hollow and weak(rows).any():
        axes.plot([], [], "o", c=GREY, mfc="white", label=f"hollow: {hollow}")
    legend(figure, message=message)


@style.context(STYLE)
def legend(figure: Figure, handles: Sequence[Artist] = (), message: str = "") -> None:
    """The legend of all panels above them; none where nothing is labelled.

    Args:
        figure: Theirs; a legend that it has gives way.
        handles: Marks to show instead of those that the panels label.
        message: What the figure shows, in bold above the legend; without it the former one's.
    """
    for former in list(figure.legends):
        message = message or former.get_title().get_text()
        former.remove()
    labelled = [handle for axes in figure.axes for handle in axes.get_legend_handles_labels()[0]]
    shown, room = list(handles or labelled), figure.get_figwidth()
    told = wrapped(message, room - 0.15)
    if not shown:
        figure.suptitle(told, x=0.02, ha="left", size=8, weight="bold")
        return
    # At 7 points a letter takes about 0.058 inches, a mark with its gaps 0.5.
    widths = [0.058 * len(str(one.get_label())) + 0.5 for one in shown]
    columns = len(shown) if sum(widths) <= room else max(1, int(room / max(widths)))
    figure.legend(
        handles=shown,
        loc="outside upper center",
        # Lines of even length.
        ncols=-(-len(shown) // -(-len(shown) // columns)),
        title=told,
        alignment="left" if told else "center",
        title_fontproperties={"weight": "bold", "size": 8},
    )


def _places(rows: pd.DataFrame, row: str, group: str | None) -> dict[tuple[str, str], int]:
    """The line of each row, counted from the top; a group's heading has a line, under ''."""
    keys = [
        (name, entry)
        for name, part in split(rows, group).items()
        for entry in [*[""] * bool(group), *split(part, row)]
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
    rows_by_panel: bool = False,
    joined: bool = False,
    rule: bool = True,
    reference: float | str | None = 0.0,
    limits: tuple[float, float] | None = None,
    hollow: str = "",
    note: str | None = None,
    message: str = "",
    **layout: Any,
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
        rows_by_panel: Whether each panel has rows of its own; else they share them.
        joined: Whether the marks of a row stand on one line.
        rule: Whether a dotted rule joins them then.
        reference: Where a thin line stands: a value that means none, or the column that holds it.
        limits: Of the horizontal axis.
        hollow: Why marks are hollow, for the legend.
        note: A column of texts for the right-hand side, the same in every series of a row; such as
            the number of pairs. It takes a page.
        message: What the figure shows, above its legend.
        layout: Of `grid`: `wrap` (5), `share_x`, `width`.

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
    known = rows.dropna(subset="value")
    shown = looks_of(known, series, looks, joined=False)
    group = group if group and rows[group].nunique() > 1 else None
    apart = len(shown) > 1 and not joined
    parts = split(rows, panel)
    series_of = [part.dropna(subset="value")[series].nunique() for part in parts.values()]
    most = series_of if rows_by_panel else [len(shown)] * len(parts)
    steps = [2 * AIR + STEP * max(many - 1, 0) * apart for many in most]
    places_of = [_places(part if rows_by_panel else rows, row, group) for part in parts.values()]
    layout = {"wrap": 5, "share_y": not rows_by_panel, "width": PAGE * bool(note)} | layout
    columns = min(layout["wrap"], len(parts))
    longest = max(len(entry) for places in places_of for _, entry in places)
    beside = 0.058 * longest * (columns if rows_by_panel else 1)
    heights = (step * len(of) + 0.45 for step, of in zip(steps, places_of, strict=True))
    sizes = dict(zip(parts, heights, strict=True))
    figure, panels = grid(sizes, (label, ""), beside=beside, **layout)
    drawn_in = zip(panels, parts.values(), places_of, steps, strict=True)
    for axes, part, places, step in drawn_in:
        keys = zip(part[group] if group else [""] * len(part), part[row], strict=True)
        at = pd.Series([places[key] for key in keys], part.index, dtype=float)
        axes.set_yticks(range(len(places)), [entry or name for name, entry in places])
        axes.set_ylim(len(places) - 0.4, -0.6)
        for tick, (_, entry) in zip(axes.yaxis.get_major_ticks(), places, strict=True):
            tick.label1.set_fontweight("normal" if entry else "bold")
        if joined and rule:
            ends = part["value"].groupby(at)
            axes.hlines([*ends.groups], ends.min(), ends.max(), color=GREY, lw=0.8, ls=":")
        for place in [place for (_, entry), place in places.items() if entry][::2] * apart:
            axes.axhspan(place - 0.5, place + 0.5, color="#F4F4F4", lw=0, zorder=0)
        null = part[reference].dropna() if isinstance(reference, str) else [reference]
        for value in {*null} - {None}:
            axes.axvline(value, color=GREY, lw=0.8)
        if note and (rows_by_panel or axes is panels[-1]):
            right = axes.get_yaxis_transform()
            for place, text in part[note].groupby(at).first().items():
                axes.text(1.02, place, text, fontsize=7, va="center", transform=right)
        if apart:
            at += _shifts(part, at, series, [*shown]) * STEP / step
        for one, look in shown.items():
            drawn = part.assign(at=at)[part[series].eq(one)]
            if "lo" in drawn:
                # The interval of a hollow mark is faint.
                colors = [(look.color, 0.4 if faint else 1.0) for faint in weak(drawn)]
                bounds = drawn["at"], drawn["lo"], drawn["hi"]
                axes.hlines(*bounds, color=colors, lw=1.1, label=as_interval(drawn))
            dots(axes, drawn, "value", "at", look, 4.2)
        axes.locator_params(axis="x", nbins=max(3, int(1.5 * figure.get_figwidth() / columns)))
        if limits:
            axes.set_xlim(limits)
    announce(figure, known, shown, hollow, message)
    return figure


def line(axes: Axes, rows: pd.DataFrame, x: str, look: Look, size: float) -> None:
    """A line with its band, from left to right; what is hollow or not joined has bars."""
    rows = rows.sort_values(x, kind="stable")
    joined = ~weak(rows) & (look.dash != "none")
    firm, beside, faint = rows[joined], rows[~joined], (look.color, 0.6)
    if "lo" in rows:
        band: dict[str, Any] = {"color": look.color, "alpha": 0.14, "lw": 0}
        axes.fill_between(firm[x], firm["lo"], firm["hi"], **band, label=as_interval(firm))
        bounds = beside[x], beside["lo"], beside["hi"]
        axes.vlines(*bounds, color=faint, lw=0.7, label=as_interval(beside))
    if f"{x}_lo" in rows:
        axes.hlines(rows["value"], rows[f"{x}_lo"], rows[f"{x}_hi"], color=faint, lw=0.7)
    axes.plot(firm[x], firm["value"], c=look.color, ls=look.dash, lw=1.0)
    dots(axes, rows, x, "value", look, size)


@style.context([STYLE, {"axes.grid.axis": "y"}])
def lines(
    rows: pd.DataFrame,
    *,
    x: str,
    label: tuple[str, str],
    looks: Looks | None = None,
    series: str = "series",
    panel: str | None = None,
    joined: bool = True,
    reference: float | None = None,
    limits: tuple[float, float] | None = None,
    hollow: str = "",
    size: float = 3.2,
    height: float = 0.0,
    message: str = "",
    **layout: Any,
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
        joined: Whether lines join the marks; else they are points.
        reference: Where a thin horizontal line stands: a value that means none.
        limits: Of the vertical axis.
        hollow: Why marks are hollow, for the legend.
        size: Of a mark, in points.
        height: Of a panel in inches.
        message: What the figure shows, above its legend.
        layout: Of `grid`: `wrap`, `share_x`, `share_y`, `width`.

    Returns:
        The figure; `legend` again after adding labelled marks to it. None without any value.

    >>> rows = pd.DataFrame({"step": [0, 1], "series": "gpt-4", "value": [0.1, 0.2]})
    >>> figure = lines(rows, x="step", label=("step", "bias"), looks={"gpt-4": Look("#0072B2")})
    >>> [line.get_ydata().tolist() for line in figure.axes[0].lines[:1]]
    [[0.1, 0.2]]
    >>> figure.get_supxlabel(), figure.get_supylabel()
    ('step', 'bias')
    >>> lines(rows.assign(value=np.nan), x="step", label=("step", "bias"))
    """
    rows = rows.dropna(subset=["value", x])
    if rows.empty:
        return None
    shown = looks_of(rows, series, looks, joined=joined)
    names = rows[x].cat.categories if isinstance(rows[x].dtype, pd.CategoricalDtype) else []
    rows = rows.assign(**{x: rows[x].cat.codes}) if len(names) else rows
    parts = split(rows, panel)
    height = height or (1.25 if "width" in layout else 1.7)
    figure, panels = grid(dict.fromkeys(parts, height), label, **layout)
    for axes, part in zip(panels, parts.values(), strict=True):
        if reference is not None:
            axes.axhline(reference, color=GREY, lw=0.7)
        for one, look in shown.items():
            line(axes, part[part[series].eq(one)], x, look, size)
        if len(names):
            axes.set_xticks(range(len(names)), names)
        elif pd.api.types.is_integer_dtype(rows[x]):
            axes.locator_params(axis="x", integer=True, nbins=6)
        if limits:
            axes.set_ylim(limits)
        axes.grid(visible=not joined, axis="x")
    announce(figure, rows, shown, hollow, message)
    return figure
