"""The rules of the vote, and how several orders become one choice."""

from types import SimpleNamespace

import pandas as pd
import pytest

from selfpref.studies.livebench.panel import settled
from selfpref.studies.livebench.votes import NOBODY, against_all, ended


def vote(votes, calls=NOBODY):
    """The winner of one item's vote, and how it ended."""
    one = ended(pd.DataFrame([votes], index=["item"], dtype="str"), calls).iloc[0]
    return (None if pd.isna(one["winner"]) else one["winner"]), one["outcome"]


@pytest.mark.parametrize(
    ("votes", "winner"),
    [
        (["A", "A", "A"], "A"),
        (["A", "A", "B"], "A"),
        (["A", "B", "C"], None),
        # One vote of three is no majority, whatever became of the others.
        ([None, None, "C"], None),
        # A tie is a choice for nobody.
        (["A", "tie", "tie"], None),
        (["A", "A", "tie"], "A"),
        # Of two voters both must agree, of four three.
        (["A", "B"], None),
        (["A", "A", "B", "B"], None),
        (["A", "A", "A", "B"], "A"),
    ],
)
def test_a_winner_has_more_than_half_of_all_judges(votes, winner):
    assert vote(votes) == (winner, "majority" if winner else "no majority")


@pytest.mark.parametrize(
    ("votes", "call", "end"),
    [
        (["A", "A", "B"], "C", ("A", "majority")),
        (["A", "B", "C"], "B", ("B", "tie-break")),
        (["A", "B", None], "A", ("A", "tie-break")),
        # The tie-breaker failed, or would not decide.
        (["A", "B", "C"], None, (None, "tie-breaker failed")),
        (["A", "B", "C"], "tie", (None, "tie-breaker failed")),
    ],
)
def test_a_tie_breaker_decides_what_has_no_majority(votes, call, end):
    assert vote(votes, pd.Series({"item": call}, dtype="str")) == end


@pytest.mark.parametrize(
    ("read", "wanted"),
    [
        # A choice counts if it survives the orders; a verdict that failed leaves none.
        ([("xy", "x", "ok"), ("yx", "x", "ok")], ("x", "chosen", 2)),
        ([("xy", "x", "ok"), ("yx", "y", "ok")], ("tie", "unstable", 2)),
        ([("xy", "x", "ok"), ("yx", "tie", "ok")], ("tie", "unstable", 2)),
        ([("xy", "tie", "ok")], ("tie", "tie", 1)),
        ([("xy", "x", "ok"), ("yx", None, "refused")], (None, "refused", 2)),
    ],
)
def test_several_orders_become_one_choice(read, wanted):
    votes = pd.DataFrame(read, columns=["candidates", "choice", "status"])
    place = {"item_id": "i", "category": "c", "task": "t", "cluster": "i", "judge": "j"}
    (row,) = settled(votes.assign(**place)).itertuples()
    assert row.candidates == ["x", "y"]
    assert (None if pd.isna(row.choice) else row.choice, row.outcome, row.orders) == wanted


def test_a_judge_against_all_others_is_counted_with_the_tie_breaker():
    names = ("x", "y", "z")
    votes = [("x", "y", "z"), ("x", "x", "y"), ("y", "y", "z"), ("x", "z", "z"), ("x", None, None)]
    rows = [
        {"item_id": f"i{n}", "cluster": f"i{n}", "judge": judge, "choice": choice}
        for n, said in enumerate(votes)
        for judge, choice in zip(names, said, strict=True)
    ]
    panel = SimpleNamespace(
        choices=pd.DataFrame(rows), judges=names, bootstrap=SimpleNamespace(level=0.95)
    )
    calls = pd.DataFrame({"item_id": ["i0", "i3"], "chosen": ["y", "x"]})
    found = against_all(panel, calls).set_index("judge")
    # Nobody else decided the last question.
    assert found["n"].tolist() == [4, 4, 4]
    assert found["alone"].to_dict() == {"x": 2, "y": 1, "z": 2}
    assert found.loc["x", ["asked", "elsewhere"]].tolist() == [2, 1]
    assert found.loc["x", "share"] == 0.5
    assert found.loc["x", "lo"] < 0.5 < found.loc["x", "hi"]
