"""Rows in which a line leads from one number of a judge to another: from stored to corrected.

A colour is a base model, as in `plane`; a cross is where a line begins, a dot where it ends.
"""

from collections.abc import Mapping

import pandas as pd
from matplotlib import style
from matplotlib.figure import Figure

from selfpref.plots.frame import GREY, PAGE, STYLE, Look, grid, head, legend, mark, order
from selfpref.studies.panickssery.draw.names import BASE, REPLAY, TUNED, judge_names, title, writer

KINDS = (BASE, TUNED, "always-1", "random", "readability", "length", "vowelcount", REPLAY)
# What moves by less lies under one mark.
MOVED = 0.02
# Axes reach at least as far to both sides of ½.
LEAST = 0.1
# Inches.
ROW = 0.17
BEGIN, END = "x", "o"


def in_order(evaluators: pd.DataFrame) -> list[str]:
    """Base models first, then by family, data set of the tuning, kind and size."""
    kinds = {name: place for place, name in enumerate(KINDS)}
    keyed = evaluators.assign(
        base=evaluators["variant"].ne(BASE), kind=evaluators["variant"].map(kinds)
    )
    columns = ["base", "family", "trained_on", "kind", "examples", "evaluator"]
    return list(keyed.sort_values(columns)["evaluator"])


def by_judge(rows: pd.DataFrame, evaluators: pd.DataFrame) -> pd.DataFrame:
    """The rows with `row` (names of judges, in order), `family` and `panel`."""
    names = judge_names(evaluators)
    kind = pd.CategoricalDtype([names[judge] for judge in in_order(evaluators)], ordered=True)
    of = evaluators.set_index("evaluator")
    judge = rows["evaluator"].astype("str")
    return rows.assign(
        row=judge.map(names).astype(kind),
        family=judge.map(of["family"]),
        variant=judge.map(of["variant"]),
        panel=rows["dataset"].astype("str").map(title),
    ).sort_values("dataset", kind="stable")


def that_move(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows of base models and of judges that move on some data set; how many are left out."""
    far = rows.loc[(rows["start"] - rows["end"]).abs().gt(MOVED), "row"]
    kept = rows["variant"].eq(BASE) | rows["row"].isin(far)
    left = rows.loc[~kept, "row"].nunique()
    told = f"{left} tuned judges that move by less than {MOVED} are not drawn"
    return rows[kept], told if left else ""


@style.context(STYLE)
def moves(
    rows: pd.DataFrame,
    *,
    ends: tuple[str, str],
    label: str,
    colors: Mapping[str, str],
    begin: str = BEGIN,
    middle: str = "",
    message: str = "",
) -> Figure:
    """A row an entry, a panel a data set; in each row a line between two numbers.

    Args:
        rows: `row` (an ordered categorical), `panel`, `family`, `start` and `end`; the bounds
            `start_lo`, `start_hi`, `lo` and `hi` or without; `middle` where it has a name.
        ends: What `start` and `end` are, for the legend.
        label: Of the horizontal axis.
        colors: By family.
        begin: The mark of `start`.
        middle: What `middle` is; a bar across the row.
        message: What the figure shows.

    Returns:
        The figure.
    """
    names, panels = order(rows["row"]), order(rows["panel"])
    figure, axes_of = grid(
        [ROW * len(names) + 0.35] * len(panels), len(panels), share_x=True, share_y=True, width=PAGE
    )
    for axes, panel in zip(axes_of, panels, strict=True):
        part = rows[rows["panel"].eq(panel)]
        at, shade = part["row"].astype("str").map(names.index), part["family"].map(colors)
        axes.axvline(0.5, color=GREY, linewidth=0.8)
        axes.hlines(at, part["start"], part["end"], color=shade, linewidth=0.8, alpha=0.5)
        for bounds in (("start_lo", "start_hi"), ("lo", "hi")):
            if bounds[0] in part:
                axes.hlines(at, part[bounds[0]], part[bounds[1]], color=shade, linewidth=1.4)
        for color in shade.unique():
            here = part[shade.eq(color)]
            places = at[here.index]
            axes.plot(here["start"], places, begin, color=color, ms=4)
            axes.plot(here["end"], places, END, color=color, ms=4)
            if middle:
                axes.plot(here["middle"], places, "|", color=color, ms=8, mew=1.4)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        head(axes, panel, len(panels), 0.058 * max(map(len, names)))
    low, high = axes_of[0].get_xlim()
    axes_of[0].set_xlim(min(low, 0.5 - LEAST), max(high, 0.5 + LEAST))
    figure.supxlabel(label, fontsize=8)
    shown = [name for name in colors if rows["family"].eq(name).any()]
    shapes = dict(zip(ends, (begin, END), strict=True))
    shapes |= {middle: "|"} if middle else {}
    if rows["start"].isna().all():
        shapes = {}
    handles = [mark(writer(name), Look(colors[name], "s")) for name in shown]
    handles += [mark(name, Look(GREY, shape)) for name, shape in shapes.items()]
    legend(figure, handles, message=message)
    return figure
