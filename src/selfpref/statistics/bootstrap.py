"""Intervals by the cluster bootstrap: vectorised over resamples, statistics and groups.

Clusters (prompts, articles, sentences), not rows, are drawn with replacement, since rows of one
prompt are not independent. A statistic that is a function of sums over rows needs only the sums of
each cluster, and clusters with equal sums are interchangeable: drawing n clusters is drawing from
the multinomial over the *distinct* tables of sums. For R resamples, U distinct tables and K sums
the cost is R x U draws and one matrix product [R, U] x [U, K], whatever the number of rows. Bounds
are percentiles of the resamples (Efron 1979).

The standard error of a group's mean m, of its values x_i in G clusters, is the cluster-robust one
of a regression on a constant (Liang & Zeger 1986, with the correction of small samples):

    se(m)^2 = G / (G - 1) * sum_g (sum_{i in g} (x_i - m))^2 / n^2

**Intervals of shares: Wilson's, with the number of independent observations that clusters leave.**

A bootstrap of a share that is 0 or 1 gives that value in every resample: its interval has no width,
and next to 0 and 1 it is too narrow. Wilson's interval (1927) of a share p of n observations,

    (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n),

has a width everywhere. Rows of one cluster are not independent, so n is the *effective* size (Kish
1965): the number of independent observations from which p would have its cluster-robust standard
error,

    n_eff = p (1 - p) / se(p)^2

(Franco, Little, Louis & Slud 2019 compare such intervals). Where all clusters have the same share,
as at 0 and 1, or where there is one cluster, the data do not tell how alike the rows of a cluster
are. Then each cluster counts as one observation, n_eff = the number of clusters, the least that
they can be worth.

A difference of two shares p - q of disjoint rows keeps its bootstrap. Where one of the shares is 0
or 1, so that no resample varies it, or rests on a handful of events, the interval is Newcombe's
(1998, method 10), from the two Wilson intervals (l, u):

    p - q - sqrt((p - l_p)^2 + (u_q - q)^2),      p - q + sqrt((u_p - p)^2 + (q - l_q)^2)

and of estimates with correlation r, 2 r times the product is taken off each square (Zou 2007). Of
the ratio p / q the bounds are Donner & Zou's (2012),

    (p q -+ sqrt(p^2 q^2 - m n)) / n,   lower: m = l_p (2 p - l_p), n = u_q (2 q - u_q),

the upper one with u_p and l_q in their places.

**Ordinary least squares with errors that are robust to clusters, one coefficient at a time.**

With the column x_j of the design, x~_j what is left of it after a regression on all other columns
(Frisch & Waugh 1933), and e the residuals of the whole model,

    b_j     = x~_j' y / x~_j' x~_j
    se_j^2  = c sum_g (sum_{i in g} x~_ij e_i)^2 / (x~_j' x~_j)^2
    c       = G / (G - 1) * (N - 1) / (N - K)

for N rows in G clusters and a design of rank K (Liang & Zeger 1986; the correction is the usual one
of Stata and statsmodels). The interval is b_j -+ t(G - 1) se_j. A column that the others span has
no coefficient of its own: NaN, never an arbitrary one of many solutions.

A slope that is to be resampled is a function of sums over rows, `slope_of_sums`.
"""

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.linalg import pinv
from scipy.special import ndtri, stdtrit

from selfpref.processes import processors
from selfpref.seeds import seed_of

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
# From totals [batch, ...] to one value [batch], or to several [batch, statistics].
Statistic = Callable[[Floats], Floats]
# What each row adds to the totals, [rows, ...], and what is resampled, [rows].
Rows: TypeAlias = npt.ArrayLike | pd.DataFrame
Clusters: TypeAlias = pd.Series | npt.NDArray[np.generic]
# Bounds the memory of the weights, and of the totals, to about 32 MB each.
CHUNK = 4_000_000


class Interval(NamedTuple):
    """A statistic with its interval.

    Attributes:
        value: The statistic of all data; NaN where it is undefined.
        lo: Lower bound; NaN with fewer than two clusters.
        hi: Upper bound.
        undefined: Share of resamples in which the statistic did not exist (left out of the bounds).
    """

    value: float
    lo: float = np.nan
    hi: float = np.nan
    undefined: float = np.nan

    def columns(self, name: str) -> dict[str, float]:
        """The columns `name`, `name`_lo and `name`_hi."""
        return dict(zip(bounded(name), self[:3], strict=True))


MISSING = Interval(np.nan)


def bounded(*names: str) -> list[str]:
    """The columns that `Interval.columns` fills.

    >>> bounded("eo")
    ['eo', 'eo_lo', 'eo_hi']
    """
    return [f"{name}{bound}" for name in names for bound in ("", "_lo", "_hi")]


