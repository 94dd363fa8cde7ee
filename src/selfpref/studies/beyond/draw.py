"""The figures beyond the papers, from the frames of `selfpref.studies.beyond.measure`.

`measure` says which of its modules defines which statistic, and from which paper.
"""

from itertools import product

import pandas as pd
from matplotlib import style

from selfpref.params import Params
from selfpref.plots.captions import beyond, caption, counted, unvaried
from selfpref.plots.forest import forest
from selfpref.plots.frame import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    STYLE,
    Look,
    legend,
    long,
    looks,
    mark,
)
from selfpref.plots.lines import scatter
from selfpref.plots.save import Plate, nothing
from selfpref.studies.beyond import AVERAGING, MEAN, OTHERS, OWN_VOTE, POOLED
from selfpref.tables.schemas import PANEL

# Colour and marker of each gold label.
GOLDS = {
    "no gold label": Look(GREY, "s"),
    "gold: human": Look(BLUE),
    "gold: oracle": Look(ORANGE, "D"),
    "gold: answer key, strict": Look(GREEN, "^"),
    "gold: answer key, tolerant": Look(PURPLE, "v"),
    "gold: a panel of judges": Look(BLACK, "P"),
}
KINDS = ("none", "human", "oracle", "key-strict", "key-tolerant", PANEL)
LABELS = dict(zip(KINDS, GOLDS, strict=True))
# The statistics in their order, as the figures name them.
NAMES = {
    "demographic_parity": "demographic parity",
    "equal_length": "equal length",
    "paired_excess": "paired excess",
    "equal_opportunity": "equal opportunity",
    "excess": "excess, own pairs",
    "excess_common": "excess, common pairs",
    "excess_half_ties": "excess, ties as half",
    "beyond_no_preference": "EO beyond another person's",
    "gold_gap": "DBG score",
    "regression": "regression",
    "regression_length": "regression, controlling for length",
    "regression_scaled": "regression, scale by judge",
    "equal_quality": "equal quality",
    "harmful": "harmful",
    "neutral": "neutral",
    "legitimate": "legitimate",
}
# Where a judge of pairs without any preference for its own stands, if it follows the gold label.
NEUTRAL = {"neutral": 0.5, "legitimate": 1.0}
# Statistic, gold label and heading of the panels of judges without a second reader.
PREFERENCES = {
    ("demographic_parity", "none"): "demographic parity",
    ("equal_length", "none"): "P(own) − ½ at equal length",
    ("gold_gap", "oracle"): "DBG score, gold: oracle",
}
MARKERS = {
    "single": "o",
    OTHERS: "P",
    "ensemble": "s",
    "ensemble without the judge": "D",
    "perplexity-weighted": "^",
    "perplexity-weighted without the judge": "v",
    "leave-self-out": "X",
}
# How a judge comes from single others to a panel with its own vote.
PATH = (OTHERS, "ensemble without the judge", "ensemble")
RULES = {
    "single": Look(BLACK, "o"),
    "ensemble": Look(BLUE, "s"),
    "ensemble without the judge": Look(BLUE, "D"),
    "perplexity-weighted": Look(GREEN, "^"),
    "perplexity-weighted without the judge": Look(GREEN, "v"),
}
# Effect and measure of the panels, with their headings.
CHANGES = {
    (OWN_VOTE, "eo"): "own vote: EO",
    (OWN_VOTE, "agreement"): "own vote: agreement",
    (AVERAGING, "size"): "averaging: size of EO",
    (AVERAGING, "agreement"): "averaging: agreement",
}
OWN_TEXT = "its own text"
HOLLOW = "too few: under ten rows, or pairs on one human side"
SOURCE = "Definitions and sources: `src/selfpref/studies/beyond/measure`"
INTERVALS = (
    "Intervals of coefficients are robust to clusters of prompts, those of shares Wilson's; both "
    "take prompts for clusters, as the bootstrap does"
)


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows in the order of `NAMES`, with the statistic's and the gold label's name."""
    drawn = rows.assign(
        name=rows["statistic"].map(NAMES),
        series=[LABELS.get(gold, gold) for gold in rows["gold"]],
        neutral=rows["statistic"].map(NEUTRAL).fillna(0.0),
        hollow=rows["few"],
    )
    place = {name: number for number, name in enumerate(NAMES)}
    order = drawn["statistic"].map(place).sort_values(kind="stable").index
    return drawn.loc[order]


def _counted(rows: pd.DataFrame) -> str:
    """Rows of the widest statistic of each judge, by data set, and what the strictest drops."""
    known = rows[rows["judge"].ne(POOLED) & rows["n"].gt(0)]
    widest = known.groupby(["dataset", "judge"])[["n", "dropped"]].max().reset_index()
    return counted(widest, "own sets", dropped="dropped", why="by the strictest statistics")


def statistics(rows: pd.DataFrame, study: str, params: Params) -> Plate:
    """Every statistic of every judge of a study that has gold labels: one panel a statistic.

    Args:
        rows: The frame `beyond`.
        study: Whose judges.
        params: With `bootstrap` and `profile`.
    """
    table = rows[rows["study"].eq(study)]
    shown = table[table["unit"].eq("probability") & table["judge"].ne(POOLED)]
    if not shown["n"].gt(0).any():
        return nothing("no judge with a choice among responses, one of them its own", table)
    known = set(shown.loc[shown["n"].gt(0), "statistic"])
    figure = forest(
        _named(shown[shown["statistic"].isin(known)]),
        row="judge",
        group="dataset",
        panel="name",
        wrap=4,
        label="preference for own responses (grey line: none)",
        looks=GOLDS,
        reference="neutral",
        share_x=False,
        hollow=HOLLOW,
    )
    told = caption(
        f"Profile `{params.profile}`, {study}",
        _counted(shown),
        f"{int(shown['n'].eq(0).sum())} values do not exist and are not drawn (reasons in "
        "beyond.csv)",
        unvaried(shown),
        INTERVALS,
        SOURCE,
        params=params,
    )
    return Plate(figure, table, told)


def ratings(rows: pd.DataFrame, params: Params) -> Plate:
    """The statistics of scores, in the points of each scale: one panel a scale and gold score.

    Args:
        rows: The frame `beyond`.
        params: With `bootstrap` and `profile`.
    """
    table = rows[rows["unit"].ne("probability")]
    shown = table[table["n"].gt(0)]
    if shown.empty:
        return nothing("no judge scored texts of its own", table)
    # Both answer keys give nearly the same coefficients.
    drawn = _named(shown[shown["statistic"].eq("gold_gap") | shown["gold"].ne("key-tolerant")])
    drawn = drawn.assign(
        panel=drawn["unit"] + ", gold: " + drawn["gold"], note=drawn["n"].map("n = {:g}".format)
    )
    figure = forest(
        drawn.sort_values(["panel", "judge"], kind="stable"),
        row="judge",
        series="name",
        panel="panel",
        wrap=2,
        rows_by_panel=True,
        label="own texts above gold, in the unit of the panel",
        looks={
            NAMES["gold_gap"]: Look(BLUE),
            NAMES["regression"]: Look(ORANGE, "D"),
            NAMES["regression_length"]: Look(GREEN, "s"),
        },
        share_x=False,
        note="note",
        hollow=HOLLOW,
    )
    told = caption(
        f"Profile `{params.profile}`",
        "Scores of own texts minus gold scores of the same texts, and coefficients of own text",
        f"{table['n'].sum():g} rows, {table['dropped'].sum():g} dropped for want of a score or a "
        f"gold score; {int(table['n'].eq(0).sum())} values do not exist",
        INTERVALS,
        SOURCE,
        params=params,
    )
    return Plate(figure, table, told)


def preferences(rows: pd.DataFrame, params: Params) -> Plate:
    """Judges that read pairs with an own text only: parity, equal length, gap to the oracle.

    Args:
        rows: The frame `beyond`.
        params: With `bootstrap` and `profile`.
    """
    table = rows[rows["study"].eq("panickssery")]
    shown = table[table["n"].gt(0)]
    if shown.empty:
        return nothing("the study of Panickssery et al. is not in this profile", table)
    kinds = zip(shown["statistic"], shown["gold"], strict=True)
    drawn = _named(
        shown.assign(
            panel=[PREFERENCES.get(kind) for kind in kinds],
            # The release names tuned evaluators `<data set>_<size or task>_ft_<family>`.
            family=shown["judge"].str.rpartition("_ft_")[2],
        )
    )
    figure = forest(
        drawn[drawn["panel"].notna()].sort_values(["family", "judge"], kind="stable"),
        row="judge",
        series="dataset",
        panel="panel",
        label="preference for the own text (0: none)",
        looks=looks(drawn["dataset"]),
        share_x=False,
        hollow=HOLLOW,
    )
    parity = shown[shown["statistic"].eq("demographic_parity") & shown["gold"].eq("none")]
    oracle = shown["gold"].eq("oracle").any()
    told = caption(
        f"Profile `{params.profile}`, panickssery",
        f"{parity['n'].sum():g} pairs decided in both orders by {parity['judge'].nunique()} "
        f"evaluators, {parity['dropped'].sum():g} dropped (no usable answer, or a tie); articles "
        "that a model was tuned on are left out; "
        + (
            "the gap is to the oracle" if oracle else "no gold label: quality is not controlled for"
        ),
        SOURCE,
        params=params,
    )
    return Plate(figure, table, told)


def recovery(rows: pd.DataFrame, params: Params) -> Plate:
    """How each statistic correlates with the preference that was injected.

    Args:
        rows: The frame `recovery`.
        params: With `bootstrap` and `profile`.
    """
    if rows.empty:
        return nothing(
            "nothing was injected in this profile: only the testbed knows the truth", rows
        )
    figure = forest(
        _named(rows.rename(columns={"r": "value"}).assign(few=False)),
        row="name",
        label="correlation with the injected bonus, over judges",
        looks=GOLDS,
    )
    told = caption(
        f"Profile `{params.profile}`",
        "Correlation of each statistic with the injected bonus over "
        f"{rows['n'].min()} to {rows['n'].max()} judges; {params.bootstrap.level:.0%} intervals "
        "after Fisher, of judges",
        SOURCE,
    )
    return Plate(figure, rows, told)


def placebo(rows: pd.DataFrame, scales: pd.DataFrame, params: Params) -> Plate:
    """The term of an own text beside the same term of every other text: one panel a model.

    Args:
        rows: The frame `placebo`.
        scales: The frame `scales`.
        params: With `bootstrap` and `profile`.
    """
    if rows.empty:
        return nothing("no data set with several judges of the same responses", rows)
    of = scales[scales["gold"].eq("human")].set_index(["dataset", "judge"])["scale"]
    keys = pd.MultiIndex.from_frame(rows[["dataset", "judge"]])
    drawn = long(rows, {"": "effect"}, into="of").assign(
        series=("text of " + rows["responder"]).mask(rows["own"], OWN_TEXT).to_numpy(),
        note=[f"scale {scale:.2f}" for scale in of.reindex(keys)],
        hollow=rows["few"].to_numpy(),
    )
    others = sorted(set(drawn["series"]) - {OWN_TEXT})
    greys = {
        name: Look(GREY, look.marker) for name, look in looks(others, first=[OWN_TEXT]).items()
    }
    figure = forest(
        drawn.sort_values(["dataset", "judge"], kind="stable"),
        row="judge",
        group="dataset",
        panel="model",
        label="coefficient: score beyond what the model expects of this judge",
        looks={OWN_TEXT: Look(ORANGE, "D"), **greys},
        note="note",
        hollow=HOLLOW,
    )
    own = rows.groupby("model")["own"].agg(["sum", "size"]).max()
    told = caption(
        f"Profile `{params.profile}`",
        f"One term for one judge and one responder at a time, {own['size'] - own['sum']} without "
        f"an own text (placebos) and {own['sum']} with one, in a model of the judges' scores with "
        "responder and human vote, and with a scale for each judge or one for all",
        f"At least {rows['n'].min()} pairs each",
        f"{params.bootstrap.level:.0%} intervals, robust to clusters of prompts",
        SOURCE,
    )
    return Plate(figure, rows, told)


@style.context(STYLE)
def mitigations(rows: pd.DataFrame, params: Params) -> Plate:
    """Bias against agreement with the human, by judge and rule: one panel a data set.

    Args:
        rows: The frame `mitigations`.
        params: With `profile`.
    """
    if rows.empty:
        return nothing("no data set with three judges and human labels", rows)
    judges = rows[rows["judge"].ne(MEAN)]
    wide = judges.pivot(index=["dataset", "judge", "rule"], columns="measure", values="value")
    few = judges[judges["measure"].eq("eo")].set_index(["dataset", "judge", "rule"])["few"]
    wide = wide.assign(hollow=few).sort_index().reset_index()
    colors = {judge: look.color for judge, look in looks(judges["judge"]).items()}
    figure = scatter(
        wide.assign(series=wide["judge"] + wide["rule"]),
        x="eo",
        y="agreement",
        label=(
            "equal-opportunity bias towards the judge's responses",
            "agreement with the human, share of pairs",
        ),
        looks={
            judge + rule: Look(colors[judge], marker)
            for judge, (rule, marker) in product(colors, MARKERS.items())
        },
        panel="dataset",
    )
    for axes, (_, part) in zip(figure.axes, wide.groupby("dataset"), strict=False):
        axes.axvline(0, color=GREY, linewidth=0.8)
        for judge, mine in part.groupby("judge"):
            path = mine.set_index("rule").reindex(PATH)
            axes.plot(path["eo"], path["agreement"], color=colors[judge], linewidth=0.5, alpha=0.5)
    rules = [rule for rule in MARKERS if judges["rule"].eq(rule).any()]
    handles = [mark(judge, Look(color)) for judge, color in colors.items()]
    legend(figure, [*handles, *(mark(rule, Look(GREY, MARKERS[rule])) for rule in rules)])
    one = judges[judges["rule"].eq("single") & judges["measure"].eq("eo")]
    told = caption(
        f"Profile `{params.profile}`",
        counted(
            one,
            "own pairs that the human decides",
            dropped="dropped",
            why="for want of a score",
        ),
        "A tie of a rule counts half",
        "Pairs with the responses of each judge (colour), judged by it alone (single), by each "
        "other judge alone (mean), and by each rule with and without it",
        "Lines go from the others alone to their ensemble, and on to the ensemble with the judge; "
        "intervals in the next figure",
        SOURCE,
    )
    return Plate(figure, rows, told)


def changes(rows: pd.DataFrame, params: Params) -> Plate:
    """What a judge's own vote changes, and what averaging does, with intervals.

    Args:
        rows: The frame `mitigation_changes`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing("no data set with three judges and human labels", rows)
    kinds = zip(rows["effect"], rows["measure"], strict=True)
    drawn = rows.assign(panel=[CHANGES.get(kind) for kind in kinds], hollow=rows["few"])
    drawn = long(drawn[drawn["panel"].notna()], {"": "change"}, into="of")
    figure = forest(
        drawn.assign(last=drawn["judge"].eq(MEAN)).sort_values(
            ["dataset", "last", "judge"], kind="stable"
        ),
        row="judge",
        series="rule",
        group="dataset",
        panel="panel",
        wrap=2,
        label="change on the same pairs",
        looks=RULES,
        share_x=False,
        hollow=HOLLOW,
    )
    told = caption(
        "Own vote: each rule minus the same rule without the judge whose responses are judged; a "
        "single judge minus the mean of the others, each alone",
        "Averaging: a panel without this judge minus the mean of its members, each alone",
        f"`{MEAN}`: of the changes; EO is signed, its size is not",
        SOURCE,
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
        told.append(f"- {dataset}, {effect}, {rule}: {'; '.join(counts)}.")
    return "\n".join(told)


def power(rows: pd.DataFrame, params: Params) -> Plate:
    """Pairs that a bias of each size takes, beside the pairs at hand: one panel a statistic.

    Args:
        rows: The frame `power`.
        params: With `profile`.
    """
    shown = rows[rows["gold"].isin(["human", "key-strict"])] if len(rows) else rows
    if shown.empty:
        return nothing("no statistic varies among the decided pairs: nothing can be planned", rows)
    need = _named(shown).assign(value=shown["pairs"])
    need["series"] = need["bias"].map("needed for a bias of {}".format)
    have = need.drop_duplicates(["dataset", "judge", "statistic"])
    drawn = pd.concat([need, have.assign(value=have["n"], series="at hand")])
    sizes = [f"needed for a bias of {bias}" for bias in sorted(set(shown["bias"]))]
    figure = forest(
        drawn,
        row="judge",
        group="dataset",
        panel="name",
        label="pairs (sets of responses) with the judge's own, decided",
        looks=dict(zip(sizes, (Look(BLUE), Look(GREEN, "s"), Look(ORANGE, "D")), strict=False))
        | {"at hand": Look(BLACK, "|")},
        reference=None,
        hollow=HOLLOW,
    )
    for axes in figure.axes:
        axes.set_xscale("log")
    one = rows[rows["bias"].eq(rows["bias"].min())]
    told = caption(
        f"Profile `{params.profile}`",
        "Two-sided test at 0.05 with 80 % power; variance and design effect of "
        f"{len(one)} statistics of {one['judge'].nunique()} judges, from {one['n'].min()} to "
        f"{one['n'].max()} decided sets each (bars: at hand)",
        f"Design effects {one['effect'].min():.2f} to {one['effect'].max():.2f}",
        "A statistic that does not vary in the sample is left out",
        SOURCE,
    )
    return Plate(figure, rows, told)
