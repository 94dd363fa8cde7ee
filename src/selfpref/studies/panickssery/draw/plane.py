"""Preference on recognition, one point a judge: Figs. 1 and 7, and the control tasks.

Both axes of a panel have one scale, with the line of equal values; the panels of `controls` go as
far as the judges of their base model do. A colour is a base model, a
shape what a judge was tuned on; an arrow leads from the stored scores to the corrected ones.
"""

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from selfpref.params import Params
from selfpref.plots.captions import caption, signed
from selfpref.plots.frame import BLACK, COLUMN, GREY, STYLE, Look, empty, head, legend, mark
from selfpref.plots.save import Plate, nothing
from selfpref.studies.panickssery.draw import QUESTIONS, family_colors, pair_counts
from selfpref.studies.panickssery.draw.names import (
    BASE,
    REPLAY,
    TUNED,
    short,
    subset,
    task,
    title,
    writer,
)
from selfpref.studies.panickssery.measure.correlation import FAMILIES

SHAPES = {"untuned": "*", "self-recognition": "o", "control task": "^", "with replay": "X"}
OF_VARIANT = {BASE: "untuned", TUNED: "self-recognition", REPLAY: "with replay"}
ALWAYS = "always-1"
# Colour and dash of the lines of `controls`.
LINES: Mapping[str, tuple[str, Any]] = {TUNED: (GREY, "-"), "controls": (BLACK, "--")}
# A control as far from ½ is named.
APART = 0.18
# Points; the smallest text.
SMALL = 6.5
# Above 1, for the band of a line.
ROOM = 0.22
# A shorter way from stored to corrected would lie under its mark.
ARROW = 0.03
RELATED = "The fine-tuned judges come from few base models and are not independent"
# Intervals of a line over judges resample families of judges.
caption_of_families = partial(caption, of="families of judges (base model and training)")
NO_BAND = f"No interval of a line with fewer than {FAMILIES} families of judges"


def points(pairwise: pd.DataFrame, evaluators: pd.DataFrame) -> pd.DataFrame:
    """One row a judge, data set and convention: mean recognition and preference, and who it is.

    Args:
        pairwise: The frame `pairwise` (`measure.means.pairwise`).
        evaluators: The frame `evaluators` (`measure.with_defects`).

    Returns:
        `dataset, convention` and the columns of `evaluators`, and each task with `_lo` and `_hi`.
    """
    key = ["dataset", "evaluator", "convention"]
    whole = pairwise[pairwise["other"].eq("all")]
    parts = [
        whole[whole["task"].eq(name)][[*key, "mean", "lo", "hi"]].set_axis(
            [*key, name, f"{name}_lo", f"{name}_hi"], axis=1
        )
        for name in QUESTIONS
    ]
    return parts[0].merge(parts[1], on=key).merge(evaluators, on="evaluator")


def _kinds(rows: pd.DataFrame) -> pd.Series:
    """What each judge was tuned on, as the legend has it."""
    return rows["variant"].map(OF_VARIANT).fillna("control task")


def _plane(
    axes: Axes, heading: str, columns: int, ends: tuple[float, float] = (0, 1), room: float = 0.02
) -> None:
    """The empty panel: the line of equal values, ticks at the ends and ½, room above the last."""
    low, high = ends
    limits, ticks = (low - 0.02, high + room), (low, 0.5, high)
    axes.set(xlim=limits, ylim=limits, aspect="equal", xticks=ticks, yticks=ticks)
    names = [f"{low:g}", "½", f"{high:g}"]
    axes.set_xticklabels(names)
    axes.set_yticklabels(names)
    axes.grid(visible=True, axis="both")
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.6, linestyle=(0, (1, 2)))
    head(axes, heading, columns, beside=0.4)


def _marks(axes: Axes, rows: pd.DataFrame, colors: "pd.Series[str]", size: float) -> None:
    """The judges with the intervals of both means."""
    kinds = _kinds(rows)
    for kind, shape in SHAPES.items():
        for color in colors[kinds.eq(kind)].unique():
            part = rows[kinds.eq(kind) & colors.eq(color)]
            x, y = part["recognition"], part["preference"]
            axes.hlines(y, part["recognition_lo"], part["recognition_hi"], color=color, lw=0.6)
            axes.vlines(x, part["preference_lo"], part["preference_hi"], color=color, lw=0.6)
            axes.plot(x, y, shape, color=color, ms=size + (kind == "untuned"), mew=0, alpha=0.85)


