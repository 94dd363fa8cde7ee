"""Means of the confidences: by other source, by order, against the base model."""

import pandas as pd

from selfpref.statistics.clusters import Groups, summarised
from selfpref.studies.panickssery.measure.pairs import AMBIGUOUS, ORDERINGS, by_convention, pooled
from selfpref.studies.panickssery.measure.settings import Settings

CELL = ["dataset", "evaluator", "other", "task", "convention"]
PAIRWISE = [*CELL, "mean", "se", "lo", "hi", "n", "ambiguous"]
PLAIN = {"recognition": "plain", "preference": "plain"}


def plain(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs of recognition and preference in their plain wording."""
    return pairs[pairs["task"].isin(PLAIN) & pairs["variant"].eq("plain")]


def means(rows: pd.DataFrame, by: list[str], settings: Settings, *names: str) -> pd.DataFrame:
    """Mean confidence and share of ambiguous pairs of each group, a data set at a time.

    Args:
        rows: As `by_convention` returns them.
        by: What makes a group; the first is `dataset`.
        settings: For the intervals.
        names: Of the stream of resamples.

    Returns:
        `by`, then `mean, se, lo, hi, n, ambiguous`.
    """
    parts = [pd.DataFrame(columns=[*by, "mean", "se", "lo", "hi", "n", "ambiguous"])]
    for dataset, part in rows.groupby("dataset", observed=True):
        found = summarised(part, by, settings.bootstrap, settings.rng(*names, str(dataset)))
        parts.append(found.assign(ambiguous=Groups.of(part, by, "ambiguous").means))
    return pd.concat(parts[len(parts) > 1 :], ignore_index=True)


def pairwise(pairs: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Mean confidence by evaluator, other source, task and convention (Table B; Figs. 1 to 3).

    Args:
        pairs: As `confidences` returns them.
        settings: For the intervals.

    Returns:
        The columns of `PAIRWISE`; `other` is a source or `all`, every pair counting the same.
    """
    rows = pooled(by_convention(plain(pairs)))
    return means(rows, CELL, settings, "pairwise")[PAIRWISE]


def ordering(pairs: pd.DataFrame) -> pd.DataFrame:
    """How the choices of both orders agree (Table C), and confidences cut at one half (Table D).

    Returns:
        `dataset, evaluator, task, convention`; the shares `own`, `other` (the same text in both
        orders), `first`, `second` (the same position), `tied`; `ambiguous` = first + second;
        `own_of_consistent` = own / (own + other); `thresholded`: mean of 1, 1/2 or 0 for a
        confidence above, at or below 1/2; `n` pairs with both choices.
    """
    rows = by_convention(plain(pairs))
    kept = rows["ordering"].where(rows["convention"].eq("corrected"), rows["ordering_released"])
    above, below = (rows["value"].gt(0.5).astype(float), rows["value"].lt(0.5).astype(float))
    rows = rows.assign(kept=kept, cut=(1 + above - below) / 2)
    by = ["dataset", "evaluator", "task", "convention"]
    grouped = rows.groupby(by, observed=True)
    shares = pd.DataFrame(
        {
            name: rows["kept"].eq(name).where(rows["kept"].notna()).astype(float)
            for name in ORDERINGS
        }
    )
    found = shares.groupby([rows[name] for name in by], observed=True).mean()
    return (
        found.assign(
            ambiguous=found[list(AMBIGUOUS)].sum(axis=1),
            own_of_consistent=found["own"] / (found["own"] + found["other"]),
            thresholded=grouped["cut"].mean(),
            n=grouped["kept"].count(),
        )
        .reset_index()
        .astype(dict.fromkeys(by, "str"))
    )


def deltas(pairs: pd.DataFrame, evaluators: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Each tuned evaluator against its base, pair by pair on the same held-out articles.

    Returns:
        `dataset, evaluator, other, task, convention`; `base` and `tuned` (mean confidences on the
        pairs that both have), `mean` (of the difference, tuned minus base), `se, lo, hi, n`.
    """
    rows = by_convention(plain(pairs[pairs["held_out"]]))
    base = evaluators.loc[evaluators["variant"].eq("base"), "evaluator"]
    family = evaluators.set_index("evaluator")["family"]
    rows = rows.assign(family=rows["evaluator"].astype("str").map(family))
    same = ["item_id", "repeat", "other", "task", "convention", "family"]
    both = rows[~rows["evaluator"].isin(base)].merge(
        rows.loc[rows["evaluator"].isin(base), [*same, "value"]], on=same, suffixes=("", "_base")
    )
    both = pooled(both.assign(value=both["value"] - both["value_base"], tuned=both["value"]))
    parts = [pd.DataFrame(columns=[*CELL, "base", "tuned", "mean", "se", "lo", "hi", "n"])]
    for dataset, part in both.groupby("dataset", observed=True):
        rng = settings.rng("deltas", str(dataset))
        found = summarised(part, CELL, settings.bootstrap, rng)
        levels = {
            name: Groups.of(part, CELL, value).means
            for name, value in (("base", "value_base"), ("tuned", "tuned"))
        }
        parts.append(found.assign(**levels)[parts[0].columns])
    return pd.concat(parts[len(parts) > 1 :], ignore_index=True)
