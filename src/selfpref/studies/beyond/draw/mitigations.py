"""Panels of judges: bias and agreement by rule; what its own vote and averaging change."""

from itertools import pairwise

import pandas as pd
from matplotlib import style

from selfpref.params import Params
from selfpref.plots.captions import beyond, caption, counted
from selfpref.plots.forest import forest
from selfpref.plots.frame import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    STYLE,
    Look,
    dots,
    grid,
    head,
    legend,
    long,
    mark,
    weak,
)
from selfpref.plots.save import Plate, nothing
from selfpref.studies.beyond import AVERAGING, MEAN, OTHERS, OWN_VOTE
from selfpref.studies.beyond.draw.names import HOLLOW, called

RULES = {
    "single": Look(BLACK, "o"),
    OTHERS: Look(GREY, "P"),
    "ensemble without the judge": Look(BLUE, "D"),
    "ensemble": Look(BLUE, "s"),
    "perplexity-weighted without the judge": Look(GREEN, "v"),
    "perplexity-weighted": Look(GREEN, "^"),
    "leave-self-out": Look(ORANGE, "X"),
}
# How a judge comes from single others to a panel with its own vote.
PATH = (OTHERS, "ensemble without the judge", "ensemble")
# Effect and measure of the panels, with their headings.
CHANGES = {
    (OWN_VOTE, "eo"): "own vote: EO",
    (AVERAGING, "size"): "averaging: size of EO",
    (OWN_VOTE, "agreement"): "own vote: agreement",
    (AVERAGING, "agreement"): "averaging: agreement",
}
ABSENT = "no data set with three judges and human labels"


@style.context(STYLE)
def mitigations(rows: pd.DataFrame) -> Plate:
    """Bias against agreement with the human, by rule: one panel a judge.

    Args:
        rows: The frame `mitigations`.
    """
    if rows.empty:
        return nothing(ABSENT, rows)
    judges = rows[rows["judge"].ne(MEAN)]
    wide = judges.pivot(index=["dataset", "judge", "rule"], columns="measure", values="value")
    few = judges[judges["measure"].eq("eo")].set_index(["dataset", "judge", "rule"])["few"]
    parts = list(wide.assign(hollow=few).reset_index().groupby(["dataset", "judge"]))
    several = judges["dataset"].nunique() > 1
    figure, panels = grid([1.6] * len(parts), 3, share_x=True, share_y=True)
    for axes, ((dataset, judge), part) in zip(panels, parts, strict=True):
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.grid(visible=True, axis="both")
        path = part.set_index("rule").reindex(PATH)
        steps = path[["eo", "agreement"]].to_numpy()
        for start, end in pairwise(steps):
            arrow = {"arrowstyle": "->", "color": GREY, "linewidth": 0.8, "shrinkB": 3}
            axes.annotate("", end, start, arrowprops=arrow)
        for rule, look in RULES.items():
            mine = part[part["rule"].eq(rule)]
            dots(axes, mine["eo"], mine["agreement"], look, weak(mine), 4.2)
        title = called(judge) + (f", {called(dataset)}" if several else "")
        head(axes, title, min(3, len(parts)))
    figure.supxlabel("equal-opportunity bias towards the judge's responses", fontsize=8)
    figure.supylabel("agreement with people, share of pairs", fontsize=8)
    rules = [rule for rule in RULES if judges["rule"].eq(rule).any()]
    legend(figure, [mark(rule, RULES[rule]) for rule in rules])
    one = judges[judges["rule"].eq("single") & judges["measure"].eq("eo")]
    told = caption(
        "Bias and agreement with people on the pairs with each judge's response, judged by it "
        "alone (single), by each other judge alone (mean), and by each rule with and without it",
        counted(
            one.assign(dataset=one["dataset"].map(called), judge=one["judge"].map(called)),
            "own pairs that people decide",
            dropped="dropped",
            why="no score",
        ),
        "A tie of a rule counts half",
        "Arrows go from the others alone to their ensemble, and on to the ensemble with the judge",
    )
    return Plate(figure, rows, told)


def _message(rows: pd.DataFrame) -> str:
    """What the figure shows, where the mean over the judges of every data set shows it."""
    mean = rows[rows["judge"].eq(MEAN)]
    size = mean[mean["effect"].eq(AVERAGING) & mean["measure"].eq("size")]
    own = mean[mean["effect"].eq(OWN_VOTE) & mean["measure"].eq("eo")]
    own = own[own["rule"].ne("single")]
    if len(size) and size["change_lo"].gt(0).all() and own["change_lo"].le(0).all():
        return "Averaging makes bias larger; the judge's own vote changes it little"
    return ""


def changes(rows: pd.DataFrame, params: Params) -> Plate:
    """What a judge's own vote changes, and what averaging does, with intervals.

    Args:
        rows: The frame `mitigation_changes`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing(ABSENT, rows)
    drawn = long(rows, {"": "change"}, into="of")
    kinds = zip(drawn["effect"], drawn["measure"], strict=True)
    order = {heading: place for place, heading in enumerate(CHANGES.values())}
    drawn = drawn.assign(
        panel=[CHANGES.get(kind) for kind in kinds],
        hollow=drawn["few"],
        set=drawn["dataset"].map(called),
        last=drawn["judge"].eq(MEAN),
        judge=drawn["judge"].map(called),
    )
    drawn = drawn[drawn["panel"].notna()]
    figure = forest(
        drawn.assign(place=drawn["panel"].map(order)).sort_values(
            ["place", "set", "last", "judge"], kind="stable"
        ),
        row="judge",
        series="rule",
        group="set",
        panel="panel",
        wrap=2,
        label="change on the same pairs",
        looks=RULES,
        hollow=HOLLOW,
        message=_message(rows),
    )
    told = caption(
        "What changes bias and agreement with people on the same pairs",
        "Own vote: each rule minus the same rule without the judge whose responses are judged; a "
        "single judge minus the mean of the others, each alone",
        "Averaging: a panel without this judge minus the mean of its members, each alone",
        f"{MEAN.capitalize()}: of the changes; EO is signed, its size is not",
        params=params,
    )
    return Plate(figure, rows, told)


def changed(rows: pd.DataFrame) -> str:
    """For how many judges each effect moves bias and agreement beyond its interval."""
    if rows.empty:
        return ""
    judges = rows[rows["judge"].ne(MEAN)]
    told = []
    for (dataset, effect, rule), part in judges.groupby(["dataset", "effect", "rule"], sort=False):
        counts = []
        for measure, name in (("eo", "EO"), ("size", "its size"), ("agreement", "agreement")):
            one = part[part["measure"].eq(measure)]
            down, up = beyond(one, "change")
            counts.append(f"{name} rises for {up} and falls for {down} of {len(one)} judges")
        told.append(f"- {called(dataset)}, {effect}, {rule}: {'; '.join(counts)}.")
    return "\n".join(told)
