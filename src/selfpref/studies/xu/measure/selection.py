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

from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from selfpref.statistics.scores import Floats
from selfpref.studies.xu import chains
from selfpref.studies.xu.measure.grid import AVERAGE, QUANTITY_COLUMNS, by_group, summary
from selfpref.studies.xu.measure.rows import (
    BEST,
    CONVENTIONS,
    Settings,
    paper_chains,
    read_as,
)

BEST_KEY = ["language", "model", "k", "convention"]
STEP_KEY = ["language", "model", "step", "convention"]
_BEST = ["candidate_mean", "noise_score", "noise_bias", "scores"]
_BEYOND = ["beyond", "beyond_lo", "beyond_hi"]
_BOUNDS = ["noise_bias_lo", "noise_bias_hi"]


def best_of_k(rows: pd.DataFrame, truths: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The candidate that a model scores highest among k of its own.

    A k that has texts or truths but no readable scores keeps its row, without values.

    Returns:
        `language, model, k, convention`, the quantities of `summary` for the chosen text, and
        `noise_bias`: that of a judge whose scores are noise (`best_of_noise`).
    """
    best = _candidates(rows)
    chosen = best[best["step"].eq(1)]
    table = by_group(
        summary, chosen.assign(step=chosen["k"]), settings, "best of k", by={"responder": "model"}
    )
    if table.empty:
        return pd.DataFrame(columns=[*BEST_KEY, *QUANTITY_COLUMNS, "noise_bias", *_BEYOND])
    table = table.rename(columns={"step": "k"})
    unasked = [name for name in table if "_change" in str(name)]
    noise = best_of_noise(rows, settings)
    return (
        table.drop(columns=[*unasked, "n_both"])
        .merge(_offered(truths), on=["language", "model", "k"], how="outer")
        .pipe(_both_conventions)
        .merge(noise[[*BEST_KEY, "noise_bias", *_BEYOND]], on=BEST_KEY, how="left")
        .sort_values(BEST_KEY, ignore_index=True)
    )


def _candidates(rows: pd.DataFrame) -> pd.DataFrame:
    """A model's own scores of its candidates (step 0) and of the chosen text (step 1), with k."""
    best = rows[rows["condition"].str.startswith(BEST) & rows["own"]]
    return best.assign(k=best["condition"].str.removeprefix(BEST).astype(int))


def _offered(truths: pd.DataFrame) -> pd.DataFrame:
    """Every model and k that the source scored."""
    scored = truths[["item_id", "responder"]].join(chains.addressed(truths["item_id"]))
    scored = scored[scored["condition"].str.startswith(BEST)]
    scored = scored.assign(k=scored["condition"].str.removeprefix(BEST).astype(int))
    return (
        scored[["language", "responder", "k"]]
        .drop_duplicates()
        .rename(columns={"responder": "model"})
    )


def _both_conventions(table: pd.DataFrame) -> pd.DataFrame:
    """Rows without scores appear under both scorings, with n = 0."""
    bare = table[table["convention"].isna()]
    filled = [bare.assign(convention=name, n=0, unusable=0) for name in CONVENTIONS]
    return pd.concat([table[table["convention"].notna()], *filled], ignore_index=True).astype(
        {"n": "int64", "unusable": "int64"}
    )


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


def _by_cluster(values: pd.Series, clusters: pd.Series, names: list[str]) -> tuple[Floats, Floats]:
    """The different values, ascending, and how often each has them: `[levels, clusters]`."""
    levels, level = np.unique(values.to_numpy(dtype=float), return_inverse=True)
    counts = np.zeros((len(levels), len(names)))
    np.add.at(counts, (level, pd.Categorical(clusters, names).codes), 1.0)
    return levels, counts


def _mean(values: pd.Series, clusters: pd.Series, names: list[str]) -> Floats:
    """Sum and count of the values in each cluster, `[2, clusters]`; missing values are left out."""
    known = values.notna()
    sums = np.zeros((2, len(names)))
    at = pd.Categorical(clusters[known], names).codes
    np.add.at(sums[0], at, values[known].to_numpy(dtype=float))
    np.add.at(sums[1], at, 1.0)
    return sums


def _over(sums: Floats) -> Floats:
    """First row over the second, `[2, batch]` to `[batch]`; NaN where that is zero."""
    mean: Floats = np.divide(sums[0], sums[1], out=np.full_like(sums[0], np.nan), where=sums[1] > 0)
    return mean


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
    found = []
    for convention in CONVENTIONS:
        groups = read_as(_candidates(rows), convention).groupby(["language", "responder", "k"])
        for (language, model, k), part in groups:
            drawn = part[part["step"].eq(0) & part["said"].notna()]
            if drawn.empty:
                continue
            chosen = part[part["step"].eq(1)]
            names = sorted(set(part["cluster"]))
            levels, counts = _by_cluster(drawn["said"], drawn["cluster"], names)
            own = _mean(chosen["said"].where(chosen["truth"].notna()), chosen["cluster"], names)
            more = settings.intervals.of_weights(
                len(names),
                partial(_own_less_noise, levels, counts, own, int(k)),
                *("best of noise", str(language), str(model), str(k)),
            )[0]
            score = float(expected_greatest(levels, counts.sum(axis=1, keepdims=True), int(k))[0])
            truth = chosen["truth"].mean()
            row = (language, model, k, convention, drawn["said"].mean(), score, score - truth)
            found.append((*row, len(drawn), *more.columns("beyond").values()))
    return pd.DataFrame(found, columns=[*BEST_KEY, *_BEST, *_BEYOND])


def _own_less_noise(levels: Floats, counts: Floats, own: Floats, k: int, weights: Floats) -> Floats:
    """What the chosen text's score is above the noise judge's, `[batch, 1]`."""
    noise = expected_greatest(levels, counts @ weights.T, k)
    return (_over(own @ weights.T) - noise)[:, None]


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
    columns = [*STEP_KEY, "noise_score", "noise_bias", "scores", *_BEYOND, *_BOUNDS]
    found = [pd.DataFrame(columns=columns)]
    for task in ("mqm", "coverage", "correctness"):
        own = paper_chains(rows, task)
        languages = own["language"].nunique()
        for convention in CONVENTIONS:
            for model, part in read_as(own, convention).groupby("responder"):
                table = _refined(part, settings, languages, str(model))
                found.append(table.assign(model=model, convention=convention))
    return pd.concat([part for part in found if len(part)] or found, ignore_index=True)[columns]


class _Chain(NamedTuple):
    """The steps of one language.

    Attributes:
        levels: The different scores of its first texts, ascending, `[levels]`.
        counts: How often each sentence has them, `[levels, clusters]`.
        truth: Sum and count of the first texts' true scores, `[2, clusters]`.
        gaps: By step the sum and count of score minus truth, `[2, clusters]`.
    """

    levels: Floats
    counts: Floats
    truth: Floats
    gaps: dict[int, Floats]

    def noise(self, drawn: Floats) -> list[Floats]:
        """By step `[3, batch]`: the noise judge's score and bias, and the measured bias beyond it.

        Args:
            drawn: How often each sentence counts, `[clusters, batch]`.
        """
        counts, truth = self.counts @ drawn, _over(self.truth @ drawn)
        found = []
        for step, gaps in self.gaps.items():
            score = expected_greatest(self.levels, counts, step + 1)
            bias = score - truth
            # At step 0 both are the same, and rounding is all that is left.
            beyond = _over(gaps @ drawn) - bias if step else np.full_like(bias, np.nan)
            found.append(np.stack([score, bias, beyond]))
        return found


def _chain(rows: pd.DataFrame, first: pd.DataFrame, names: list[str]) -> _Chain:
    """Of one language; `first` holds its texts before refinement that have score and truth."""
    return _Chain(
        *_by_cluster(first["said"], first["cluster"], names),
        _mean(first["truth"], first["cluster"], names),
        {
            int(step): _mean(here["said"] - here["truth"], here["cluster"], names)
            for step, here in rows.groupby("step")
        },
    )


def _refined(rows: pd.DataFrame, settings: Settings, languages: int, model: str) -> pd.DataFrame:
    """One model under one scoring: a row a language and step, then the means over languages."""
    names = sorted(set(rows["cluster"]))
    chains_of, keys = [], []
    for language, part in rows.groupby("language"):
        first = part[part["step"].eq(0) & part["said"].notna() & part["truth"].notna()]
        if len(first):
            chain = _chain(part, first, names)
            chains_of.append(chain)
            keys += [(language, step, len(first)) for step in chain.gaps]
    table = pd.DataFrame(keys, columns=["language", "step", "scores"])
    reached = table.groupby("step")["language"].transform("size").eq(languages) & (languages > 1)
    whole = [(step, part.index.to_numpy()) for step, part in table[reached].groupby("step")]

    def statistics(weights: Floats) -> Floats:
        values = [cell for chain in chains_of for cell in chain.noise(weights.T)]
        values += [np.mean([values[i] for i in at], axis=0) for _, at in whole]
        return np.concatenate(values or [np.empty((0, len(weights)))]).T

    made = settings.intervals.of_weights(len(names), statistics, "refined by noise", model)
    means = [
        {"language": AVERAGE, "step": step, "scores": table.loc[at, "scores"].sum()}
        for step, at in whole
    ]
    table = pd.concat([table, pd.DataFrame(means)], ignore_index=True)
    noise = pd.DataFrame(
        [bias.columns("noise_bias") for bias in made[1::3]], columns=["noise_bias", *_BOUNDS]
    )
    beyond = pd.DataFrame([more.columns("beyond") for more in made[2::3]], columns=_BEYOND)
    return table.assign(noise_score=[score.value for score in made[::3]], **noise, **beyond)