def intervals(names: Iterable[str], found: Iterable[Interval]) -> dict[str, float]:
    """The columns of several intervals, each `name`, `name`_lo and `name`_hi."""
    return dict(zip(bounded(*names), (end for one in found for end in one[:3]), strict=True))


def divided(part: Floats, whole: Floats, otherwise: float = np.nan) -> Floats:
    """Part by whole, broadcast, where the whole is above zero."""
    part, whole = np.broadcast_arrays(part, whole)
    found: Floats = np.divide(part, whole, out=np.full(part.shape, otherwise), where=whole > 0)
    return found


def ratio(totals: Floats) -> Floats:
    """First total over second, a mean or a share: `[..., 2]` -> `[...]`, NaN where that is zero."""
    return divided(totals[..., 0], totals[..., 1])


def means_and_difference(totals: Floats) -> Floats:
    """Means of two, and the second minus the first: `[..., 2, 2]` -> `[..., 3]`."""
    means = ratio(totals)
    return np.concatenate([means, means[..., 1:] - means[..., :1]], axis=-1)


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
    mean, count = ratio(sums.sum(axis=0)), sums[..., 1].sum(axis=0)
    off = sums[..., 0] - np.nan_to_num(mean) * sums[..., 1]
    clusters = (sums[..., 1] > 0).sum(axis=0)
    errors: Floats = np.sqrt(divided(clusters, clusters - 1) * (off**2).sum(axis=0)) / count
    return errors


def group_sums(
    rows: pd.DataFrame, by: list[str], value: str = "value"
) -> tuple[pd.DataFrame, Floats]:
    """The groups of a frame's rows, and their sums by cluster.

    Args:
        rows: With a column `cluster`; missing values are left out, their groups stay.
        by: What makes a group.
        value: The column that is summed.

    Returns:
        One row a group; sum and count of each cluster and group, `[clusters, groups, 2]`.
    """
    number = rows.groupby(by, observed=True).ngroup().to_numpy()
    keys = rows[by].drop_duplicates().sort_values(by, ignore_index=True)
    cluster, names = pd.factorize(rows["cluster"], sort=True)
    values = rows[value].to_numpy(float)
    known = ~np.isnan(values) & (cluster >= 0)
    parts = np.stack([values, np.ones_like(values)], axis=-1)
    sums = np.zeros((len(names), len(keys), 2))
    np.add.at(sums, (cluster[known], number[known]), parts[known])
    return keys.astype(dict.fromkeys(by, "str")), sums


def _by_group(keys: pd.DataFrame, sums: Floats, name: str, found: list[Interval]) -> pd.DataFrame:
    """The groups, each with its interval as `name, lo, hi`, and n."""
    bounds = pd.DataFrame([one[:3] for one in found], columns=[name, "lo", "hi"])
    return keys.join(bounds).assign(n=sums[..., 1].sum(axis=0).astype(int))


