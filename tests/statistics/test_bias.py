"""Equal opportunity and demographic parity: the paper's numbers and the laws of the definitions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfpref.statistics.bias import cell_weights, demographic_parity, equal_opportunity

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
    assert demographic_parity(PRINTED).round(3) == 0.798


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
    assert np.isnan(demographic_parity([0, 0, 0, 0]))


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
