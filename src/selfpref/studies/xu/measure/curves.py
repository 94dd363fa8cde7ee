"""The paper's other tables: changes along the steps, people, shares, sizes, and two examples."""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from selfpref.statistics.shares import difference, share_interval
from selfpref.studies.xu.chains import RESCORED
from selfpref.studies.xu.measure.grid import AVERAGE, by_group, skewness, summary
from selfpref.studies.xu.measure.rows import (
    BEST,
    CONVENTIONS,
    Convention,
    Settings,
    chained,
    paper_chains,
    read_as,
    truth_of,
)
from selfpref.studies.xu.measure.selection import expected_greatest
from selfpref.studies.xu.measure.skewness import distance_skewness
from selfpref.studies.xu.truths import MATCHERS

HUMAN = [
    *("model", "step", "human_mean", "self_mean", "bias", "bias_lo", "bias_hi", "dskew", "n"),
    *("bias_change", "bias_change_lo", "bias_change_hi"),
    *("human_change", "human_change_lo", "human_change_hi", "noise_bias"),
]
COMMONGEN = ["model", "step", "predicted", "true", "bias", "dskew", "n", "matcher"]
EXPECTED = ["condition", "language", "model", "step", "texts", "draws"]
# Gaps in points of MQM, and how many sentences have each; all true scores are the middle one.
MADE_UP = ((-2.0, 80), (8.0, 20))
MIDDLE = -12.5
MODELS = {"condition": "condition", "responder": "model"}
# What is said, and what is.
SIDES = ("self", "truth")
# Quantities whose change since step 0 is told.
MOVED = [
    f"{name}_change{end}"
    for name in ("self", "truth", "bias", "dskew")
    for end in ("", "_lo", "_hi")
]
# Means of 0 and 1 are shares: of what is said to be right, and of what is (`_as_shares`).
SHARES = {
    old + end: new + end
    for old, new in (("self_mean", "predicted"), ("truth_mean", "true"))
    for end in ("", "_lo", "_hi")
}


def change(curves: pd.DataFrame) -> pd.DataFrame:
    """How score, truth, bias and D have changed since step 0, with paired intervals."""
    later = curves["step"].gt(0) & curves["condition"].eq("")
    columns = ["language", "model", "step", "convention", *MOVED, "n_both"]
    return curves.loc[later].reindex(columns=columns).reset_index(drop=True)


def gains(curves: pd.DataFrame) -> pd.DataFrame:
    """What refinement has brought by the last step: to the model's own score, and to the truth.

    Returns:
        `language, model, convention, best_step` (where the mean truth is greatest), `last_step`,
        and by then the changes since step 0 of score, truth, bias and D with their intervals; the
        last step is the last one with a truth.
    """
    known = curves[curves["condition"].eq("") & curves["n"].gt(0)]
    rows = []
    for (language, model, convention), part in known.groupby(["language", "model", "convention"]):
        last = part.loc[part["step"].idxmax()]
        if last["step"] == 0:
            continue
        row = {"language": language, "model": model, "convention": convention}
        row |= {"best_step": part.loc[part["truth_mean"].idxmax(), "step"]}
        rows.append(row | last[["n_both", *MOVED]].to_dict() | {"last_step": last["step"]})
    columns = ["language", "model", "convention", "best_step", "last_step", "n_both"]
    return pd.DataFrame(rows, columns=[*columns, *MOVED])


def human(
    rows: pd.DataFrame, truths: pd.DataFrame, published: pd.DataFrame, settings: Settings
) -> pd.DataFrame:
    """The human study: own scores against human MQM, and the bias that the paper prints.

    The scores are those of the release's own rule, as in the paper.

    Returns:
        The columns of `HUMAN` and `bias_published`; `noise_bias` is that of a judge of pure noise
        by the same accept rule (`selection`), on the same sentences.
    """
    own = paper_chains(rows)
    own = own.assign(truth=truth_of(own, truths, "human-mqm"))
    own = own[own["truth"].notna() & own["task"].eq("mqm")]
    table = by_group(
        summary, own, settings, "human", by={"responder": "model"}, conventions=("released",)
    )
    if table.empty:
        return pd.DataFrame(columns=[*HUMAN, "bias_published"])
    table = table.rename(columns=lambda name: str(name).replace("truth_", "human_"))
    first = read_as(own[own["step"].eq(0)], "released").groupby("responder")
    scores = {model: np.unique(part["said"], return_counts=True) for model, part in first}
    before = first["truth"].mean()
    table["noise_bias"] = [
        float(expected_greatest(levels, counts[:, None].astype(float), row.step + 1)[0])
        - before[row.model]
        for row in table.itertuples()
        for levels, counts in [scores[row.model]]
    ]
    printed = published[published["item"].eq("human") & published["quantity"].eq("bias")]
    printed = printed.rename(columns={"value": "bias_published"})
    return (
        table[HUMAN]
        .merge(printed[["model", "step", "bias_published"]], on=["model", "step"], how="left")
        .sort_values(["model", "step"], ignore_index=True)
    )


