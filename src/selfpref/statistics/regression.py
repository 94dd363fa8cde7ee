"""Ordinary least squares with errors that are robust to clusters, one coefficient at a time.

With the column x_j of the design, x~_j what is left of it after a regression on all other columns
(Frisch & Waugh 1933), and e the residuals of the whole model,

    b_j     = x~_j' y / x~_j' x~_j
    se_j^2  = c sum_g (sum_{i in g} x~_ij e_i)^2 / (x~_j' x~_j)^2
    c       = G / (G - 1) * (N - 1) / (N - K)

for N rows in G clusters and a design of rank K (Liang & Zeger 1986; the correction is the usual one
of Stata and statsmodels). The interval is b_j -+ t(G - 1) se_j. A column that the others span has
no coefficient of its own: NaN, never an arbitrary one of many solutions.

A slope or a correlation that is to be resampled is a function of sums over rows, `slope_of_sums`:
columns are taken out of the sums of products one after the other (Gaussian elimination), which
gives the same coefficient as `fit`.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import stdtrit

from selfpref.statistics.bootstrap import MISSING, Floats, Interval

ROBUST = "cluster-robust"
# What is left of a column, as a part of it, below which the other columns span it.
SPANNED = 1e-10
# How far the share of a column that a fit tells from the others may be from 1, by rounding.
ROUNDING = 1e-6
# The determinant of sums of products below which there is no slope.
SPREAD = 1e-9


def robust(
    value: float, slopes: Floats, clusters: npt.NDArray[np.int64], rank: int, level: float
) -> Interval:
    """A coefficient with the interval above.

    Args:
        value: The coefficient.
        slopes: What each row's residual adds to it, `[rows]`.
        clusters: The number of each row's cluster, `[rows]`.
        rank: Of the design.
        level: Coverage, 0..1.

    Returns:
        Without bounds where there are fewer than two clusters or no degree of freedom.
    """
    sums, n = np.bincount(clusters, slopes), len(slopes)
    groups = len(sums)
    if groups < 2 or n <= rank:
        return Interval(value, how=ROBUST)
    correction = groups / (groups - 1) * (n - 1) / (n - rank)
    half = np.sqrt(correction * (sums @ sums)) * stdtrit(groups - 1, (1 + level) / 2)
    return Interval(value, value - float(half), value + float(half), 0.0, ROBUST)


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
        By column, as `robust` does; NaN where other columns span it, and without any row.
    """
    found = dict.fromkeys(wanted, MISSING)
    if not len(y):
        return found
    x, codes = design.to_numpy(dtype=float), pd.factorize(clusters)[0]
    inverse = np.linalg.pinv(x, rcond=float(np.finfo(float).eps * max(x.shape)))
    residual = y - x @ (inverse @ y)
    # Of each column the share that the others do not span; their sum is the rank.
    apart = np.einsum("kn,nk->k", inverse, x)
    for name in wanted:
        place = design.columns.get_loc(name)
        # x~ / x~'x~
        left, column = inverse[place], x[:, place]
        known = abs(apart[place] - 1) < ROUNDING
        if known and SPANNED * float(column @ column) * float(left @ left) < 1:
            rank = round(apart.sum())
            found[name] = robust(float(left @ y), left * residual, codes, rank, level)
    return found


def slope_of_sums(products: Floats) -> Floats:
    """The slope of y on x, all other columns held, from sums over rows.

    Args:
        products: Sums of products of the columns 1, the controls, x and y, in this order:
            `[..., columns, columns]`.

    Returns:
        `[...]`; NaN where the columns before y span each other.

    >>> rows = np.array([[1.0, x, 3 - 2 * x] for x in (0, 1, 5)])
    >>> float(slope_of_sums(rows.T @ rows))
    -2.0
    """
    spread = np.ones(products.shape[:-2])
    with np.errstate(divide="ignore", invalid="ignore"):
        while products.shape[-1] > 2:
            size = products[..., :1, :1]
            spread = spread * size[..., 0, 0]
            taken = products[..., 1:, :1] * products[..., :1, 1:] / size
            products = products[..., 1:, 1:] - taken
        spread = spread * products[..., 0, 0]
        slope = products[..., 0, 1] / products[..., 0, 0]
    found: Floats = np.where(spread > SPREAD, slope, np.nan)
    return found


def pearson(one: Floats, other: Floats) -> Floats:
    """The correlation over the last axis: `[..., n]` twice to `[...]`; NaN without spread."""
    one, other = (values - values.mean(axis=-1, keepdims=True) for values in (one, other))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = (one * other).sum(-1) / np.sqrt((one**2).sum(-1) * (other**2).sum(-1))
    return found
