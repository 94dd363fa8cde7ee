"""Intervals by the cluster bootstrap: vectorised over resamples, statistics and groups.

Clusters (prompts, articles, sentences), not rows, are drawn with replacement, since rows of one
prompt are not independent. A statistic that is a function of sums over rows needs only the sums of
each cluster, and clusters with equal sums are interchangeable: drawing n clusters is drawing from
the multinomial over the *distinct* tables of sums. For R resamples, U distinct tables and K sums
the cost is R x U draws and one matrix product [R, U] x [U, K], whatever the number of rows.

Percentile interval (Efron 1979) and BCa (Efron 1987; acceleration by the jackknife over clusters).

The standard error of a group's mean m, of its values x_i in G clusters, is the cluster-robust one
of a regression on a constant (Liang & Zeger 1986, with the correction of small samples):

    se(m)^2 = G / (G - 1) * sum_g (sum_{i in g} (x_i - m))^2 / n^2
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtr, ndtri

from selfpref.seeds import seed_of

Floats: TypeAlias = npt.NDArray[np.float64]
# From totals [batch, ...] to one value [batch], or to several [batch, statistics].
Statistic = Callable[[Floats], Floats]
# What each row adds to the totals, [rows, ...], and what is resampled, [rows].
Rows: TypeAlias = npt.ArrayLike | pd.DataFrame
Clusters: TypeAlias = pd.Series | npt.NDArray[np.generic]
# Bounds the memory of the weights, and of the totals, to about 32 MB each.
CHUNK = 4_000_000


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

    def columns(self, name: str = "") -> dict[str, float]:
        """The columns `name`, `name`_lo and `name`_hi; without a name `value`, `lo` and `hi`."""
        names = (name, f"{name}_lo", f"{name}_hi") if name else ("value", "lo", "hi")
        return dict(zip(names, (self.value, self.lo, self.hi), strict=True))


def bounded(*names: str) -> list[str]:
    """The columns that `Interval.columns` fills.

    >>> bounded("eo")
    ['eo', 'eo_lo', 'eo_hi']
    """
    return [f"{name}{bound}" for name in names for bound in ("", "_lo", "_hi")]


def ratio(totals: Floats) -> Floats:
    """First total over second, a mean or a share: `[..., 2]` -> `[...]`, NaN where that is zero."""
    part, whole = totals[..., 0], totals[..., 1]
    found: Floats = np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole != 0)
    return found


def cluster_sums(values: Rows, clusters: Clusters) -> Floats:
    """Sum rows by cluster: `[rows, ...]` -> `[clusters, ...]`, clusters in order of appearance."""
    rows = np.asarray(values, dtype=float)
    codes, names = pd.factorize(clusters)
    sums = np.zeros((len(names), *rows.shape[1:]))
    np.add.at(sums, codes, rows)
    return sums


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
        place, size = (cluster * len(keys) + number)[known], len(names) * len(keys)
        sums = np.bincount(place, values[known], size)
        both = np.stack([sums, np.bincount(place, minlength=size).astype(float)], axis=-1)
        return cls(keys, both.reshape(len(names), len(keys), 2))

    @property
    def means(self) -> Floats:
        """The mean of each group, `[groups]`."""
        return ratio(self.sums.sum(axis=0))


@dataclass(frozen=True)
class ClusterBootstrap:
    """Estimates with intervals. The one way to get an interval, whatever the study.

    A statistic is a function of totals: of the sums of `values` over all rows. What shares its
    resamples is asked for in one call. Every use draws from a stream of its own, found from the
    seed and the names that the caller gives it, so that no number depends on what else is computed.

    >>> rows = pd.DataFrame({"prompt": [1, 1, 2, 3], "wins": [1.0, 0.0, 1.0, 1.0]})
    >>> bootstrap = ClusterBootstrap(resamples=1000, seed=1).within("wataoka", "mt-bench")
    >>> bootstrap.mean(rows["wins"], rows["prompt"], "gpt-4", "wins").columns("wins")
    {'wins': 0.75, 'wins_lo': 0.5, 'wins_hi': 1.0}
    >>> parts = rows[["wins"]].assign(n=1.0)
    >>> bootstrap.estimate(parts, rows["prompt"], ratio, "gpt-4", "wins").lo
    0.5

    Attributes:
        resamples: How many.
        level: Coverage, 0..1.
        method: `percentile` or `bca`.
        seed: Of every stream.
        names: Of the stream, before those of each use: the study, the data set.
    """

    resamples: int = 10_000
    level: float = 0.95
    method: Literal["percentile", "bca"] = "percentile"
    seed: int = 0
    names: tuple[str, ...] = ()

    def within(self, *names: str) -> "ClusterBootstrap":
        """The same, with more names before those of each use."""
        return replace(self, names=(*self.names, *names))

    def rng(self, *names: str) -> np.random.Generator:
        """The stream of one use, independent of every other."""
        words = (seed_of(name) for name in (*self.names, *names))
        return np.random.default_rng(np.random.SeedSequence([self.seed, *words]))

    def mean(self, values: npt.ArrayLike, clusters: Clusters, *names: str) -> Interval:
        """The mean of `[rows]`, missing values left out; NaN without any."""
        column = np.asarray(values, dtype=float)
        known = ~np.isnan(column)
        rows = np.stack([column[known], np.ones(known.sum())], axis=-1)
        return self.estimate(rows, np.asarray(clusters)[known], ratio, *names)

    def estimate(
        self, values: Rows, clusters: Clusters, statistic: Statistic, *names: str
    ) -> Interval:
        """One statistic.

        Args:
            values: What each row adds to the totals, `[rows, ...]`.
            clusters: What is resampled, `[rows]`.
            statistic: From totals `[batch, ...]` to values `[batch]`; NaN where undefined.
            names: Of the stream.

        Returns:
            The statistic of the totals of all rows, and its interval.
        """
        (found,) = self.estimates(values, clusters, lambda sums: statistic(sums)[..., None], *names)
        return found

    def estimates(
        self, values: Rows, clusters: Clusters, statistics: Statistic, *names: str
    ) -> list[Interval]:
        """Several statistics from the same resamples.

        Args:
            values: What each row adds to the totals, `[rows, ...]`.
            clusters: What is resampled, `[rows]`.
            statistics: From totals `[batch, ...]` to values `[batch, statistics]`.
            names: Of the stream.

        Returns:
            One interval a statistic; without any cluster, of NaN.
        """
        return self.of_sums(cluster_sums(values, clusters), statistics, *names)

    def group_means(self, rows: pd.DataFrame, by: list[str], *names: str) -> pd.DataFrame:
        """The mean of each group of rows, all from the same resamples.

        Args:
            rows: With the columns `by`, `cluster` and `value`; NaN is left out and not counted.
            by: What makes a group.
            names: Of the stream.

        Returns:
            `by`, then `mean, se` (robust to clusters), `lo, hi, n`, sorted by group; empty for no
            rows.
        """
        if rows.empty:
            return pd.DataFrame(columns=[*by, "mean", "se", "lo", "hi", "n"])
        groups = Groups.of(rows, by)
        found = self.of_sums(groups.sums, ratio, *names)
        return groups.keys.assign(
            mean=groups.means,
            se=clustered_errors(groups.sums),
            lo=[interval.lo for interval in found],
            hi=[interval.hi for interval in found],
            n=groups.sums[..., 1].sum(axis=0).astype(int),
        )

    def of_sums(self, sums: Floats, statistics: Statistic, *names: str) -> list[Interval]:
        """As `estimates`, from the sums of each cluster, `[clusters, ...]`.

        Where a statistic is no function of sums, the sums are `np.eye(clusters)`, and their totals
        how often each cluster counts.
        """
        shape = sums.shape[1:]
        flat = sums.reshape(len(sums), math.prod(shape))
        total, n = flat.sum(axis=0), len(sums)
        tables, counts = np.unique(flat, axis=0, return_counts=True)
        fixed = np.stack([total, *(total - tables if self.method == "bca" else ())])
        values, *left_out = statistics(fixed.reshape(-1, *shape))
        if n < 2 or np.isnan(values).all():
            return [Interval(float(value), np.nan, np.nan, np.nan) for value in values]
        rng, drawn = self.rng(*names), np.empty((len(values), self.resamples))
        step = max(1, CHUNK // max(len(counts), len(values), math.prod(shape)))
        for start in range(0, self.resamples, step):
            size = min(step, self.resamples - start)
            weights = rng.multinomial(n, counts / n, size=size).astype(float)
            made = statistics((weights @ tables).reshape(size, *shape))
            drawn[:, start : start + size] = made.T
        away = np.reshape(left_out, (-1, len(values))).T
        return [
            self._bounds(float(value), some, left, counts)
            for value, some, left in zip(values, drawn, away, strict=True)
        ]

    def _bounds(
        self, value: float, drawn: Floats, left_out: Floats, counts: npt.NDArray[np.int64]
    ) -> Interval:
        """The interval of one statistic from its resamples `[resamples]`."""
        ordered = np.sort(drawn)
        # What is undefined sorts last.
        defined = ordered[: np.searchsorted(ordered, np.inf, side="right")]
        undefined = 1 - len(defined) / len(drawn)
        if np.isnan(value) or not len(defined):
            return Interval(value, np.nan, np.nan, undefined)
        tails = np.array([(1 - self.level) / 2, (1 + self.level) / 2])
        if self.method == "bca":
            tails = _bca(tails, value, defined, left_out, counts)
        # Quantiles of sorted values, in a third of the time of `np.quantile`.
        lo, hi = np.interp(tails * (len(defined) - 1), np.arange(len(defined)), defined)
        return Interval(value, float(lo), float(hi), undefined)


def _bca(
    tails: Floats, value: float, drawn: Floats, left_out: Floats, counts: npt.NDArray[np.int64]
) -> Floats:
    """The quantiles that BCa takes instead of the plain tails (Efron 1987, Eq. 2.3)."""
    below = (np.count_nonzero(drawn < value) + np.count_nonzero(drawn == value) / 2) / len(drawn)
    if below in (0.0, 1.0):
        # The bias correction is infinite; only the plain percentiles exist.
        return tails
    bias = ndtri(below)
    known = ~np.isnan(left_out)
    weights = counts[known]
    away = np.average(left_out[known], weights=weights) - left_out[known]
    spread = np.sum(weights * away**2)
    acceleration = np.sum(weights * away**3) / (6 * spread**1.5) if spread > 0 else 0.0
    moved = bias + ndtri(tails)
    corrected: Floats = ndtr(bias + moved / (1 - acceleration * moved))
    return corrected