def _line(axes: Axes, line: pd.DataFrame, color: str, dash: Any = "-") -> None:
    """A fitted line with its band; nothing without one."""
    if line.empty:
        return
    axes.plot(line["x"], line["y"], color=color, linewidth=1, linestyle=dash)
    axes.fill_between(line["x"], line["lo"], line["hi"], color=color, alpha=0.15, linewidth=0)


def _arrows(
    axes: Axes, rows: pd.DataFrame, stored: pd.DataFrame, colors: Mapping[str, str]
) -> None:
    """From each judge's stored scores to its corrected ones, where they lie apart.

    Where they lie far apart for a judge taught to answer "1", a note gives both numbers.
    """
    both = rows.merge(stored[["evaluator", *QUESTIONS]], on="evaluator", suffixes=("", "_stored"))
    for row in both.itertuples():
        start, end = (
            (row.recognition_stored, row.preference_stored),
            (row.recognition, row.preference),
        )
        if abs(start[0] - end[0]) + abs(start[1] - end[1]) > ARROW:
            axes.annotate(
                "", end, start,
                arrowprops={"arrowstyle": "-|>,head_width=.15,head_length=.4", "lw": 0.6,
                            "color": colors[row.family], "shrinkA": 1, "shrinkB": 2.2},
            )  # fmt: skip
            axes.plot(*start, "x", color=colors[row.family], ms=2.6, mew=0.6)
    always = both[both["variant"].eq(ALWAYS)]
    apart = (always["recognition_stored"] - always["recognition"]).abs()
    if apart.gt(10 * ARROW).any():
        row = always.loc[apart.idxmax()]
        axes.annotate(
            f"taught to answer “1”:\nstored {row['recognition_stored']:.3f}, "
            f"is {row['recognition']:.3f}",
            (row["recognition_stored"], row["preference_stored"]), (0.99, 0.12),
            textcoords="axes fraction", ha="right", fontsize=SMALL + 0.5,
            arrowprops={"arrowstyle": "-", "lw": 0.6, "color": BLACK, "shrinkB": 3, "shrinkA": 1,
                        "relpos": (0.9, 1)},
        )  # fmt: skip
        # From the note to the corrected mark, too.
        axes.plot((row["recognition"], 0.75), (row["preference"], 0.23), color=BLACK, lw=0.6)


@style.context(STYLE)
def recognition_vs_preference(
    data: Mapping[str, pd.DataFrame], params: Params, subset: str = "all"
) -> Plate:
    """Figs. 1 and 7: mean preference on mean recognition, with the line of the corrected means.

    Args:
        data: The frames of the study.
        params: With `bootstrap`.
        subset: Whose line; the fine-tuned ones of this kind are drawn, or all judges.
    """
    pairwise, evaluators = data["pairwise"], data["evaluators"]
    if subset != "all":
        evaluators = evaluators[evaluators["variant"].eq(subset)]
    rows = points(pairwise, evaluators)
    if rows.empty:
        return nothing("no judge with both questions", rows)
    fits, lines = (
        data[name][data[name]["subset"].eq(subset) & data[name]["dataset"].ne("all")]
        for name in ("correlation", "lines")
    )
    colors = family_colors(data["evaluators"])
    sets = sorted(rows["dataset"].unique())
    figure = empty(COLUMN, 2.9 * len(sets) + 0.9)
    panels = figure.subplots(len(sets), 1, sharex=True, squeeze=False)[:, 0]
    for axes, dataset in zip(panels, sets, strict=True):
        here, line = (table[table["dataset"].eq(dataset)] for table in (rows, lines))
        told = _rs(fits[fits["dataset"].eq(dataset)])
        _plane(axes, f"{title(dataset)}{': ' if told else ''}{told}", 1, room=ROOM)
        _line(axes, line[line["convention"].eq("corrected")], GREY)
        corrected, stored = (
            here[here["convention"].eq(name)] for name in ("corrected", "released")
        )
        _arrows(axes, corrected, stored, colors)
        _marks(axes, corrected, corrected["family"].map(colors), 3.4)
    figure.supxlabel("recognition: mean confidence in its own text", fontsize=8)
    figure.supylabel("preference: mean confidence in its own text", fontsize=8)
    moved = bool(rows["convention"].eq("released").any())
    sure = fits.loc[fits["convention"].eq("corrected"), "lo"].gt(0)
    rises = "Preference rises with recognition" if len(sure) and sure.all() else ""
    legend(figure, _handles(rows, colors, moved=moved), message=rises)
    shown = "Mean preference on mean recognition, one mark a judge"
    shown += "; arrows lead from the stored scores to the corrected ones" if moved else ""
    shown += (
        "; with the least-squares line of the corrected means and its band" if len(fits) else ""
    )
    return Plate(
        figure,
        rows,
        caption_of_families(
            f"{shown}; dotted: equal values",
            *_fitted(fits),
            pair_counts(pairwise[pairwise["evaluator"].isin(evaluators["evaluator"])]),
            RELATED if evaluators["variant"].ne(BASE).any() else "",
            NO_BAND if fits["lo"].isna().any() else "",
            params=params if fits["lo"].notna().any() else None,
        ),
    )


