"""Means of the confidences: by other source, by order, against the base model, by condition.

Every interval resamples articles (`selfpref.statistics.bootstrap`); the groups of a data set share
their resamples.
"""

import pandas as pd

from selfpref.statistics.bootstrap import ClusterBootstrap, Groups
from selfpref.studies.panickssery.pairs import (
    AMBIGUOUS,
    ORDERINGS,
    by_convention,
    plain,
    pooled,
)

CELL = ["dataset", "evaluator", "other", "task", "convention"]
MEAN = ["mean", "se", "lo", "hi", "n"]
LABELS = "labels-"


def means(
    rows: pd.DataFrame,
    by: list[str],
    bootstrap: ClusterBootstrap,
    name: str,
    also: tuple[str, ...] = (),
) -> pd.DataFrame:
    """Mean of `value` in each group with its interval, a data set at a time.

    Args:
        rows: With the columns `by`, `cluster`, `value` and `also`; NaN is left out.
        by: What makes a group; `dataset` among them.
        bootstrap: For the intervals.
        name: Of the stream of resamples.
        also: Columns whose mean is wanted without an interval.

    Returns:
        `by`, then `mean, se, lo, hi, n`, then `also`.
    """
    parts = []
    for dataset, part in rows.groupby("dataset", observed=True):
        found = bootstrap.group_means(part, by, name, str(dataset))
        parts.append(found.assign(**{column: Groups.of(part, by, column).means for column in also}))
    if not parts:
        return pd.DataFrame(columns=[*by, *MEAN, *also])
    return pd.concat(parts, ignore_index=True)


def pairwise(pairs: pd.DataFrame, bootstrap: ClusterBootstrap) -> pd.DataFrame:
    """Mean confidence by judge, other source, task and convention (Table B; Figs. 1 to 3).

    Args:
        pairs: As `confidences` returns them.
        bootstrap: For the intervals.

    Returns:
        `dataset, evaluator, other, task, convention, mean, se, lo, hi, n, ambiguous`; `other` is a
        source or `all`, every pair counting the same.
    """
    rows = pooled(by_convention(plain(pairs)))
    return means(rows, CELL, bootstrap, "pairwise", also=("ambiguous",))


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
    shares = {name: kept.eq(name).where(kept.notna()).astype(float) for name in ORDERINGS}
    above, below = (rows["value"].gt(0.5).astype(float), rows["value"].lt(0.5).astype(float))
    rows = rows.assign(**shares, thresholded=(1 + above - below) / 2, n=kept.notna())
    by = ["dataset", "evaluator", "task", "convention"]
    grouped = rows.groupby(by, observed=True)
    found = grouped[list(ORDERINGS)].mean()
    found = found.assign(
        ambiguous=found[list(AMBIGUOUS)].sum(axis=1),
        own_of_consistent=found["own"] / (found["own"] + found["other"]),
        thresholded=grouped["thresholded"].mean(),
        n=grouped["n"].sum(),
    )
    return found.reset_index().astype(dict.fromkeys(by, "str"))


def deltas(
    pairs: pd.DataFrame, evaluators: pd.DataFrame, bootstrap: ClusterBootstrap
) -> pd.DataFrame:
    """Each fine-tuned judge against its base, pair by pair on the same held-out articles.

    Returns:
        `dataset, evaluator, other, task, convention`; `base` and `tuned` (mean confidences on the
        pairs that both have), `mean` (of the difference, tuned minus base), `se, lo, hi, n`.
    """
    rows = by_convention(plain(pairs[pairs["held_out"]]))
    of = evaluators.set_index("evaluator")
    who = rows["evaluator"].astype("str")
    rows = rows.assign(family=who.map(of["family"]))
    base = who.map(of["variant"]).eq("base")
    same = ["item_id", "repeat", "other", "task", "convention", "family"]
    both = rows[~base].merge(
        rows.loc[base, [*same, "value"]].rename(columns={"value": "base"}), on=same
    )
    both = pooled(both.assign(value=both["value"] - both["base"], tuned=both["value"]))
    found = means(both, CELL, bootstrap, "deltas", also=("base", "tuned"))
    return found[[*CELL, "base", "tuned", *MEAN]]


def labels(pairs: pd.DataFrame, bootstrap: ClusterBootstrap) -> pd.DataFrame:
    """Preference where the judge saw labels of who wrote what (Table F).

    Returns:
        `dataset, evaluator, other, labels` (correct, swapped, random-correct, random-swapped, and
        none: the plain question to the same judges), `convention, mean, se, lo, hi, n, ambiguous,
        orders`. With one order, `mean` holds the position bias in full.
    """
    labelled = pairs["variant"].astype("str").str.startswith(LABELS)
    plainly = pairs["variant"].eq("plain") & pairs["task"].eq("preference")
    who = pairs["dataset"].astype("str") + "/" + pairs["evaluator"].astype("str")
    rows = by_convention(pairs[labelled | (plainly & who.isin(who[labelled].unique()))])
    kind = rows["variant"].astype("str").str.removeprefix(LABELS).replace("plain", "none")
    rows = pooled(rows.assign(labels=kind))
    by = ["dataset", "evaluator", "other", "labels", "convention"]
    orders = rows.groupby(by, observed=True)["orders"].max().reset_index()
    found = means(rows, by, bootstrap, "labels", also=("ambiguous",))
    return found.merge(orders.astype(dict.fromkeys(by, "str")), on=by, how="left")
