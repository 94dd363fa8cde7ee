"""Intervals: against slow definitions and published values, and how often they cover."""

import numpy as np
import pytest
from scipy import stats

from selfpref.statistics import bootstrap
from selfpref.statistics.bias import equal_opportunity
from selfpref.statistics.bootstrap import ClusterBootstrap, Interval, ratio, share_interval


def one_a_row(bootstrap, rows, statistic, *names):
    """Every row a cluster of its own."""
    return bootstrap.estimate(rows, np.arange(len(rows)), statistic, *names)


def test_intervals_agree_with_scipy(rng):
    values = rng.exponential(size=60)
    ours = ClusterBootstrap(20_000).mean(values, np.arange(60))
    how = {"n_resamples": 20_000, "method": "percentile", "random_state": rng}
    theirs = stats.bootstrap((values,), np.mean, **how).confidence_interval
    assert (ours.lo, ours.hi) == pytest.approx(tuple(theirs), abs=0.02)


def test_clusters_are_resampled_and_not_rows(rng):
    cells = np.eye(4)[rng.integers(0, 4, 60)]
    once = one_a_row(ClusterBootstrap(500), cells, equal_opportunity)
    rows, clusters = np.repeat(cells, 2, axis=0), np.arange(60).repeat(2)
    assert ClusterBootstrap(500).estimate(rows, clusters, equal_opportunity) == once
    alone = one_a_row(ClusterBootstrap(500), rows, equal_opportunity)
    assert alone.hi - alone.lo < 0.85 * (once.hi - once.lo)


def test_a_stream_follows_from_its_names_alone(monkeypatch):
    sums = np.column_stack([np.arange(40.0), np.ones(40)])
    made = [
        one_a_row(ClusterBootstrap(500, seed=1).within(name[0]), sums, ratio, name[1])
        for name in ("ab", "ab", "ac")
    ]
    assert made[0] == made[1] != made[2]
    # Neither how many are drawn, nor how many are made at once, changes an interval.
    monkeypatch.setattr(bootstrap, "CHUNK", 100)
    calls = [(ClusterBootstrap(500, seed=1).within("a"), sums, ratio, "b")] * 3
    assert bootstrap.at_once(one_a_row, calls) == made[:1] * 3


def test_resamples_without_a_value_are_counted_and_left_out():
    sums = np.array([[1, 0, 0, 0], [0, 0, 1, 0]], dtype=float)
    found = one_a_row(ClusterBootstrap(4000), sums, equal_opportunity)
    assert (found.value, found.lo, found.hi) == (1, 1, 1)
    assert found.undefined == pytest.approx(0.5, abs=0.05)


def test_without_two_clusters_there_is_no_interval_and_missing_values_are_left_out():
    boot = ClusterBootstrap(200, seed=1)
    for rows, value in ((np.empty((0, 2)), np.nan), (np.array([[1.0, 2.0]]), 0.5)):
        assert one_a_row(boot, rows, ratio)[:2] == pytest.approx((value, np.nan), nan_ok=True)
    values, prompts = [1.0, np.nan, 0.0, 1.0], np.array(["a", "b", "b", "c"])
    parts = np.array([[1, 1], [0, 0], [0, 1], [1, 1]])
    assert boot.mean(values, prompts, "x") == boot.estimate(parts, prompts, ratio, "x")
    assert share_interval(values, prompts) == share_interval(parts, prompts)
    # Each group counts its own clusters.
    sums = np.array([[[1, 1], [0, 1]], [[0, 1], [0, 0]], [[1, 1], [0, 0]]])
    assert bootstrap.clustered_errors(sums) == pytest.approx([1 / 3, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("values", "size", "worth"),
    [
        # Where clusters are alike within and between, each is one observation.
        (np.zeros(24), 4, (0, 6)),
        # A judge that reads each pair in both orders and picks each text once.
        (np.tile([1.0, 0.0], 20), 2, (10, 20)),
        # Missing values are left out.
        ([1, np.nan, np.nan, np.nan], 2, (1, 1)),
    ],
)
def test_a_share_has_the_interval_of_what_its_clusters_are_worth(values, size, worth):
    found = share_interval(values, np.arange(len(values)) // size, 0.9)
    theirs = stats.binomtest(*worth).proportion_ci(0.9, method="wilson")
    assert found[:3] == pytest.approx((worth[0] / worth[1], theirs.low, theirs.high))


@pytest.mark.parametrize(
    ("a", "m", "b", "n", "wanted"),
    [(56, 70, 48, 80, (0.0524, 0.3339)), (10, 10, 0, 10, (0.6075, 1.0))],
)
def test_a_difference_is_newcombes(a, m, b, n, wanted):
    # Newcombe (1998), Table II, method 10.
    share = np.array([a / m, b / n])
    ends = np.stack([share, *bootstrap.wilson(share, np.array([m, n]))])
    found = bootstrap.difference(*(Interval(*one) for one in ends.T))
    assert (found.lo, found.hi) == pytest.approx(wanted, abs=5e-5)


def test_a_ratio_is_donner_and_zous():
    one, other = Interval(0.8, 0.7, 0.9), Interval(0.4, 0.3, 0.6)
    found, turned = bootstrap.quotient(one, other), bootstrap.quotient(other, one)
    assert found.value == 2.0
    # (p q - sqrt(p^2 q^2 - l (2 p - l) u (2 q - u))) / (u (2 q - u))
    assert found.lo == pytest.approx((0.32 - (0.1024 - 0.63 * 0.12) ** 0.5) / 0.12)
    assert [turned.lo, turned.hi] == pytest.approx([1 / found.hi, 1 / found.lo])
    # Where the second share is known the first one's bounds are divided by it.
    exact = bootstrap.quotient(one, Interval(0.4, 0.4, 0.4))
    assert [exact.lo, exact.hi] == pytest.approx([0.7 / 0.4, 0.9 / 0.4])
    assert np.isnan(bootstrap.quotient(one, Interval(0.0, 0.0, 0.2))[:3]).all()
