"""The figures of the LiveBench study from the frames of `selfpref.studies.livebench.measure`."""

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from selfpref.plots.marks import BLACK, GREY, dots, legend, no_data, row_labels
from selfpref.plots.panels import looks_of, paper, shifted
from selfpref.plots.save import PAGE, STYLE

ALL = "all"
# How the rules of the vote are headed in the figures.
RULES = {
    "released": "vote, as released",
    "corrected": "vote, index corrected",
    "two-of-three": "majority only",
}


def _tasks(rows: pd.DataFrame) -> list[str]:
    """The category as a whole, then its tasks by name."""
    return [ALL, *sorted(set(rows["task"]) - {ALL})]


def _bar(axes: Axes, at: float, part: pd.DataFrame, looks: dict[str, tuple[str, str]]) -> None:
    """One stacked bar, every percentage printed; what is left is a tie or undecided."""

    def stretch(start: float, share: float, **look: Any) -> None:
        axes.barh(at, share, left=start, height=0.78, **look)
        # The number of a narrow stretch at an edge stays inside the axes.
        middle = min(max(start + share / 2, 1.6), 98.4)
        axes.text(middle, at, f"{share:.1f}", ha="center", va="center", fontsize=6.5)

    start = 0.0
    for name, share in zip(part["responder"], 100 * part["share"], strict=True):
        if share > 0:
            stretch(start, share, color=looks[name][0], alpha=0.55)
        start += share
    if start < 99.95:
        stretch(start, 100 - start, color="white", edgecolor=GREY, linewidth=0.5)


@style.context(STYLE)
def shares_as_released(shares: pd.DataFrame, votes: pd.DataFrame, category: str) -> Figure:
    """One category's pies as bars: each judge on the whole and on each task, then the votes.

    Args:
        shares: The frame `preference_shares`.
        votes: The frame `majority_vote`.
        category: Which category.
    """
    part = shares[shares["category"].eq(category)]
    if part.empty or not part["n"].gt(0).any():
        return no_data(f"no judge chose a response in {category}")
    looks = looks_of(sorted(set(part["responder"])))
    labels: list[str] = []
    places: list[float] = []
    bars: list[pd.DataFrame] = []
    at = 0.0
    for task in _tasks(part):
        for judge, own in part[part["task"].eq(task)].groupby("judge", sort=True):
            labels.append(f"{judge}  {task}, n={own['n'].iloc[0]}")
            places.append(at)
            bars.append(own)
            at += 1
        at += 0.5
    cast = votes[votes["category"].eq(category)]
    for rule, heading in RULES.items():
        own = cast[cast["rule"].eq(rule)]
        if len(own):
            labels.append(f"{heading}, n={own['n'].iloc[0]}")
            places.append(at)
            bars.append(own)
            at += 1
    figure = paper(PAGE, 0.19 * at + 0.75)
    axes = figure.subplots()
    for place, bar in zip(places, bars, strict=True):
        _bar(axes, place, bar, looks)
    axes.set_yticks(places, labels)
    axes.set_ylim(at - 0.4, -0.6)
    axes.set_xlim(0, 100)
    axes.grid(visible=False)
    axes.set_xlabel("responses chosen, % of rows (white: tie or undecided)")
    axes.set_title(category)
    for name, (color, _) in looks.items():
        axes.barh(0, 0, color=color, alpha=0.55, label=name)
    legend(figure, [axes], 4)
    return figure


