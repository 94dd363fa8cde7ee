"""Figs. 1, 4 and 7 of Panickssery et al.: recognition against preference, and training size."""

from itertools import product

import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from selfpref.plots.marks import BLACK, BLUE, GREEN, GREY, ORANGE, legend, no_data, styled
from selfpref.plots.save import PAGE, STYLE

TITLES = {"xsum": "XSum", "cnn": "CNN/DailyMail"}
COLORS = (BLUE, ORANGE, BLACK, GREEN, "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = {
    "base": "*",
    "self-recognition": "o",
    "always-1": "s",
    "random": "D",
    "readability": "^",
    "length": "v",
    "vowelcount": "P",
    "self-recognition-replay": "X",
}
CONVENTIONS = ("released", "corrected")
TASKS = ("recognition", "preference")


def title(dataset: str) -> str:
    """The heading of a data set."""
    return TITLES.get(dataset, dataset)


def family_colors(evaluators: pd.DataFrame) -> dict[str, str]:
    """A colour a family; tuned families first, so that they keep the clearest ones."""
    tuned = sorted(evaluators.loc[evaluators["variant"].ne("base"), "family"].unique())
    others = sorted(set(evaluators["family"]) - set(tuned))
    names = [*tuned, *others]
    return dict(zip(names, COLORS * len(names), strict=False))


def points(pairwise: pd.DataFrame, evaluators: pd.DataFrame) -> pd.DataFrame:
    """One row an evaluator, data set and convention: mean recognition and preference, and who.

    Args:
        pairwise: The frame `pairwise`.
        evaluators: The frame `evaluators`.

    Returns:
        `dataset, convention` and the evaluators' columns, and each task with `_lo` and `_hi`.
    """
    key = ["dataset", "evaluator", "convention"]
    whole = pairwise[pairwise["other"].eq("all")]
    parts = [
        whole[whole["task"].eq(task)][[*key, "mean", "lo", "hi"]].set_axis(
            [*key, task, f"{task}_lo", f"{task}_hi"], axis=1
        )
        for task in TASKS
    ]
    return parts[0].merge(parts[1], on=key).merge(evaluators, on="evaluator")


def _scatter(axes: Axes, rows: pd.DataFrame, colors: dict[str, str]) -> None:
    for row in rows.itertuples():
        color = colors[row.family]
        own_set = row.trained_on in ("", row.dataset)
        axes.plot(
            [row.recognition_lo, row.recognition_hi],
            [row.preference] * 2,
            color=color,
            linewidth=0.7,
            alpha=0.6,
        )
        axes.plot(
            [row.recognition] * 2,
            [row.preference_lo, row.preference_hi],
            color=color,
            linewidth=0.7,
            alpha=0.6,
        )
        axes.plot(
            row.recognition,
            row.preference,
            marker=MARKERS.get(row.variant, "X"),
            markersize=7.5 if row.variant == "base" else 4.2,
            color=color,
            markerfacecolor=color if own_set else "white",
            linestyle="none",
            zorder=3,
        )


def _line(axes: Axes, lines: pd.DataFrame, color: str) -> None:
    """The least-squares line with its band; nothing where there were too few points."""
    if lines.empty:
        return
    axes.plot(lines["x"], lines["y"], color=color, linewidth=1, zorder=2)
    axes.fill_between(lines["x"], lines["lo"], lines["hi"], color=color, alpha=0.18, linewidth=0)


def _cross(axes: Axes) -> None:
    axes.axhline(0.5, color=GREY, linewidth=0.6)
    axes.axvline(0.5, color=GREY, linewidth=0.6)
    axes.grid(visible=False)


def _mark(marker: str, label: str, color: str = GREY, *, filled: bool = True) -> Line2D:
    """A mark of the legend."""
    face = color if filled else "white"
    return Line2D(
        [], [], marker=marker, label=label, color=color, markerfacecolor=face, linestyle="none"
    )


TRANSFER = _mark("o", "tuned on the other data set", filled=False)


def _legend(figure: Figure, rows: pd.DataFrame, colors: dict[str, str]) -> None:
    families = [name for name in colors if name in set(rows["family"])]
    variants = [name for name in MARKERS if name in set(rows["variant"])]
    handles = [_mark("o", family, colors[family]) for family in families]
    told = {"self-recognition-replay": "with replay"}
    handles += [_mark(MARKERS[name], told.get(name, name)) for name in variants]
    if rows["trained_on"].ne("").any():
        handles.append(TRANSFER)
    figure.legend(handles=handles, loc="outside lower center", ncols=min(6, len(handles)))


@style.context(STYLE)
def recognition_vs_preference(
    pairwise: pd.DataFrame, evaluators: pd.DataFrame, lines: pd.DataFrame, subset: str = "all"
) -> Figure:
    """Fig. 1: mean preference on mean recognition, one point an evaluator, with the line.

    Args:
        pairwise: The frame `pairwise`.
        evaluators: The frame `evaluators`, of those to show.
        lines: The frame `lines`.
        subset: Whose line.
    """
    rows = points(pairwise, evaluators)
    if rows.empty:
        return no_data("no evaluator with both questions")
    datasets = sorted(rows["dataset"].unique())
    shown = [name for name in CONVENTIONS if name in set(rows["convention"])]
    figure = styled(PAGE, 2.7 * len(shown) + 0.7)
    grid = figure.subplots(len(shown), len(datasets), sharex="col", sharey="col", squeeze=False)
    for (line, convention), (column, dataset) in product(enumerate(shown), enumerate(datasets)):
        axes = grid[line, column]
        _cross(axes)
        here = rows["dataset"].eq(dataset) & rows["convention"].eq(convention)
        chosen = lines["dataset"].eq(dataset) & lines["convention"].eq(convention)
        _line(axes, lines[chosen & lines["subset"].eq(subset)], GREY)
        _scatter(axes, rows[here], family_colors(evaluators))
        axes.set_title(f"{title(dataset)}, {convention}")
        axes.set_xlabel("recognition: mean confidence" if line + 1 == len(shown) else "")
        axes.set_ylabel("preference: mean confidence" if not column else "")
    _legend(figure, rows, family_colors(evaluators))
    return figure


