"""Marks of figures along the steps of a refinement: one line a model, flawed steps hollow."""

from collections.abc import Iterable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from selfpref.plots.marks import GREY, styled
from selfpref.plots.save import PAGE

_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#767676")
_MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
# The paper's models keep their marks in every figure; others follow in order.
_KNOWN = ("gpt-4", "gpt-3.5-turbo", "gemini", "mistral_moe", "llama2-7b", "deepseek_moe")
CONVENTIONS = {"released": "as released", "corrected": "corrected"}

Look = dict[str, str]


def looks(models: Iterable[str]) -> dict[str, Look]:
    """Colour and marker of each model, the same in every figure of the paper's models."""
    held = set(models)
    reserved = _KNOWN if held & set(_KNOWN) else ()
    order = [*reserved, *sorted(held - set(_KNOWN))]
    return {
        name: {"color": _COLORS[i % len(_COLORS)], "marker": _MARKERS[i % len(_MARKERS)]}
        for i, name in enumerate(order)
        if name in held
    }


def flawed(rows: pd.DataFrame, integrity: pd.DataFrame) -> pd.Series:
    """Whether each row's step is contaminated; a mean over languages if one of them is.

    Args:
        rows: With `language, model, step`.
        integrity: The frame of this name.
    """
    spoilt = integrity[integrity["contaminated"] & integrity["condition"].eq("")]
    cells = set(zip(spoilt["language"], spoilt["model"], spoilt["step"], strict=True))
    # CommonGen is no part of the mean over languages of translation.
    steps = {(model, step) for language, model, step in cells if language != "commongen"}
    return pd.Series(
        [
            (model, step) in steps if language == "average" else (language, model, step) in cells
            for language, model, step in zip(
                rows["language"], rows["model"], rows["step"], strict=True
            )
        ],
        index=rows.index,
        dtype=bool,
    )


def line(
    axes: Axes,
    rows: pd.DataFrame,
    value: str,
    look: Look,
    *,
    label: str | None = None,
    style: str = "-",
    x: str = "step",
) -> None:
    """A line with its interval; where `flawed` holds, the mark is hollow.

    Args:
        axes: Where to draw.
        rows: With `x`, the value, its `_lo` and `_hi` (or none), and `flawed` (or not).
        value: The column.
        look: Colour and marker.
        label: For the legend.
        style: Of the line.
        x: The column along.
    """
    rows = rows[rows[value].notna()].sort_values(x)
    if rows.empty:
        return
    color = look["color"]
    if f"{value}_lo" in rows:
        axes.fill_between(
            rows[x], rows[f"{value}_lo"], rows[f"{value}_hi"], color=color, alpha=0.12, linewidth=0
        )
    axes.plot(rows[x], rows[value], linestyle=style, color=color, linewidth=1.0)
    hollow = rows["flawed"] if "flawed" in rows else pd.Series(False, index=rows.index)
    for part, face in ((rows[~hollow], color), (rows[hollow], "white")):
        axes.plot(
            part[x],
            part[value],
            linestyle="none",
            marker=look["marker"],
            color=color,
            markerfacecolor=face,
            markersize=3.4,
        )
    # The legend shows line and mark together.
    axes.plot(
        [], [], linestyle=style, marker=look["marker"], color=color, markersize=3.4, label=label
    )


def panels(count: int, columns: int, height: float, extra: float) -> tuple[Figure, list[Axes]]:
    """A page-wide grid of panels that share their value axis; spare ones are empty.

    Args:
        count: How many.
        columns: At most this many in a row.
        height: Of each row, in inches.
        extra: For titles and legend, in inches.
    """
    columns = min(columns, count)
    lines = -(-count // columns)
    width = PAGE if columns > 1 else PAGE * 0.6
    figure = styled(width, height * lines + extra)
    grid = figure.subplots(lines, columns, sharey=True, squeeze=False)
    for spare in grid.flat[count:]:
        spare.set_axis_off()
    for axes in grid.flat[:count]:
        axes.grid(visible=True, axis="y")
        axes.grid(visible=False, axis="x")
    return figure, list(grid.flat[:count])


def level(axes: Axes, at: float = 0.0) -> None:
    """A thin line at a value that means none."""
    axes.axhline(at, color=GREY, linewidth=0.7)
