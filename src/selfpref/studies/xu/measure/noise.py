"""What selection does with scores that say nothing: the null curves of a judge of pure noise.

A judge of pure noise draws each score at random from those that the real judge gave, whatever the
text. Whoever keeps the greatest of k such scores has, for the sorted scores s_1 <= ... <= s_N,

    E = sum over i of s_i ((i/N)^k - ((i-1)/N)^k)

which rises with k, while the texts that are kept are texts at random. Refinement under the rule
"keep if my own score rose" keeps the greatest of t + 1 scores after t steps.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.scores import Floats
from selfpref.studies.xu.measure.grid import AVERAGE
from selfpref.studies.xu.measure.rows import BEST, CONVENTIONS, chained, read_as

BEST_KEY = ["language", "model", "k", "convention"]
STEP_KEY = ["language", "model", "step", "convention"]
_VALUES = ["noise_score", "noise_bias", "scores"]


def expected_greatest(scores: Floats, k: int) -> float:
    """Mean of the greatest of k draws with replacement from the scores, `[n]`, n > 0."""
    reached = (np.arange(len(scores) + 1) / len(scores)) ** k
    return float(np.sort(scores) @ np.diff(reached))


def best_of_noise(rows: pd.DataFrame) -> pd.DataFrame:
    """Best of k by a judge of pure noise, from the scores that a model gave its candidates.

    The true score is taken to be the mean over the texts that the model chose, at every k.

    Args:
        rows: As `rated` returns them.

    Returns:
        `language, model, k` (1, 2, 4, ... up to the largest in the tables), `convention,
        noise_score, noise_bias, scores` (how many were drawn from).
    """
    best = rows[rows["condition"].str.startswith(BEST) & rows["own"]]
    found = []
    for convention in CONVENTIONS:
        groups = read_as(best, convention).groupby(["language", "responder"])
        for (language, model), part in groups:
            scores = part.loc[part["step"].eq(0), "said"].dropna().to_numpy(dtype=float)
            truth = part.loc[part["step"].eq(1), "truth"].mean()
            largest = part["condition"].str.removeprefix(BEST).astype(int).max()
            if len(scores):
                for k in (2**i for i in range(int(np.log2(largest)) + 1)):
                    score = expected_greatest(scores, k)
                    row = (language, model, k, convention)
                    found.append((*row, score, score - truth, len(scores)))
    return pd.DataFrame(found, columns=[*BEST_KEY, *_VALUES])


def refined_by_noise(rows: pd.DataFrame) -> pd.DataFrame:
    """Refinement under the paper's accept rule, judged by pure noise.

    Scores are drawn from those that the model gave its first texts; the true score stays what it
    is at step 0, since nothing is learned about any text.

    Args:
        rows: As `rated` returns them.

    Returns:
        `language` (and `average`, where a model has all languages of the study), `model, step,
        convention, noise_score, noise_bias, scores`.
    """
    own = chained(rows)
    own = own[own["condition"].eq("") & own["task"].eq("mqm")]
    found = []
    for convention in CONVENTIONS:
        for (language, model), part in read_as(own, convention).groupby(["language", "responder"]):
            first = part[part["step"].eq(0) & part["said"].notna() & part["truth"].notna()]
            scores = first["said"].to_numpy(dtype=float)
            if len(scores):
                for step in sorted(map(int, part["step"].unique())):
                    score = expected_greatest(scores, step + 1)
                    row = (language, model, step, convention)
                    found.append((*row, score, score - first["truth"].mean(), len(scores)))
    table = pd.DataFrame(found, columns=[*STEP_KEY, *_VALUES])
    languages = table["language"].nunique()
    grouped = table.groupby(STEP_KEY[1:])
    mean = grouped[_VALUES[:2]].mean().assign(scores=grouped["scores"].sum(), held=grouped.size())
    whole = mean[mean["held"].eq(languages) & (languages > 1)].drop(columns="held").reset_index()
    return pd.concat([table, whole.assign(language=AVERAGE)], ignore_index=True)
