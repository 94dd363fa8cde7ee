"""Replay: which evaluators are drawn, and what the caption tells of them."""

import pandas as pd
from test_panickssery_figures import Params, texts

from selfpref.studies.panickssery.draw.sizes import replay, replay_points

WHO = pd.DataFrame(
    [
        ("me", "me", "", "base", 0),
        ("alone", "me", "one", "self-recognition", 60),
        ("elsewhere", "me", "two", "self-recognition", 60),
        ("again", "me", "one", "self-recognition-replay", 60),
        ("longer", "me", "one", "length", 60),
    ],
    columns=["evaluator", "family", "trained_on", "variant", "examples"],
)
WORDINGS = pd.DataFrame(
    [
        ("one", name, other, "corrected", quantity, mean, mean - 0.1, mean + 0.1, 9)
        for name, mean in zip(WHO["evaluator"], (0.5, 0.9, 0.8, 0.6, 0.4), strict=True)
        for other in ("human", "all")
        for quantity in ("recognition", "prefer", "worse", "mean")
    ],
    columns=["dataset", "evaluator", "other", "convention", "quantity", "mean", "lo", "hi", "n"],
)
ORACLE = pd.DataFrame(
    [("one", "again", "prefer", "agreement", 0.75)],
    columns=["dataset", "evaluator", "wording", "quantity", "mean"],
)


def test_a_base_begins_both_curves_and_other_tunings_are_left_out():
    rows = replay_points(WORDINGS, WHO)
    found = rows[rows["quantity"].eq("prefer")]
    assert found[["variant", "examples", "evaluator", "mean"]].to_numpy().tolist() == [
        ["self-recognition", 0, "me", 0.5],
        ["self-recognition", 60, "alone", 0.9],
        ["self-recognition-replay", 0, "me", 0.5],
        ["self-recognition-replay", 60, "again", 0.6],
    ]


def test_a_family_that_was_never_tuned_with_replay_is_left_out():
    assert replay_points(WORDINGS, WHO[WHO["evaluator"].ne("again")]).empty


def test_the_picture_and_its_caption_tell_both_kinds():
    rows = replay_points(WORDINGS, WHO)
    plate = replay(rows, ORACLE, Params)
    shown = texts(plate.figure)
    assert "me, tuned alone" in shown
    assert "me, with replay" in shown
    told = plate.caption
    assert "me, with replay: recognition 0.60 [0.50, 0.70], prefer 0.60" in told
    assert "agreement with the oracle: prefer 0.75" in told
    assert "9 to 9 pairs" in told


def test_without_tuned_evaluators_there_are_words():
    rows = replay_points(WORDINGS[:0], WHO)
    plate = replay(rows, ORACLE, Params)
    assert plate.figure is None
    assert plate.caption.endswith(".")
