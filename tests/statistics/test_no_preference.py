"""Another person in the judge's place: by hand, and against known distributions of preference."""

import numpy as np
import pandas as pd
import pytest

from selfpref.statistics.bias import CELLS, equal_opportunity
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.statistics.no_preference import (
    against_votes,
    beyond_majority,
    beyond_no_preference,
    vote_cells,
)


def votes_of(**pairs):
    return pd.DataFrame(
        [{"pair": name, "vote": vote} for name, votes in pairs.items() for vote in votes]
    )


def test_ordered_pairs_of_votes_counted_by_hand():
    votes = votes_of(two=[1, 0], three=[1, 1, 0], alone=[1], tied=[1, 0.5, 1])
    found = vote_cells(votes, ["pair"], "drop").set_index("pair")
    assert found["votes"].to_dict() == {"three": 3, "tied": 2, "two": 2}
    assert found.loc["two", CELLS].tolist() == [0, 0.5, 0.5, 0]
    # Of six ordered pairs of votes two agree on own, and each disagreement stands twice.
    assert found.loc["three", CELLS].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert found.loc["tied", CELLS].tolist() == [1, 0, 0, 0]


def test_a_tied_vote_counts_half_where_it_is_not_dropped():
    found = vote_cells(votes_of(a=[1, 0.5]), ["pair"], "half")
    assert found[["share", *CELLS]].values.tolist() == [[0.75, 0.5, 0.25, 0.25, 0]]


def test_the_cells_of_each_pair_add_to_one_in_any_order(rng):
    votes = pd.DataFrame({"pair": rng.integers(0, 40, 200), "vote": rng.choice([0, 0.5, 1], 200)})
    found = vote_cells(votes, ["pair"], "half")
    assert np.allclose(found[CELLS].sum(axis=1), 1)
    mixed = vote_cells(votes.sample(frac=1, random_state=1), ["pair"], "half")
    pd.testing.assert_frame_equal(found, mixed)


def drawn(rng, a, b, pairs, most=4):
    """Preferences from Beta(a, b), and two to `most` votes on each pair, one a row."""
    p = rng.beta(a, b, pairs)
    voted = rng.integers(2, most + 1, pairs)
    pair = np.arange(pairs).repeat(voted)
    votes = (rng.random(len(pair)) < p[pair]).astype(float)
    return p, pd.DataFrame({"pair": pair, "vote": votes})


@pytest.mark.parametrize(("a", "b"), [(4, 1), (1, 3), (2, 2), (0.5, 0.2), (40, 10)])
def test_known_distributions_are_recovered(rng, a, b):
    _, votes = drawn(rng, a, b, 60_000)
    totals = vote_cells(votes, ["pair"], "drop")[CELLS].sum().to_numpy()
    # Of Beta(a, b): E[p] and E[p^2].
    mean, square = a / (a + b), a * (a + 1) / ((a + b) * (a + b + 1))
    truth = square / mean - (1 - 2 * mean + square) / (1 - mean)
    assert equal_opportunity(totals) == pytest.approx(truth, abs=0.015)
    disagreement = 2 * (mean - square)
    closed = disagreement * (2 * mean - 1) / (2 * mean * (1 - mean))
    assert closed == pytest.approx(truth)


def test_a_judge_that_draws_as_people_do_shows_nothing_beyond_them(rng):
    p, votes = drawn(rng, 4, 1, 40_000)
    judge = pd.Series((rng.random(len(p)) < p).astype(float))
    pairs = vote_cells(votes, ["pair"], "drop")
    pairs["decision"] = pairs["pair"].map(judge)
    rule, shown, beyond = beyond_no_preference(against_votes(pairs).sum(axis=0))
    assert shown == pytest.approx(rule, abs=0.02)
    assert beyond == shown - rule
    # Far from zero, although no one here prefers anything for being its own.
    assert rule > 0.3


def test_a_judge_that_adds_a_preference_shows_more(rng):
    p, votes = drawn(rng, 2, 2, 20_000)
    judge = pd.Series((rng.random(len(p)) < np.clip(p + 0.3, 0, 1)).astype(float))
    pairs = vote_cells(votes, ["pair"], "drop")
    pairs["decision"] = pairs["pair"].map(judge)
    rule, _, beyond = beyond_no_preference(against_votes(pairs).sum(axis=0))
    assert rule == pytest.approx(0, abs=0.02)
    assert beyond > 0.3


def test_intervals_cover_the_truth_at_the_nominal_rate(rng):
    repeats, hits = 200, 0
    mean, square = 0.8, 4 * 5 / (5 * 6)
    truth = square / mean - (1 - 2 * mean + square) / (1 - mean)
    for n in range(repeats):
        _, votes = drawn(rng, 4, 1, 200)
        cells = vote_cells(votes, ["pair"], "drop")
        found = ClusterBootstrap(300, seed=n).estimate(
            cells[CELLS], cells["pair"], equal_opportunity
        )
        hits += found.lo <= truth <= found.hi
    assert hits / repeats > 0.95 - 5 * np.sqrt(0.95 * 0.05 / repeats)


@pytest.mark.parametrize(("a", "b"), [(4, 1), (1, 3), (2, 2), (40, 10)])
def test_a_judge_that_follows_the_majority_of_all_people(rng, a, b):
    p, votes = drawn(rng, a, b, 60_000)
    person, follows, more = beyond_majority(vote_cells(votes, ["pair"], "drop")[CELLS].sum().values)
    own = p > 0.5
    assert follows == pytest.approx(
        p[own].sum() / p.sum() - (1 - p)[~own].sum() / (1 - p).sum(), abs=0.02
    )
    assert more == pytest.approx(follows - person)
    # Two votes that agree no more than by chance: it always takes the better writer.
    assert beyond_majority(np.array([0.49, 0.21, 0.21, 0.09]))[1] == pytest.approx(1, abs=1e-6)
