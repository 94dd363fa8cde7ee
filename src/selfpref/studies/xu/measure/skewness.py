"""Distance skewness (Xu et al., arXiv 2402.11436, Eq. 2), in O(n log n).

For x_1..x_n and a centre gamma, with y = x - gamma and all n^2 ordered pairs, i = j included:

    D = 1 - sum |y_i - y_j| / sum |y_i + y_j|                                   (V-statistic)

D is 0 if the y lie symmetrically about 0, and 1 if they are one constant other than 0; all of them
0 counts as symmetric. It does not change with the scale of y, and it has no sign: under-rating
raises it as over-rating does. In small samples it lies above 0 even for symmetric x, so that it is
to be read against the null band for its n, or against x with signs drawn at random; the variant
without the pairs i = j (the U-statistic) is centred on 0 for symmetric x, and may be negative.

Both sums follow from sorted values, since |a - b| + |a + b| = 2 max(|a|, |b|).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from selfpref.statistics.scores import Floats

# Bounds the memory of drawn signs and of normal draws to about 100 MB.
CHUNK = 12_000_000


@dataclass(frozen=True)
class Sums:
    """What both variants are made of, each `[...]` over the pairs of the last axis of the values.

    Attributes:
        apart: Sum of |y_i - y_j| over all ordered pairs.
        across: Sum of |y_i + y_j| over all ordered pairs.
        same: What the pairs i = j hold of `across`.
    """

    apart: Floats
    across: Floats
    same: Floats


def _larger(values: Floats, weights: Floats | None) -> Floats:
    """Sum of the larger of each ordered pair, i = j included.

    A value of rank r is the larger one of 2r - 1 pairs.
    """
    if weights is None:
        ranks = np.arange(1, values.shape[-1] + 1)
        larger: Floats = np.sort(values, axis=-1) @ (2.0 * ranks - 1)
        return larger
    order = np.argsort(values)
    ordered, w = values[order], weights[..., order]
    reached = np.cumsum(w, axis=-1)
    pairs: Floats = np.einsum("...i,...i,i->...", w, 2 * reached - w, ordered)
    return pairs


def pair_sums(values: Floats, gamma: float = 0.0, weights: Floats | None = None) -> Sums:
    """The sums over pairs, up to one common factor (the values are scaled to at most 1).

    Args:
        values: `[..., n]`, finite; `[n]` where there are weights.
        gamma: The centre.
        weights: `[..., n]`, how often each value counts; left out: once.
    """
    y = values - gamma
    scale = np.abs(y).max(axis=-1, keepdims=True, initial=0.0)
    y = np.divide(y, scale, out=np.zeros_like(y, dtype=float), where=scale > 0)
    # Moving all values together changes no difference; equal ones then differ by 0 exactly.
    moved = y - y[..., :1]
    counts = np.ones(y.shape[-1]) if weights is None else weights
    total = counts.sum(axis=-1)
    apart = 2 * (_larger(moved, weights) - total * np.sum(counts * moved, axis=-1))
    sizes = np.abs(y)
    across = 2 * _larger(sizes, weights) - apart
    return Sums(apart, across, 2 * np.sum(counts * sizes, axis=-1))


def distance_skewness(values: Floats, gamma: float = 0.0, weights: Floats | None = None) -> Floats:
    """Eq. 2, the V-statistic.

    Args:
        values: `[..., n]`; `[n]` where there are weights.
        gamma: The centre about which symmetry is asked for.
        weights: `[..., n]`, how often each value counts (a bootstrap's draws); left out: once.

    Returns:
        `[...]`, in 0..1; NaN without values.
    """
    if values.shape[-1] == 0:
        return np.full(values.shape[:-1], np.nan)
    sums = pair_sums(values, gamma, weights)
    ratio = np.divide(sums.apart, sums.across, out=np.ones_like(sums.apart), where=sums.across > 0)
    skewness: Floats = np.clip(1 - ratio, 0.0, 1.0)
    if weights is not None:
        skewness = np.where(weights.sum(axis=-1) > 0, skewness, np.nan)
    return skewness


def unbiased_skewness(values: Floats, gamma: float = 0.0) -> Floats:
    """Eq. 2 without the pairs i = j (the U-statistic).

    Args:
        values: `[..., n]`.
        gamma: The centre.

    Returns:
        `[...]`, at most 1, about 0 for symmetric values of any n; NaN where no pair has a sum other
        than 0 though values differ, and for fewer than two values.
    """
    if values.shape[-1] < 2:
        return np.full(values.shape[:-1], np.nan)
    sums = pair_sums(values, gamma)
    across = sums.across - sums.same
    # Rounding leaves a rest of `same` where every pair i != j sums to 0.
    none = across <= 1e-12 * sums.same
    ratio = np.divide(sums.apart, across, out=np.full_like(across, np.nan), where=~none)
    return 1 - np.where(none & (sums.apart <= 1e-12 * sums.same), 1.0, ratio)


def signed_skewness(values: Floats, gamma: float = 0.0) -> Floats:
    """D with the sign of the mean of x - gamma: positive where values lie above the centre."""
    if values.shape[-1] == 0:
        return np.full(values.shape[:-1], np.nan)
    sign: Floats = np.sign((values - gamma).mean(axis=-1))
    return sign * distance_skewness(values, gamma)


@dataclass(frozen=True)
class SignFlips:
    """D of values whose signs about gamma are drawn at random: the null made from the data.

    Attributes:
        p: Share of draws with a D of at least the one observed, the observation among them.
        upper: The draws' quantile at the level asked for: the upper end of the null band.
    """

    p: float
    upper: float


def sign_flips(
    values: Floats, gamma: float, draws: int, level: float, rng: np.random.Generator
) -> SignFlips:
    """Test of symmetry about gamma.

    Args:
        values: `[n]`.
        gamma: The centre.
        draws: How many.
        level: Of the band, 0..1.
        rng: Source of the signs.

    Returns:
        p in 1/(draws + 1)..1 and the band; NaN without values.
    """
    if not len(values):
        return SignFlips(np.nan, np.nan)
    observed = float(distance_skewness(values, gamma))
    step = max(1, CHUNK // len(values))
    found = []
    for start in range(0, draws, step):
        signs = rng.choice([-1.0, 1.0], size=(min(step, draws - start), len(values)))
        found.append(distance_skewness(signs * (values - gamma)))
    null = np.concatenate(found)
    # The observed arrangement of signs is one of the draws; equal up to rounding counts as equal.
    at_least = np.count_nonzero(null >= observed - 1e-12)
    return SignFlips((1 + at_least) / (1 + draws), float(np.quantile(null, level)))


@lru_cache(maxsize=256)
def null_band(n: int, level: float = 0.95, draws: int = 2000, seed: int = 0) -> tuple[float, float]:
    """Mean and `level` quantile of D for n values drawn from N(0, 1).

    Args:
        n: Number of values, at least 1.
        level: 0..1.
        draws: How many samples.
        seed: Of the draws.

    Returns:
        Mean and upper end, in 0..1.
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, n]))
    step = max(1, CHUNK // n)
    found = [
        distance_skewness(rng.standard_normal((min(step, draws - start), n)))
        for start in range(0, draws, step)
    ]
    null = np.concatenate(found)
    return float(null.mean()), float(np.quantile(null, level))
