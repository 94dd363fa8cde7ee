"""What all pictures share: palette, sizes, panels, one legend, and a picture for the lack of data.

A mark (`forest`, `lines`, `scatter`, `heatmap`) takes a long frame: a row a mark, with `value`, its
bounds `lo` and `hi` (NaN or absent: no interval), and columns that say where it belongs: which
series, which row, which panel. Order is that of first appearance. A column `hollow` of booleans
marks what is not to be relied on, because it is flawed or rests on too few observations: hollow
means this alone, in every picture, and the legend says why.
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

STYLE = Path(__file__).with_name("selfpref.mplstyle")
# Widths in inches: a text column, one panel with row labels, a page.
COLUMN, SINGLE, PAGE = 3.35, 5.2, 6.9
# Okabe and Ito's palette, told apart with any colour vision.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
YELLOW, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#767676"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, YELLOW, SKY, BLACK, GREY)
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


# What a series means decides how it looks, whatever is drawn; others take the palette's colours.
_SELF = (
    *("", "the judge itself", "the responses' author", "judge", "measured", "decisive rows only"),
    *("own response in the pair (A)", "its own texts, read by itself"),
    *("towards its own responses (paper's counts)", "its own score", "the model's own choice"),
    *("says that all are there", "says that it is correct", "paraphrase", "after refinement"),
    *("against texts as good", "well formed"),
)
_OTHERS = (
    *("other judges, in the mean", "another judge", "towards another model's", "pairs of others"),
    "others' texts, or other readers",
)
LOOKS = {
    **dict.fromkeys(_SELF, Look(BLUE)),
    **dict.fromkeys(_OTHERS, Look(GREY, "D")),
    **dict.fromkeys(("another person", "people"), Look(PURPLE, "v")),
    "a person, if Arena's voters agree as much as MT-Bench's": Look(PURPLE, "v"),
    "a person, if Arena's voters agree as much as Vicuna-80's": Look(PURPLE, "^"),
    "injected": Look(BLACK, "+"),
    "oracle rule (no preference)": Look(BLACK, "x"),
    "people's ties included": Look(SKY, "s"),
    "every pair, voted on or not": Look(GREEN, "^"),
    "all pairs as they are": Look(BLACK),
    "given who wrote the two texts": Look(ORANGE, "s"),
    "given who wrote them, and their length": Look(YELLOW, "^"),
    **dict.fromkeys(("reference metric", "all are there", "is correct"), Look(ORANGE, "s")),
    "human raters": Look(BLACK, "*", "none"),
    "judge of pure noise": Look(GREY, "x", "--"),
    "one candidate at random": Look(YELLOW, "P", ":"),
    **dict.fromkeys(("translation", "before refinement"), Look(SKY, "v")),
    "against all texts": Look(GREY, "|"),
    "well formed but for a last line cut off": Look(GREEN, "D"),
    "a score can be read": Look(ORANGE, "x"),
}


def looks(names: Iterable[str], first: Sequence[str] = ()) -> dict[str, Look]:
    """Colour and marker of each name.

    Args:
        names: Of models, judges or conditions; sorted, so that a name keeps its look wherever the
            same names are drawn.
        first: Names that come first and keep their place whether they are among `names` or not.

    Returns:
        A look for each of `names`.

    >>> looks(["b", "a"])["b"]
    Look(color='#D55E00', marker='D', dash='-')
    >>> looks(["b", "other"], first=["a", "b"])["other"].marker
    's'
    """
    held = set(names)
    order = [*(first if held & set(first) else ()), *sorted(held - set(first))]
    return {
        name: Look(PALETTE[place % len(PALETTE)], MARKERS[place % len(MARKERS)])
        for place, name in enumerate(order)
        if name in held
    }


def looks_of(rows: pd.DataFrame, series: str) -> dict[str, Look]:
    """The look of each series of a long frame, in the order of their first appearance.

    >>> [*looks_of(pd.DataFrame({"series": ["people", "mine"]}), "series")]
    ['people', 'mine']
    """
    names = order(rows[series]) if series in rows else [""]
    rest = looks(name for name in names if name not in LOOKS)
    return {name: LOOKS.get(name) or rest[name] for name in names}


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


def empty(width: float, height: float) -> Figure:
    """An empty figure, in inches, with room at its edges: long labels are set wider than measured.

    Draw within `matplotlib.style.context(STYLE)`.
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.set_layout_engine("constrained", w_pad=0.09)
    return figure


def blank(axes: Axes) -> None:
    """Say of one panel among others that nothing is there to draw."""
    axes.text(
        *(0.5, 0.5, "no data"),
        transform=axes.transAxes, ha="center", va="center", fontsize=8, color=GREY,
    )  # fmt: skip


