"""The plan of data against closed forms, and by hand."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from selfpref.statistics.bias import equal_opportunity
from selfpref.statistics.choices import influence, intraclass, pairs_for, parity, plan


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
    rows, prompts = rows_of(50, 50, 0, 0), pd.Series(range(100))
    share = plan(rows, prompts, lambda totals: totals[:, 0] / 100)
    assert (share["n"], share["effect"], share["sd"]) == (100, 1, pytest.approx(0.5, abs=0.003))
    assert pairs_for(0.1, share) == pytest.approx(196.2 * 100 / 99, abs=0.1)
    # With these 100 rows, that many of a bias is seen.
    assert pairs_for(share["detectable"], share) == pytest.approx(100)


def test_the_intraclass_correlation_by_hand():
    # All between, all within (negative), as much of both.
    for values, correlation in (([1, 1, 0, 0], 1.0), ([1, 0, 1, 0], 0.0), ([1, 1, 1, 0], 0.0)):
        assert intraclass(np.array(values, dtype=float), pd.Series([*"xxyy"])) == correlation


def test_prompts_whose_pairs_are_alike_count_once_and_nothing_varies_without_a_plan():
    rows, clusters = rows_of(4, 3, 3, 4), pd.Series(range(14))
    once = plan(rows, clusters, equal_opportunity)
    copied = plan(np.repeat(rows, 3, axis=0), clusters.repeat(3), equal_opportunity)
    assert (once["n"], once["n_prompts"], once["effect"]) == (14, 14, 1.0)
    assert (copied["n"], copied["n_prompts"]) == (42, 14)
    assert copied["effect"] == pytest.approx(1 + 2 * copied["correlation"]) == pytest.approx(3)
    for counts in ((5, 0, 5, 0), (5, 5, 0, 0), (1, 0, 0, 0)):
        assert not plan(rows_of(*counts), pd.Series(range(sum(counts))), equal_opportunity)
