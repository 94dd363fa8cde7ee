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

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from selfpref.statistics.scores import Floats

# What is left of a column, as a part of it, below which the other columns span it.
SPANNED = 1e-10
# The determinant of sums of products below which there is no slope.
SPREAD = 1e-9


@dataclass(frozen=True)
class Coefficient:
    """A coefficient with its cluster-robust interval; NaN where it is not identified."""

    value: float
    se: float
    lo: float
    hi: float

    @property
    def identified(self) -> bool:
        """Whether the data tell this coefficient from the others."""
        return not np.isnan(self.value)


MISSING = Coefficient(np.nan, np.nan, np.nan, np.nan)


def fit(
    y: Floats, design: pd.DataFrame, clusters: pd.Series, wanted: list[str], level: float
) -> dict[str, Coefficient]:
    """The wanted coefficients of y on the columns of a design.

    Args:
        y: `[rows]`.
        design: `[rows, columns]`, an intercept among them where there is one.
        clusters: The cluster of each row.
        wanted: Columns of the design.
        level: Coverage of the intervals, 0..1.

    Returns:
        By column; without error where there are fewer than two clusters or no degree of freedom.
    """
    x = design.to_numpy(dtype=float)
    if not len(y):
        return dict.fromkeys(wanted, MISSING)
    codes, names = pd.factorize(clusters)
    # Columns relate to each other as those of the small triangle do.
    basis, triangle = np.linalg.qr(x)
    rounding = float(np.finfo(float).eps * max(x.shape))
    rank = int(np.linalg.matrix_rank(triangle, rtol=rounding))
    residual = y - x @ np.linalg.lstsq(triangle, basis.T @ y, rcond=rounding)[0]
    estimable = len(names) > 1 and len(y) > rank
    correction = (
        len(names) / (len(names) - 1) * (len(y) - 1) / (len(y) - rank) if estimable else np.nan
    )
    quantile = float(stdtrit(len(names) - 1, (1 + level) / 2)) if estimable else np.nan
    found = {}
    for name in wanted:
        place = design.columns.get_loc(name)
        column, others = triangle[:, place], np.delete(triangle, place, axis=1)
        spanned = np.linalg.lstsq(others, column, rcond=rounding)[0]
        left = basis @ (column - others @ spanned)
        size = float(left @ left)
        if size <= SPANNED * float(column @ column):
            found[name] = MISSING
            continue
        value = float(left @ y) / size
        meat = np.bincount(codes, weights=left * residual)
        se = float(np.sqrt(correction * (meat @ meat)) / size)
        found[name] = Coefficient(value, se, value - quantile * se, value + quantile * se)
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