@style.context(STYLE)
def controls(pairwise: pd.DataFrame, evaluators: pd.DataFrame, lines: pd.DataFrame) -> Figure:
    """The control tasks on the line of self-recognition: corrected, by family and data set.

    Args:
        pairwise: The frame `pairwise`.
        evaluators: The frame `evaluators`.
        lines: The frame `lines`.
    """
    rows = points(pairwise, evaluators).query("convention == 'corrected'")
    tuned = sorted(rows.loc[rows["variant"].ne("base"), "family"].unique())
    if not tuned:
        return no_data("no tuned evaluator")
    datasets = sorted(rows["dataset"].unique())
    figure = styled(PAGE, 2.7 * len(tuned) + 0.7)
    grid = figure.subplots(len(tuned), len(datasets), squeeze=False)
    kinds = {"self-recognition": BLUE, "controls": ORANGE}
    for (line, family), (column, dataset) in product(enumerate(tuned), enumerate(datasets)):
        axes = grid[line, column]
        _cross(axes)
        here = rows[rows["dataset"].eq(dataset) & rows["family"].eq(family)]
        chosen = lines["dataset"].eq(dataset) & lines["convention"].eq("corrected")
        for kind, color in kinds.items():
            _line(axes, lines[chosen & lines["subset"].eq(f"{family}-{kind}")], color)
            mine = here["variant"].eq("self-recognition") == (kind == "self-recognition")
            other = here["variant"].eq("base") | here["variant"].str.endswith("-replay")
            part = here[mine & ~other]
            _scatter(axes, part, {family: color})
        _scatter(axes, here[here["variant"].eq("base")], {family: BLACK})
        axes.set_title(f"{family} on {title(dataset)}")
        axes.set_xlabel("recognition: mean confidence" if line + 1 == len(tuned) else "")
        axes.set_ylabel("preference: mean confidence" if not column else "")
    look = {"base": BLACK, "self-recognition": BLUE}
    drawn = set(rows["variant"]) - {"self-recognition-replay"}
    variants = [name for name in MARKERS if name in drawn]
    handles = [_mark(MARKERS[name], name, look.get(name, ORANGE)) for name in variants]
    handles.append(TRANSFER)
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


@style.context(STYLE)
def training_size(pairwise: pd.DataFrame, evaluators: pd.DataFrame) -> Figure:
    """Figs. 4 to 6: corrected confidence by number of self-recognition examples.

    Args:
        pairwise: The frame `pairwise`.
        evaluators: The frame `evaluators`.
    """
    whole = pairwise["other"].eq("all") & pairwise["convention"].eq("corrected")
    rows = pairwise[whole].merge(evaluators, on="evaluator")
    tuned = rows[rows["variant"].eq("self-recognition")]
    if tuned.empty:
        return no_data("no evaluator tuned on self-recognition")
    datasets = sorted(rows["dataset"].unique())
    sizes = [0, *sorted(tuned["examples"].unique())]
    colors = family_colors(evaluators)
    figure = styled(PAGE, 2.0 * len(TASKS) + 0.6)
    grid = figure.subplots(len(TASKS), len(datasets), sharex=True, sharey="row", squeeze=False)
    for (line, task), (column, dataset) in product(enumerate(TASKS), enumerate(datasets)):
        axes = grid[line, column]
        here = rows[rows["dataset"].eq(dataset) & rows["task"].eq(task)]
        mine = here[here["variant"].eq("self-recognition")]
        for (family, source), part in mine.groupby(["family", "trained_on"]):
            start = here[here["variant"].eq("base") & here["family"].eq(family)]
            curve = pd.concat([start, part]).sort_values("examples")
            at = [sizes.index(size) for size in curve["examples"]]
            own = source == dataset
            axes.fill_between(at, curve["lo"], curve["hi"], color=colors[family], alpha=0.15)
            axes.plot(
                at,
                curve["mean"],
                color=colors[family],
                marker="o",
                markersize=3.5,
                markerfacecolor=colors[family] if own else "white",
                linestyle="-" if own else "--",
                label=f"{family}, tuned on {'this' if own else 'the other'} data set",
            )
        axes.axhline(0.5, color=GREY, linewidth=0.6)
        axes.grid(axis="y")
        axes.set_xticks(range(len(sizes)), [f"{size:g}" for size in sizes])
        axes.set_title(f"{task}, {title(dataset)}")
        axes.set_ylabel("mean confidence" if not column else "")
        if line + 1 == len(TASKS):
            axes.set_xlabel("self-recognition examples (not to scale)")
    legend(figure, [grid[0, 0]], 2, below=True)
    return figure