def _fitted(fits: pd.DataFrame) -> list[str]:
    """A sentence a data set: the correlations, corrected and stored, with the slopes."""
    words = {"corrected": "corrected", "released": "stored"}
    told = [
        f"{title(str(dataset))}: "
        + "; ".join(
            f"{words[row.convention]} {_r(row)}, slope {signed(row.slope)}"
            for row in part.sort_values("convention").itertuples()
        )
        for dataset, part in fits.groupby("dataset")
    ]
    return told


def _rs(fits: pd.DataFrame) -> str:
    """The correlations of a panel's heading: stored, if there is one, and corrected."""
    found = dict(zip(fits["convention"], fits["r"], strict=True))
    if "released" in found and "corrected" in found:
        return f"r = {found['corrected']:.2f} (stored {found['released']:.2f})"
    return ", ".join(f"r = {r:.2f}" for r in found.values())


def _handles(rows: pd.DataFrame, colors: Mapping[str, str], *, moved: bool) -> list[Line2D]:
    """The legend: base models by colour, tuning by shape."""
    shown = [name for name in colors if rows["family"].eq(name).any()]
    kinds = set(_kinds(rows))
    return [
        *(mark(writer(name), Look(colors[name], "s")) for name in shown),
        *(mark(kind, Look(GREY, shape)) for kind, shape in SHAPES.items() if kind in kinds),
        *([mark("stored → corrected", Look(GREY, "x"))] if moved else []),
    ]


def _r(row: Any) -> str:
    """The correlation, with its interval where it has one."""
    interval = f" [{signed(row.lo, 3)}, {signed(row.hi, 3)}]" if row.lo == row.lo else ""
    return f"r = {signed(row.r, 3)}{interval}"


def _name(axes: Axes, rows: pd.DataFrame) -> None:
    """The tasks of the controls that lie away from ½; of those that lie together, at once."""
    x, y = rows["recognition"], rows["preference"]
    away = rows[(x - 0.5).abs().add((y - 0.5).abs()).gt(APART)].sort_values("recognition")
    near = away["recognition"].diff().gt(APART / 2).cumsum()
    for _, part in away.groupby(near):
        # The corners off the diagonal are empty: left of what is above ½, right of what is below.
        above = part["recognition"].mean() > 0.5
        x = part["recognition"].min() if above else part["recognition"].max()
        axes.annotate(
            "\n".join(dict.fromkeys(task(name) for name in part["variant"])),
            (x, part["preference"].mean()), (-4, 3) if above else (4, -1),
            textcoords="offset points", fontsize=SMALL, ha="right" if above else "left",
            va="bottom" if above else "center",
        )  # fmt: skip


