"""The cluster bootstrap: against the slow definition, and its coverage."""

import doctest

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from selfpref.statistics import bootstrap
from selfpref.statistics.bias import equal_opportunity
from selfpref.statistics.bootstrap import ClusterBootstrap, cluster_sums, ratio


def mean(totals):
    return totals[..., 0] / totals[..., 1]


def one_a_row(bootstrap, rows, statistic, *names):
    """Every row a cluster of its own."""
    return bootstrap.estimate(rows, np.arange(len(rows)), statistic, *names)


def test_cluster_sums_add_rows_of_one_cluster():
    sums = cluster_sums(np.array([[1.0], [2.0], [4.0]]), pd.Series(["x", "y", "x"]))
    assert sums.tolist() == [[5.0], [2.0]]


def test_intervals_agree_with_scipy(rng):
    values = rng.exponential(size=60)
    sums = np.column_stack([values, np.ones(60)])
    ours = one_a_row(ClusterBootstrap(20_000), sums, mean)
    how = {"n_resamples": 20_000, "method": "percentile", "random_state": rng}
    theirs = stats.bootstrap((values,), np.mean, **how).confidence_interval
    assert (ours.lo, ours.hi) == pytest.approx(tuple(theirs), abs=0.02)


def test_intervals_cover_a_known_bias_at_the_nominal_rate(rng):
    """200 data sets of 150 prompts with 2 pairs each and a true EO of 0.3; nominal 95 %."""
    truth, hits, repeats = 0.3, 0, 200
    for n in range(repeats):
        human = rng.random((150, 2)) < 0.6
        picks_own = np.where(human, 0.8, 0.5)
        # Both pairs of a prompt share a draw half of the time, so that they are correlated.
        shared, alone = rng.random((150, 1)), rng.random((150, 2))
        draw = np.where(rng.random((150, 2)) < 0.5, shared, alone)
        own = draw < picks_own
        cells = np.stack([human & own, human & ~own, ~human & own, ~human & ~own], axis=-1)
        found = ClusterBootstrap(500, seed=n).estimate(
            cells.reshape(-1, 4), np.arange(150).repeat(2), equal_opportunity
        )
        hits += found.lo <= truth <= found.hi
    # Five standard errors of the share below the nominal rate, three above.
    error = np.sqrt(0.95 * 0.05 / repeats)
    assert 0.95 - 5 * error <= hits / repeats <= min(1.0, 0.95 + 3 * error)


def test_equal_seeds_and_names_give_equal_intervals_and_others_do_not():
    sums = np.column_stack([np.arange(40.0), np.ones(40)])
    made = [
        one_a_row(ClusterBootstrap(500, seed=1).within(name[0]), sums, mean, name[1])
        for name in ("ab", "ab", "ac")
    ]
    assert made[0] == made[1]
    assert made[0] != made[2]


def test_resamples_without_a_value_are_counted():
    sums = np.array([[1, 0, 0, 0], [0, 0, 1, 0]], dtype=float)
    found = one_a_row(ClusterBootstrap(4000), sums, equal_opportunity)
    assert found.value == 1
    assert found.undefined == pytest.approx(0.5, abs=0.05)


@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_without_any_cluster_there_is_neither_value_nor_interval():
    found = one_a_row(ClusterBootstrap(200), np.empty((0, 2)), mean)
    assert np.isnan([found.value, found.lo, found.hi]).all()
    # Nor has one cluster an interval.
    found = one_a_row(ClusterBootstrap(200), np.array([[1.0, 2.0]]), mean)
    assert found.value == 0.5
    assert np.isnan([found.lo, found.hi]).all()


def test_a_mean_leaves_missing_values_out_and_is_a_ratio():
    bootstrap = ClusterBootstrap(500, seed=1).within("set")
    values, prompts = pd.Series([1.0, np.nan, 0.0, 1.0]), pd.Series(["a", "b", "b", "c"])
    parts = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    known = bootstrap.estimate(parts, np.arange(3), mean, "x")
    assert bootstrap.mean(values, prompts, "x") == known
    (joint, _) = bootstrap.estimates(parts, np.arange(3), lambda sums: sums / 3, "x")
    assert (joint.value, joint.lo) == (known.value, known.lo)


def test_nothing_counted_is_no_rate():
    # A share of nothing is none, also where it has a part.
    assert np.isnan(ratio(np.array([[0.0, 0.0], [1.0, 0.0]]))).all()
    assert ratio(np.array([1, 4])) == 0.25


def test_the_example_in_words_gives_what_it_shows():
    assert doctest.testmod(bootstrap) == (0, 6)
