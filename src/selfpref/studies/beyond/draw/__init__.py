"""The figures beyond the papers, from the frames of `selfpref.studies.beyond.measure`."""

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.figure import Figure

from selfpref.plots.marks import BLACK, BLUE, GREEN, GREY, ORANGE, dots, legend, no_data, row_labels
from selfpref.plots.panels import paper, shifted
from selfpref.plots.save import PAGE, STYLE
from selfpref.studies.beyond.measure.mitigations import MEAN, RULES
from selfpref.studies.beyond.measure.power import BIASES
from selfpref.studies.beyond.measure.results import POOLED, STATISTICS

PURPLE = "#CC79A7"
# Colour, marker and name of each gold label.
GOLDS = {
    "none": (GREY, "s", "no gold label"),
    "human": (BLUE, "o", "gold: human"),
    "oracle": (ORANGE, "D", "gold: oracle"),
    "key-strict": (GREEN, "^", "gold: answer key, strict"),
    "key-tolerant": (PURPLE, "v", "gold: answer key, tolerant"),
}
NAMES = {
    "equal_opportunity": "equal opportunity",
    "demographic_parity": "demographic parity",
    "excess": "excess, own pairs",
    "excess_common": "excess, common pairs",
    "excess_half_ties": "excess, ties as half",
    "paired_excess": "paired excess",
    "gold_gap": "gold-label gap",
    "regression": "regression",
    "regression_length": "regression, length held",
    "equal_quality": "equal quality",
    "equal_length": "equal length",
    "harmful": "harmful",
    "neutral": "neutral",
    "earned": "earned",
}
LOOKS = dict(zip(RULES, ((BLACK, "o"), (BLUE, "s"), (GREEN, "^"), (ORANGE, "D")), strict=True))
# Statistic, gold label and title of the panels of judges without a second reader.
PREFERENCES = (
    ("demographic_parity", "none", "demographic parity"),
    ("equal_length", "none", "P(own) - 1/2 at equal length"),
    ("gold_gap", "oracle", "gap to the oracle"),
)
LOOKS_OF_SETS = ((BLUE, "o"), (ORANGE, "D"), (GREEN, "^"))
COLUMNS = 4
# Where a judge of pairs without any preference for its own stands, if it follows the gold label.
NEUTRAL = {"neutral": 0.5, "earned": 1.0}


