"""The rules of the vote, and how several orders and repeats become one choice."""

import pytest

from selfpref.studies.livebench.measure.panel import most_frequent, settle
from selfpref.studies.livebench.measure.votes import decide, majority


@pytest.mark.parametrize(
    ("votes", "winner"),
    [
        (["A", "A", "A"], "A"),
        (["A", "A", "B"], "A"),
        (["A", "A", None], "A"),
        (["A", "B", "C"], None),
        # One vote of three is no majority, whatever became of the others.
        ([None, None, "C"], None),
        ([None, None, None], None),
        (["A", "B", None], None),
        # A tie is a choice for nobody.
        (["A", "tie", "tie"], None),
        (["A", "A", "tie"], "A"),
        # Of two voters both must agree, of four three.
        (["A", "B"], None),
        (["A", "A"], "A"),
        (["A", "A", "B", "B"], None),
        (["A", "A", "A", "B"], "A"),
    ],
)
def test_a_winner_has_more_than_half_of_all_judges(votes, winner):
    assert majority(votes) == winner


@pytest.mark.parametrize(
    ("votes", "calls", "ended"),
    [
        (["A", "A", "B"], ["C"], ("A", "majority")),
        (["A", "B", "C"], ["B"], ("B", "tie-break")),
        (["A", "B", "C"], [], (None, "no majority")),
        (["A", "B", None], [], (None, "no majority")),
        ([None, None, "C"], [], (None, "no majority")),
        (["A", "B", None], ["A"], ("A", "tie-break")),
        # The tie-breaker failed, or would not decide.
        (["A", "B", "C"], [None], (None, "tie-breaker failed")),
        (["A", "B", "C"], ["tie"], (None, "tie-breaker failed")),
    ],
)
def test_every_vote_ends_in_a_defined_way(votes, calls, ended):
    assert decide(votes, calls) == ended


def test_a_choice_counts_if_it_survives_the_orders():
    assert settle([(("x", "y"), "x", "ok"), (("y", "x"), "x", "ok")]) == ("x", "chosen")
    assert settle([(("x", "y"), "x", "ok"), (("y", "x"), "y", "ok")]) == ("tie", "unstable")
    assert settle([(("x", "y"), "tie", "ok")]) == ("tie", "tie")


def test_a_verdict_that_failed_leaves_no_choice():
    found = settle([(("x", "y"), "x", "ok"), (("y", "x"), None, "refused")])
    assert found == (None, "refused")


def test_repeats_of_one_order_are_a_plurality():
    same = ("x", "y", "z")
    assert settle([(same, name, "ok") for name in ("x", "y", "x")]) == ("x", "chosen")
    assert settle([(same, name, "ok") for name in ("x", "y")]) == ("tie", "tie")
    assert most_frequent(["x", "y", "y"]) == "y"
