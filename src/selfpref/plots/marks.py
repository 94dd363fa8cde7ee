"""Marks that several studies draw: rows with intervals, and a picture for the lack of data."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from selfpref.plots.save import COLUMN, STYLE

BLUE, ORANGE, GREEN, BLACK, GREY = "#0072B2", "#D55E00", "#009E73", "#000000", "#767676"


def styled(width: float, height: float) -> Figure:
    """An empty figure in the project's style, in inches."""
    with style.context(STYLE):
        return Figure(figsize=(width, height), layout="constrained")


def no_data(reason: str) -> Figure:
    """What a figure shows when nothing is left to draw.

    Args:
        reason: What was there and what dropped out, with counts.
    """
    figure = styled(COLUMN, 1.2)
    figure.text(0.5, 0.62, "no data", ha="center", va="center", fontsize=12, color=GREY)
    figure.text(0.5, 0.3, reason, ha="center", va="center", fontsize=7, color=GREY, wrap=True)
    return figure


def nothing(axes: Axes) -> None:
    """Say of one panel among others that nothing is there to draw."""
    axes.text(
        *(0.5, 0.5, "no data"),
        transform=axes.transAxes, ha="center", va="center", fontsize=8, color=GREY,
    )  # fmt: skip
    axes.set_yticks([])


def dots(
    axes: Axes,
    rows: pd.DataFrame,
    value: str,
    *,
    shift: float = 0.0,
    marker: str = "o",
    color: str = BLUE,
    filled: bool = True,
    label: str | None = None,
) -> None:
    """A mark with its interval for each row, the first row on top.

    Args:
        axes: Where to draw.
        rows: With the columns `value`, `value`_lo and `value`_hi; NaN is not drawn.
        value: The column.
        shift: Moves the marks down by this part of a row, so that several series stay apart.
        marker: A matplotlib marker.
        color: Of mark and interval.
        filled: Whether the mark is filled.
        label: For the legend.
    """
    at = np.arange(len(rows)) + shift
    lo, hi = f"{value}_lo", f"{value}_hi"
    if lo in rows and rows[lo].notna().any():
        axes.hlines(at, rows[lo], rows[hi], color=color, linewidth=1.1)
    axes.plot(
        rows[value],
        at,
        linestyle="none",
        marker=marker,
        color=color,
        markerfacecolor=color if filled else "white",
        label=label,
    )


def legend(
    figure: Figure, panels: Iterable[Axes], columns: int | None = None, *, below: bool = False
) -> None:
    """One legend of all panels, each label once; none where nothing is labelled.

    Args:
        figure: Theirs.
        panels: Whose labels.
        columns: At most so many; all in one row without it.
        below: Under the panels instead of above them.
    """
    handles = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if handles:
        figure.legend(
            handles.values(),
            handles.keys(),
            loc="outside lower center" if below else "outside upper center",
            ncols=columns or len(handles),
        )


def row_labels(axes: Axes, names: list[str]) -> None:
    """Label the rows that `dots` draws, the first on top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
