"""Position and agreement on frames small enough to count by hand."""

import pandas as pd
import pytest

from selfpref.studies.wataoka.draw import led_by_position
from selfpref.studies.wataoka.measure import agreement, win_rates
from selfpref.studies.wataoka.measure.judged import position_counts


def verdict(item, candidates, choice, judge="j", **changes):
    return {
        "item_id": item,
        "judge": judge,
        "task": "preference",
        "candidates": list(candidates),
        "order_known": True,
        "repeat": 0,
        "probabilities": None,
        "mass": None,
        "choice": choice,
        "status": "ok" if choice else "failed",
    } | changes


def test_position_is_counted_by_hand():
    frame = pd.DataFrame(
        [
            *(verdict("1", "ab", "a"), verdict("1", "ba", "b")),  # always the first: a reversal
            *(verdict("2", "ab", "a"), verdict("2", "ba", "a")),  # steady
            *(verdict("3", "ab", "tie"), verdict("3", "ba", "b")),  # a flip, no reversal
            *(verdict("4", "ab", None), verdict("4", "ba", "b")),  # one order only
            verdict("5", "ab", "b", order_known=False),  # not known: not counted
        ]
    )
    totals = position_counts(frame).drop(columns=["item_id", "first", "second", "judge"]).sum()
    assert totals.to_dict() == {
        "chose_first": 2 + 1 + 1 + 1,
        "decided": 2 + 2 + 1 + 1,
        "flipped": 2,
        "reversed": 1,
        "both_orders": 3,
    }


PAIRS = pd.DataFrame(
    {
        "item_id": ["1", "2"],
        "first": ["a", "a"],
        "second": ["b", "b"],
        "judge": ["j", "j"],
        "human": [1.0, 0.5],
        "score": [1.0, 0.5],
        "decision": [1.0, 0.5],
    }
)
ITEMS = pd.DataFrame({"item_id": ["1", "2"], "metadata": ['{"turn": 1}', '{"turn": 1}']})


def test_agreement_counts_votes_with_and_without_ties():
    labels = pd.DataFrame(
        [
            ("1", "b", "a", "expert_1", "b"),
            ("1", "a", "b", "expert_2", "b"),
            ("2", "a", "b", "expert_1", "tie"),
        ],
        columns=["item_id", "responder_a", "responder_b", "annotator", "label"],
    )
    found = agreement(ITEMS, labels, PAIRS).set_index("ties")
    assert found.loc["with", ["n", "agreement"]].tolist() == [3, pytest.approx(2 / 3)]
    assert found.loc["without", ["n", "agreement"]].tolist() == [2, 0.5]
    assert set(found["annotators"]) == {"expert"}


def test_win_rates_of_both_sides_of_a_pair_add_to_one():
    found = win_rates(PAIRS).set_index("responder")
    assert found["win_rate"].to_dict() == {"a": 0.75, "b": 0.25}
    assert found["human_win_rate"].sum() == 1


def test_who_follows_the_order_is_named_and_nobody_else():
    rows = pd.DataFrame(
        [("set", "order", "all", 50, 0.9, 0.8, 0.95), ("set", "content", "all", 50, 0.5, 0.4, 0.6)],
        columns=[
            *("dataset", "judge", "pairs", "n_both"),
            *("reversal_rate", "reversal_rate_lo", "reversal_rate_hi"),
        ],
    )
    said = led_by_position(rows)
    assert "order (set, 0.90 [0.80, 0.95] of 50 pairs)" in said
    assert "content (" not in said
    assert led_by_position(rows.iloc[1:]) == led_by_position(pd.DataFrame()) == ""
