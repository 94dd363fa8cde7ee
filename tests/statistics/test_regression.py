"""Slopes and correlations as functions of sums, against least squares on the rows."""

import doctest

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfpref.statistics import bootstrap, regression
from selfpref.statistics.regression import fit, pearson, slope_of_sums


def of_rows(*columns):
    rows = np.column_stack([np.ones(len(columns[0])), *columns])
    return slope_of_sums(rows.T @ rows)


def test_slopes_of_sums_are_those_of_least_squares(rng):
    q, r, noise = rng.normal(size=(3, 300))
    x = 0.6 * q - r + rng.normal(size=300)
    y = 0.3 - 0.2 * x + 0.4 * q + r + 0.1 * noise
    for controls in ((), (q,), (q, r)):
        design = pd.DataFrame(np.column_stack([x, np.ones(300), *controls])).rename(str, axis=1)
        wanted = fit(y, design, pd.Series(range(300)), ["0"], 0.95)["0"].value
        assert of_rows(*controls, x, y) == pytest.approx(wanted, abs=1e-12)


def test_slopes_of_many_sums_at_once(rng):
    rows = np.concatenate([np.ones((7, 20, 1)), rng.normal(size=(7, 20, 2))], axis=-1)
    sums = np.einsum("bia,bic->bac", rows, rows)
    assert slope_of_sums(sums) == pytest.approx([float(slope_of_sums(one)) for one in sums])


@given(st.floats(-5, 5))
def test_one_value_of_x_has_no_slope(value):
    assert np.isnan(of_rows(np.full(6, value), np.array([0.0, 1, 0, 1, 1, 0])))


@pytest.mark.parametrize("control", [[2.0, 4, 6, 8], [0.0, 0, 0, 0]])
def test_a_control_that_explains_x_or_nothing_leaves_no_slope(control):
    x, y = np.array([1.0, 2, 3, 4]), np.array([0.0, 0, 1, 1])
    assert np.isnan(of_rows(np.array(control), x, y))


def test_correlations_are_numpys_and_missing_without_spread(rng):
    one, other = rng.normal(size=(2, 5, 12))
    wanted = [np.corrcoef(a, b)[0, 1] for a, b in zip(one, other, strict=True)]
    assert pearson(one, other) == pytest.approx(wanted)
    assert np.isnan(pearson(np.ones(4), np.arange(4.0)))


@pytest.mark.parametrize("module", [bootstrap, regression])
def test_the_examples_of_the_docstrings(module):
    assert doctest.testmod(module).failed == 0