def commongen(rows: pd.DataFrame, truths: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Constrained generation: says "all covered" against holds every concept, for both matchers.

    Returns:
        `convention`, the columns of `COMMONGEN`, and the intervals of bias, `predicted` and `true`;
        those of the two shares are Wilson's.
    """
    own = paper_chains(rows, "coverage")
    found = [pd.DataFrame()]
    for matcher in MATCHERS:
        held = own.assign(truth=truth_of(own, truths, f"coverage-{matcher}"))
        table = by_group(summary, held, settings, "commongen", matcher, by=MODELS)
        found.append(_as_shares(table, held, settings, CONVENTIONS).assign(matcher=matcher))
    table = pd.concat(found, ignore_index=True)
    if own.empty:
        return pd.DataFrame(columns=[*COMMONGEN, "convention"])
    return table.sort_values(["model", "step", "convention", "matcher"], ignore_index=True)


def _as_shares(
    table: pd.DataFrame, rows: pd.DataFrame, settings: Settings, conventions: Sequence[Convention]
) -> pd.DataFrame:
    """A table of `by_group` whose means are shares, with Wilson's intervals for these.

    Where the bias does not vary over sentences, its interval is Newcombe's.

    Args:
        table: By `MODELS`, language, step and convention.
        rows: What it was made from.
        settings: The level.
        conventions: Those of the table.
    """
    if table.empty:
        return table
    key = [*MODELS, "language", "step"]
    found = []
    for convention in conventions:
        read = read_as(rows, convention)
        both = read["said"].notna() & read["truth"].notna()
        # As the means: over the pairs, or over all scores where a cell has no truth.
        alone = ~both.groupby([read[name] for name in key]).transform("any")
        read = read.assign(
            self_mean=read["said"].where(both | alone), truth_mean=read["truth"].where(both | alone)
        )
        for values, part in read.groupby(key):
            row: dict[str, object] = dict(zip(key, values, strict=True)) | {
                "convention": convention
            }
            level = settings.bootstrap.level
            said, true = (
                share_interval(part[name], part["cluster"], level)
                for name in ("self_mean", "truth_mean")
            )
            for side, held in zip(SIDES, (said, true), strict=True):
                row |= {f"{side}_mean_lo": held.lo, f"{side}_mean_hi": held.hi}
            apart = difference(said, true)
            found.append(row | {"apart_lo": apart.lo, "apart_hi": apart.hi})
    bounds = pd.DataFrame(found).rename(columns=MODELS)
    order = list(table)
    whole = table.drop(columns=[f"{name}_mean{end}" for name in SIDES for end in ("_lo", "_hi")])
    merged = whole.merge(bounds, on=[*MODELS.values(), *key[2:], "convention"])
    # A bias that is the same in every sentence has no interval by resampling, and D has none.
    alike = merged["bias_lo"].eq(merged["bias_hi"])
    for end in ("_lo", "_hi"):
        merged[f"bias{end}"] = merged[f"bias{end}"].mask(alike, merged[f"apart{end}"])
        merged[f"dskew{end}"] = merged[f"dskew{end}"].mask(alike)
    return merged[order].rename(columns=SHARES)


def mathematics(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Mathematics: says that its answer is correct against gives the right one.

    Returns:
        `condition` (`plain`, an arm, or `self-consistency`, whose steps are rounds of votes),
        `language, model, step, predicted, true, bias, dskew` with intervals, the change of the bias
        since step 0, `n` and `unusable`; the intervals of the two shares are Wilson's.
    """
    own = chained(rows)
    own = own[own["task"].eq("correctness")]
    # No release has a rule of its own here; both conventions are one.
    one: tuple[Convention] = ("corrected",)
    table = by_group(summary, own, settings, "mathematics", by=MODELS, conventions=one)
    table = _as_shares(table, own, settings, one)
    if table.empty:
        return pd.DataFrame(columns=["condition", "language", *COMMONGEN, "unusable"])
    table["condition"] = table["condition"].replace("", "plain")
    return table.drop(columns="convention").sort_values(
        ["language", "model", "condition", "step"], ignore_index=True
    )


def expected(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Eq. 1 by fresh draws of the writer's score, which selected nothing (`rows.averaged`).

    Beside it `translation` has the bias of the score that drove the refinement.

    Returns:
        `condition, language, model, step, texts, draws` (usable ones, over all texts), and the
        quantities of `summary`; empty where nothing was read afresh.
    """
    fresh = rows[rows["variant"].eq(RESCORED) & rows["judge"].eq(rows["responder"])]
    fresh = fresh[~fresh["condition"].str.startswith(BEST)]
    one: tuple[Convention] = ("corrected",)
    table = by_group(summary, fresh, settings, "expected", by=MODELS, conventions=one)
    if table.empty:
        return pd.DataFrame(columns=EXPECTED)
    counts = fresh.rename(columns=MODELS).groupby(EXPECTED[:4])["draws"]
    counts = counts.agg(texts="size", draws="sum").reset_index()
    table = counts.merge(table.drop(columns="convention"), on=EXPECTED[:4])
    return table.assign(condition=table["condition"].replace("", "plain"))


def skewness_tests(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """D of every cell beside its nulls (`grid.skewness`)."""
    own = paper_chains(rows)
    return by_group(skewness, own, settings, "skewness", by={"responder": "model"})


def sizes(rows: pd.DataFrame, table: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The models that differ in size alone, in ascending order, in the languages they share.

    Args:
        rows: As `rated` returns them.
        table: The table `translation`.
        settings: Which models.

    Returns:
        The rows of the table with `difference`, what the bias is above that of the next smaller
        model on the sentences that count for both, and its interval; NaN for the smallest.
    """
    table = table[table["model"].isin(settings.sizes) & table["language"].ne(AVERAGE)]
    shared = table.groupby("language")["model"].nunique().eq(len(settings.sizes))
    table = table[table["language"].map(shared).eq(True)]
    order = table["model"].map({name: i for i, name in enumerate(settings.sizes)})
    table = table.assign(size=order).sort_values(
        ["language", "size", "step", "convention"], ignore_index=True
    )
    return table.drop(columns="size").merge(
        _larger_less_smaller(paper_chains(rows, "mqm"), settings),
        on=["language", "model", "step", "convention"],
        how="left",
    )


def _larger_less_smaller(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """What each model's bias is above the next smaller one's, by language, step and scoring."""
    found = []
    for convention in CONVENTIONS:
        read = read_as(rows, convention)
        gaps = read.assign(gap=read["said"] - read["truth"]).pivot(
            index=["language", "step", "cluster", "item_id"], columns="responder", values="gap"
        )
        gaps = gaps.reindex(columns=list(settings.sizes))
        for smaller, larger in itertools.pairwise(settings.sizes):
            apart = (gaps[larger] - gaps[smaller]).dropna().reset_index("cluster", name="apart")
            for (language, step), part in apart.groupby(["language", "step"]):
                key = {"language": language, "model": larger, "step": step}
                names = ("size", *map(str, key.values()))
                mean = settings.intervals.mean(part["apart"], part["cluster"], *names)
                found.append(key | {"convention": convention} | mean.columns("difference"))
    columns = ["language", "model", "step", "convention", "difference"]
    return pd.DataFrame(found, columns=[*columns, "difference_lo", "difference_hi"])


def example(rows: pd.DataFrame, truths: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Rows for the paper's two schematic figures: the scores of single sentences, no texts.

    Figure 1: the human study's cell with the greatest bias at step 0. Figure 2 is made up
    (`MADE_UP`): most texts are under-rated a little, a few over-rated by much, so that a bias of 0
    hides an asymmetry. No released step shows it: where the bias is about 0, D is that of chance.

    Returns:
        `figure, language, model, step, sentence, said, truth`; the cell's `bias` and `dskew`.
    """
    own = read_as(paper_chains(rows, "mqm"), "released")
    people = own.assign(truth=truth_of(own, truths, "human-mqm"))
    people = people[people["step"].eq(0) & people["truth"].notna()]
    biased = _most_biased(people, settings).assign(figure=1)
    gaps = np.concatenate([np.full(count, gap) for gap, count in MADE_UP])
    made = pd.DataFrame({"said": MIDDLE + gaps, "truth": MIDDLE}).assign(
        figure=2,
        language="made up",
        responder="made up",
        step=0,
        cluster=[f"made up/{i}" for i in range(1, len(gaps) + 1)],
        bias=gaps.mean(),
        dskew=float(distance_skewness(gaps, settings.gamma)),
    )
    found = pd.concat([part for part in (biased, made) if len(part)], ignore_index=True)
    names = {"responder": "model", "cluster": "sentence"}
    columns = ["figure", "language", "responder", "step", "cluster", "said", "truth"]
    columns += ["bias", "dskew"]
    return found.reindex(columns=columns).rename(columns=names)


def _most_biased(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The rows of the cell with the greatest bias."""
    cells = []
    for _, part in rows.groupby(["language", "responder", "step"]):
        held = part[part["said"].notna() & part["truth"].notna()]
        gaps = (held["said"] - held["truth"]).to_numpy()
        if len(gaps):
            skew = float(distance_skewness(gaps, settings.gamma))
            cells.append(held.assign(bias=gaps.mean(), dskew=skew))
    return max(cells, key=lambda cell: cell["bias"].iloc[0], default=rows.iloc[:0])
