"""The plan of data against the closed form, against the design effect, and against simulation."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from selfpref.statistics.bias import equal_opportunity
from selfpref.statistics.bootstrap import clustered_errors
from selfpref.statistics.choices import parity
from selfpref.statistics.power import Plan, influence, intraclass, plan

demographic_parity = partial(parity, chance=0.5)


def rows_of(tp, fn, fp, tn):
    return np.repeat(np.eye(4), [tp, fn, fp, tn], axis=0)


def test_the_variance_of_equal_opportunity_is_that_of_two_shares():
    rows = rows_of(30, 10, 12, 28)
    wanted = 0.75 * 0.25 / 0.5 + 0.7 * 0.3 / 0.5
    assert np.mean(influence(rows, equal_opportunity) ** 2) == pytest.approx(wanted, rel=1e-5)
    # 2 P - 1 of a share P.
    assert np.mean(influence(rows, demographic_parity) ** 2) == pytest.approx(
        4 * (42 / 80) * (38 / 80), rel=1e-5
    )


def test_the_textbook_number_of_rows_for_a_share():
    """To see a share of 0.6 against 0.5 takes (1.96 + 0.84)^2 * 0.25 / 0.01 = 196.2 rows."""
    share = Plan(100, 100, variance=0.25, correlation=0.0, effect=1.0)
    assert share.pairs(0.1) == pytest.approx(196.2, abs=0.1)
    assert share.pairs(0.05) == pytest.approx(4 * share.pairs(0.1))
    # With these 100 rows, that many of a bias is seen; with so many rows, 0.1.
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
    found = plan(rows_of(2, 1, 1, 2), pd.Series(list("abcdef")), equal_opportunity)
    assert (found.effect, found.prompts) == (1.0, 6)


def test_no_plan_where_nothing_varies():
    assert plan(rows_of(5, 0, 5, 0), pd.Series(range(10)), equal_opportunity) is None
    assert plan(rows_of(5, 5, 0, 0), pd.Series(range(10)), equal_opportunity) is None
    assert plan(rows_of(1, 0, 0, 0), pd.Series([1]), equal_opportunity) is None


def clustered_votes(rng, share, correlation, prompts, size):
    """Votes for the own response, alike within a prompt: `[prompts, size]`."""
    a = share * (1 - correlation) / correlation
    b = (1 - share) * (1 - correlation) / correlation
    return rng.random((prompts, size)) < rng.beta(a, b, (prompts, 1))


def test_the_plan_agrees_with_errors_robust_to_clusters(rng):
    votes = clustered_votes(rng, 0.6, 0.3, 2000, 5)
    clusters = pd.Series(np.repeat(np.arange(2000), 5))
    rows = np.stack([votes.ravel(), ~votes.ravel()], axis=-1)
    cells = np.zeros((len(rows), 4))
    cells[:, :2] = rows
    found = plan(cells, clusters, demographic_parity)
    assert found.correlation == pytest.approx(0.3, abs=0.03)
    sums = np.stack([2 * votes.sum(axis=1) - 5.0, np.full(2000, 5.0)], axis=-1)[:, None]
    error = float(clustered_errors(sums)[0])
    assert np.sqrt(found.variance * found.effect / found.n) == pytest.approx(error, rel=0.03)