@style.context(STYLE)
def controls(data: Mapping[str, pd.DataFrame], params: Params) -> Plate:
    """Judges tuned on control tasks beside those tuned on self-recognition: corrected means.

    Args:
        data: The frames of the study.
        params: With `bootstrap`.
    """
    rows = points(data["pairwise"], data["evaluators"]).query("convention == 'corrected'")
    tuned = sorted(rows.loc[rows["variant"].ne(BASE), "family"].unique())
    if not tuned:
        return nothing("no fine-tuned judge", rows)
    drawn = rows[rows["family"].isin(tuned) & rows["variant"].ne(REPLAY)]
    subsets = [f"{family}-{kind}" for family in tuned for kind in LINES]
    lines, fits = (
        data[name][data[name]["subset"].isin(subsets) & data[name]["convention"].eq("corrected")]
        for name in ("lines", "correlation")
    )
    sets = sorted(drawn["dataset"].unique())
    figure = empty(COLUMN, 1.7 * len(tuned) + 0.9)
    panels = figure.subplots(len(tuned), len(sets), sharex="row", sharey="row", squeeze=False)
    for axes, (family, dataset) in zip(panels.flat, product(tuned, sets), strict=True):
        here, line, fit = (table[table["dataset"].eq(dataset)] for table in (drawn, lines, fits))
        here = here[here["family"].eq(family)]
        ends = _ends(drawn[drawn["family"].eq(family)])
        _plane(axes, f"{writer(family)}, {short(dataset)}", len(sets), ends)
        for row, (kind, (color, dash)) in enumerate(LINES.items()):
            mine = f"{family}-{kind}"
            _line(axes, line[line["subset"].eq(mine)], color, dash)
            for slope in fit.loc[fit["subset"].eq(mine), "slope"]:
                axes.text(0.02, 0.98 - 0.11 * row, f"slope {signed(slope)}", color=color,
                          transform=axes.transAxes, va="top", fontsize=SMALL)  # fmt: skip
        control = _kinds(here).eq("control task")
        _marks(axes, here, control.map({True: BLACK, False: GREY}), 3.6)
        _name(axes, here[control])
    figure.supxlabel("recognition: mean confidence", fontsize=8)
    figure.supylabel("preference: mean confidence", fontsize=8)
    kinds = zip(("self-recognition", "control task"), LINES.values(), strict=True)
    handles = [mark("untuned", Look(GREY, SHAPES["untuned"]))] + [
        Line2D([], [], marker=SHAPES[kind], label=kind, color=color, linestyle=dash)
        for kind, (color, dash) in kinds
    ]
    whole = fits[fits["subset"].str.endswith("controls") & fits["dataset"].eq("all")]
    both = len(whole) and whole["r"].gt(0.9).all() and whole["slope"].gt(0.5).all()
    legend(figure, handles, message="Other tasks move both answers, too" if both else "")
    return Plate(figure, rows, _of_controls(fits, data["off_line"]))


def _ends(rows: pd.DataFrame) -> tuple[float, float]:
    """The tenths between which all means of both questions lie, and ½ with them."""
    means = rows[[*QUESTIONS]].to_numpy()
    low, high = np.floor(10 * means.min()) / 10, np.ceil(10 * means.max()) / 10
    return min(float(low), 0.4), max(float(high), 0.6)


def _of_controls(fits: pd.DataFrame, off_line: pd.DataFrame) -> str:
    """The caption: both lines of each base model, and the control that lies farthest off."""
    every = fits["dataset"].eq("all")
    told = "; ".join(
        f"{subset(row.subset)}: {_r(row)}, slope {row.slope:.2f}, n = {row.n}"
        for row in fits[every if every.any() else ~every].itertuples()
    )
    off = off_line.assign(off=off_line["off"].abs())
    away = "; ".join(
        f"{writer(str(family))} on {title(str(dataset))} {part['off'].max():.3f}"
        for (family, dataset), part in off.groupby(["family", "dataset"])
    )
    return caption(
        "Corrected means of the judges tuned on self-recognition (grey, solid line) and on control "
        "tasks (black, dashed line), with the slopes of both lines; dotted: equal values",
        "The axes of each base model go as far as its judges",
        f"All data together: {told}" if told else "No line",
        f"Largest distance of a control from the line of self-recognition: {away or 'none'}",
        RELATED,
        NO_BAND,
    )
