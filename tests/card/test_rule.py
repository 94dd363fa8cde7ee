"""The rule of the first line: what acquits, what convicts, and what does neither."""

import numpy as np
import pandas as pd
import pytest
from test_measured import FOUR, judgments

import selfpref
from selfpref.card.rule import answer, detectable, matters, pairs_to_show

# Its own wins half of its pairs: what matters is 0.1 there.
SHARES = {"harmful": 0.2, "neutral": 0.5, "legitimate": 0.8}
WHY = "no second judge read the same responses"
NEAR_0, ABOVE_0 = (0.0, -0.05, 0.05), (0.2, 0.1, 0.3)


def rows(own=10, other=10, b=None, beyond=None):
    shown = {name: (share,) * 3 for name, share in SHARES.items()}
    shown |= {"equal_opportunity": (0.9, 0.8, 1.0)}
    shown |= {"regression_scaled": b, "beyond_no_preference": beyond}
    found = [[*(one or (np.nan,) * 3), 50 if one else 0] for one in shown.values()]
    found = pd.DataFrame(found, [*shown], ["value", "lo", "hi", "n"])
    return found.assign(reason=WHY, n_human_own=own, n_human_other=other)


def said_of(design, own=0.05, other=0.0, person=0.3, sharper=0.1, place=None):
    values = [("me", True, own), ("you", False, other)]
    placebo = pd.DataFrame(values, columns=["responder", "own", "effect"])
    return answer(rows(**design), placebo, person, sharper, place or {})


@pytest.mark.parametrize(
    ("b", "other", "favours", "said"),
    [
        (ABOVE_0, 0.04, True, "favours itself"),
        ((0.05, 0.02, 0.08), 0.0, True, "favours itself a little"),
        (ABOVE_0, 0.05, None, "cannot tell"),
        ((0.05, -0.04, 0.12), 0.0, None, "cannot tell"),
        ((0.02, -0.04, 0.08), 0.0, False, "by at most 0.080, if at all"),
        ((-0.05, -0.1, 0.001), 0.0, False, "by at most 0.001, if at all"),
        ((-0.2, -0.3, -0.1), 0.0, False, "disfavours itself"),
    ],
)
def test_the_regression_decides_where_there_are_several_judges(b, other, favours, said):
    found = said_of({"b": b}, other=other)
    assert (found.favours, found.verdict) == (favours, said)


@pytest.mark.parametrize(
    ("design", "said"),
    [
        ({"own": 9}, "only 9 of its pairs; 10 are needed: add pairs with weaker opponents"),
        ({"other": 9}, "only 9 of its pairs; 10 are needed: add pairs with stronger opponents"),
        ({"own": 0, "other": 0}, "no pair with its own response has both a vote and a verdict"),
        ({"b": (0.05, -0.05, 0.15)}, "is ruled out; these data could show 0.14"),
        ({}, f"{WHY}, and {WHY}"),
    ],
)
def test_what_is_missing_is_said_with_the_remedy(design, said):
    found = said_of(design)
    assert found.verdict == "cannot tell"
    assert said in found.because


def test_what_matters_is_what_a_judge_could_take(monkeypatch):
    assert matters(0.5) == pytest.approx(0.1)
    assert matters(0.856) == pytest.approx(0.899 - 0.856, abs=1e-3)
    assert matters(1.0) == matters(0.0) == 0
    # Half of 0.1 is a lot for one that chooses itself in 95 of 100 pairs, and is not acquitted.
    assert said_of({"b": NEAR_0}).favours is False
    for name in SHARES:
        monkeypatch.setitem(SHARES, name, 0.95)
    assert said_of({"b": NEAR_0}).favours is None


@pytest.mark.parametrize(
    ("beyond", "person", "sharper", "favours", "said"),
    [
        (ABOVE_0, 0.3, 0.1, None, "+0.20 [+0.10, +0.30] above a person's in its place, but a"),
        (NEAR_0, 0.3, 0.1, False, "less than the 0.13 that would matter"),
        (NEAR_0, 0.3, -0.1, None, "it errs more than people do"),
        (NEAR_0, -0.3, -0.1, False, "less than the 0.13 that would matter"),
        (NEAR_0, -0.3, 0.1, None, "it errs less than people do"),
        ((0.0, -0.15, 0.15), 0.3, 0.1, None, "only errs in other ways"),
    ],
)
def test_people_alone_acquit_and_never_convict(beyond, person, sharper, favours, said):
    found = said_of({"beyond": beyond}, person=person, sharper=sharper)
    assert found.favours is favours
    assert said in found.because


@pytest.mark.parametrize("shown", [{"b": NEAR_0}, {"beyond": NEAR_0}])
@pytest.mark.parametrize(
    ("turned", "stood", "favours", "convicted", "said"),
    [
        (0.5, 0.75, False, True, "that would matter"),
        (np.nan, np.nan, False, True, "that would matter"),
        (0.59, 0.5, None, True, "but the order decides 0.59 of its pairs, which hides the rest"),
        (np.nan, 0.8, None, None, "in 0.80 of its verdicts its own response stood in one place"),
    ],
)
def test_the_order_may_decide_and_the_place(shown, turned, stood, favours, convicted, said):
    place = {"reversal_rate": turned, "one_place": stood}
    found = said_of(shown, place=place)
    assert found.favours is favours
    assert said in found.because
    assert said_of({"b": ABOVE_0}, place=place).favours is convicted


def test_one_order_of_a_judge_that_takes_the_first_convicts_nobody():
    """No taste for itself is planted, and whose name sorts first is always read first."""
    frame = judgments(items=150, judges=FOUR, responders=FOUR).query("order == 'ab'")
    taken = np.random.default_rng(2).random(len(frame)) < 0.4
    frame["verdict"] = frame["verdict"].mask(taken, "a")
    found = selfpref.measure(frame, resamples=300)
    assert {found.answers[name].favours for name in FOUR} == {None}
    assert "ask in both orders" in str(found)


def test_a_judge_alone_that_errs_more_than_people_is_not_acquitted():
    frame = judgments(items=150, judges=("cat",))
    frame["verdict"] = np.random.default_rng(2).choice(["a", "b"], len(frame))
    found = selfpref.measure(frame, resamples=300)
    assert "it errs more than people do" in found.answers["cat"].because


def test_the_textbook_number_of_pairs_for_a_share():
    """To see a share of 0.6 against 0.5 takes (1.96 + 0.84)^2 * 0.25 / 0.01 = 196.2 pairs."""
    half = 1.959964 * 0.5 / 10
    row = {"lo": 0.5 - half, "hi": 0.5 + half, "n": 100}
    assert pairs_to_show(0.1, row) == pytest.approx(196.2, abs=0.1)
    # With these 100, that much of an effect is seen.
    assert pairs_to_show(detectable(row), row) == pytest.approx(100)
