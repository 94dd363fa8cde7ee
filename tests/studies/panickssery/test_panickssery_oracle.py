"""Against the oracle: what a preference deserves, what exceeds it, and whether one still judges."""

import numpy as np
import pandas as pd
import pytest
from test_panickssery_pairs import BOOTSTRAP, both, paired

from selfpref.studies.panickssery.wordings import oracle


def truths(own, other, item="set/0"):
    rows = [("me", own), ("other", other)]
    return pd.DataFrame(
        [
            {"item_id": item, "responder": name, "metric": "quality", "score": score}
            for name, score in rows
        ]
    )


def means(rows, known):
    table = oracle(paired(rows), known, BOOTSTRAP)
    return table.set_index(["wording", "quantity"])["mean"]


@pytest.mark.parametrize(
    ("own", "other", "deserved", "agreement"),
    [(1.0, 0.5, 1, 1), (0.25, 0.75, 0, 0), (0.5, 0.5, 0.5, np.nan)],
    ids=["own is better", "own is worse", "equal"],
)
def test_excess_is_what_exceeds_the_deserved_preference(own, other, deserved, agreement):
    # In both orders 0.8 for the own text.
    found = means(both([0.8, 0.2], [0.2, 0.8]), truths(own, other))
    assert found["prefer", "deserved"] == deserved
    assert found["prefer", "excess"] == pytest.approx(0.8 - deserved)
    # Texts of equal quality have no right side.
    assert found["prefer", "agreement"] == pytest.approx(agreement, nan_ok=True)


def test_one_who_names_its_own_as_the_worse_one_disagrees_where_the_own_is_better():
    rows = both([0.8, 0.2], [0.2, 0.8], task="inferiority")
    found = means(rows, truths(1.0, 0.5))
    assert found["worse", "excess"] == pytest.approx(0.2 - 1)
    assert found["worse", "agreement"] == 0


def test_one_who_answers_by_position_agrees_by_half():
    assert means(both([1.0, 0.0], [1.0, 0.0]), truths(1.0, 0.5))["prefer", "agreement"] == 0.5


def test_a_pair_without_an_answer_is_not_counted_and_without_truths_there_is_nothing():
    lost = both([0.8, 0.2], None, item_id="set/1", status="failed", choice=None)
    rows = [*both([0.8, 0.2], [0.2, 0.8]), *lost]
    known = pd.concat([truths(1.0, 0.5), truths(0.0, 1.0, "set/1")], ignore_index=True)
    table = oracle(paired(rows), known, BOOTSTRAP)
    assert set(table["n"]) == {1}
    assert oracle(paired(rows), known[:0], BOOTSTRAP).empty


def test_a_judge_that_always_agrees_is_not_known_to_do_so_without_error():
    rows = [row for n in range(4) for row in both([0.8, 0.2], [0.2, 0.8], item_id=f"set/{n}")]
    known = pd.concat([truths(1.0, 0.5, f"set/{n}") for n in range(4)], ignore_index=True)
    table = oracle(paired(rows), known, BOOTSTRAP).set_index("quantity")
    # Wilson (1927), 4 of 4.
    assert table.loc["agreement", ["mean", "lo", "hi"]].tolist() == pytest.approx(
        [1, 0.51, 1], abs=1e-3
    )
    # The excess is a mean difference, whose resamples are all the same here.
    assert table.loc["excess", "lo"] == pytest.approx(-0.2)
