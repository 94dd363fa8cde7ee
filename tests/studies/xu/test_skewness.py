"""Distance skewness: the vectors of its definition, resamples, and its nulls."""

import numpy as np
import pytest

from selfpref.studies.xu.bias import distance_skewness, null_band

SAID = np.array([-11, -11, -11, -7, 0, -20, -5, 0, -11, -10], dtype=float)
# One of the true scores is written down to a tenth.
TRUTH = np.array([-10, -10, -2.1, -1, -1, -5, -10, -5, 0, -10], dtype=float)


VECTORS = [
    *(([0, 0], 0), ([7], 1), ([-1, 1], 0), ([0, 1], 0.5), ([-1, -2], 5 / 6), ([-1, 2], 0.25)),
    *(([-5, 0, 5, 10], 1 / 6), ([0.1] * 7, 1)),
    (SAID - TRUTH, pytest.approx(0.181093, abs=5e-4)),
]


@pytest.mark.parametrize(("values", "wanted"), VECTORS)
def test_the_vectors_of_the_definition(values, wanted):
    values = np.array(values, dtype=float)
    assert distance_skewness(values).item() == pytest.approx(wanted)
    assert distance_skewness(values + 3, 3.0).item() == pytest.approx(wanted, abs=1e-12)


def test_no_values_have_no_skewness_and_many_samples_are_one_call(rng):
    assert np.isnan(distance_skewness(np.empty(0)))
    samples = rng.normal(1, 3, (4, 25)).round(1)
    wanted = [distance_skewness(one, 0.5).item() for one in samples]
    assert distance_skewness(samples.T, 0.5) == pytest.approx(wanted)


def test_weights_are_repetitions(rng):
    values = rng.normal(1, 3, 12).round(1)
    draws = rng.integers(0, 12, (3, 12))
    weights = np.stack([np.bincount(draw, minlength=12) for draw in draws], axis=1).astype(float)
    repeated = [distance_skewness(values[draw], 0.5).item() for draw in draws]
    assert distance_skewness(values, 0.5, weights) == pytest.approx(repeated)
    # Exactly: a rest of rounding above or below 0 would be read as a D of 1.
    values, weights = np.array([0.0, 0.1, 0.7, -0.3]), np.diag([3.0, 0, 0, 0])[:, :2]
    alone, nothing = distance_skewness(values, 0.0, weights)
    assert alone == 0
    assert np.isnan(nothing)


def test_symmetric_samples_stay_in_the_band_at_its_rate(rng):
    mean, upper = null_band(50)
    found = distance_skewness(rng.normal(0, 7, (50, 2000)))
    # Three standard errors of a share of 2,000, and those of the band's own 2,000 draws.
    assert np.mean(found > upper) == pytest.approx(0.05, abs=0.02)
    assert found.mean() == pytest.approx(mean, abs=0.003)
    assert null_band(50, 0.5)[1] < upper
