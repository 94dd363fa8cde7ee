"""Intervals of shares: published values, what clusters are worth, and coverage next to 0 and 1."""

import doctest

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from selfpref.statistics import shares
from selfpref.statistics.bootstrap import ClusterBootstrap, Interval, ratio
from selfpref.statistics.shares import difference, share_interval, share_intervals, wilson


@pytest.mark.parametrize(("part", "whole"), [(0, 6), (6, 6), (1, 30), (81, 263), (29, 30)])
def test_wilson_is_that_of_scipy(part, whole):
    lo, hi = wilson(np.array(part / whole), np.array(float(whole)), 0.9)
    theirs = stats.binomtest(part, whole).proportion_ci(0.9, method="wilson")
    assert (lo, hi) == pytest.approx((theirs.low, theirs.high))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_share_of_none_or_all_has_an_interval_with_a_width(value):
    prompts = pd.Series(np.arange(24) // 4)
    found = share_interval(np.full(24, value), prompts)
    # Six prompts of four rows are worth six observations.
    theirs = stats.binomtest(round(6 * value), 6).proportion_ci(method="wilson")
    assert found.value == value
    assert (found.lo, found.hi) == pytest.approx((theirs.low, theirs.high))


def test_clusters_that_are_all_alike_are_one_observation_each():
    # A judge that reads each pair in both orders and picks the first twice, or each once.
    found = share_interval(np.tile([1.0, 0.0], 20), pd.Series(np.arange(40) // 2))
    theirs = stats.binomtest(10, 20).proportion_ci(method="wilson")
    assert (found.lo, found.hi) == pytest.approx((theirs.low, theirs.high))


def test_missing_values_are_left_out_and_parts_are_counts():
    values, prompts = np.array([1.0, np.nan, 0.0, 1.0]), np.array([0, 1, 1, 2])
    counts = np.array([[1, 1], [0, 0], [0, 1], [1, 1]])
    assert share_interval(values, prompts) == share_interval(counts, prompts)


def test_one_prompt_is_one_observation_and_none_is_no_share():
    one, none = share_interval([1, 1], np.zeros(2)), share_interval([np.nan], np.zeros(1))
    theirs = stats.binomtest(1, 1).proportion_ci(method="wilson")
    assert (one.value, one.lo, one.hi) == pytest.approx((1, theirs.low, theirs.high))
    assert np.isnan([none.value, none.lo, none.hi]).all()


def test_coverage_next_to_one_where_the_bootstrap_fails(rng):
    """300 data sets of 40 prompts with two rows, half of them copies; true share 0.98."""
    truth, repeats, ours, drawn = 0.98, 300, 0, 0
    for n in range(repeats):
        first, second = (rng.random((2, 40)) < truth).astype(float)
        second = np.where(rng.random(40) < 0.5, first, second)
        sums = np.stack([first + second, np.full(40, 2.0)], axis=-1)
        (found,) = share_intervals(sums[:, None])
        (boot,) = ClusterBootstrap(200, seed=n).of_sums(sums, lambda sums: ratio(sums)[..., None])
        ours += found.lo <= truth <= found.hi
        drawn += boot.lo <= truth <= boot.hi
    assert ours / repeats > 0.95 - 4 * np.sqrt(0.95 * 0.05 / repeats)
    assert drawn / repeats < 0.9


def test_a_difference_is_newcombes():
    # Newcombe (1998), Table II, method 10: 56/70 - 48/80 and 10/10 - 0/10.
    for (a, m, b, n), wanted in {
        (56, 70, 48, 80): (0.0524, 0.3339),
        (10, 10, 0, 10): (0.6075, 1.0),
    }.items():
        one, other = (
            Interval(part / whole, *map(float, wilson(np.array(part / whole), np.array(whole))), 0)
            for part, whole in ((a, m), (b, n))
        )
        found = difference(one, other)
        assert (found.lo, found.hi) == pytest.approx(wanted, abs=5e-5)


def test_the_examples_in_words_give_what_they_show():
    assert doctest.testmod(shares) == (0, 4)
