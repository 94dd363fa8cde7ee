"""Distance skewness: the vectors and properties of its definition, and its nulls."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfpref.studies.xu.skewness import (
    distance_skewness,
    null_band,
    resampled_skewness,
    sign_flips,
)

# Half points tie often, as scores do; the others do not.
points = st.lists(
    st.one_of(
        st.integers(-50, 50).map(lambda value: value / 2),
        st.integers(-(10**9), 10**9).map(lambda value: value / 1000),
    ),
    min_size=1,
    max_size=40,
).map(lambda values: np.array(values, dtype=float))


def by_pairs(values, gamma=0.0):
    """The definition, pair by pair."""
    y = np.asarray(values, dtype=float) - gamma
    across = np.abs(y[:, None] + y).sum()
    return 1 - np.abs(y[:, None] - y).sum() / across if across else 0.0


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1, 1, 1], 1),
        ([0, 0], 0),
        ([7], 1),
        ([0], 0),
        ([-1, 1], 0),
        ([0, 1], 0.5),
        ([1, 2], 5 / 6),
        ([-1, 2], 0.25),
        ([-5, 0, 5, 10], 1 / 6),
    ],
)
def test_the_vectors_of_the_definition(values, wanted):
    assert float(distance_skewness(np.array(values, dtype=float))) == pytest.approx(wanted)


def test_the_first_ten_sentences_of_gpt_4():
    said = np.array([-11, -11, -11, -7, 0, -20, -5, 0, -11, -10], dtype=float)
    # One of the true scores is written down to a tenth.
    truth = np.array([-10, -10, -2.1, -1, -1, -5, -10, -5, 0, -10], dtype=float)
    assert float(distance_skewness(said - truth)) == pytest.approx(0.181093, abs=5e-4)


def test_no_values_have_no_skewness():
    assert np.isnan(distance_skewness(np.empty(0)))
    assert np.isnan(sign_flips(np.empty(0), 0, 10, 0.95, np.random.default_rng(1))[0])


@given(points, st.floats(-10, 10))
def test_sorting_gives_what_all_pairs_give(values, gamma):
    assert float(distance_skewness(values, gamma)) == pytest.approx(
        by_pairs(values, gamma), abs=1e-12
    )


@given(points)
def test_it_lies_between_0_and_1(values):
    assert 0 <= distance_skewness(values) <= 1


@given(points, st.floats(1e-3, 1e3))
def test_the_scale_makes_no_difference(values, factor):
    assert float(distance_skewness(values * factor)) == pytest.approx(
        float(distance_skewness(values)), abs=1e-9
    )


@given(points)
def test_symmetric_values_have_none(values):
    assert float(distance_skewness(np.concatenate([values, -values]))) == pytest.approx(0, abs=1e-9)


@given(points)
def test_mirrored_values_are_as_skewed(values):
    assert float(distance_skewness(-values)) == pytest.approx(float(distance_skewness(values)))


@given(st.floats(0.1, 1e6), st.integers(1, 30), st.sampled_from([-1, 1]))
def test_a_constant_is_as_skewed_as_can_be(value, n, sign):
    assert float(distance_skewness(np.full(n, sign * value))) == 1.0
    assert float(distance_skewness(np.full(n, value), gamma=value)) == 0.0


@given(points, st.integers(0, 2**32 - 1))
def test_weights_are_repetitions(values, seed):
    draws = np.random.default_rng(seed).integers(0, len(values), (3, len(values)))
    weights = np.stack([np.bincount(draw, minlength=len(values)) for draw in draws], axis=1)
    repeated = [by_pairs(values[draw]) for draw in draws]
    # A draw that leaves out the largest value keeps as many digits fewer as that value has more.
    found = resampled_skewness(values, 0.0, weights.astype(float))
    assert found == pytest.approx(repeated, abs=1e-6)


def test_a_resample_of_zeros_alone_is_symmetric():
    """Exactly: a rest of rounding above or below 0 would be read as a D of 1."""
    values, weights = np.array([0.0, 0.1, 0.7, -0.3]), np.array([[3.0], [0], [0], [0]])
    assert resampled_skewness(values, 0.0, weights).tolist() == [0.0]
    assert np.isnan(resampled_skewness(values, 0.0, 0 * weights)).all()


def test_a_million_values_take_less_than_two_seconds(rng):
    values = rng.normal(1, 3, 1_000_000)
    start = time.process_time()
    distance_skewness(values)
    assert time.process_time() - start < 2


@settings(max_examples=5)
@given(st.integers(0, 2**32 - 1))
def test_symmetric_samples_stay_in_the_band_at_its_rate(seed):
    mean, upper = null_band(50)
    samples = np.random.default_rng(seed).normal(0, 7, (2000, 50))
    found = distance_skewness(samples)
    # Three standard errors of a share of 2,000, and those of the band's own 2,000 draws.
    assert np.mean(found > upper) == pytest.approx(0.05, abs=0.02)
    assert found.mean() == pytest.approx(mean, abs=0.003)


def test_signs_at_random_reject_a_symmetric_truth_at_the_nominal_rate(rng):
    samples = rng.laplace(0, 4, (300, 40)).round()
    p = [sign_flips(values, 0.0, 199, 0.95, rng)[0] for values in samples]
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.04)


def test_signs_at_random_find_a_shift(rng):
    p, upper = sign_flips(rng.normal(2, 1, 40), 0.0, 199, 0.95, rng)
    assert p == pytest.approx(1 / 200)
    assert upper < 0.2
