"""Excess, position and agreement on frames small enough to count by hand."""

import numpy as np
import pandas as pd
import pytest

from selfpref.statistics.bias import excess, stacked_cells
from selfpref.statistics.bootstrap import ratio
from selfpref.studies.wataoka.measure import agreement, win_rates
from selfpref.studies.wataoka.measure.judged import position_counts


def facing_rows(**decisions):
    """Pairs with j's responses, one column of decisions a judge; the human decides `human`."""
    human = decisions.pop("human")
    return pd.DataFrame(
        [
            {
                "item_id": f"i{n}",
                "cluster": f"c{n}",
                "opponent": "o",
                "judge": judge,
                "human": float(wanted),
                "decision": values[n],
            }
            for judge, values in decisions.items()
            for n, wanted in enumerate(human)
        ]
    )


def bias_excess(rows, variant):
    cells, _ = stacked_cells(rows, "j", variant, "drop", "drop")
    return float(excess(cells.sum(axis=0))), int((cells[:, 0].sum(axis=1) > 0).sum())


ROWS = facing_rows(
    human=[1, 1, 0, 0],
    j=[1, 1, 1, 0.5],  # EO 1 on the three pairs that it decides
    k=[1, 0.5, 0, 1],  # EO 1 - 1/2 on its own three
    m=[1, 1, 0, 0],  # EO 0
)


def test_own_pairs():
    assert bias_excess(ROWS, "own") == (1 - (0.5 + 0) / 2, 3)


def test_common_pairs_are_those_that_all_judges_decide():
    # Pairs 0 and 2 are left: j picks itself on both, k and m copy the human.
    assert bias_excess(ROWS, "common") == (1 - (0 + 0) / 2, 2)


def test_half_ties_keep_every_pair():
    j, k = 1 - 0.25, 0.75 - 0.5
    assert bias_excess(ROWS, "half-ties") == (pytest.approx(j - k / 2), 4)


def test_judges_alike_have_no_excess():
    rows = facing_rows(human=[1, 0, 0], j=[1, 1, 0], k=[1, 1, 0])
    for variant in ("own", "common", "half-ties"):
        assert bias_excess(rows, variant)[0] == 0


def test_without_another_judge_there_is_no_excess():
    cells, _ = stacked_cells(facing_rows(human=[1, 0], j=[1, 1]), "j", "own", "drop", "drop")
    assert np.isnan(excess(cells.sum(axis=0)))


def verdict(item, candidates, choice, judge="j", **changes):
    return {
        "item_id": item,
        "judge": judge,
        "task": "preference",
        "candidates": list(candidates),
        "order_known": True,
        "repeat": 0,
        "probabilities": None,
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


def test_nothing_counted_is_no_rate():
    # A share of nothing is none, also where it has a part.
    assert np.isnan(ratio(np.array([[0.0, 0.0], [1.0, 0.0]]))).all()
    assert ratio(np.array([1, 4])) == 0.25


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
