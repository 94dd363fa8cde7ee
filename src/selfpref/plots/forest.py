"""Rows with a mark and its interval: what most figures of the studies are."""

from collections.abc import Mapping

import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas.api.typing import SeriesGroupBy

from selfpref.plots.frame import (
    GREY,
    PAGE,
    STYLE,
    Look,
    announce,
    dots,
    grid,
    head,
    legend,
    looks_of,
    order,
    weak,
)

# Inches between the marks of two series in a row, and above and below them.
STEP, AIR = 0.072, 0.09
STRIPE = "#F4F4F4"
# How dark the interval of a hollow mark is.
FADED = 0.4


def _places(rows: pd.DataFrame, row: str, group: str | None) -> dict[tuple[str, str], int]:
    """The line of each row, counted from the top; a group's heading has a line, under ''."""
    places: dict[tuple[str, str], int] = {}
    for name in order(rows[group]) if group else [""]:
        part = rows[rows[group].eq(name)] if group else rows
        keys = [(name, entry) for entry in order(part[row])]
        for key in [(name, ""), *keys] if group else keys:
            places[key] = len(places)
    return places


def _label(axes: Axes, places: Mapping[tuple[str, str], int]) -> None:
    """Names of rows beside them, of groups in a line of their own."""
    rows = {place: entry for (_, entry), place in places.items() if entry}
    axes.set_yticks(list(rows), list(rows.values()))
    axes.set_ylim(len(places) - 0.4, -0.6)
    for (name, entry), place in places.items():
        if not entry:
            axes.text(
                *(0.015, place, name),
                transform=axes.get_yaxis_transform(), va="center", fontsize=8, weight="bold",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.2}, zorder=2.1,
            )  # fmt: skip


def _tell_apart(
    axes: Axes, places: Mapping[tuple[str, str], int], marks: SeriesGroupBy, *, joined: bool
) -> None:
    """Rows that hold several marks: a rule through them, or a stripe behind every second row."""
    if joined:
        axes.hlines([*marks.groups], marks.min(), marks.max(), color=GREY, lw=0.8, alpha=0.5)
        return
    for place in [place for (_, entry), place in places.items() if entry][::2]:
        axes.axhspan(place - 0.5, place + 0.5, color=STRIPE, linewidth=0, zorder=0)


def _shifts(rows: pd.DataFrame, at: pd.Series, series: str, shown: list[str]) -> pd.Series:
    """How far each mark stands below the middle of its row, in marks: side by side, no gaps."""
    drawn = rows[rows["value"].notna() & rows[series].isin(shown)]
    kinds = pd.crosstab(at[drawn.index], drawn[series]).reindex(columns=shown, fill_value=0).gt(0)
    ranks = kinds.cumsum(axis=1).sub((kinds.sum(axis=1) + 1) / 2, axis=0)
    keys = zip(at, rows[series], strict=True)
    wanted = ranks.stack()
    return pd.Series([wanted.get(key, 0.0) for key in keys], index=rows.index, dtype=float)


def _remark(axes: Axes, at: pd.Series, notes: pd.Series) -> None:
    """Texts on the right, one a row."""
    texts = notes.groupby(at).first()
    right = axes.secondary_yaxis("right")
    right.set_yticks(list(texts.index), list(texts))
    right.tick_params(labelsize=7, labelcolor="0.25", length=0)
    right.spines["right"].set_visible(False)


@style.context(STYLE)
def forest(
    rows: pd.DataFrame,
    *,
    row: str,
    label: str,
    looks: Mapping[str, Look] | None = None,
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
            `looks_of` has them. A single one needs no such column and is not put into the legend.
        series: The column of the series.
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
    >>> figure = forest(rows, row="judge", label="bias", looks={"bias": Look("#0072B2")})
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['j', 'k']
    """
    if rows["value"].isna().all():
        return None
    rows = rows.reset_index(drop=True)
    looks = looks or looks_of(rows[rows["value"].notna()], series)
    if group and rows[group].nunique() < 2:
        group = None
    names = order(rows[panel]) if panel else [""]
    several = len(looks) > 1
    shown = [name for name in looks if not several or rows[series].eq(name).any()]
    step = AIR * 2 + (0 if joined else STEP * (len(shown) - 1))
    parts = {name: rows[rows[panel].eq(name)] if panel else rows for name in names}
    places_of = [_places(part if rows_by_panel else rows, row, group) for part in parts.values()]
    columns = min(wrap, len(parts))
    figure, panels = grid(
        [step * len(places) + 0.45 for places in places_of],
        columns,
        share_x=share_x,
        share_y=not rows_by_panel,
        width=width or (PAGE if note else 0.0),
    )
    beside = 0.058 * max(len(entry) for places in places_of for _, entry in places)
    beside *= columns if rows_by_panel else 1
    for number, (axes, name, places) in enumerate(zip(panels, parts, places_of, strict=True)):
        part = parts[name]
        # Marks of a row keep their places from panel to panel.
        within = part if rows_by_panel else rows
        keys = zip(within[group] if group else [""] * len(within), within[row], strict=True)
        at = pd.Series([places[key] for key in keys], index=within.index, dtype=float)
        if several:
            _tell_apart(axes, places, part["value"].groupby(at[part.index]), joined=joined)
        known = part[reference].dropna().unique() if isinstance(reference, str) else [reference]
        for value in known:
            if value is not None:
                axes.axvline(value, color=GREY, linewidth=0.8)
        apart = several and not joined
        shifts = _shifts(within, at, series, shown) * STEP / step if apart else 0 * at
        for one in shown:
            mine = part.index[part[series].eq(one)] if several else part.index
            drawn, here, color = part.loc[mine], (at + shifts)[mine], looks[one].color
            if "lo" in drawn:
                faint = weak(drawn)
                for part_of, alpha in ((~faint, 1.0), (faint, FADED)):
                    bounds = (drawn.loc[part_of, end] for end in ("lo", "hi"))
                    axes.hlines(here[part_of], *bounds, color=color, linewidth=1.1, alpha=alpha)
            dots(axes, drawn["value"], here, looks[one], weak(drawn), 4.2)
        if rows_by_panel or not number % columns:
            _label(axes, places)
        if note and (rows_by_panel or axes is panels[-1]):
            _remark(axes, at[part.index], part[note])
        ticks = max(3, min(8, int(2.0 * ((width or PAGE) - beside) / columns)))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=ticks, steps=[1, 2, 2.5, 5, 10]))
        head(axes, str(name), columns, beside)
        if limits:
            axes.set_xlim(limits)
    figure.supxlabel(label, fontsize=8)
    seen = {name: looks[name] for name in shown if several}
    announce(panels[0], seen, hollow=hollow if weak(rows[rows["value"].notna()]).any() else "")
    legend(figure, message=message)
    return figure
