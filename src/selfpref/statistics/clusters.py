"""Means of groups of rows that are clustered: standard errors, and intervals by one bootstrap.

With x_i the values of a group, in G clusters, and m their mean,

    se(m)^2 = G / (G - 1) * sum_g (sum_{i in g} (x_i - m))^2 / n^2,

the cluster-robust error of a regression on a constant (Liang & Zeger 1986, with the correction of
small samples). Rows of one article are not independent; clusters are articles.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import ClusterBootstrap, ratio
from selfpref.statistics.scores import Floats


def clustered_errors(sums: Floats) -> Floats:
    """Standard errors of the means of many groups.

    Args:
        sums: Sum and count of each cluster and group, `[clusters, groups, 2]`.

    Returns:
        `[groups]`; NaN with fewer than two clusters.
    """
    total, count = np.moveaxis(sums.sum(axis=0), -1, 0)
    clusters = (sums[..., 1] > 0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / count
        off = sums[..., 0] - np.where(count > 0, mean, 0.0) * sums[..., 1]
        correction = np.where(clusters > 1, clusters / (clusters - 1), np.nan)
        errors: Floats = np.sqrt(correction * (off**2).sum(axis=0)) / count
    return errors


@dataclass(frozen=True)
class Groups:
    """The groups of a frame's rows, by cluster.

    Attributes:
        keys: One row a group.
        sums: Sum and count of the values of each cluster and group, `[clusters, groups, 2]`.
    """

    keys: pd.DataFrame
    sums: Floats

    @classmethod
    def of(cls, rows: pd.DataFrame, by: list[str], value: str = "value") -> "Groups":
        """Group rows with a column `cluster`; missing values are left out, their groups stay."""
        number = rows.groupby(by, observed=True, sort=True).ngroup().to_numpy()
        keys = rows[by].iloc[np.unique(number, return_index=True)[1]]
        keys = keys.reset_index(drop=True).astype(dict.fromkeys(by, "str"))
        cluster, names = pd.factorize(rows["cluster"], sort=True)
        values = rows[value].to_numpy(dtype=float)
        known = ~np.isnan(values) & (cluster >= 0)
        place = (cluster * len(keys) + number)[known]
        size = len(names) * len(keys)
        parts = [
            np.bincount(place, weights=weight, minlength=size).astype(float)
            for weight in (values[known], np.ones(known.sum()))
        ]
        return cls(keys, np.stack(parts, axis=-1).reshape(len(names), len(keys), 2))

    @property
    def means(self) -> Floats:
        """The mean of each group, `[groups]`."""
        return ratio(self.sums.sum(axis=0))

    def summary(self, bootstrap: ClusterBootstrap, rng: np.random.Generator) -> pd.DataFrame:
        """The keys with `mean, se, lo, hi, n`; all groups share the resamples."""
        found = bootstrap.intervals(self.sums, ratio, rng)
        return self.keys.assign(
            mean=self.means,
            se=clustered_errors(self.sums),
            lo=[interval.lo for interval in found],
            hi=[interval.hi for interval in found],
            n=self.sums[..., 1].sum(axis=0).astype(int),
        )


def summarised(
    rows: pd.DataFrame,
    by: list[str],
    bootstrap: ClusterBootstrap,
    rng: np.random.Generator,
    value: str = "value",
) -> pd.DataFrame:
    """Mean, clustered error, interval and number of each group of rows.

    Args:
        rows: With the columns `by`, `cluster` and the value; NaN is left out and not counted.
        by: What makes a group.
        bootstrap: How intervals are made.
        rng: Source of the resamples.
        value: The column.

    Returns:
        `by`, then `mean, se, lo, hi, n`, sorted by group; empty for no rows.
    """
    if rows.empty:
        return pd.DataFrame(columns=[*by, "mean", "se", "lo", "hi", "n"])
    return Groups.of(rows, by, value).summary(bootstrap, rng)
