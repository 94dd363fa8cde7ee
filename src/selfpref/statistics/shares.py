"""Intervals of shares: Wilson's, with the number of independent observations that clusters leave.

A bootstrap of a share that is 0 or 1 gives that value in every resample: its interval has no width,
and next to 0 and 1 it is too narrow. Wilson's interval (1927) of a share p of n observations,

    (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n),

has a width everywhere. Rows of one cluster are not independent, so n is the *effective* size (Kish
1965): the number of independent observations from which p would have its cluster-robust standard
error,

    n_eff = p (1 - p) / se(p)^2,      se as in `selfpref.statistics.bootstrap`

(Franco, Little, Louis & Slud 2019 compare such intervals). Where all clusters have the same share,
as at 0 and 1, or where there is one cluster, the data do not tell how alike the rows of a cluster
are. Then each cluster counts as one observation, n_eff = the number of clusters, the least that
they can be worth.

A difference of two shares p - q of disjoint rows keeps its bootstrap. Where one of the shares is 0
or 1, so that no resample varies it, or rests on a handful of events, the interval is Newcombe's
(1998, method 10), from the two Wilson intervals (l, u):

    p - q - sqrt((p - l_p)^2 + (u_q - q)^2),      p - q + sqrt((u_p - p)^2 + (q - l_q)^2)

and of estimates with correlation r, 2 r times the product is taken off each square (Zou 2007).
"""

import numpy as np
import pandas as pd
from scipy.special import ndtri

from selfpref.statistics.bootstrap import (
    Clusters,
    Floats,
    Groups,
    Interval,
    Rows,
    cluster_sums,
    clustered_errors,
    ratio,
)

WILSON, NEWCOMBE = "Wilson", "Newcombe"


def wilson(share: Floats, size: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Wilson's interval.

    Args:
        share: 0..1, any shape.
        size: Observations, effective or counted; of the same shape.
        level: Coverage, 0..1.

    Returns:
        Lower and upper bounds; NaN where the share is, or where there is no observation.

    >>> lo, hi = wilson(np.array([1.0, 0.5]), np.array([6.0, 40.0]))
    >>> lo.round(3).tolist(), hi.round(3).tolist()
    ([0.61, 0.352], [1.0, 0.648])
    """
    z = ndtri((1 + level) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = share + z**2 / (2 * size)
        half = z * np.sqrt(share * (1 - share) / size + z**2 / (4 * size**2))
        lo, hi = ((middle + sign * half) / (1 + z**2 / size) for sign in (-1, 1))
    return np.clip(lo, 0.0, 1.0), np.clip(hi, 0.0, 1.0)


def effective_size(sums: Floats) -> Floats:
    """How many independent observations the clusters are worth.

    Args:
        sums: Part and whole of each cluster and group, `[clusters, groups, 2]`.

    Returns:
        `[groups]`; 0 without any cluster.
    """
    share, error = ratio(sums.sum(axis=0)), clustered_errors(sums)
    clusters = (sums[..., 1] > 0).sum(axis=0).astype(float)
    # Sums of halves and thirds leave traces of rounding where clusters are alike.
    size: Floats = np.divide(share * (1 - share), error**2, out=clusters, where=error > 1e-9)
    return size


def share_intervals(sums: Floats, level: float = 0.95) -> list[Interval]:
    """The share and the interval of each group.

    Args:
        sums: Part and whole of each cluster and group, `[clusters, groups, 2]`, as `Groups` and
            `cluster_sums` make them.
        level: Coverage, 0..1.
    """
    share = ratio(sums.sum(axis=0))
    lo, hi = wilson(share, effective_size(sums), level)
    rows = zip(share.tolist(), lo.tolist(), hi.tolist(), strict=True)
    return [Interval(*bounds, undefined=0.0, how=WILSON) for bounds in rows]


def group_shares(rows: pd.DataFrame, by: list[str], value: str, level: float) -> pd.DataFrame:
    """The share of a column of 0..1 in each group, missing values left out.

    Args:
        rows: With `cluster` and the columns below.
        by: What makes a group.
        value: The column.
        level: Coverage, 0..1.

    Returns:
        `by, share, lo, hi, n`, sorted by group.
    """
    groups = Groups.of(rows, by, value)
    found = pd.DataFrame(share_intervals(groups.sums, level), columns=list(Interval._fields))
    found = found.rename(columns={"value": "share"})[["share", "lo", "hi"]]
    counts = groups.sums[..., 1].sum(axis=0).astype(int)
    return groups.keys.join(found).assign(n=counts)


def share_interval(values: Rows, clusters: Clusters, level: float = 0.95) -> Interval:
    """A share with its interval.

    Args:
        values: `[rows]` 0..1, NaN left out; or part and whole of each row, `[rows, 2]`.
        clusters: The cluster of each row, `[rows]`.
        level: Coverage, 0..1.

    >>> found = share_interval(np.ones(12), np.arange(12) // 2)
    >>> found.value, round(found.lo, 2), found.hi
    (1.0, 0.61, 1.0)
    """
    rows = np.asarray(values, dtype=float)
    if rows.ndim == 1:
        known = ~np.isnan(rows)
        rows = np.stack([np.where(known, rows, 0.0), known.astype(float)], axis=-1)
    (found,) = share_intervals(cluster_sums(rows, clusters)[:, None], level)
    return found


def difference(one: Interval, other: Interval, correlation: float = 0.0) -> Interval:
    """Newcombe's interval of the first estimate minus the second, or Zou's of dependent ones."""
    value = one.value - other.value
    below, above = (
        float(np.sqrt(mine**2 + theirs**2 - 2 * correlation * mine * theirs))
        for mine, theirs in (
            (one.value - one.lo, other.hi - other.value),
            (one.hi - one.value, other.value - other.lo),
        )
    )
    return Interval(value, value - below, value + above, 0.0, NEWCOMBE)
