"""Equal opportunity and demographic parity: the paper's numbers and the laws of the definitions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfpref.statistics.bias import (
    FEW,
    cell_weights,
    demographic_parity_interval,
    equal_opportunity,
    equal_opportunity_interval,
    excess,
    excess_intervals,
    human_sides,
    too_few,
)
from selfpref.statistics.bootstrap import ClusterBootstrap

# Fig. 2 of the paper, GPT-4.
PRINTED = [1852, 108, 160, 118]
outcomes = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=2, max_size=40
).filter(lambda rows: {human for human, _ in rows} == {0.0, 1.0})


def rows(pairs):
    return pd.DataFrame(pairs, columns=["human", "decision"], dtype=float)


def bias(pairs, human_ties="drop", judge_ties="drop"):
    return equal_opportunity(cell_weights(rows(pairs), human_ties, judge_ties).sum(axis=0))


def test_the_papers_counts_give_its_numbers():
    assert equal_opportunity(PRINTED).round(3) == 0.520
    cells = np.repeat(np.eye(4), PRINTED, axis=0)
    found = demographic_parity_interval(cells, np.arange(len(cells)), 0.95)
    assert round(found.value, 3) == 0.798


@given(outcomes)
def test_a_judge_that_copies_the_human_is_perfect_on_both_sides(pairs):
    cells = cell_weights(rows([(human, human) for human, _ in pairs]), "drop", "drop").sum(axis=0)
    # It agrees wherever it decides: TPR = TNR = 1, so EO is 0.
    assert equal_opportunity(cells) == 0
    assert cells[1] == cells[2] == 0


@given(outcomes)
def test_a_judge_that_always_picks_itself_has_the_bias_one(pairs):
    assert bias([(human, 1.0) for human, _ in pairs]) == 1


@given(outcomes)
def test_bias_lies_between_minus_one_and_one_and_turns_with_the_sides(pairs):
    value = bias(pairs)
    assert -1 <= value <= 1
    turned = [(1 - human, 1 - decision) for human, decision in pairs]
    assert bias(turned) == pytest.approx(-value)


def test_one_sided_humans_leave_the_bias_undefined():
    assert np.isnan(bias([(1.0, 1.0), (1.0, 0.0)]))


@pytest.mark.parametrize(
    ("human_ties", "judge_ties", "cells"),
    [
        ("drop", "drop", [1, 0, 0, 0]),
        ("half", "drop", [1.5, 0, 0.5, 0]),
        ("drop", "half", [1.5, 0.5, 0, 0]),
        ("half", "half", [2.25, 0.75, 0.75, 0.25]),
    ],
)
def test_ties_are_dropped_or_count_half(human_ties, judge_ties, cells):
    pairs = rows([(1, 1), (0.5, 1), (1, 0.5), (0.5, 0.5), (np.nan, 1), (1, np.nan)])
    assert cell_weights(pairs, human_ties, judge_ties).sum(axis=0).tolist() == cells


def pairs_of(counts):
    """Each pair a row of cells and a cluster of its own."""
    cells = np.repeat(np.eye(4), counts, axis=0)
    return cells, np.arange(len(cells))


def test_an_eo_of_one_has_a_width_and_is_too_few_on_six_pairs():
    cells, prompts = pairs_of([100, 0, 6, 0])
    found = equal_opportunity_interval(cells, prompts, ClusterBootstrap(200))
    assert (found.value, found.hi) == (1, 1)
    # Newcombe's method 10 on 100 of 100 and 0 of 6, by hand from Wilson's 0.963 and 0.390.
    assert found.lo == pytest.approx(1 - np.hypot(1 - 0.96301, 0.39033), abs=1e-4)
    assert too_few(cells.sum(axis=0))


def test_an_eo_whose_shares_vary_keeps_its_bootstrap():
    cells, prompts = pairs_of([30, 5, 12, 6])
    bootstrap = ClusterBootstrap(300, seed=2)
    found = equal_opportunity_interval(cells, prompts, bootstrap, "j")
    assert found == bootstrap.estimate(cells, prompts, equal_opportunity, "j")


@pytest.mark.parametrize(("right", "small"), [(2 / 29, 29), (0.05, 40)])
def test_of_few_events_the_interval_covers_its_level_at_least(rng, right, small):
    truth, hits = 0.97 - right, []
    for _ in range(300):
        own, other = rng.random(186) < 0.97, rng.random(small) < right
        counts = [own.sum(), (~own).sum(), (~other).sum(), other.sum()]
        if min(counts) < 5:
            found = equal_opportunity_interval(*pairs_of(counts), ClusterBootstrap(100, seed=1))
            hits.append(found.lo <= truth <= found.hi)
    assert len(hits) > 200
    assert np.mean(hits) >= 0.93


def test_an_excess_of_few_events_covers_more_than_its_bootstrap(rng):
    sides, hits = np.repeat([0, 1], [186, 17]), []
    for _ in range(300):
        # The judge agrees where people prefer the other one in 3 of 100 pairs, others in 30.
        shares = (0.03, 0.3, 0.3, 0.3)
        agrees = [rng.random(203) < np.where(sides == 0, 0.95, share) for share in shares]
        cells = np.stack([np.eye(4)[2 * sides + (sides == won)] for won in agrees], axis=1)
        bootstrap = ClusterBootstrap(400, seed=1)
        found, _ = excess_intervals(cells, np.arange(203), bootstrap)
        plain = bootstrap.estimates(cells, np.arange(203), excess)[0]
        assert found.value == pytest.approx(plain.value)
        hits.append([one.lo <= 0.27 <= one.hi for one in (found, plain)])
    mended, plainly = np.mean(hits, axis=0)
    assert mended >= 0.92 > plainly


def test_an_eo_without_one_human_side_has_neither_value_nor_interval():
    found = equal_opportunity_interval(*pairs_of([3, 2, 0, 0]), ClusterBootstrap(50))
    assert np.isnan([found.value, found.lo, found.hi]).all()


def test_parity_of_a_judge_that_always_picks_itself_has_a_width():
    found = demographic_parity_interval(*pairs_of([20, 0, 10, 0]), 0.95)
    assert (found.value, found.hi) == (1, 1)
    assert found.lo == pytest.approx(2 * 30 / (30 + 1.959964**2) - 1, abs=1e-6)


@pytest.mark.parametrize(("counts", "few"), [([9, 1, 4, 6], False), ([400, 2, 5, 4], True)])
def test_too_few_is_fewer_than_ten_on_one_human_side(counts, few):
    assert FEW == 10
    assert human_sides(counts).tolist() == [sum(counts[:2]), sum(counts[2:])]
    assert too_few(counts) == few
