"""Figs. 3 to 6 of Wataoka et al., and what the laboratory plants, from their frames."""

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from selfpref.plots.marks import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    dots,
    legend,
    no_data,
    row_labels,
    styled,
)
from selfpref.plots.save import COLUMN, PAGE, STYLE

SERIES = {
    "judge": {"color": BLUE, "marker": "o", "label": "judge"},
    "human": {"color": ORANGE, "marker": "s", "label": "human"},
}
# Bins with fewer pairs are drawn hollow and not joined.
THIN = 10
PAIRS = {
    "own": {"color": GREEN, "marker": "D", "label": "own response in the pair (A)"},
    "other": {"color": BLUE, "marker": "o", "label": "pairs of others"},
}


def _grid(panels: int) -> tuple[Figure, list[Axes]]:
    columns = min(4, panels)
    lines = -(-panels // columns)
    figure = styled(PAGE, max(2.5, 1.45 * lines + 0.55))
    axes = figure.subplots(lines, columns, sharex=False, sharey=True, squeeze=False)
    for spare in axes.flat[panels:]:
        spare.set_axis_off()
    return figure, list(axes.flat[:panels])


def _curve(axes: Axes, rows: pd.DataFrame, color: str, marker: str, label: str) -> None:
    thick, thin = rows[rows["n"] >= THIN], rows[rows["n"] < THIN]
    axes.plot(thick["x"], thick["win_rate"], color=color, marker=marker, label=label, markersize=3)
    axes.fill_between(
        thick["x"],
        thick["win_rate_lo"],
        thick["win_rate_hi"],
        color=color,
        alpha=0.18,
        linewidth=0,
    )
    axes.plot(
        thin["x"],
        thin["win_rate"],
        linestyle="none",
        marker=marker,
        color=color,
        markerfacecolor="white",
        markersize=3,
    )


def _curves(rows: pd.DataFrame, by: str, series: dict[str, dict[str, str]], scale: str) -> Figure:
    """One panel a judge: win rate of A by bin of the difference in perplexity."""
    parts = list(rows.groupby(["dataset", "judge"]))
    figure, panels = _grid(len(parts))
    several = rows["dataset"].nunique() > 1
    for axes, ((dataset, judge), part) in zip(panels, parts, strict=True):
        for name, look in series.items():
            _curve(axes, part[part[by].eq(name)], **look)
        axes.axhline(0.5, color=GREY, linewidth=0.6)
        axes.axvline(0, color=GREY, linewidth=0.6)
        axes.set_ylim(-0.04, 1.04)
        axes.set_title(f"{judge} ({dataset})" if several else judge, fontsize=7.5)
        axes.tick_params(labelsize=6.5)
    figure.supxlabel(f"{scale} of A minus that of B, to the judge", fontsize=8)
    figure.supylabel("share of pairs in which A wins", fontsize=8)
    legend(figure, [panels[0]])
    return figure


@style.context(STYLE)
def perplexity_vs_human(rows: pd.DataFrame, scale: str) -> Figure:
    """Figs. 3 and 6: win rate of A by difference in perplexity, judge and human.

    Args:
        rows: The frame `win_rates_by_bin`, of the judges to show.
        scale: The perplexity's scale, for the label.
    """
    every = rows[rows["pairs"].eq("all")] if len(rows) else rows
    if every.empty:
        return no_data("no judged pair with both perplexities")
    return _curves(every, "who", SERIES, scale)


@style.context(STYLE)
def own_vs_other(rows: pd.DataFrame, scale: str) -> Figure:
    """Fig. 4: the judge's win rate of A, with and without its own response in the pair.

    Args:
        rows: The frame `win_rates_by_bin`, of judges with responses.
        scale: The perplexity's scale, for the label.
    """
    split = rows[rows["who"].eq("judge") & rows["pairs"].ne("all")] if len(rows) else rows
    if split.empty:
        return no_data("no judged pair with both perplexities")
    return _curves(split, "pairs", PAIRS, scale)


@style.context(STYLE)
def slopes(rows: pd.DataFrame) -> Figure:
    """How steeply wins fall with perplexity: raw, and with quality controlled.

    Args:
        rows: The frame `slopes`.
    """
    every = rows[rows["pairs"].eq("all")] if len(rows) else rows
    if every.empty:
        return no_data("no judged pair with both perplexities")
    names = every[["dataset", "judge"]].drop_duplicates()
    figure = styled(PAGE, 0.27 * len(names) + 0.95)
    panels = figure.subplots(1, 2, sharey=True)
    headings = {"slope": "raw", "controlled": "with quality controlled"}
    for axes, (value, heading) in zip(panels, headings.items(), strict=True):
        for who, look in SERIES.items():
            part = names.merge(every[every["who"].eq(who)], on=["dataset", "judge"])
            shift = -0.16 if who == "judge" else 0.16
            color, marker = look["color"], look["marker"]
            dots(axes, part, value, shift=shift, color=color, marker=marker, label=who)
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.set_title(heading)
        axes.set_xlabel("slope: change in win share per unit")
        # Small slopes have long tick labels; more of them would touch.
        axes.locator_params(axis="x", nbins=5)
    several = names["dataset"].nunique() > 1
    row_labels(
        panels[0], [f"{j} ({d})" if several else j for d, j in names.itertuples(index=False)]
    )
    legend(figure, [panels[0]], 2, below=True)
    return figure


@style.context(STYLE)
def log_perplexity(rows: pd.DataFrame) -> Figure:
    """Fig. 5: mean log-perplexity of own and others' texts, by judge and by text.

    Args:
        rows: The frame `log_perplexity`; its conditional rows are drawn.
    """
    known = rows[rows["conditional"] & rows["own"].notna()] if len(rows) else rows
    if known.empty:
        return no_data("no judge with the perplexity of a response of its own")
    names = known[["dataset", "judge"]].drop_duplicates()
    figure = styled(PAGE, 0.27 * len(names) + 0.95)
    panels = figure.subplots(1, 2, sharey=True, sharex=True)
    headings = {
        "judge": "a judge reads its own and others' texts",
        "text": "a writer's texts, read by itself and by others",
    }
    for axes, (view, heading) in zip(panels, headings.items(), strict=True):
        part = names.merge(known[known["view"].eq(view)], on=["dataset", "judge"])
        dots(axes, part, "own", shift=-0.12, color=ORANGE, label="own text, own judge")
        dots(axes, part, "other", shift=0.12, marker="s", color=BLUE, filled=False, label="other")
        axes.set_title(heading)
        axes.set_xlabel("mean log-perplexity (nats a token)")
        axes.set_xlim(left=0)
    legend(figure, [panels[0]], 2, below=True)
    several = names["dataset"].nunique() > 1
    row_labels(
        panels[0], [f"{j} ({d})" if several else j for d, j in names.itertuples(index=False)]
    )
    return figure


@style.context(STYLE)
def planted_vs_measured(rows: pd.DataFrame) -> Figure:
    """Measured against planted bias, one mark a judge, and the oracle rule against planted.

    Args:
        rows: The frame `planted`.
    """
    if rows.empty:
        return no_data("nothing was planted in this profile")
    bounds = rows[["planted", "measured", "measured_lo", "measured_hi"]].to_numpy(float)
    if np.isnan(bounds).all():
        return no_data("no judge has decided pairs with its own response")
    figure = styled(COLUMN * 1.15, COLUMN * 1.1)
    axes = figure.subplots()
    low, high = np.nanmin(bounds) - 0.08, np.nanmax(bounds) + 0.08
    axes.plot([low, high], [low, high], color=GREY, linewidth=0.8, label="measured = planted")
    axes.vlines(rows["planted"], rows["measured_lo"], rows["measured_hi"], color=BLUE)
    axes.plot(rows["planted"], rows["measured"], "o", color=BLUE, label="measured")
    axes.plot(
        rows["planted"],
        rows["oracle_rule"],
        "x",
        color=BLACK,
        label="oracle rule (no preference)",
    )
    axes.set_xlabel("planted bias (the rule that made the labels)")
    axes.set_ylabel("EO bias on the same pairs")
    axes.set_xlim(low, high)
    axes.grid(axis="both")
    legend(figure, [axes], 2)
    return figure
