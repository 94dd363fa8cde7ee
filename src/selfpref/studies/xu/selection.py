"""What selection does by itself: keeping the best of several scores, by a judge of pure noise.

Such a judge draws each score at random from those that the real judge gave, whatever the text.
Whoever keeps the greatest of k such scores has, for the sorted scores s_1 <= ... <= s_N,

    E = sum over i of s_i ((i/N)^k - ((i-1)/N)^k)

which rises with k, while the texts that are kept are texts at random. The best of k is drawn from
the candidates of that k. Refinement under the rule "keep if my own score rose" keeps the greatest
of t + 1 scores after t steps; they are drawn from the scores of the texts of step 0.

What a measured bias has *beyond* that of noise is told with an interval: sentences are resampled,
each with its scores, its candidates and its truths in every language.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import Floats, bounded, ratio
from selfpref.studies.xu import bias, chains
from selfpref.studies.xu.items import TASKS

BEST_KEY = ["language", "model", "k", "convention"]
BEST_OF_K = [*BEST_KEY, *bias.COUNTS[:2], *bounded(*bias.LEVELS)]
BEST_OF_NOISE = [
    *(*BEST_KEY, "candidate_mean", "noise_score", "noise_bias", "scores", *bounded("beyond")),
]
REFINED = [
    *("language", "model", "step", "convention", "noise_score"),
    *(*bounded("noise_bias"), "scores", *bounded("beyond")),
]


def best_of_k(rows: pd.DataFrame, truths: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """The candidate that a model scores highest among k of its own.

    A k that has texts or truths but no readable scores keeps its row, without values.

    Returns:
        `language, model, k, convention`, the quantities of `summary` for the chosen text, and
        `noise_bias` and `beyond` as `best_of_noise` returns them.
    """
    best = _candidates(rows[rows["own"]])
    chosen = best[best["step"].eq(1)]
    by, key = {"responder": "model"}, BEST_KEY[:3]
    table = bias.by_group(
        bias.summary, chosen.assign(step=chosen["k"]), settings, "best of k", by=by
    )
    table = table.rename(columns={"step": "k"})[BEST_OF_K]
    # Every model and k that the source scored, under both scorings.
    scored = truths[["item_id", "responder"]].join(chains.addressed(truths["item_id"]))
    offered = _candidates(scored).rename(columns=by)[key].drop_duplicates()
    whole = offered.merge(pd.DataFrame({"convention": bias.CONVENTIONS}), how="cross")
    whole = whole.merge(table[BEST_KEY], how="outer").merge(table, on=BEST_KEY, how="left")
    beyond = best_of_noise(rows, settings)[[*BEST_KEY, "noise_bias", *bounded("beyond")]]
    return (
        whole.fillna(dict.fromkeys(bias.COUNTS[:2], 0))
        .astype(dict.fromkeys(bias.COUNTS[:2], "int64"))
        .merge(beyond, on=BEST_KEY, how="left")
        .sort_values(BEST_KEY, ignore_index=True)
    )


def _candidates(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of candidates (step 0) and of the text chosen among them (step 1), with k."""
    best = rows[rows["condition"].str.startswith(chains.BEST)]
    return best.assign(k=best["condition"].str.removeprefix(chains.BEST).astype(int))


def expected_greatest(levels: Floats, counts: Floats, k: int) -> Floats:
    """Mean of the greatest of k draws with replacement from scores.

    Args:
        levels: The different scores, ascending, `[levels]`.
        counts: How often each occurs, `[levels, batch]`.
        k: At least 1.

    Returns:
        `[batch]`; NaN where nothing counts.
    """
    whole = counts.sum(axis=0)
    share = np.divide(counts, whole, out=np.full_like(counts, np.nan), where=whole > 0)
    reached = np.minimum(np.cumsum(share, axis=0), 1.0)
    greatest: Floats = levels @ np.diff(reached**k, axis=0, prepend=0.0)
    return greatest


def scores_of(rows: pd.DataFrame, clusters: list[str]) -> tuple[Floats, Floats]:
    """The different scores, ascending, and how often each cluster has each.

    Returns:
        `[levels]` and `[levels, clusters]`; missing scores are left out.
    """
    counts = pd.crosstab(rows["score"], rows["cluster"]).reindex(columns=clusters, fill_value=0)
    return counts.index.to_numpy(dtype=float), counts.to_numpy(dtype=float)


def sums_of(values: pd.Series, of: pd.Series, clusters: list[str]) -> Floats:
    """Sum and count of the values of each cluster, `[2, clusters]`; missing ones are left out."""
    known = values.groupby(of).agg(["sum", "count"]).reindex(clusters, fill_value=0)
    sums: Floats = known.to_numpy(dtype=float).T
    return sums


