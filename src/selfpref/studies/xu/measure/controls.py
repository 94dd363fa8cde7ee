"""What else raises a score: a second scoring of the same text, selection, and a judge's own style.

- Re-scoring: an unchanged text that is judged again and kept because the second score is kinder.
- Selection: the best of k scores rises with k for any judge that is not perfectly sure.
- Style: a translator's text, and the judge's own paraphrase of it.

**What selection does with scores that say nothing.** A judge of pure noise draws each score at
random from those that the real judge gave, whatever the text. Whoever keeps the greatest of k such
scores has, for the sorted scores s_1 <= ... <= s_N,

    E = sum over i of s_i ((i/N)^k - ((i-1)/N)^k)

which rises with k, while the texts that are kept are texts at random. Refinement under the rule
"keep if my own score rose" keeps the greatest of t + 1 scores after t steps.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import ratio
from selfpref.statistics.scores import Floats
from selfpref.studies.xu import chains
from selfpref.studies.xu.measure.grid import AVERAGE, by_group, summary
from selfpref.studies.xu.measure.rows import (
    BEST,
    CONVENTIONS,
    PARAPHRASE,
    Settings,
    paper_chains,
    read_as,
)

BEST_KEY = ["language", "model", "k", "convention"]
STEP_KEY = ["language", "model", "step", "convention"]
_VALUES = ["noise_score", "noise_bias", "scores"]
# What the comparison of a step with its predecessor needs.
_LINKED = (
    *("item_id", "language", "responder", "step", "cluster", "text", "reply", "truth"),
    "contaminated",
)


def rescoring(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """How much of the gain in the own score came without any change of the text.

    Returns:
        `language, model, convention, links` (pairs of a step and its predecessor, with scores for
        both), `edited`, `rescored`, `gain` (points summed over sentences and steps), `gain_edited`,
        `gain_rescored`, and `share` (of `gain_rescored` in `gain`) with its interval.
    """
    own = paper_chains(rows)
    found = []
    for convention in CONVENTIONS:
        read = read_as(own, convention)
        linked = chains.links(read[[*_LINKED]].assign(said=read["said"], fine=False))
        chain = linked.groupby(["item_id", "responder"])
        before = chain[["step", "said", "contaminated"]].shift()
        gain = (linked["said"] - before["said"]).where(before["step"].eq(linked["step"] - 1))
        if convention == "corrected":
            gain = gain.mask(linked["contaminated"] | before["contaminated"].eq(True))
        linked = linked.assign(gain=gain)[gain.notna()]
        for (language, model), part in linked.groupby(["language", "responder"]):
            again = part["gain"].where(part["rescored"], 0.0)
            share = settings.intervals.estimate(
                np.stack([again, part["gain"]], axis=1),
                part["cluster"],
                ratio,
                *("rescoring", str(language), str(model)),
            )
            found.append(
                {
                    "language": language,
                    "model": model,
                    "convention": convention,
                    "links": len(part),
                    "edited": int(part["text_changed"].sum()),
                    "rescored": int(part["rescored"].sum()),
                    "gain": part["gain"].sum(),
                    "gain_edited": part["gain"].where(part["text_changed"], 0.0).sum(),
                    "gain_rescored": again.sum(),
                }
                | share.columns("share")
            )
    return pd.DataFrame(found)


def best_of_k(rows: pd.DataFrame, truths: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The candidate that a model scores highest among k of its own.

    A k that has texts or truths but no readable scores keeps its row, without values.

    Returns:
        `language, model, k, convention`, the quantities of `summary` for the chosen text, and
        `noise_bias`: that of a judge whose scores are noise (`best_of_noise`).
    """
    best = rows[rows["condition"].str.startswith(BEST)]
    best = best.assign(k=best["condition"].str.removeprefix(BEST).astype(int))
    chosen = best[best["step"].eq(1) & best["own"]]
    table = by_group(
        summary, chosen.assign(step=chosen["k"]), settings, "best of k", by={"responder": "model"}
    )
    if table.empty:
        return table
    table = table.rename(columns={"step": "k"})
    table = table[[name for name in table if "_change" not in str(name)]]
    return (
        table.merge(_offered(truths), on=["language", "model", "k"], how="outer")
        .pipe(_both_conventions)
        .merge(best_of_noise(rows)[[*BEST_KEY, "noise_bias"]], on=BEST_KEY, how="left")
        .sort_values(BEST_KEY, ignore_index=True)
    )


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
    """Rows without scores stand under both conventions, with n = 0."""
    bare = table[table["convention"].isna()]
    filled = [bare.assign(convention=name, n=0, unusable=0) for name in CONVENTIONS]
    return pd.concat([table[table["convention"].notna()], *filled], ignore_index=True).astype(
        {"n": "int64", "unusable": "int64"}
    )


def style(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """A translator's text, judged; then the judge's own paraphrase of it, judged by the same.

    Returns:
        `language, system, judge, text` (`translation` or `paraphrase`), `convention`, the
        quantities of `summary`, and for the paraphrase their change.
    """
    aside = rows[rows["condition"].str.startswith(PARAPHRASE)]
    aside = aside.assign(system=aside["condition"].str.removeprefix(PARAPHRASE))
    by = {"system": "system", "judge": "judge"}
    table = by_group(summary, aside, settings, "style", by=by)
    if table.empty:
        return table
    names = {f"said_change{end}": f"self_change{end}" for end in ("", "_lo", "_hi")}
    table = table.rename(columns=names).assign(
        text=table["step"].map({0: "translation", 1: "paraphrase"})
    )
    columns = ["language", "system", "judge", "text", "convention"]
    order = [*columns, *(name for name in table if name not in {*columns, "step"})]
    return table[order].sort_values(columns, ignore_index=True)


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
    own = paper_chains(rows, "mqm")
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
