"""Distance skewness (Xu et al., arXiv 2402.11436, Eq. 2), in O(n log n).

For x_1..x_n and a centre gamma, with y = x - gamma and all n^2 ordered pairs, i = j included:

    D = 1 - sum |y_i - y_j| / sum |y_i + y_j|

D is 0 if the y lie symmetrically about 0, and 1 if they are one constant other than 0; all of them
0 counts as symmetric. It does not change with the scale of y, and it has no sign: under-rating
raises it as over-rating does. In small samples it lies above 0 even for symmetric x, so that it is
to be read against the null band for its n.

Both sums follow from sorted values, since |a - b| + |a + b| = 2 max(|a|, |b|).
"""

import numpy as np

from selfpref.statistics.bootstrap import Floats


def distance_skewness(values: Floats, gamma: float = 0.0, weights: Floats | None = None) -> Floats:
    """Eq. 2 of one sample and its resamples, or of many samples.

    With y_1 <= y_2 <= ... the sorted values, of which the first k count W_k in a resample and all
    count N, and s_1 <= s_2 <= ... and V_k the same of the sizes |y|,

        sum |y_i - y_j|        = 2 sum over k of (y_k+1 - y_k) W_k (N - W_k)
        sum max(|y_i|, |y_j|)  = s_1 N^2 + sum over k of (s_k+1 - s_k) (N^2 - V_k^2)

    Terms are never negative: what is drawn alone leaves exact zeros.

    Args:
        values: `[n]`, finite; without weights also `[n, samples]`.
        gamma: The centre about which symmetry is asked for.
        weights: How often each value counts, `[n, batch]`; left out: once.

    Returns:
        `[batch]` or `[samples]`, in 0..1; NaN where nothing counts.
    """
    y = (values if values.ndim > 1 else values[:, None]) - gamma
    # The one that lies farthest off at -1 or 1.
    scale = np.abs(y).max(axis=0, initial=0.0)
    y = np.divide(y, scale, out=np.zeros_like(y, dtype=float), where=scale > 0)
    often = np.ones((len(y), 1)) if weights is None else weights
    sizes, total = np.abs(y), often.sum(axis=0)
    below, steps = _steps(y, often)
    apart = (below * (total - below) * steps).sum(axis=0)
    below, steps = _steps(sizes, often)
    larger = sizes.min(axis=0, initial=1.0) * total**2
    across = larger + ((total**2 - below**2) * steps).sum(axis=0) - apart
    # All of them 0 is symmetric.
    share = np.divide(apart, across, out=np.ones_like(apart), where=across > 0)
    return np.where(total > 0, np.clip(1 - share, 0.0, 1.0), np.nan)


def _steps(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """How often a value up to each counts, in ascending order, and how far above the next lies."""
    order = np.argsort(values, axis=0)
    ranked = np.take_along_axis(values, order, axis=0)
    apart = np.diff(ranked, axis=0, append=ranked[-1:])
    # Equal weights, of many samples, have no order.
    return weights[order[:, 0]].cumsum(axis=0), apart


def null_band(n: int, level: float = 0.95) -> tuple[float, float]:
    """Mean and `level` quantile of D for n values drawn from N(0, 1), over 2,000 samples.

    Args:
        n: Number of values, at least 1.
        level: 0..1.

    Returns:
        Mean and upper end, in 0..1.
    """
    rng = np.random.default_rng(np.random.SeedSequence([0, n]))
    null = distance_skewness(rng.standard_normal((2000, n)).T)
    return float(null.mean()), float(np.quantile(null, level))
