"""One row a judged pair: orders, orientations, ties and failures."""

import doctest

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfpref import tables
from selfpref.statistics import bias
from selfpref.statistics.bias import (
    TIED,
    human_votes,
    judge_scores,
    judged_pairs,
    oriented_votes,
    pairs_with,
)


def verdicts(*rows):
    """Rows (candidates, choice or probabilities[, changes]) of judge j on item 1."""
    made = []
    for candidates, given_, *changes in rows:
        soft = isinstance(given_, list)
        top = None if soft else given_
        if soft:
            top = "tie" if given_[0] == given_[1] else candidates[given_[0] < given_[1]]
        row = {
            "item_id": "1",
            "judge": "j",
            "task": "preference",
            "candidates": list(candidates),
            "order_known": True,
            "repeat": 0,
            "probabilities": given_ if soft else None,
            "mass": None,
            "choice": top,
            "status": "ok" if top else "unparsable",
        }
        made.append(row | (changes[0] if changes else {}))
    return pd.DataFrame(made)


def labels(*rows):
    columns = ["item_id", "responder_a", "responder_b", "annotator", "label"]
    return pd.DataFrame(
        [("1", a, b, f"p{n}", label) for n, (a, b, label) in enumerate(rows)], columns=columns
    )


ITEMS = pd.DataFrame({"item_id": ["1"], "cluster": ["c"], "metadata": ['{"turn": 2, "turns": 2}']})


def test_eq_3_is_averaged_over_both_orders():
    frame = verdicts(("ab", [0.6, 0.2]), ("ba", [0.3, 0.3]))
    assert judge_scores(frame)["score"].tolist() == [pytest.approx((0.75 + 0.5) / 2)]


def test_repeats_are_averaged_within_an_order_first():
    again = {"repeat": 1}
    frame = verdicts(("ab", "a"), ("ab", "b", again), ("ba", "a"))
    assert judge_scores(frame)["score"].tolist() == [pytest.approx((0.5 + 1) / 2)]


@pytest.mark.parametrize(
    ("one", "two", "score"),
    [("a", "a", 1), ("a", "b", 0.5), ("tie", "b", 0.25), ("tie", "tie", 0.5)],
)
def test_a_choice_is_one_a_tie_one_half(one, two, score):
    assert judge_scores(verdicts(("ab", one), ("ba", two)))["score"].tolist() == [score]


def test_half_an_average_is_no_score():
    found = judge_scores(verdicts(("ab", "a"), ("ba", None))).iloc[0]
    assert np.isnan(found["score"])
    assert found["status"] == "unparsable"


@given(st.lists(st.floats(0.01, 0.5), min_size=4, max_size=4))
def test_swapping_a_and_b_maps_the_score_to_one_minus_the_score(p):
    one = verdicts(("ab", [p[0], p[1]]), ("ba", [p[2], p[3]]))
    names = {"a": "b", "b": "a", "tie": "tie"}
    two = one.assign(
        candidates=one["candidates"].map(lambda pair: [names[name] for name in pair]),
        choice=one["choice"].map(names),
    )
    assert judge_scores(one)["score"][0] == pytest.approx(1 - judge_scores(two)["score"][0])


def test_the_majority_counts_every_annotator_in_either_orientation():
    votes = human_votes(
        labels(("a", "b", "a"), ("b", "a", "b"), ("a", "b", "b"), ("a", "b", "tie"))
    )
    assert votes[["human", "margin"]].values.tolist() == [[1.0, 1]]


def test_a_tied_sum_is_a_tie():
    assert human_votes(labels(("a", "b", "a"), ("b", "a", "a")))["human"].tolist() == [0.5]


def test_pairs_meet_on_the_unordered_pair():
    found = judged_pairs(ITEMS, labels(("b", "a", "a")), verdicts(("ab", "b")))
    assert found[["human", "decision"]].values.tolist() == [[0.0, 0.0]]
    own = pairs_with(found, "b").iloc[0]
    assert (own["human"], own["decision"], own["opponent"], own["margin"]) == (1, 1, "a", 1)


def test_a_pair_without_a_vote_has_no_human_side():
    found = judged_pairs(ITEMS, labels(("a", "c", "a")), verdicts(("ab", "b")))
    assert found["human"].isna().tolist() == [True]


@pytest.mark.parametrize(
    ("threshold", "decision"), [(0.5, 1.0), (0.7, 0.5)], ids=["above", "inside the band"]
)
def test_the_threshold_makes_a_band_of_ties(threshold, decision):
    frame = verdicts(("ab", [0.6, 0.4]))
    found = judged_pairs(ITEMS, labels(("a", "b", "a")), frame, threshold=threshold)
    assert found["decision"].tolist() == [decision]


@pytest.mark.parametrize(("turns", "kept"), [("all", 1), ("first", 0), ("second", 1)])
def test_turns_can_be_left_out(turns, kept):
    found = judged_pairs(ITEMS, labels(("a", "b", "a")), verdicts(("ab", "b")), turns=turns)
    assert len(found) == kept


def test_other_tasks_and_more_candidates_are_not_pairs():
    frame = verdicts(("ab", "a", {"task": "recognition"}), ("abc", "a"))
    assert judge_scores(frame).empty


def decisions(frame):
    """The decision on the one pair, by reading of a judge's tie."""
    made = (judged_pairs(ITEMS, labels(("a", "b", "a")), frame, judge_tie=name) for name in TIED)
    return {name: pairs["decision"].item() for name, pairs in zip(TIED, made, strict=True)}


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        # C has .4 of each verdict, more than A's .35: only its residue decides today.
        (
            [("ab", [0.35, 0.25], {"mass": 1.0}), ("ba", [0.25, 0.35], {"mass": 1.0})],
            {"exact": 1, "label-c": 0.5, "orders-disagree": 1},
        ),
        # C leads in one order, and A does in the mean.
        (
            [("ab", [0.35, 0.25], {"mass": 1.0}), ("ba", [0.05, 0.9], {"mass": 1.0})],
            {"exact": 1, "label-c": 1, "orders-disagree": 1},
        ),
        # The order decides, once more firmly.
        (
            [("ab", [0.9, 0.1], {"mass": 1.0}), ("ba", [0.6, 0.4], {"mass": 1.0})],
            {"exact": 1, "label-c": 1, "orders-disagree": 0.5},
        ),
        # Without a label for a tie nothing is left over.
        ([("ab", [0.4, 0.2], {"mass": 0.6})], {"exact": 1, "label-c": 1, "orders-disagree": 1}),
        ([("ab", "tie"), ("ba", "a")], {"exact": 1, "label-c": 0.5, "orders-disagree": 1}),
        ([("ab", "a"), ("ba", "b")], {"exact": 0.5, "label-c": 0.5, "orders-disagree": 0.5}),
        ([("ab", "a"), ("ba", "a")], {"exact": 1, "label-c": 1, "orders-disagree": 1}),
        # A pair without a verdict is no tie.
        ([("ab", "tie"), ("ba", None)], dict.fromkeys(TIED, np.nan)),
    ],
)
def test_a_judges_tie_has_three_readings(rows, wanted):
    assert decisions(verdicts(*rows)) == pytest.approx(wanted, nan_ok=True)


def test_where_nobody_voted_votes_are_numbers_still():
    nothing = tables.empty("labels")
    assert oriented_votes(nothing)["vote"].dtype == float
    pairs = judged_pairs(ITEMS, nothing, verdicts(("ab", [0.6, 0.2])))
    assert pairs["human"].isna().all()
    assert len(pairs) == 1


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(bias).failed == 0