def _series(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with their interval under the names that `dots` draws."""
    return rows.rename(columns={"lo": "value_lo", "hi": "value_hi"})


@style.context(STYLE)
def forest(rows: pd.DataFrame, study: str) -> Figure:
    """Every statistic of every judge of a study that has gold labels: one panel a judge.

    Args:
        rows: The frame `beyond`.
        study: Whose judges.
    """
    shown = rows[rows["study"].eq(study) & rows["unit"].eq("probability")]
    shown = shown[shown["judge"].ne(POOLED)]
    if not shown["n"].gt(0).any():
        return no_data("no judge with a choice among responses, one of them its own")
    judges = sorted(set(zip(shown["dataset"], shown["judge"], strict=True)))
    order = [name for name in STATISTICS if name in set(shown["statistic"])]
    frame = pd.DataFrame({"statistic": order})
    columns = min(COLUMNS, len(judges))
    lines = -(-len(judges) // columns)
    figure = paper(PAGE, lines * (0.175 * len(order) + 0.35) + 0.6)
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    golds = [gold for gold in GOLDS if gold in set(shown["gold"])]
    marked = [name for name in NEUTRAL if name in order]
    several = len({dataset for dataset, _ in judges}) > 1
    for axes, (dataset, judge) in zip(grid.flat, judges, strict=False):
        own = shown[shown["dataset"].eq(dataset) & shown["judge"].eq(judge)]
        axes.axvline(0, color=GREY, linewidth=0.8)
        for name in marked:
            axes.plot(NEUTRAL[name], order.index(name), marker="|", markersize=9, color=GREY)
        labelled = [gold for gold in golds if gold != "none"]
        for gold in golds:
            color, marker, label = GOLDS[gold]
            part = frame.merge(_series(own[own["gold"].eq(gold)]), on="statistic", how="left")
            shift = 0.0 if gold == "none" else shifted(labelled.index(gold), len(labelled))
            filled = gold in ("none", *labelled[:1])
            dots(
                axes,
                part,
                "value",
                shift=shift,
                color=color,
                marker=marker,
                filled=filled,
                label=label,
            )
        axes.set_title(f"{judge}\n{dataset}" if several else judge, fontsize=7.5)
        for line in axes.lines[1 + len(marked) :]:
            line.set_markersize(3.2)
    for axes in list(grid.flat)[len(judges) :]:
        axes.set_axis_off()
    row_labels(grid[0, 0], [NAMES[name] for name in order])
    figure.supxlabel(
        "preference for own responses (0: none; neutral and earned: bars at ½ and 1)", fontsize=8
    )
    legend(figure, grid.flat, 3)
    return figure


@style.context(STYLE)
def ratings(rows: pd.DataFrame) -> Figure:
    """The statistics of scores, in the points of each scale: one panel a scale.

    Args:
        rows: The frame `beyond`.
    """
    shown = rows[rows["unit"].ne("probability") & rows["n"].gt(0)]
    if shown.empty:
        return no_data("no judge scored texts of its own")
    shown = shown[shown["statistic"].eq("gold_gap") | shown["gold"].ne("key-tolerant")]
    units = sorted(set(shown["unit"]))
    parts = [shown[shown["unit"].eq(unit)].reset_index(drop=True) for unit in units]
    figure = paper(PAGE, 0.17 * sum(map(len, parts)) + 0.55 * len(parts) + 0.2)
    panels = figure.subplots(
        len(parts), 1, squeeze=False, height_ratios=[len(part) + 2 for part in parts]
    )[:, 0]
    for axes, unit, part in zip(panels, units, parts, strict=True):
        gap = part["statistic"].eq("gold_gap")
        for these, color, marker, label in (
            (gap, BLUE, "o", "gold-label gap"),
            (~gap, ORANGE, "D", "regression"),
        ):
            series = _series(part.where(these))
            dots(axes, series, "value", color=color, marker=marker, filled=label[0] == "g")
        axes.axvline(0, color=GREY, linewidth=0.8)
        row_labels(
            axes,
            [
                f"{row.judge}: {NAMES[str(row.statistic)]} ({row.gold})  n={row.n:g}"
                for row in part.itertuples()
            ],
        )
        axes.set_xlabel(f"own texts above gold, {unit}")
    return figure


@style.context(STYLE)
def preferences(rows: pd.DataFrame) -> Figure:
    """Judges that read pairs with an own text only: parity, equal length, gap to the oracle.

    Args:
        rows: The frame `beyond`.
    """
    shown = rows[rows["study"].eq("panickssery") & rows["n"].gt(0)]
    if shown.empty:
        return no_data("the study of Panickssery et al. is not in this profile")
    judges = pd.DataFrame({"judge": sorted(set(shown["judge"]))})
    looks = dict(zip(sorted(set(shown["dataset"])), LOOKS_OF_SETS, strict=False))
    drawn = [
        (title, shown[shown["statistic"].eq(name) & shown["gold"].eq(gold)])
        for name, gold, title in PREFERENCES
    ]
    drawn = [panel for panel in drawn if len(panel[1])]
    figure = paper(PAGE, 0.155 * len(judges) + 0.7)
    panels = figure.subplots(1, len(drawn), sharey=True, squeeze=False)[0]
    for axes, (title, found) in zip(panels, drawn, strict=True):
        axes.axvline(0, color=GREY, linewidth=0.8)
        for place, (dataset, (color, marker)) in enumerate(looks.items()):
            part = _series(found[found["dataset"].eq(dataset)])
            dots(
                axes,
                judges.merge(part, on="judge", how="left"),
                "value",
                shift=shifted(place, len(looks)) / 2,
                color=color,
                marker=marker,
                filled=place == 0,
                label=dataset,
            )
        for line in axes.lines[1:]:
            line.set_markersize(3.2)
        axes.set_title(title)
    row_labels(panels[0], list(judges["judge"]))
    legend(figure, panels, 3)
    return figure


@style.context(STYLE)
def recovery(rows: pd.DataFrame) -> Figure:
    """How each statistic goes with the preference that was put in.

    Args:
        rows: The frame `recovery`.
    """
    if rows.empty:
        return no_data("nothing was planted in this profile")
    order = [name for name in STATISTICS if name in set(rows["statistic"])]
    golds = [gold for gold in GOLDS if gold in set(rows["gold"])]
    figure = paper(PAGE * 0.72, 0.22 * len(order) + 0.8)
    axes = figure.subplots()
    labelled = [gold for gold in golds if gold != "none"]
    for gold in golds:
        color, marker, label = GOLDS[gold]
        part = rows[rows["gold"].eq(gold)].rename(columns={"lo": "r_lo", "hi": "r_hi"})
        dots(
            axes,
            pd.DataFrame({"statistic": order}).merge(part, on="statistic", how="left"),
            "r",
            shift=0.0 if gold == "none" else shifted(labelled.index(gold), len(labelled)),
            color=color,
            marker=marker,
            filled=gold in ("none", *labelled[:1]),
            label=label,
        )
    axes.axvline(0, color=GREY, linewidth=0.8)
    row_labels(axes, [NAMES[name] for name in order])
    axes.set_xlabel("correlation with the planted bonus, over judges")
    legend(figure, [axes], 3)
    return figure


@style.context(STYLE)
def mitigations(rows: pd.DataFrame) -> Figure:
    """Size of the excess against agreement with the human: one panel a data set.

    Args:
        rows: The frame `mitigations`.
    """
    if rows.empty:
        return no_data("no data set with three judges and human labels")
    wide = rows.pivot(index=["dataset", "judge", "rule"], columns="measure", values="value")
    sets = sorted(set(rows["dataset"]))
    figure = paper(PAGE, 3.4 * len(sets))
    panels = figure.subplots(len(sets), 1, squeeze=False)[:, 0]
    for axes, dataset in zip(panels, sets, strict=True):
        points = wide.loc[dataset].reset_index()
        judges = points[points["judge"].ne(MEAN)]
        for judge, part in judges.groupby("judge", sort=True):
            one = part.set_index("rule")
            alone = one.loc["single"]
            for rule in one.index.drop("single"):
                axes.plot(
                    [alone["excess"], one.loc[rule, "excess"]],
                    [alone["agreement"], one.loc[rule, "agreement"]],
                    color="#D0D0D0",
                    linewidth=0.7,
                    zorder=1,
                )
            axes.annotate(
                str(judge),
                (alone["excess"], alone["agreement"]),
                xytext=(4, -8),
                textcoords="offset points",
                fontsize=7,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5},
            )
        for rule, (color, marker) in LOOKS.items():
            part = judges[judges["rule"].eq(rule)]
            if len(part):
                axes.plot(
                    part["excess"],
                    part["agreement"],
                    linestyle="none",
                    marker=marker,
                    color=color,
                    markerfacecolor="white" if rule == "single" else color,
                    label=rule,
                )
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.margins(x=0.1, y=0.1)
        axes.set_title(str(dataset))
        axes.set_ylabel("agreement with the human, share of pairs")
    panels[-1].set_xlabel("excess over the other judges (0: treats the responses as they do)")
    legend(figure, panels, 4)
    return figure


@style.context(STYLE)
def changes(rows: pd.DataFrame) -> Figure:
    """What each mitigation changes against the single judge, with intervals.

    Args:
        rows: The frame `mitigations`.
    """
    if rows.empty:
        return no_data("no data set with three judges and human labels")
    measures = {
        "excess": "excess (row of the mean: its size)",
        "agreement": "agreement with the human",
    }
    sets = sorted(set(rows["dataset"]))
    names = [sorted(set(rows.loc[rows["dataset"].eq(one), "judge"])) for one in sets]
    names = [[*(judge for judge in judges if judge != MEAN), MEAN] for judges in names]
    figure = paper(PAGE, sum(0.27 * len(judges) + 0.45 for judges in names) + 0.7)
    grid = figure.subplots(
        len(sets), 2, sharex="col", sharey="row", squeeze=False, height_ratios=list(map(len, names))
    )
    for line, dataset, judges in zip(grid, sets, names, strict=True):
        for axes, (measure, heading) in zip(line, measures.items(), strict=True):
            axes.axvline(0, color=GREY, linewidth=0.8)
            part = rows[rows["dataset"].eq(dataset) & rows["measure"].eq(measure)]
            rules = [rule for rule in RULES[1:] if rule in set(part["rule"])]
            for place, rule in enumerate(rules):
                color, marker = LOOKS[rule]
                dots(
                    axes,
                    pd.DataFrame({"judge": judges}).merge(
                        part[part["rule"].eq(rule)], on="judge", how="left"
                    ),
                    "change",
                    shift=shifted(place, len(rules)),
                    color=color,
                    marker=marker,
                    label=rule,
                )
            axes.set_title(f"{dataset}: {heading}")
        row_labels(line[0], judges)
    figure.supxlabel("rule minus single judge, on the same pairs", fontsize=8)
    legend(figure, grid.flat, 3)
    return figure


@style.context(STYLE)
def power(rows: pd.DataFrame) -> Figure:
    """Pairs that a bias of each size takes, beside the pairs at hand: one panel a statistic.

    Args:
        rows: The frame `power`.
    """
    shown = rows[rows["gold"].isin(["human", "key-strict"])] if len(rows) else rows
    if shown.empty:
        return no_data("no judge with decided pairs that vary")
    names = sorted(set(zip(shown["dataset"], shown["judge"], strict=True)))
    frame = pd.DataFrame(names, columns=["dataset", "judge"])
    statistics = [name for name in STATISTICS if name in set(shown["statistic"])]
    figure = paper(PAGE, 0.23 * len(names) + 0.95)
    panels = figure.subplots(1, len(statistics), sharex=True, sharey=True, squeeze=False)[0]
    looks = zip(BIASES, ((BLUE, "o"), (GREEN, "s"), (ORANGE, "D")), strict=True)
    drawn = dict(looks)
    for axes, statistic in zip(panels, statistics, strict=True):
        part = shown[shown["statistic"].eq(statistic)]
        for bias, (color, marker) in drawn.items():
            one = frame.merge(part[np.isclose(part["bias"], bias)], how="left")
            dots(
                axes, one, "pairs", color=color, marker=marker, label=f"needed for a bias of {bias}"
            )
        dots(axes, one, "n", color=BLACK, marker="|", label="at hand")
        axes.set_xscale("log")
        axes.set_title(NAMES[statistic])
    several = frame["dataset"].nunique() > 1
    row_labels(panels[0], [f"{judge} ({data})" if several else judge for data, judge in names])
    figure.supxlabel("pairs (sets of responses) with the judge's own, decided", fontsize=8)
    legend(figure, panels, 4)
    return figure
