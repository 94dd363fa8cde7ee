"""The figures of Wataoka et al. from the frames of `selfpref.studies.wataoka.measure`."""

import textwrap

import pandas as pd
import seaborn as sns
from matplotlib import style
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
from selfpref.plots.save import PAGE, STYLE
from selfpref.statistics.bias import CELLS

# How the data sets are headed; a user's own stand under their key.
TITLES = {
    "mt-bench": "MT-Bench, human majority",
    "vicuna80": "Vicuna-80, human majority",
    "arena": "Chatbot Arena",
    "chatbot-arena": "Chatbot Arena, as printed in the paper",
}


def title(dataset: str) -> str:
    """The heading of a data set."""
    return TITLES.get(dataset, dataset)


def _counted(rows: pd.DataFrame, name: str) -> list[str]:
    return [f"{row[name]}  n={row['n']:g}" for _, row in rows.iterrows()]


def _nothing(bias: pd.DataFrame) -> str:
    if bias.empty:
        return "no judge has a pair with a response of its own"
    return (
        f"0 of {bias['n_dropped'].sum():g} labelled own pairs are left; ties or status dropped them"
    )


@style.context(STYLE)
def bias(rows: pd.DataFrame, paper: pd.DataFrame) -> Figure:
    """Fig. 1b: EO bias by judge, with the excess over the other judges and the printed values.

    Args:
        rows: The frame `fig1b_bias`; with `planted` and `oracle_rule` these are drawn too.
        paper: As `paper_bias` returns it.
    """
    if not rows["n"].gt(0).any():
        return no_data(_nothing(rows))
    parts = [*rows.groupby("dataset"), *paper.groupby("dataset")]
    heights = [len(part) + 0.6 for _, part in parts]
    # Planted marks need a wider picture for their legend.
    width = PAGE if "planted" in rows else PAGE * 0.72
    figure = styled(width, 0.24 * sum(heights) + 0.75)
    panels = figure.subplots(len(parts), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
    for axes, (dataset, part) in zip(panels, parts, strict=True):
        printed = dataset not in set(rows["dataset"])
        controlled = not printed and part["excess"].notna().any()
        dots(
            axes,
            part,
            "eo",
            shift=-0.16 if controlled else 0,
            marker="s" if printed else "o",
            color=GREY if printed else BLUE,
            filled=not printed,
            label="EO bias from the printed counts" if printed else "EO bias",
        )
        if controlled:
            dots(
                axes,
                part,
                "excess",
                shift=0.18,
                marker="D",
                color=ORANGE,
                filled=False,
                label="excess over the other judges",
            )
        if not printed and "planted" in part:
            for name, marker, color, shift, label in (
                ("planted", "+", BLACK, -0.16, "planted"),
                ("oracle_rule", "x", GREY, 0.0, "oracle rule (no preference)"),
            ):
                dots(axes, part, name, shift=shift, marker=marker, color=color, label=label)
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.set_title(title(str(dataset)))
        row_labels(axes, _counted(part, "judge"))
    panels[-1].set_xlabel("bias towards own responses (0: none), with intervals")
    legend(figure, panels, 3, below=True)
    return figure


@style.context(STYLE)
def confusion(rows: pd.DataFrame, paper: pd.DataFrame) -> Figure:
    """Fig. 2: human by judge, one 2x2 table a judge, shaded by the share of the row.

    Args:
        rows: The frame `fig1b_bias`.
        paper: As `paper_bias` returns it.
    """
    shown = pd.concat([paper, rows[rows["n"].gt(0)]], ignore_index=True)
    if not rows["n"].gt(0).any():
        return no_data(_nothing(rows))
    columns = min(4, len(shown))
    lines = -(-len(shown) // columns)
    figure = styled(PAGE, 1.75 * lines)
    grid = figure.subplots(lines, columns, squeeze=False)
    for axes in grid.flat[len(shown) :]:
        axes.set_axis_off()
    for axes, (_, row) in zip(grid.flat, shown.iterrows(), strict=False):
        counts = row[CELLS].to_numpy(dtype=float).reshape(2, 2)
        shares = counts / counts.sum(axis=1, keepdims=True)
        labels = [
            [f"{n:g}\n{p:.0%}" for n, p in zip(*line, strict=True)]
            for line in zip(counts, shares, strict=True)
        ]
        sns.heatmap(
            shares,
            annot=labels,
            fmt="",
            cmap="Blues",
            vmin=0,
            vmax=1.15,
            cbar=False,
            annot_kws={"fontsize": 7.5},
            ax=axes,
        )
        source = "Arena (paper)" if row["dataset"] == "chatbot-arena" else row["dataset"]
        axes.set_title(f"{row['judge']}\n{source}, EO {row['eo']:.2f}", fontsize=7.5)
        axes.set_xticks([0.5, 1.5], ["own", "other"])
        axes.set_yticks([0.5, 1.5], ["own", "other"], rotation=90, va="center")
        axes.grid(visible=False)
        axes.tick_params(length=0)
    for line in range(lines):
        grid[line, 0].set_ylabel("human prefers")
    for axes in grid.flat[max(0, len(shown) - columns) : len(shown)]:
        axes.set_xlabel("judge prefers")
    return figure


@style.context(STYLE)
def demographic_parity(rows: pd.DataFrame) -> Figure:
    """Table 2 as dots: DP in both readings beside the printed value.

    Args:
        rows: The table: `dataset, judge, dp_decisive, ..., dp_with_ties, ..., published`.
    """
    if rows.empty or not rows["n_decisive"].gt(0).any():
        return no_data("no own pair that the judge decides")
    parts = list(rows.groupby("dataset"))
    heights = [len(part) + 0.6 for _, part in parts]
    figure = styled(PAGE * 0.72, 0.26 * sum(heights) + 0.8)
    panels = figure.subplots(len(parts), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
    for axes, (dataset, part) in zip(panels, parts, strict=True):
        dots(axes, part, "dp_decisive", shift=-0.16, label="decisive rows only")
        dots(
            axes,
            part,
            "dp_with_ties",
            shift=0.16,
            marker="D",
            color=ORANGE,
            filled=False,
            label="human ties included",
        )
        dots(
            axes,
            part,
            "published",
            marker="x",
            color=GREY,
            label="printed (Chatbot Arena)",
        )
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.set_title(title(str(dataset)))
        row_labels(axes, list(part["judge"]))
    panels[-1].set_xlabel("demographic parity (0: picks own and other alike), with intervals")
    legend(figure, [panels[0]], 3, below=True)
    return figure


@style.context(STYLE)
def by_opponent(rows: pd.DataFrame) -> Figure:
    """EO of each judge split by whose response its own was compared with.

    Args:
        rows: The frame `bias_by_opponent`.
    """
    if not len(rows) or not rows["eo"].notna().any():
        return no_data("no judge and opponent with both human outcomes")
    parts = list(rows.groupby(["dataset", "judge"]))
    lines = -(-len(parts) // 2)
    tallest = max(len(part) for _, part in parts)
    figure = styled(PAGE, lines * (0.2 * tallest + 0.42) + 0.35)
    grid = figure.subplots(lines, 2, sharex=True, squeeze=False)
    for axes in grid.flat[len(parts) :]:
        axes.set_axis_off()
    for axes, ((dataset, judge), part) in zip(grid.flat, parts, strict=False):
        dots(axes, part, "eo")
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.set_title(f"{judge} on {dataset}")
        names = [
            f"{row.opponent}  {row.tp + row.fn:g}+{row.fp + row.tn:g}" for row in part.itertuples()
        ]
        row_labels(axes, names)
        axes.set_xlim(-1.06, 1.06)
    figure.supxlabel(
        "EO bias by opponent (pairs: human preferred own + other), with intervals", fontsize=8
    )
    return figure


@style.context(STYLE)
def position(rows: pd.DataFrame) -> Figure:
    """First-position share, flip rate and reversal rate of every judge.

    Args:
        rows: The frame `position`.
    """
    if not len(rows) or not rows["first_share"].notna().any():
        return no_data("no verdict whose order of presentation is known")
    quantities = {
        "first_share": ("first-position share", "of decided verdicts", 0.5),
        "flip_rate": ("flip rate: outcome differs", "of pairs in both orders", 0.0),
        "reversal_rate": ("reversal rate: order decides", "of pairs in both orders", 0.0),
    }
    names = sorted(set(zip(rows["dataset"], rows["judge"], strict=True)))
    figure = styled(PAGE, 0.3 * len(names) + 0.85)
    panels = figure.subplots(1, 3, sharey=True)
    frame = pd.DataFrame(names, columns=["dataset", "judge"])
    for axes, (value, (label, share, neutral)) in zip(panels, quantities.items(), strict=True):
        for scope, marker, color, shift in (("all", "o", BLUE, -0.14), ("own", "D", GREEN, 0.14)):
            part = frame.merge(rows[rows["pairs"].eq(scope)], on=["dataset", "judge"], how="left")
            dots(
                axes,
                part,
                value,
                shift=shift,
                marker=marker,
                color=color,
                filled=scope == "all",
                label=f"{scope} pairs",
            )
        axes.axvline(neutral, color=GREY, linewidth=0.8)
        axes.set_xlim(-0.03, 1.03)
        axes.set_title(label)
        axes.set_xlabel(f"share {share}")
    several = frame["dataset"].nunique() > 1
    row_labels(panels[0], [f"{judge} ({data})" if several else judge for data, judge in names])
    legend(figure, [panels[0]], 2, below=True)
    return figure


@style.context(STYLE)
def example(rows: pd.DataFrame) -> Figure:
    """Fig. 1a: one pair on which a judge prefers its own response and the human the other.

    Args:
        rows: The frame `example`, at most one row. It holds released text.
    """
    if rows.empty:
        return no_data("no pair with released texts on which judge and human disagree that way")
    row = rows.iloc[0]
    figure = styled(PAGE, 4.2)
    boxes = [
        (f"Prompt ({row['item_id']})", row["prompt"], GREY, 0.99, 300, 118),
        (f"{row['judge']}: preferred by itself as a judge", row["own_text"], BLUE, 0.80, 950, 118),
        (f"{row['opponent']}: preferred by the human", row["other_text"], ORANGE, 0.40, 950, 118),
    ]
    for heading, text, color, top, length, width in boxes:
        figure.text(0.01, top, heading, va="top", fontsize=8, weight="bold", color=color)
        short = textwrap.shorten(str(text), length, placeholder=" […]")
        figure.text(
            0.01,
            top - 0.05,
            textwrap.fill(short, width),
            va="top",
            fontsize=7.5,
            parse_math=False,
        )
    return figure
