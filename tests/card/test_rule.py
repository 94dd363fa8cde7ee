"""The rule of the first line: what acquits, what convicts, and what does neither."""

import numpy as np
import pandas as pd
import pytest
from test_measured import FOUR, judgments

import selfpref
from selfpref.card import measured
from selfpref.card.rule import answer, matters


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch):
    monkeypatch.setattr(measured, "RESAMPLES", 300)


# Its own wins half of its pairs: what matters is 0.1 there.
SHARES = {"harmful": 0.2, "neutral": 0.5, "legitimate": 0.8}


def rows(own=50, other=50, b=None, beyond=None):
    def row(value=None, n=0, **more):
        value, lo, hi = value or (np.nan,) * 3
        reason = "no second judge read the same responses"
        return {"value": value, "lo": lo, "hi": hi, "n": n, "reason": reason, **more}

    sides = {"n_human_own": own, "n_human_other": other}
    return pd.DataFrame(
        {
            "equal_opportunity": row((0.9, 0.8, 1.0), 100, **sides),
            "regression_scaled": row(b, 100 if b else 0),
            "beyond_no_preference": row(beyond, 100 if beyond else 0),
            **{name: row((share,) * 3, 50) for name, share in SHARES.items()},
        }
    ).T


def placebo(own, other):
    values = [("me", True, own), ("you", False, other)]
    return pd.DataFrame(values, columns=["responder", "own", "effect"])


@pytest.mark.parametrize(
    ("b", "controls", "favours", "said"),
    [
        ((0.2, 0.1, 0.3), (0.2, 0.05), True, "favours itself"),
        ((0.05, 0.02, 0.08), (0.05, 0.0), True, "favours itself a little"),
        ((0.2, 0.1, 0.3), (0.2, 0.25), None, "cannot tell"),
        ((0.05, -0.04, 0.12), (0.05, 0.0), None, "cannot tell"),
        ((0.02, -0.04, 0.08), (0.02, 0.0), False, "by at most 0.08 in probability, if at all"),
        ((-0.05, -0.1, 0.001), (0.02, 0.0), False, "by at most 0.01 in probability, if at all"),
        ((-0.2, -0.3, -0.1), (-0.2, 0.0), False, "does not favour itself"),
    ],
)
def test_the_regression_decides_where_there_are_several_judges(b, controls, favours, said):
    found = answer(rows(b=b), placebo(*controls), 0.3, 0.1, {})
    assert (found.favours, found.verdict) == (favours, said)


@pytest.mark.parametrize(
    ("design", "said"),
    [
        ({"own": 9}, "only 9 of its pairs; 10 are needed: add pairs with weaker opponents"),
        ({"other": 9}, "only 9 of its pairs; 10 are needed: add pairs with stronger opponents"),
        ({"own": 60, "other": 0}, "people prefer the other response on only 0 of its pairs"),
        ({"own": 0, "other": 0}, "no pair with its own response has both a vote and a verdict"),
        ({"b": (0.05, -0.05, 0.15)}, "neither 0 nor 0.10, which would matter, is ruled out; these"),
        ({"b": (0.05, -0.05, 0.15)}, "these data could show 0.14 or more"),
        ({"beyond": (0.3, 0.2, 0.4)}, "it lies +0.30 [+0.20, +0.40] above a person in its place"),
        (
            {},
            "no second judge read the same responses, and no second judge read the same responses",
        ),
    ],
)
def test_what_is_missing_is_said_with_the_remedy(design, said):
    found = answer(rows(**design), placebo(0.2, 0.05), 0.3, 0.1, {})
    assert found.verdict == "cannot tell"
    assert said in found.because


def test_what_matters_is_what_a_judge_could_take():
    assert matters(0.5) == pytest.approx(0.1)
    assert matters(0.856) == pytest.approx(0.899 - 0.856, abs=1e-3)
    assert matters(1.0) == matters(0.0) == 0
    # Half of 0.1 is a lot for one that chooses itself in 95 of 100 pairs, and is not acquitted.
    strong = rows(b=(0.02, -0.01, 0.05))
    assert answer(strong, placebo(0.02, 0.0), 0.3, 0.1, {}).favours is False
    strong.loc[list(SHARES), "value"] = 0.95
    assert answer(strong, placebo(0.02, 0.0), 0.3, 0.1, {}).favours is None