def _share_panel(
    axes: Axes, part: pd.DataFrame, cast: pd.DataFrame, judges: dict[str, tuple[str, str]]
) -> None:
    """Shares of each responder (rows) by each judge and vote (marks); of itself: filled."""
    responders = sorted(set(part["responder"]))
    frame = pd.DataFrame({"responder": responders})
    series: list[tuple[str, str | None, pd.DataFrame, str, str]] = [
        (f"judge {judge}", judge, part[part["judge"].eq(judge)], color, marker)
        for judge, (color, marker) in judges.items()
    ]
    series += [
        (RULES[rule], None, cast[cast["rule"].eq(rule)], color, "|")
        for rule, color in (("released", BLACK), ("corrected", GREY))
        if cast["rule"].eq(rule).any()
    ]
    for place, (label, judge, own, color, marker) in enumerate(series):
        marks = own.rename(columns={"lo": "share_lo", "hi": "share_hi"})
        rows = frame.merge(marks, on="responder", how="left")
        for filled in (False, True):
            dots(
                axes,
                rows.where((rows["responder"] == judge) == filled, np.nan),
                "share",
                shift=shifted(place, len(series)),
                color=color,
                marker=marker,
                filled=filled,
                label=None if filled else label,
            )
    row_labels(axes, responders)
    axes.set_xlim(-0.03, 1.03)


@style.context(STYLE)
def share_dots(shares: pd.DataFrame, votes: pd.DataFrame, *, tasks: bool) -> Figure:
    """The same shares with intervals, one panel a category or a task.

    Args:
        shares: The frame `preference_shares`.
        votes: The frame `vote_intervals`; drawn in the panels of categories.
        tasks: One panel a task instead of one a category.
    """
    kept = shares[shares["task"].ne(ALL) if tasks else shares["task"].eq(ALL)]
    if kept.empty or not kept["n"].gt(0).any():
        return no_data("no judge chose a response")
    judges = looks_of(sorted(set(kept["judge"])))
    panels = list(kept.groupby(["category", "task"], sort=True))
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    row = (0.25 if tasks else 0.42) * kept["responder"].nunique()
    figure = paper(PAGE, lines * (row + 0.42) + 0.75)
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, ((category, task), part) in zip(grid.flat, panels, strict=False):
        cast = votes[votes["category"].eq(category)] if not tasks else votes.iloc[:0]
        _share_panel(axes, part, cast, judges)
        axes.set_title(f"{task if tasks else category}  n={part['n'].max()}", fontsize=7.5)
    figure.supxlabel("share of rows on which the responder is chosen", fontsize=8)
    legend(figure, [grid[0, 0]], 3)
    return figure


@style.context(STYLE)
def heatmap(shares: pd.DataFrame, scores: pd.DataFrame) -> Figure:
    """Judge by responder: how often chosen, and the mean rubric total, one column a category.

    Args:
        shares: The frame `preference_shares`.
        scores: The frame `scores`.
    """
    whole = shares[shares["task"].eq(ALL)]
    if whole.empty or not whole["n"].gt(0).any():
        return no_data("no judge chose a response")
    categories = sorted(set(whole["category"]))
    rows = [("share", whole, "Blues", (0, 1), ".2f"), ("mean", scores, "Greens", (8, 11), ".1f")]
    rows = [row for row in rows if len(row[1])]
    judges = whole["judge"].nunique()
    figure = paper(PAGE, len(rows) * (0.3 * judges + 0.55) + 0.75)
    grid = figure.subplots(len(rows), len(categories), squeeze=False)
    for line, (value, frame, colors, (low, high), written) in zip(grid, rows, strict=True):
        for axes, category in zip(line, categories, strict=True):
            part = frame[frame["category"].eq(category)]
            table = part.pivot(index="judge", columns="responder", values=value)
            sns.heatmap(
                table,
                annot=True,
                fmt=written,
                cmap=colors,
                vmin=low,
                vmax=high * 1.1,
                cbar=False,
                annot_kws={"fontsize": 6.5},
                ax=axes,
            )
            axes.set_xlabel("")
            axes.set_ylabel("")
            axes.grid(visible=False)
            axes.tick_params(length=0)
            if axes in grid[0]:
                axes.set_title(category.replace("_", "\n"), fontsize=7.5)
            axes.tick_params(axis="x", rotation=90, labelsize=6.5, labelbottom=axes in grid[-1])
            axes.tick_params(axis="y", rotation=0, labelsize=6.5, labelleft=axes is line[0])
    grid[0, 0].set_ylabel("judge: share chosen")
    if len(rows) > 1:
        grid[1, 0].set_ylabel("judge: mean total")
    figure.supxlabel("responder", fontsize=8)
    return figure