def grid(
    heights: Sequence[float], wrap: int, *, share_x: bool, share_y: bool, width: float = 0.0
) -> tuple[Figure, list[Axes]]:
    """A figure with `wrap` panels beside one another; spare places stay empty.

    Args:
        heights: Of each panel with its title, in inches; a line of panels has the greatest.
        wrap: At most so many in a line.
        share_x: Whether all panels have one horizontal axis.
        share_y: Whether all panels have one vertical axis.
        width: Of the figure; without it a page, or less for a single panel.
    """
    columns = min(wrap, len(heights))
    tallest = [max(heights[start : start + columns]) for start in range(0, len(heights), columns)]
    figure = empty(width or (PAGE if columns > 1 else SINGLE), sum(tallest) + 0.75)
    axes = figure.subplots(
        *(len(tallest), columns),
        sharex=share_x,
        sharey=share_y,
        squeeze=False,
        height_ratios=tallest,
    )
    for spare in axes.flat[len(heights) :]:
        spare.set_axis_off()
    # Above a spare place the ticks of a shared axis are needed again.
    for above in axes.flat[max(0, len(heights) - columns) : len(heights)]:
        above.tick_params(labelbottom=True)
    return figure, list(axes.flat[: len(heights)])


def head(axes: Axes, title: str, columns: int, beside: float = 0.3) -> None:
    """The heading of a panel, in lines that fit above it.

    Args:
        axes: The panel.
        title: Its heading; line breaks stay.
        columns: How many panels stand beside one another.
        beside: What labels beside the panels take of the figure's width, in inches.
    """
    figure = axes.get_figure()
    width = figure.get_figwidth() if isinstance(figure, Figure) else PAGE
    axes.set_title(wrapped(title, (width - beside) / columns - 0.1))


def wrapped(text: str, width: float) -> str:
    """A bold text of 8 points in lines of a width in inches; line breaks stay."""
    # A letter takes about 0.066 inches.
    return "\n".join(textwrap.fill(line, int(width / 0.066)) for line in text.split("\n"))


def weak(rows: pd.DataFrame) -> pd.Series:
    """Whether each row has a value that is not to be relied on."""
    if "hollow" not in rows:
        return pd.Series(False, index=rows.index)
    return rows["hollow"].eq(True)


def dots(
    axes: Axes, x: pd.Series, y: pd.Series, look: Look, hollow: pd.Series, size: float
) -> None:
    """Marks, white inside where they are hollow.

    Args:
        axes: Where to draw.
        x: Their horizontal places.
        y: Their vertical places.
        look: Colour and marker.
        hollow: Whether each is hollow.
        size: In points.
    """
    for part, face in ((~hollow, look.color), (hollow, "white")):
        if part.any():
            axes.plot(x[part], y[part], look.marker, c=look.color, mfc=face, ms=size)


def announce(
    axes: Axes, shown: Mapping[str, Look], *, hollow: str = "", joined: bool = False
) -> None:
    """Put series into the legend, in their order.

    Args:
        axes: Any panel.
        shown: Label to look.
        hollow: Why some marks are hollow; none are without it.
        joined: Whether marks are joined by lines.
    """
    for label, look in shown.items():
        style = look.dash if joined else "none"
        axes.plot([], [], color=look.color, marker=look.marker, linestyle=style, label=label)
    if hollow:
        axes.plot([], [], "o", c=GREY, mfc="white", label=hollow)


def mark(label: str, look: Look) -> Line2D:
    """An entry of a legend that `legend` is given."""
    return Line2D([], [], label=label, color=look.color, marker=look.marker, linestyle="none")


@style.context(STYLE)
def legend(figure: Figure, handles: Sequence[Line2D] = (), message: str = "") -> None:
    """The legend of all panels above them, each label once; none where nothing is labelled.

    Args:
        figure: Theirs; a legend that it has gives way.
        handles: Marks to show instead of those that the panels label.
        message: What the figure shows, in bold above the legend; without it the former one's.
    """
    for former in list(figure.legends):
        message = message or former.get_title().get_text()
        former.remove()
    found: dict[str, Artist] = {str(handle.get_label()): handle for handle in handles}
    for axes in () if found else figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    told = wrapped(message, figure.get_figwidth() - 0.15)
    if not found:
        if told:
            figure.suptitle(told, x=0.02, ha="left", size=8, weight="bold")
        return
    # At 7 points a letter takes about 0.058 inches, a mark with its gaps 0.5.
    widths = [0.058 * len(label) + 0.5 for label in found]
    room = figure.get_figwidth()
    columns = len(found) if sum(widths) <= room else max(1, int(room / max(widths)))
    # Lines of even length.
    columns = -(-len(found) // -(-len(found) // columns))
    figure.legend(
        *(list(found.values()), list(found)),
        loc="outside upper center",
        ncols=columns,
        title=told,
        title_fontproperties={"weight": "bold", "size": 8},
        alignment="left" if told else "center",
    )
