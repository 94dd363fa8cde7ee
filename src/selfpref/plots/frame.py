"""What all pictures share: palette, sizes, panels, one legend.

A mark (`marks.forest`, `lines`, `scatter`, `heatmap`) takes a long frame: a row a mark, with
`value`, its bounds `lo` and `hi` (NaN or absent: no interval), and columns that say where it
belongs: which series, which row, which panel. Order is that of first appearance. A column `hollow`
of booleans marks what is not to be relied on, because it is flawed or rests on too few
observations: hollow means this alone, in every picture, and the legend says why.
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
_OTHERS = (
    *("other judges, in the mean", "another judge", "towards another model's", "pairs of others"),
    "others' texts, or other readers",
)
LOOKS = {
    **dict.fromkeys(_OTHERS, Look(GREY, "D")),
    **dict.fromkeys(("another person", "people"), Look(PURPLE, "v")),
    "a person, if Arena's voters agree as much as MT-Bench's": Look(PURPLE, "v"),
    "a person, if Arena's voters agree as much as Vicuna-80's": Look(PURPLE, "^"),
    "injected": Look(BLACK, "+"),
    "oracle rule (no preference)": Look(BLACK, "x"),
    **dict.fromkeys(("reference metric", "all are there", "is correct"), Look(ORANGE, "s")),
    "human raters": Look(BLACK, "*", "none"),
    "judge of pure noise": Look(GREY, "x", "--"),
    "one candidate at random": Look(YELLOW, "P", ":"),
    "against all texts": Look(GREY, "|"),
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


def looks_of(rows: pd.DataFrame, series: str, given: Looks | None = None) -> dict[str, Look]:
    """The look of each series that a long frame has.

    Args:
        rows: The frame.
        series: The column of the series.
        given: Theirs, in their order; without it as above, in the order of first appearance.

    >>> [*looks_of(pd.DataFrame({"series": ["people", "mine"]}), "series")]
    ['people', 'mine']
    """
    names = order(rows[series])
    if given:
        return {name: look for name, look in given.items() if name in names}
    known = {**looks(name for name in names if name not in LOOKS), **LOOKS}
    return {name: known[name] for name in names}


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


def order(column: pd.Series) -> list[str]:
    """The entries in the order of their first appearance; of a categorical, its own order."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [entry for entry in column.cat.categories if column.eq(entry).any()]
    return list(dict.fromkeys(column))


def split(rows: pd.DataFrame, column: str | None) -> dict[str, pd.DataFrame]:
    """The rows of each entry of a column, in their order; all under '' without a column."""
    if column is None:
        return {"": rows}
    return {name: rows[rows[column].eq(name)] for name in order(rows[column])}


def empty(width: float, height: float) -> Figure:
    """An empty figure, in inches. Draw within `matplotlib.style.context(STYLE)`."""
    return Figure(figsize=(width, height), layout="constrained")


def grid(
    heights: Mapping[str, float],
    wrap: int,
    label: tuple[str, str],
    *,
    share_x: bool | str = True,
    share_y: bool | str = True,
    width: float = 0.0,
    beside: float = 0.3,
) -> tuple[Figure, list[Axes]]:
    """A figure with at most `wrap` panels beside one another; spare places stay empty.

    Args:
        heights: By the heading of each panel its height with it, in inches.
        wrap: At most so many in a line, which is as high as its highest panel.
        label: Of the horizontal and of the vertical axis.
        share_x: Whose horizontal axis is one.
        share_y: Whose vertical axis is one.
        width: Of the figure; without it a page, or less for a single panel.
        beside: What labels beside the panels take of the width.
    """
    inches, columns = list(heights.values()), min(wrap, len(heights))
    tallest = [max(inches[first : first + columns]) for first in range(0, len(inches), columns)]
    width = width or (PAGE if columns > 1 else SINGLE)
    figure = empty(width, sum(tallest) + 0.75)
    shape: dict[str, Any] = {"sharex": share_x, "sharey": share_y, "height_ratios": tallest}
    places = figure.subplots(len(tallest), columns, squeeze=False, **shape).flat
    panels = list(places[: len(heights)])
    for spare in places[len(heights) :]:
        spare.set_axis_off()
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


def dots(axes: Axes, rows: pd.DataFrame, x: pd.Series, y: pd.Series, look: Look, ms: float) -> None:
    """Marks of a size in points, white inside where their rows are hollow."""
    hollow = weak(rows)
    for part, face in ((~hollow, look.color), (hollow, "white")):
        if part.any():
            axes.plot(x[part], y[part], look.marker, c=look.color, mfc=face, ms=ms)


def announce(figure: Figure, rows: pd.DataFrame, shown: Looks, hollow: str, message: str) -> None:
    """Name in a figure's legend all series with a name, and why some marks are hollow."""
    axes = figure.axes[0]
    for name, look in shown.items():
        axes.plot([], [], look.marker, c=look.color, ls=look.dash, label=name)
    if hollow and weak(rows).any():
        axes.plot([], [], "o", c=GREY, mfc="white", label=hollow)
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
    # Lines of even length.
    look: dict[str, Any] = {"ncols": -(-len(shown) // -(-len(shown) // columns))}
    look |= {"title": told, "alignment": "left" if told else "center"}
    look |= {"title_fontproperties": {"weight": "bold", "size": 8}}
    figure.legend(handles=shown, loc="outside upper center", **look)
