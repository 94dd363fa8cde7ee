"""Distance skewness (Xu et al., arXiv 2402.11436, Eq. 2), in O(n log n).

For x_1..x_n and a centre gamma, with y = x - gamma and all n^2 ordered pairs, i = j included:

    D = 1 - sum |y_i - y_j| / sum |y_i + y_j|

D is 0 if the y lie symmetrically about 0, and 1 if they are one constant other than 0; all of them
0 counts as symmetric. It does not change with the scale of y, and it has no sign: under-rating
raises it as over-rating does. In small samples it lies above 0 even for symmetric x, so that it is
to be read against the null band for its n, or against x with signs drawn at random.

Both sums follow from sorted values, since |a - b| + |a + b| = 2 max(|a|, |b|).
"""

from functools import lru_cache

import numpy as np

from selfpref.statistics.bootstrap import Floats


def _larger(values: Floats) -> Floats:
    """Sum of the larger of each ordered pair, i = j included.

    A value of rank r is the larger one of 2r - 1 pairs.
    """
    ranks = np.arange(1, values.shape[-1] + 1)
    larger: Floats = np.sort(values, axis=-1) @ (2.0 * ranks - 1)
    return larger


def _scaled(values: Floats, gamma: float) -> Floats:
    """The values about gamma, the one that lies farthest off at -1 or 1."""
    y = values - gamma
    scale = np.abs(y).max(axis=-1, keepdims=True, initial=0.0)
    scaled: Floats = np.divide(y, scale, out=np.zeros_like(y, dtype=float), where=scale > 0)
    return scaled


def _skewness(apart: Floats, across: Floats) -> Floats:
    """Eq. 2 of the two sums; 0 where all values are 0."""
    ratio = np.divide(apart, across, out=np.ones_like(apart), where=across > 0)
    skewness: Floats = np.clip(1 - ratio, 0.0, 1.0)
    return skewness


def distance_skewness(values: Floats, gamma: float = 0.0) -> Floats:
    """Eq. 2.

    Args:
        values: `[..., n]`.
        gamma: The centre about which symmetry is asked for.

    Returns:
        `[...]`, in 0..1; NaN without values.
    """
    if values.shape[-1] == 0:
        return np.full(values.shape[:-1], np.nan)
    y = _scaled(values, gamma)
    # Moving all values together changes no difference; equal ones then differ by 0 exactly.
    moved = y - y[..., :1]
    apart = 2 * (_larger(moved) - y.shape[-1] * moved.sum(axis=-1))
    return _skewness(apart, 2 * _larger(np.abs(y)) - apart)


def resampled_skewness(values: Floats, gamma: float, weights: Floats) -> Floats:
    """Eq. 2 of many resamples of the same values.

    With y_1 <= y_2 <= ... the sorted values, of which the first k count W_k in a resample and all
    count N, and s_1 <= s_2 <= ... and V_k the same of the sizes |y|,

        sum |y_i - y_j|        = 2 sum over k of (y_k+1 - y_k) W_k (N - W_k)
        sum max(|y_i|, |y_j|)  = s_1 N^2 + sum over k of (s_k+1 - s_k) (N^2 - V_k^2)

    Terms are never negative: what is drawn alone leaves exact zeros.

    Args:
        values: `[n]`, finite.
        gamma: The centre.
        weights: How often each value counts, `[n, batch]`.

    Returns:
        `[batch]`, in 0..1; NaN where nothing counts.
    """
    y, total = _scaled(values, gamma), weights.sum(axis=0)
    sizes = np.abs(y)
    below, steps = _steps(y, weights)
    apart = (below * (total - below) * steps).sum(axis=0)
    below, steps = _steps(sizes, weights)
    larger = sizes.min(initial=1.0) * total**2 + ((total**2 - below**2) * steps).sum(axis=0)
    return np.where(total > 0, _skewness(2 * apart, 2 * (larger - apart)), np.nan)


def _steps(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """How often a value up to each counts, in ascending order, and how far above the next lies."""
    order = np.argsort(values)
    apart = np.diff(values[order], append=values[order][-1:])
    return weights[order].cumsum(axis=0), apart[:, None]


def sign_flips(
    values: Floats, gamma: float, draws: int, level: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Test of symmetry: D of values whose signs about gamma are drawn at random.

    Args:
        values: `[n]`.
        gamma: The centre.
        draws: How many.
        level: Of the band, 0..1.
        rng: Source of the signs.

    Returns:
        p in 1/(draws + 1)..1, the share of draws with a D of at least the one observed, the
        observation among them; and the draws' quantile at `level`. NaN without values.
    """
    if not len(values):
        return np.nan, np.nan
    observed = float(distance_skewness(values, gamma))
    y = values - gamma
    null = distance_skewness(y * rng.choice([-1.0, 1.0], size=(draws, len(y))))
    # The observed arrangement of signs is one of the draws; equal up to rounding counts as equal.
    at_least = np.count_nonzero(null >= observed - 1e-12)
    return (1 + at_least) / (1 + draws), float(np.quantile(null, level))


@lru_cache(maxsize=256)
def null_band(n: int, level: float = 0.95) -> tuple[float, float]:
    """Mean and `level` quantile of D for n values drawn from N(0, 1), over 2,000 samples.

    Args:
        n: Number of values, at least 1.
        level: 0..1.

    Returns:
        Mean and upper end, in 0..1.
    """
    rng = np.random.default_rng(np.random.SeedSequence([0, n]))
    null = distance_skewness(rng.standard_normal((2000, n)))
    return float(null.mean()), float(np.quantile(null, level))