def best_of_noise(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Best of k by a judge of pure noise, from the scores that a model gave the candidates of k.

    The true score is taken to be the mean over the texts that the model chose at this k.

    Args:
        rows: As `rated` returns them.
        settings: The intervals.

    Returns:
        `language, model, k, convention, candidate_mean` (of the scores drawn from),
        `noise_score, noise_bias, scores` (how many were drawn from), and `beyond` with its bounds:
        the score of the model's own choice less the noise judge's; NaN where its choice has no
        readable score.
    """
    by = {"language": "language", "responder": "model", "k": "k"}
    drawn = _candidates(rows[rows["own"]])
    table = bias.by_group(_chosen, drawn, settings, "best of noise", by=by, columns=BEST_OF_NOISE)
    return table[BEST_OF_NOISE]


def _chosen(rows: pd.DataFrame, settings: bias.Settings, *names: str) -> pd.DataFrame:
    """The same of one model's k under one scoring: one row, or none without scores."""
    drawn = rows[rows["step"].eq(0) & rows["score"].notna()]
    if drawn.empty:
        return pd.DataFrame(columns=BEST_OF_NOISE)
    clusters, k = sorted({*rows["cluster"]}), int(rows["k"].iloc[0])
    chosen = rows[rows["step"].eq(1)]
    levels, counts = scores_of(drawn, clusters)
    own = chosen["score"].where(chosen["truth"].notna())
    mine = sums_of(own, chosen["cluster"], clusters)

    def statistics(weights: Floats) -> dict[str, Floats]:
        noise = expected_greatest(levels, counts @ weights, k)
        return {"noise_score": noise[None], "beyond": (ratio((mine @ weights).T) - noise)[None]}

    made = bias.named_intervals(settings.intervals, len(clusters), statistics, *names)
    return made.assign(
        convention=rows["convention"].iloc[0],
        candidate_mean=drawn["score"].mean(),
        noise_bias=made["noise_score"] - chosen["truth"].mean(),
        scores=len(drawn),
    )


def refined_by_noise(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Refinement judged by pure noise, of every task.

    The accept rule is the paper's. Scores are drawn from those that the model gave its first texts;
    the true score stays what it is at step 0, since nothing is learned about any text.

    Args:
        rows: As `rated` returns them.
        settings: The intervals.

    Returns:
        `language` (and `average`, where a model has all languages of the study), `model, step,
        convention, noise_score, noise_bias` with its bounds, `scores`, and `beyond` with its
        bounds: the measured bias less the noise judge's; NaN at step 0, and where none was
        measured.
    """
    found, by = [], {"responder": "model"}
    for task in TASKS:
        own = bias.paper_chains(rows, task)
        own = own.assign(languages=own["language"].nunique())
        of = (_refined, own, settings, "refined by noise")
        found.append(bias.by_group(*of, by=by, columns=REFINED))
    return pd.concat(found, ignore_index=True)[REFINED]


def _refined(rows: pd.DataFrame, settings: bias.Settings, *names: str) -> pd.DataFrame:
    """One model under one scoring: a row a language and step, then the means over languages."""
    clusters = sorted({*rows["cluster"]})
    rows = rows.assign(gap=rows["score"] - rows["truth"])
    pools = dict(iter(rows[rows["step"].eq(0) & rows["gap"].notna()].groupby("language")))
    drawn = {language: scores_of(pool, clusters) for language, pool in pools.items()}
    truths = {
        language: sums_of(pool["truth"], pool["cluster"], clusters)
        for language, pool in pools.items()
    }
    held = rows[rows["language"].isin([*pools])].groupby(bias.KEY)
    if not len(held):
        return pd.DataFrame(columns=REFINED)
    gaps = [sums_of(part["gap"], part["cluster"], clusters) for _, part in held]
    cells = pd.DataFrame([*held.groups], columns=bias.KEY)
    cells["scores"] = [len(pools[language]) for language in cells["language"]]
    cells, extended = bias.over_languages(cells, rows["languages"].iloc[0], ["scores"])

    def statistics(weights: Floats) -> dict[str, Floats]:
        found = []
        for (_, language, step), sums in zip(held.groups, gaps, strict=True):
            levels, counts = drawn[language]
            score = expected_greatest(levels, counts @ weights, step + 1)
            over = score - ratio((truths[language] @ weights).T)
            # At step 0 both are the same, and rounding is all that is left.
            beyond = ratio((sums @ weights).T) - over if step else np.full_like(over, np.nan)
            found.append([score, over, beyond])
        names = ("noise_score", "noise_bias", "beyond")
        values = np.array(found).transpose(1, 0, 2)
        return {name: extended(of) for name, of in zip(names, values, strict=True)}

    return cells.join(bias.named_intervals(settings.intervals, len(clusters), statistics, *names))
