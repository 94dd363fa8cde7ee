"""The plan of data against closed forms, and by hand."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from selfpref.statistics.bias import equal_opportunity
from selfpref.statistics.choices import Plan, influence, intraclass, parity, plan


def rows_of(*counts):
    return np.repeat(np.eye(4), counts, axis=0)


def test_the_variance_of_equal_opportunity_and_parity_is_that_of_shares():
    rows = rows_of(30, 10, 12, 28)
    for statistic, wanted in (
        (equal_opportunity, 0.75 * 0.25 / 0.5 + 0.7 * 0.3 / 0.5),
        # 2 P - 1 of a share P.
        (partial(parity, chance=0.5), 4 * (42 / 80) * (38 / 80)),
    ):
        assert np.mean(influence(rows, statistic) ** 2) == pytest.approx(wanted, rel=1e-5)


def test_the_textbook_number_of_rows_for_a_share():
    """To see a share of 0.6 against 0.5 takes (1.96 + 0.84)^2 * 0.25 / 0.01 = 196.2 rows."""
    share = Plan(100, 100, variance=0.25, correlation=0.0, effect=1.0)
    assert share.pairs(0.1) == pytest.approx(196.2, abs=0.1)
    # With these 100 rows, that many of a bias is seen.
    assert share.pairs(share.detectable()) == pytest.approx(100)


@pytest.mark.parametrize(
    ("values", "correlation"),
    [([1, 1, 0, 0], 1.0), ([1, 0, 1, 0], 0.0), ([1, 1, 1, 0], 0.0)],
    ids=["all between", "all within, negative", "as much"],
)
def test_the_intraclass_correlation_by_hand(values, correlation):
    clusters = pd.Series(["x", "x", "y", "y"])
    assert intraclass(np.array(values, dtype=float), clusters) == correlation
    # Without repeated prompts there is nothing to correct.
    assert intraclass(np.arange(4.0), pd.Series(list("abcd"))) == 0


def test_prompts_whose_pairs_are_alike_count_once():
    once, copied = (
        plan(
            np.repeat(rows_of(4, 3, 3, 4), n, axis=0),
            pd.Series(range(14)).repeat(n),
            equal_opportunity,
        )
        for n in (1, 3)
    )
    assert (once.n, once.n_prompts, once.effect) == (14, 14, 1.0)
    assert (copied.n, copied.n_prompts) == (42, 14)
    assert copied.effect == pytest.approx(1 + (3 - 1) * copied.correlation) == pytest.approx(3)


def test_no_plan_where_nothing_varies():
    for counts in ((5, 0, 5, 0), (5, 5, 0, 0), (1, 0, 0, 0)):
        assert plan(rows_of(*counts), pd.Series(range(sum(counts))), equal_opportunity) is None