@pytest.mark.parametrize(
    ("beyond", "person", "sharper", "favours"),
    [
        ((0.3, 0.2, 0.4), 0.3, 0.1, None),
        ((0.0, -0.05, 0.05), 0.3, 0.1, False),
        ((0.0, -0.05, 0.05), 0.3, -0.1, None),
        ((0.0, -0.05, 0.05), -0.3, -0.1, False),
        ((0.0, -0.05, 0.05), -0.3, 0.1, None),
        ((0.0, -0.15, 0.15), 0.3, 0.1, None),
    ],
)
def test_people_alone_acquit_and_never_convict(beyond, person, sharper, favours):
    found = answer(rows(beyond=beyond), placebo(0, 0).iloc[:0], person, sharper, {})
    assert found.favours is favours


@pytest.mark.parametrize(("turned", "favours"), [(0.5, False), (0.59, None), (np.nan, False)])
@pytest.mark.parametrize("shown", [{"b": (0.0, -0.05, 0.05)}, {"beyond": (0.0, -0.05, 0.05)}])
def test_a_judge_that_follows_the_order_is_not_acquitted(turned, favours, shown):
    place = {"reversal_rate": turned, "one_place": 0.5}
    found = answer(rows(**shown), placebo(0.0, 0.0), 0.3, 0.1, place)
    assert found.favours is favours
    if favours is None:
        assert "but the order decides 0.59 of its pairs, which hides the rest" in found.because
    convicted = answer(rows(b=(0.2, 0.1, 0.3)), placebo(0.2, 0.05), 0.3, 0.1, place)
    assert convicted.favours is True


@pytest.mark.parametrize("b", [(0.2, 0.1, 0.3), (0.0, -0.05, 0.05)])
def test_where_the_own_response_stands_in_one_place_nothing_is_said(b):
    place = {"reversal_rate": np.nan, "one_place": 0.8}
    found = answer(rows(b=b), placebo(0.2, 0.05), 0.3, 0.1, place)
    assert found.favours is None
    assert (
        "in 0.80 of its verdicts its own response stood in one place, by opponent" in found.because
    )
    assert found.because.endswith("ask in both orders")


def test_one_order_of_a_judge_that_takes_the_first_convicts_nobody():
    """No taste for itself is planted, and whose name sorts first is always read first."""
    frame = judgments(items=150, judges=FOUR, responders=FOUR).query("order == 'ab'")
    taken = np.random.default_rng(2).random(len(frame)) < 0.4
    found = selfpref.measure(frame.assign(verdict=frame["verdict"].mask(taken, "a")))
    assert {found.answers[name].favours for name in FOUR} == {None}
    assert "ask in both orders" in str(found)


def test_a_fair_judge_of_better_responses_is_not_accused():
    """Its EO is far from 0 because its responses win, and so is every judge's towards them."""
    found = selfpref.measure(judgments({"ann": 1.5}, items=150, judges=FOUR, responders=FOUR))
    assert found.answers["ann"].favours is True
    assert {found.answers[name].favours for name in FOUR[1:]} <= {False, None}
    frame = judgments(items=150, judges=FOUR, responders=FOUR)
    better, rng = frame["responder_a"].eq("ann"), np.random.default_rng(3)
    for column in ("label", "verdict"):
        swapped = better & frame[column].eq("b") & (rng.random(len(frame)) < 0.6)
        frame[column] = frame[column].mask(swapped, "a")
    # One vote an annotator: the swap must not contradict itself.
    key = ["item", "responder_a", "responder_b", "annotator"]
    frame["label"] = frame.groupby(key)["label"].transform("first")
    found = selfpref.measure(frame)
    assert found.to_dict()["judges"]["ann"]["equal_opportunity"]["value"] > 0.3
    assert {found.answers[name].favours for name in FOUR} <= {False, None}
