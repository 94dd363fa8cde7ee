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

from selfpref.statistics.bootstrap import bounded, ratio
from selfpref.statistics.scores import Floats
from selfpref.studies.xu import chains
from selfpref.studies.xu.curves import AVERAGE, COUNTS, LEVELS, by_group, named_intervals, summary
from selfpref.studies.xu.rows import CONVENTIONS, Settings, paper_chains, under_scorings

BEST_KEY = ["language", "model", "k", "convention"]
BEST_OF_K = [*BEST_KEY, *COUNTS[:2], *bounded(*LEVELS)]
BEST_OF_NOISE = [
    *(*BEST_KEY, "candidate_mean", "noise_score", "noise_bias", "scores", *bounded("beyond")),
]
REFINED = [
    *("language", "model", "step", "convention", "noise_score"),
    *(*bounded("noise_bias"), "scores", *bounded("beyond")),
]
TASKS = ("mqm", "coverage", "correctness")


def best_of_k(rows: pd.DataFrame, truths: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The candidate that a model scores highest among k of its own.

    A k that has texts or truths but no readable scores keeps its row, without values.

    Returns:
        `language, model, k, convention`, the quantities of `summary` for the chosen text, and
        `noise_bias` and `beyond` as `best_of_noise` returns them.
    """
    best = _candidates(rows[rows["own"]])
    chosen = best[best["step"].eq(1)]
    by, key = {"responder": "model"}, BEST_KEY[:3]
    table = by_group(summary, chosen.assign(step=chosen["k"]), settings, "best of k", by=by)
    table = table.rename(columns={"step": "k"})[BEST_OF_K]
    # Every model and k that the source scored, under both scorings.
    scored = truths[["item_id", "responder"]].join(chains.addressed(truths["item_id"]))
    offered = _candidates(scored).rename(columns=by)[key].drop_duplicates()
    whole = offered.merge(pd.DataFrame({"convention": CONVENTIONS}), how="cross")
    whole = whole.merge(table[BEST_KEY], how="outer").merge(table, on=BEST_KEY, how="left")
    beyond = best_of_noise(rows, settings)[[*BEST_KEY, "noise_bias", *bounded("beyond")]]
    return (
        whole.fillna(dict.fromkeys(COUNTS[:2], 0))
        .astype(dict.fromkeys(COUNTS[:2], "int64"))
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
    """The different scores `said`, ascending, and how often each cluster has each.

    Returns:
        `[levels]` and `[levels, clusters]`; missing scores are left out.
    """
    counts = pd.crosstab(rows["said"], rows["cluster"]).reindex(columns=clusters, fill_value=0)
    return counts.index.to_numpy(dtype=float), counts.to_numpy(dtype=float)


def sums_of(values: pd.Series, of: pd.Series, clusters: list[str]) -> Floats:
    """Sum and count of the values of each cluster, `[2, clusters]`; missing ones are left out."""
    known = values.groupby(of).agg(["sum", "count"]).reindex(clusters, fill_value=0)
    sums: Floats = known.to_numpy(dtype=float).T
    return sums


def best_of_noise(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
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
    read = under_scorings(_candidates(rows[rows["own"]])).rename(columns={"responder": "model"})
    found = [
        dict(zip(BEST_KEY, key, strict=True)) | _best_of_noise(part, settings, *key[:3])
        for key, part in read.groupby(BEST_KEY)
        if (part["step"].eq(0) & part["said"].notna()).any()
    ]
    table = pd.DataFrame(found, columns=BEST_OF_NOISE)
    return table.sort_values("convention", ascending=False, kind="stable", ignore_index=True)


def _best_of_noise(
    rows: pd.DataFrame, settings: Settings, language: str, model: str, k: int
) -> dict[str, object]:
    """The same of one model's k under one scoring."""
    clusters = sorted({*rows["cluster"]})
    drawn = rows[rows["step"].eq(0) & rows["said"].notna()]
    chosen = rows[rows["step"].eq(1)]
    levels, counts = scores_of(drawn, clusters)
    own = chosen["said"].where(chosen["truth"].notna())
    mine = sums_of(own, chosen["cluster"], clusters)

    def statistics(weights: Floats) -> dict[str, Floats]:
        noise = expected_greatest(levels, counts @ weights, k)
        return {"noise_score": noise[None], "beyond": (ratio((mine @ weights).T) - noise)[None]}

    names = ("best of noise", language, model, str(k))
    made = named_intervals(settings.intervals, len(clusters), statistics, *names)
    score = made["noise_score"].iloc[0]
    return {
        **made[["noise_score", *bounded("beyond")]].iloc[0],
        "candidate_mean": drawn["said"].mean(),
        "noise_bias": score - chosen["truth"].mean(),
        "scores": len(drawn),
    }


def refined_by_noise(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
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
    found = [pd.DataFrame(columns=REFINED)]
    for task in TASKS:
        own = paper_chains(rows, task)
        languages = own["language"].nunique()
        for convention in CONVENTIONS:
            read = under_scorings(own, (convention,))
            for model, part in read.groupby("responder"):
                table = _refined(part, settings, languages, str(model))
                found.append(table.assign(model=model, convention=convention))
    return pd.concat([part for part in found if len(part)] or found, ignore_index=True)[REFINED]


def _refined(rows: pd.DataFrame, settings: Settings, languages: int, model: str) -> pd.DataFrame:
    """One model under one scoring: a row a language and step, then the means over languages."""
    clusters = sorted({*rows["cluster"]})
    both = rows["said"].notna() & rows["truth"].notna()
    first = dict(iter(rows[rows["step"].eq(0) & both].groupby("language")))
    held = rows[rows["language"].isin([*first])].assign(gap=rows["said"] - rows["truth"])
    cells = held.groupby(["language", "step"])
    table = pd.DataFrame([*cells.groups], columns=["language", "step"])
    if table.empty:
        return table
    table["scores"] = [len(first[language]) for language in table["language"]]
    steps = table.groupby("step")["language"].transform("size")
    reached = table[steps.eq(languages) & (languages > 1)].groupby("step")["scores"]
    whole = [at.to_numpy() for at in reached.groups.values()]
    scores = {language: scores_of(part, clusters) for language, part in first.items()}
    truths = {
        language: sums_of(part["truth"], part["cluster"], clusters)
        for language, part in first.items()
    }
    gaps = {key: sums_of(here["gap"], here["cluster"], clusters) for key, here in cells}

    def statistics(weights: Floats) -> dict[str, Floats]:
        drawn = {name: (levels, counts @ weights) for name, (levels, counts) in scores.items()}
        truth = {name: ratio((sums @ weights).T) for name, sums in truths.items()}
        score = np.stack([expected_greatest(*drawn[name], step + 1) for name, step in gaps])
        bias = score - np.stack([truth[name] for name, _ in gaps])
        beyond = np.stack([ratio((sums @ weights).T) for sums in gaps.values()]) - bias
        # At step 0 both are the same, and rounding is all that is left.
        beyond[table["step"].eq(0)] = np.nan
        found = {"noise_score": score, "noise_bias": bias, "beyond": beyond}
        return {
            name: np.concatenate([each, *(each[at].mean(axis=0)[None] for at in whole)])
            for name, each in found.items()
        }

    made = named_intervals(settings.intervals, len(clusters), statistics, "refined by noise", model)
    means = reached.sum().reset_index().assign(language=AVERAGE)
    return pd.concat([table, means], ignore_index=True).join(made)
