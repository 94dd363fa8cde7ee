"""One row a judged pair: orders, orientations, ties and failures."""

import doctest

import numpy as np
import pandas as pd
import pytest

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
        row = {"item_id": "1", "judge": "j", "task": "preference", "candidates": list(candidates)}
        row |= {"order_known": True, "repeat": 0, "mass": None, "choice": top}
        row |= {"probabilities": given_ if soft else None, "status": "ok" if top else "unparsable"}
        made.append(row | (changes[0] if changes else {}))
    return pd.DataFrame(made)


def labels(*rows):
    columns = ["item_id", "responder_a", "responder_b", "annotator", "label"]
    return pd.DataFrame(
        [("1", a, b, f"p{n}", label) for n, (a, b, label) in enumerate(rows)], columns=columns
    )


ITEMS = pd.DataFrame({"item_id": ["1"], "cluster": ["c"], "metadata": ['{"turn": 2, "turns": 2}']})


@pytest.mark.parametrize(
    ("rows", "score"),
    [
        # Eq. 3, averaged over both orders.
        ([("ab", [0.6, 0.2]), ("ba", [0.3, 0.4])], (0.75 + 4 / 7) / 2),
        # Repeats are averaged within an order first.
        ([("ab", "a"), ("ab", "b", {"repeat": 1}), ("ba", "a")], (0.5 + 1) / 2),
        # A choice is one, a tie one half.
        ([("ab", "a"), ("ba", "a")], 1),
        ([("ab", "a"), ("ba", "b")], 0.5),
        ([("ab", "tie"), ("ba", "b")], 0.25),
        # Half an average is no score.
        ([("ab", "a"), ("ba", None)], np.nan),
    ],
)
def test_a_score_is_of_all_orders(rows, score):
    found = judge_scores(verdicts(*rows))
    assert found["score"].tolist() == pytest.approx([score], nan_ok=True)
    assert found["status"].tolist() == ["unparsable" if np.isnan(score) else "ok"]


@pytest.mark.parametrize(
    ("votes", "human", "margin"),
    [
        # Every annotator counts, in either orientation.
        (("aba", "bab", "abb", "abt"), 1.0, 1),
        (("aba", "baa"), 0.5, 0),
    ],
)
def test_the_majority_of_votes(votes, human, margin):
    told = {"a": "a", "b": "b", "t": "tie"}
    found = human_votes(labels(*[(one, two, told[label]) for one, two, label in votes]))
    assert found[["human", "margin"]].values.tolist() == [[human, margin]]


def test_pairs_meet_on_the_unordered_pair():
    found = judged_pairs(ITEMS, labels(("b", "a", "a")), verdicts(("ab", "b")))
    assert found[["human", "decision"]].values.tolist() == [[0.0, 0.0]]
    own = pairs_with(found, "b").iloc[0]
    assert (own["human"], own["decision"], own["opponent"], own["margin"]) == (1, 1, "a", 1)
    found = judged_pairs(ITEMS, labels(("a", "c", "a")), verdicts(("ab", "b")))
    assert found["human"].isna().tolist() == [True]


def test_the_threshold_makes_a_band_of_ties_and_turns_can_be_left_out():
    asked = (ITEMS, labels(("a", "b", "a")), verdicts(("ab", [0.6, 0.4])))
    for threshold, decision in ((0.5, 1.0), (0.7, 0.5)):
        assert judged_pairs(*asked, threshold=threshold)["decision"].tolist() == [decision]
    for turns, kept in (("all", 1), ("first", 0), ("second", 1)):
        assert len(judged_pairs(*asked, turns=turns)) == kept


def test_other_tasks_and_more_candidates_are_not_pairs():
    frame = verdicts(("ab", "a", {"task": "recognition"}), ("abc", "a"))
    assert judge_scores(frame).empty


WHOLE = {"mass": 1.0}


@pytest.mark.parametrize(
    ("rows", "exact", "label_c", "orders_disagree"),
    [
        # C has .4 of each verdict, more than A's .35: only its residue decides today.
        ([("ab", [0.35, 0.25], WHOLE), ("ba", [0.25, 0.35], WHOLE)], 1, 0.5, 1),
        # C leads in one order, and A does in the mean.
        ([("ab", [0.35, 0.25], WHOLE), ("ba", [0.05, 0.9], WHOLE)], 1, 1, 1),
        # The order decides, once more firmly.
        ([("ab", [0.9, 0.1], WHOLE), ("ba", [0.6, 0.4], WHOLE)], 1, 1, 0.5),
        # Without a label for a tie nothing is left over.
        ([("ab", [0.4, 0.2], {"mass": 0.6})], 1, 1, 1),
        ([("ab", "tie"), ("ba", "a")], 1, 0.5, 1),
        ([("ab", "a"), ("ba", "b")], 0.5, 0.5, 0.5),
        ([("ab", "a"), ("ba", "a")], 1, 1, 1),
        # A pair without a verdict is no tie.
        ([("ab", "tie"), ("ba", None)], np.nan, np.nan, np.nan),
    ],
)
def test_a_judges_tie_has_three_readings(rows, exact, label_c, orders_disagree):
    asked = (ITEMS, labels(("a", "b", "a")), verdicts(*rows))
    found = {name: judged_pairs(*asked, judge_tie=name)["decision"].item() for name in TIED}
    wanted = {"exact": exact, "label-c": label_c, "orders-disagree": orders_disagree}
    assert found == pytest.approx(wanted, nan_ok=True)


def test_where_nobody_voted_votes_are_numbers_still():
    nothing = tables.empty("labels")
    assert oriented_votes(nothing)["vote"].dtype == float
    pairs = judged_pairs(ITEMS, nothing, verdicts(("ab", [0.6, 0.2])))
    assert pairs["human"].isna().all()
    assert len(pairs) == 1


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(bias).failed == 0
