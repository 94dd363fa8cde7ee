"""Excess on frames small enough to count by hand."""

import numpy as np
import pandas as pd
import pytest

from selfpref.statistics.bias import excess, stacked_cells


def facing_rows(**decisions):
    """Pairs with j's responses, one column of decisions a judge; the human decides `human`."""
    human = decisions.pop("human")
    rows = [
        (f"i{n}", f"c{n}", "o", judge, float(wanted), values[n])
        for judge, values in decisions.items()
        for n, wanted in enumerate(human)
    ]
    columns = ["item_id", "cluster", "opponent", "judge", "human", "decision"]
    return pd.DataFrame(rows, columns=columns)


def bias_excess(rows, variant):
    cells, _ = stacked_cells(rows, "j", variant, "drop", "drop")
    return float(excess(cells.sum(axis=0))[0]), int((cells[:, 0].sum(axis=1) > 0).sum())


ROWS = facing_rows(
    human=[1, 1, 0, 0],
    j=[1, 1, 1, 0.5],  # EO 1 on the three pairs that it decides
    k=[1, 0.5, 0, 1],  # EO 1 - 1/2 on its own three
    m=[1, 1, 0, 0],  # EO 0
)


def test_own_common_and_all_pairs():
    assert bias_excess(ROWS, "own") == (1 - (0.5 + 0) / 2, 3)
    # Pairs 0 and 2 are those that all judges decide: j picks itself, k and m copy the human.
    assert bias_excess(ROWS, "common") == (1 - (0 + 0) / 2, 2)
    j, k = 1 - 0.25, 0.75 - 0.5
    assert bias_excess(ROWS, "half-ties") == (pytest.approx(j - k / 2), 4)


def test_a_judge_of_a_few_pairs_hides_nobody_s_excess():
    enough = facing_rows(human=[1] * 10 + [0] * 10, j=[1] * 20, k=[1] * 10 + [0] * 10)
    sample = facing_rows(human=[1, 0], m=[1, 1])
    for variant in ("own", "common", "half-ties"):
        assert bias_excess(pd.concat([enough, sample]), variant) == (1.0, 20)
    # Where no other judge has enough, all enter, and the value is marked as too few.
    fewer = enough.query("judge == 'j' or cluster in ('c0', 'c10')")
    assert bias_excess(pd.concat([fewer, sample]), "own") == (1 - (0 + 1) / 2, 20)


def test_without_another_judge_there_is_no_excess():
    cells, _ = stacked_cells(facing_rows(human=[1, 0], j=[1, 1]), "j", "own", "drop", "drop")
    assert np.isnan(excess(cells.sum(axis=0))).all()
