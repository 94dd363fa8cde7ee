"""Cluster bootstrap of statistics of sums: vectorised over resamples and over statistics.

Clusters (prompts), not rows, are drawn with replacement, since pairs of one prompt are not
independent. A statistic that is a function of sums over rows needs only the sums of each cluster,
and clusters with equal sums are interchangeable: drawing n clusters is drawing from the multinomial
over the *distinct* cluster tables. For R resamples, U distinct tables and K sums the cost is R x U
draws and one matrix product [R, U] x [U, K], whatever the number of rows.

Percentile interval (Efron 1979) and BCa (Efron 1987; acceleration by the jackknife over clusters).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm

from selfpref.statistics.scores import Floats

# Bounds the memory of the weights, and of the totals, to about 100 MB each.
CHUNK = 12_000_000


@dataclass(frozen=True)
class Interval:
    """A statistic with its interval.

    Attributes:
        value: The statistic of all data; NaN where it is undefined.
        lo: Lower bound; NaN with fewer than two clusters.
        hi: Upper bound.
        undefined: Share of resamples in which the statistic did not exist (left out of the bounds).
    """

    value: float
    lo: float
    hi: float
    undefined: float


def bounds(name: str, interval: Interval) -> dict[str, float]:
    """Value and interval as the columns `name`, `name`_lo and `name`_hi."""
    return {name: interval.value, f"{name}_lo": interval.lo, f"{name}_hi": interval.hi}


def cluster_sums(values: Floats, clusters: pd.Series) -> Floats:
    """Sum rows by cluster: `[rows, ...]` -> `[clusters, ...]`, clusters in order of appearance."""
    codes, names = pd.factorize(clusters)
    sums = np.zeros((len(names), *values.shape[1:]))
    np.add.at(sums, codes, values)
    return sums


def ratio(totals: Floats) -> Floats:
    """First total over second, a mean or a share: `[..., 2]` -> `[...]`, NaN where that is zero."""
    part, whole = totals[..., 0], totals[..., 1]
    found: Floats = np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole != 0)
    return found


def stream(seed: int, *names: str) -> np.random.Generator:
    """An independent generator for each use, from the one seed of the parameters."""
    return np.random.default_rng(
        np.random.SeedSequence([seed, *(crc32(n.encode()) for n in names)])
    )


@dataclass(frozen=True)
class ClusterBootstrap:
    """Intervals of functions of sums.

    Attributes:
        resamples: How many.
        level: Coverage, 0..1.
        method: `percentile` or `bca`.
    """

    resamples: int = 10_000
    level: float = 0.95
    method: Literal["percentile", "bca"] = "percentile"

    def interval(
        self, sums: Floats, statistic: Callable[[Floats], Floats], rng: np.random.Generator
    ) -> Interval:
        """Interval of one `statistic(total)`.

        Args:
            sums: Sums of each cluster, `[clusters, ...]`.
            statistic: From totals `[batch, ...]` to values `[batch]`; NaN where undefined.
            rng: Source of the resamples.

        Returns:
            The value at the totals of all clusters and its interval.
        """
        (found,) = self.intervals(sums, lambda totals: statistic(totals)[..., None], rng)
        return found

    def intervals(
        self, sums: Floats, statistics: Callable[[Floats], Floats], rng: np.random.Generator
    ) -> list[Interval]:
        """Intervals of several statistics from the same resamples.

        Args:
            sums: Sums of each cluster, `[clusters, ...]`.
            statistics: From totals `[batch, ...]` to values `[batch, statistics]`.
            rng: Source of the resamples.

        Returns:
            One interval a statistic; without any cluster, of NaN.
        """
        n = len(sums)
        flat = sums.reshape(n, math.prod(sums.shape[1:]))
        values = statistics(flat.sum(axis=0).reshape(1, *sums.shape[1:]))[0]
        if n < 2 or np.isnan(values).all():
            return [Interval(float(value), np.nan, np.nan, np.nan) for value in values]
        tables, counts = np.unique(flat, axis=0, return_counts=True)
        draws = []
        step = max(1, CHUNK // max(tables.shape))
        for start in range(0, self.resamples, step):
            size = min(step, self.resamples - start)
            weights = rng.multinomial(n, counts / n, size=size).astype(float)
            draws.append(statistics((weights @ tables).reshape(size, *sums.shape[1:])))
        left_out = np.full((len(tables), len(values)), np.nan)
        if self.method == "bca":
            left_out = statistics((flat.sum(axis=0) - tables).reshape(-1, *sums.shape[1:]))
        return [
            self._bounds(float(value), drawn, away, counts)
            for value, drawn, away in zip(values, np.concatenate(draws).T, left_out.T, strict=True)
        ]

    def _bounds(
        self, value: float, drawn: Floats, left_out: Floats, counts: npt.NDArray[np.int64]
    ) -> Interval:
        """The interval of one statistic from its resamples `[resamples]`."""
        defined = drawn[~np.isnan(drawn)]
        undefined = 1 - len(defined) / len(drawn)
        if np.isnan(value) or not len(defined):
            return Interval(value, np.nan, np.nan, undefined)
        tails = np.array([(1 - self.level) / 2, (1 + self.level) / 2])
        if self.method == "bca":
            tails = _bca(tails, value, defined, left_out, counts)
        lo, hi = np.quantile(defined, tails)
        return Interval(value, float(lo), float(hi), undefined)


def _bca(
    tails: Floats, value: float, drawn: Floats, left_out: Floats, counts: npt.NDArray[np.int64]
) -> Floats:
    """The quantiles that BCa takes instead of the plain tails (Efron 1987, Eq. 2.3)."""
    below = (np.count_nonzero(drawn < value) + np.count_nonzero(drawn == value) / 2) / len(drawn)
    if below in (0.0, 1.0):
        # The bias correction is infinite; only the plain percentiles exist.
        return tails
    bias = norm.ppf(below)
    known = ~np.isnan(left_out)
    weights = counts[known]
    away = np.average(left_out[known], weights=weights) - left_out[known]
    spread = np.sum(weights * away**2)
    acceleration = np.sum(weights * away**3) / (6 * spread**1.5) if spread > 0 else 0.0
    moved = bias + norm.ppf(tails)
    corrected: Floats = norm.cdf(bias + moved / (1 - acceleration * moved))
    return corrected
