"""From the scale of one quality metric to that of another.

Xu et al. (arXiv 2402.11436) put BLEURT on the scale of MQM by quantile mapping on WMT22: all scores
of one metric sorted beside all scores of the other, straight lines between equal ranks. Their map
needs no WMT data to be known: it is what takes the released raw scores to the released mapped ones.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """A rising, piecewise straight map; constant outside its knots.

    Attributes:
        raw: Knots on the scale mapped from, ascending, each once.
        mapped: Their values, never falling.
    """

    raw: Floats
    mapped: Floats

    def __call__(self, values: Floats) -> Floats:
        """The values on the other scale; NaN stays NaN."""
        found: Floats = np.interp(values, self.raw, self.mapped)
        return found


def recovered(raw: Floats, mapped: Floats) -> Scale:
    """The map that took `raw` to `mapped`.

    Args:
        raw: `[n]`, n > 0.
        mapped: `[n]`.

    Raises:
        ValueError: One raw value has two mapped ones, or a greater raw value a smaller mapped one.
    """
    order = np.lexsort((mapped, raw))
    raw, mapped = raw[order], mapped[order]
    falls = np.flatnonzero(np.diff(mapped) < 0)
    doubled = np.flatnonzero((np.diff(raw) == 0) & (np.diff(mapped) != 0))
    for fault, found in (("two values at once", doubled), ("a fall", falls)):
        if len(found):
            i = found[0]
            raise ValueError(
                f"{fault}: {raw[i]:g} is mapped to {mapped[i]:g}, {raw[i + 1]:g} to "
                f"{mapped[i + 1]:g}"
            )
    first = np.concatenate([[True], np.diff(raw) > 0])
    return Scale(raw[first], mapped[first])


def quantile_map(source: Floats, target: Floats) -> Scale:
    """Equal ranks of two samples, pooled.

    Args:
        source: Scores to be mapped from, `[n]`, n > 0.
        target: Scores on the scale wanted, `[m]`, m > 0.

    Returns:
        The map; values of `source` that are tied get the mean of their ranks' targets.
    """
    ranks = (np.arange(len(source)) + 0.5) / len(source)
    ascending = np.sort(source)
    at_ranks = np.quantile(target, ranks)
    knots, owner, counts = np.unique(ascending, return_inverse=True, return_counts=True)
    return Scale(knots, np.bincount(owner, weights=at_ranks) / counts)
