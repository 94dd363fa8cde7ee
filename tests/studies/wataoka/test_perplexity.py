"""Perplexity and verdicts: differences, bins, and slopes against ordinary least squares."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfpref.statistics.scores import response_perplexity
from selfpref.studies.wataoka.measure.by_perplexity import (
    bin_edges,
    controlled_slope,
    moments,
    own_first,
    pair_differences,
    slope,
)

PERPLEXITIES = pd.DataFrame(
    [
        ("1", "a", "a", True, 4.0, 4, "ok"),
        ("1", "b", "a", True, 9.0, 3, "ok"),
        ("1", "c", "a", True, 0.0, 0, "ok"),
        ("1", "d", "a", True, math.nan, 5, "truncated"),
        ("1", "a", "a", False, 8.0, 4, "ok"),
    ],
    columns=["item_id", "responder", "judge", "conditional", "sum_nll", "n_tokens", "status"],
).assign(step=0)


def pairs(*rows):
    columns = ["item_id", "first", "second", "judge", "human", "decision"]
    return pd.DataFrame(rows, columns=columns).assign(cluster="c")


def test_log_perplexity_is_the_mean_over_tokens_in_nats():
    value = response_perplexity(PERPLEXITIES, "log-perplexity").set_index(
        ["responder", "conditional"]
    )
    assert value.loc[("a", True), "value"] == 1.0
    assert value.loc[("b", True), "value"] == 3.0
    assert value.loc[("a", False), "value"] == 2.0


def test_perplexity_is_its_exponential():
    one, two = (
        response_perplexity(PERPLEXITIES, s)["value"] for s in ("perplexity", "log-perplexity")
    )
    assert np.allclose(one, np.exp(two), equal_nan=True)


def test_no_token_and_truncated_are_missing_and_not_zero():
    value = response_perplexity(PERPLEXITIES, "log-perplexity").set_index("responder")["value"]
    assert np.isnan(value["c"])
    assert np.isnan(value["d"])


NONE = pd.Series(dtype=float)
VALUES = response_perplexity(PERPLEXITIES, "log-perplexity")


def test_alone_the_judges_own_response_is_a():
    found = own_first(pair_differences(pairs(("1", "a", "b", "a", 1.0, 0.0)), VALUES, NONE)).iloc[0]
    assert (found["own"], found["x"], found["judge_wins"], found["human_wins"]) == (True, -2, 0, 1)
    turned = VALUES.replace({"responder": {"a": "z"}, "judge": {"a": "z"}})
    swapped = own_first(pair_differences(pairs(("1", "b", "z", "z", 0.0, 1.0)), turned, NONE)).iloc[
        0
    ]
    assert (swapped["own"], swapped["x"], swapped["judge_wins"]) == (True, -2, 0)


def test_a_is_drawn_whoever_judges():
    """Over many pairs the judge's own response is A about half of the time, and not always."""
    rows = [(str(n), "a", "b", "a", 1.0, 1.0) for n in range(200)]
    values = pd.DataFrame(
        [(str(n), who, "a", True, v) for n in range(200) for who, v in (("a", 1.0), ("b", 3.0))],
        columns=["item_id", "responder", "judge", "conditional", "value"],
    )
    found = pair_differences(pairs(*rows), values, NONE)
    assert 60 < found["own_is_b"].sum() < 140
    assert (found["x"].lt(0) != found["own_is_b"]).all()
    assert (own_first(found)["x"] == -2).all()


def test_turning_a_pair_turns_x_wins_and_quality_together():
    """Either response may be A: the sign of x and the winner go along."""
    rows = [(str(n), "b", "c", "a", 1.0, 1.0) for n in range(40)]
    values = pd.DataFrame(
        [(str(n), who, "a", True, v) for n in range(40) for who, v in (("b", 1.0), ("c", 3.0))],
        columns=["item_id", "responder", "judge", "conditional", "value"],
    )
    quality = pd.Series(
        {(str(n), who): q for n in range(40) for who, q in (("b", 0.9), ("c", 0.4))}
    )
    found = pair_differences(pairs(*rows), values, quality)
    assert set(zip(found["x"], found["judge_wins"], found["q"].round(9), strict=True)) == {
        (-2.0, 1.0, 0.5),
        (2.0, 0.0, -0.5),
    }


def test_without_a_true_quality_the_human_stands_for_it():
    found = pair_differences(pairs(("1", "a", "b", "a", 0.5, 1.0)), VALUES, NONE)
    assert found["q"].tolist() == [0.0]


@pytest.mark.parametrize(("binning", "edges"), [("width", [0, 5, 10]), ("count", [0, 1, 10])])
def test_bins_of_equal_width_or_count(binning, edges):
    assert bin_edges(pd.Series([0.0, 0.5, 1.0, 4.0, 10.0]), 2, binning).tolist() == edges


def test_slopes_are_those_of_least_squares(rng):
    x, q = rng.normal(size=(2, 300))
    x = x + 0.6 * q
    y = (0.3 - 0.2 * x + 0.4 * q + 0.1 * rng.normal(size=300) > 0).astype(float)
    raw = np.linalg.lstsq(np.column_stack([np.ones(300), x]), y, rcond=None)[0]
    held = np.linalg.lstsq(np.column_stack([np.ones(300), x, q]), y, rcond=None)[0]
    assert slope(moments(x, x, y).sum(axis=0)) == pytest.approx(raw[1])
    assert controlled_slope(moments(x, q, y).sum(axis=0)) == pytest.approx(held[1])


@given(st.floats(-5, 5))
def test_one_value_of_x_has_no_slope(value):
    x, y = np.full(6, value), np.array([0.0, 1, 0, 1, 1, 0])
    assert np.isnan(slope(moments(x, x, y).sum(axis=0)))


def test_a_quality_that_explains_x_leaves_no_controlled_slope():
    x = np.array([1.0, 2, 3, 4])
    y = np.array([0.0, 0, 1, 1])
    assert np.isnan(controlled_slope(moments(x, 2 * x, y).sum(axis=0)))