def _known(values: npt.ArrayLike, clusters: Clusters) -> tuple[Floats, Clusters]:
    """Part and whole of each value that is not missing, `[rows, 2]`, and its cluster."""
    column = np.asarray(values, dtype=float)
    known = ~np.isnan(column)
    return np.stack([column[known], np.ones(known.sum())], axis=-1), np.asarray(clusters)[known]


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
        method: Of the bounds.
        seed: Of every stream.
        names: Of the stream, before those of each use: the study, the data set.
    """

    resamples: int = 10_000
    level: float = 0.95
    method: Literal["percentile"] = "percentile"
    seed: int = 0
    names: tuple[str, ...] = ()

    def within(self, *names: str) -> "ClusterBootstrap":
        """The same, with more names before those of each use."""
        return replace(self, names=(*self.names, *names))

    def rng(self, *names: str) -> np.random.Generator:
        """The stream of one use, independent of every other."""
        words = map(seed_of, (*self.names, *names))
        return np.random.default_rng(np.random.SeedSequence([self.seed, *words]))

    def mean(self, values: npt.ArrayLike, clusters: Clusters, *names: str) -> Interval:
        """The mean of `[rows]`, missing values left out; NaN without any."""
        return self.estimate(*_known(values, clusters), ratio, *names)

    def estimate(
        self, values: Rows, clusters: Clusters, statistic: Statistic, *names: str
    ) -> Interval:
        """As `estimates`, of one statistic: from totals `[batch, ...]` to values `[batch]`."""
        (found,) = self.estimates(values, clusters, lambda sums: statistic(sums)[..., None], *names)
        return found

    def estimates(
        self, values: Rows, clusters: Clusters, statistics: Statistic, *names: str
    ) -> list[Interval]:
        """Several statistics from the same resamples.

        Args:
            values: What each row adds to the totals, `[rows, ...]`.
            clusters: What is resampled, `[rows]`.
            statistics: From totals `[batch, ...]` to values `[batch, statistics]`; NaN where
                undefined.
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
            `by`, then `mean, se` (robust to clusters), `lo, hi, n`, sorted by group.
        """
        keys, sums = group_sums(rows, by)
        found = _by_group(keys, sums, "mean", self.of_sums(sums, ratio, *names))
        found.insert(len(by) + 1, "se", clustered_errors(sums))
        return found

    def of_sums(self, sums: Floats, statistics: Statistic, *names: str) -> list[Interval]:
        """As `estimates`, from the sums of each cluster, `[clusters, ...]`.

        Where a statistic is no function of sums, the sums are `np.eye(clusters)`, and their totals
        how often each cluster counts.
        """
        n, *shape = sums.shape
        values = statistics(sums.sum(axis=0)[None])[0].tolist()
        if n < 2 or np.isnan(values).all():
            return [*map(Interval, values)]
        tables, counts = np.unique(sums.reshape(n, -1), axis=0, return_counts=True)
        rng, drawn = self.rng(*names), []
        step = max(1, CHUNK // max(len(counts), len(values), math.prod(shape)))
        for start in range(0, self.resamples, step):
            size = min(step, self.resamples - start)
            weights = rng.multinomial(n, counts / n, size=size).astype(float)
            drawn.append(statistics((weights @ tables).reshape(size, *shape)))
        return [*map(self._bounded, values, np.concatenate(drawn).T)]

    def _bounded(self, value: float, drawn: Floats) -> Interval:
        """One statistic with the interval of its resamples, `[resamples]`."""
        defined = drawn[~np.isnan(drawn)]
        lo, hi, tails = np.nan, np.nan, ((1 - self.level) / 2, (1 + self.level) / 2)
        if len(defined) and not np.isnan(value):
            lo, hi = np.quantile(defined, tails).tolist()
        return Interval(value, lo, hi, 1 - len(defined) / len(drawn))


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
        ends = (middle + np.stack([-half, half])) / (1 + z**2 / size)
    lo, hi = np.clip(ends, 0.0, 1.0)
    return lo, hi


def share_intervals(sums: Floats, level: float) -> list[Interval]:
    """The share and the interval of each group.

    Args:
        sums: Part and whole of each cluster and group, `[clusters, groups, 2]`, as `group_sums` and
            `cluster_sums` make them.
        level: Coverage, 0..1.
    """
    share, error = ratio(sums.sum(axis=0)), clustered_errors(sums)
    clusters = (sums[..., 1] > 0).sum(axis=0).astype(float)
    # Sums of halves and thirds leave traces of rounding where clusters are alike.
    size = np.divide(share * (1 - share), error**2, out=clusters, where=error > 1e-9)
    bounds = np.stack([share, *wilson(share, size, level)], axis=-1).tolist()
    return [Interval(value, lo, hi, 0.0) for value, lo, hi in bounds]


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
    keys, sums = group_sums(rows, by, value)
    return _by_group(keys, sums, "share", share_intervals(sums, level))


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
        rows, clusters = _known(rows, clusters)
    (found,) = share_intervals(cluster_sums(rows, clusters)[:, None], level)
    return found


def difference(one: Interval, other: Interval, *, correlation: float = 0.0) -> Interval:
    """Newcombe's interval of the first estimate minus the second, or Zou's of dependent ones."""
    value = one.value - other.value
    mine = np.subtract(one[1:3], one.value)
    theirs = np.subtract(other.value, other[2:0:-1])
    far = np.sqrt(mine**2 + theirs**2 - 2 * correlation * mine * theirs)
    lo, hi = (value + np.array([-1, 1]) * far).tolist()
    return Interval(value, lo, hi, 0.0)


def quotient(one: Interval, other: Interval) -> Interval:
    """Donner and Zou's interval of the first share over the second one, independent of it.

    Where the second share is zero there is none.
    """
    if other.value == 0:
        return Interval(np.nan, undefined=0.0)
    product, near, far = one.value * other.value, np.array(one[1:3]), np.array(other[2:0:-1])
    m, n = near * (2 * one.value - near), far * (2 * other.value - far)
    with np.errstate(divide="ignore", invalid="ignore"):
        lo, hi = ((product + np.array([-1, 1]) * np.sqrt(product**2 - m * n)) / n).tolist()
    return Interval(one.value / other.value, lo, hi, 0.0)


# What is left of a column, as a part of it, below which the other columns span it.
SPANNED = 1e-10
# How far the share of a column that the others do not span may be from 1, by rounding.
ROUNDING = 1e-6


def student(value: float, parts: Floats, level: float) -> Interval:
    """A coefficient -+ t(G - 1) of its standard error, robust to G clusters.

    Args:
        value: The coefficient, or the difference of two.
        parts: What each cluster adds to it, `[clusters]`: the root of the sum of their squares is
            the standard error. Those of a difference are the differences of the parts.
        level: Coverage, 0..1.

    Returns:
        Without bounds where a part is NaN.
    """
    half = float(np.linalg.norm(parts) * stdtrit(len(parts) - 1, (1 + level) / 2))
    return Interval(value, value - half, value + half, 0.0)


def parts_of(slopes: Floats, clusters: Whole, rank: int) -> Floats:
    """What each cluster adds to a coefficient, for the interval above.

    Args:
        slopes: What each row's residual adds to it, `[rows]`.
        clusters: The number of each row's cluster, `[rows]`.
        rank: Of the design.

    Returns:
        `[clusters]`; NaN where there are fewer than two clusters or no degree of freedom.
    """
    sums, n = np.bincount(clusters, slopes), len(slopes)
    groups = len(sums)
    if groups < 2 or n <= rank:
        return np.full(groups, np.nan)
    found: Floats = sums * np.sqrt(groups / (groups - 1) * (n - 1) / (n - rank))
    return found


def apart(inverse: Floats, columns: Floats) -> tuple[npt.NDArray[np.bool_], int]:
    """Which columns the others do not span, and the rank.

    Args:
        inverse: The pseudo-inverse, `[columns, rows]`.
        columns: `[rows, columns]`.
    """
    # Of each column the share that the others do not span; their sum is the rank.
    share = np.einsum("kn,nk->k", inverse, columns)
    return np.abs(share - 1) < ROUNDING, round(share.sum())


def fit(
    y: Floats, design: pd.DataFrame, clusters: pd.Series, wanted: list[str], level: float
) -> dict[str, Interval]:
    """The wanted coefficients of y on the columns of a design.

    Args:
        y: `[rows]`.
        design: `[rows, columns]`, an intercept among them where there is one.
        clusters: The cluster of each row.
        wanted: Columns of the design.
        level: Coverage of the intervals, 0..1.

    Returns:
        By column; NaN where other columns span it, and without any row.
    """
    found, x = dict.fromkeys(wanted, MISSING), design.to_numpy(float)
    codes, inverse = pd.factorize(clusters)[0], pinv(x)
    residual, (known, rank) = y - x @ (inverse @ y), apart(inverse, x)
    for name in wanted:
        place = design.columns.get_loc(name)
        # x~ / x~'x~
        left, column = inverse[place], x[:, place]
        if known[place] and SPANNED * float(column @ column) * float(left @ left) < 1:
            found[name] = student(float(left @ y), parts_of(left * residual, codes, rank), level)
    return found


def solved(left: Floats, right: Floats) -> Floats:
    """The solutions of small systems, `[..., k]`; NaN where one has no solution of its own."""
    size = np.trace(left, axis1=-2, axis2=-1)[..., None] / left.shape[-1]
    some = divided(left, size[..., None], 0.0)
    lost = ~(np.abs(np.linalg.det(some)) > SPANNED)
    some[lost] = np.eye(left.shape[-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.linalg.solve(some, (right / size)[..., None])[..., 0]
    found[lost] = np.nan
    return found


def slope_of_sums(products: Floats) -> Floats:
    """The slope of y on x, all other columns held, from sums over rows.

    Args:
        products: Sums of products of the columns 1, the controls, x and y, in this order:
            `[..., columns, columns]`.

    Returns:
        `[...]`; NaN where the columns before y span each other.

    >>> rows = np.array([[1.0, x, 3 - 2 * x] for x in (0, 1, 5)])
    >>> round(float(slope_of_sums(rows.T @ rows)), 9)
    -2.0
    """
    return solved(products[..., :-1, :-1], products[..., :-1, -1])[..., -1]


def pearson(one: Floats, other: Floats) -> Floats:
    """The correlation over the last axis: `[..., n]` twice to `[...]`; NaN without spread."""
    one, other = (values - values.mean(axis=-1, keepdims=True) for values in (one, other))
    return divided((one * other).sum(-1), np.sqrt((one**2).sum(-1) * (other**2).sum(-1)))


Made = TypeVar("Made")
# Each holds its draws, up to a few hundred MB.
MOST = 4


def at_once(function: Callable[..., Made], calls: Iterable[tuple[object, ...]]) -> list[Made]:
    """What a function makes of each tuple of arguments, in their order.

    The calls must share nothing that they change; results do not depend on the processors.
    """
    with ThreadPoolExecutor(min(MOST, processors())) as pool:
        return list(pool.map(lambda arguments: function(*arguments), calls))
