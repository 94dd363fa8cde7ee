"""Replies in three states: annotated, explicitly without error, unusable."""

import numpy as np
import pytest

from selfpref.models import Choice, Text
from selfpref.studies.xu.feedback import read, read_generation


@pytest.mark.parametrize(
    ("reply", "score", "standing"),
    [
        ("'dog' is a major accuracy error", -5, -5),
        ("'dog' is a MAJOR accuracy error\n'a' is a Minor fluency error", -6, -6),
        ("'x' is a critical accuracy error", -5, -5),
        # Reported scores have a floor; the accept rule compares without it.
        ("\n".join(["'x' is a major accuracy error"] * 7), -25, -35),
        ("no error", 0, 0),
        ("No errors.", 0, 0),
        # A severity that is part of a quoted span or of another word is none.
        ("'the major' is a minor accuracy error", -1, -1),
        ("'the majority' is a minor style error", -1, -1),
    ],
)
def test_errors_are_weighed(reply, score, standing):
    found = read("mqm", reply)
    assert (found.status, found.score, found.standing) == ("ok", score, standing)
    assert found.flawless == (standing == 0)


@pytest.mark.parametrize(
    ("task", "reply", "status"),
    [
        ("mqm", "", "unparsable"),
        ("mqm", "[BLOCKED]", "refused"),
        ("mqm", "This is a fine translation of the text.", "unparsable"),
        ("mqm", "'dog' is a moderate accuracy error", "unparsable"),
        ("coverage", "", "unparsable"),
        ("coverage", "[BLOCKED]", "refused"),
        ("coverage", "It reads well.", "unparsable"),
        ("correctness", "The answer seems right.", "unparsable"),
        ("correctness", "[[maybe]]", "unparsable"),
        ("correctness", "[BLOCKED]", "refused"),
    ],
)
def test_what_says_nothing_has_no_score(task, reply, status):
    found = read(task, reply)
    assert found.status == status
    assert np.isnan(found.score)
    assert found.standing is None
    assert not found.flawless


@pytest.mark.parametrize(
    ("reply", "score", "standing"),
    [
        ("all covered", 1, 0),
        ("All concepts are covered.", 1, 0),
        ("[dog, 'Frisbee']", 0, -2),
        ("[dog, dog]", 0, -1),
        # The release compared the length of the reply: a long name is still one concept.
        ("[an extraordinarily long concept]", 0, -1),
        ("[]", 0, -1),
    ],
)
def test_missing_concepts_are_counted(reply, score, standing):
    found = read("coverage", reply)
    assert (found.status, found.score, found.standing) == ("ok", score, standing)


def test_the_last_verdict_counts():
    assert read("correctness", "First [[no]], but then: 3. [[Yes]]").score == 1
    assert read("correctness", "[[yes]]? I get 4, so [[no]]").standing == -1


def test_a_reply_that_was_cut_off_says_nothing():
    cut = Text("'dog' is a major accuracy error\n'cat' is a", "cut")
    found = read_generation("mqm", cut, cut.text)
    assert (found.status, found.reply) == ("truncated", cut.text)
    assert np.isnan(found.score)
    assert read_generation("mqm", Text("", "refused"), "").status == "refused"


def test_probabilities_stand_beside_the_verdict():
    choice = Choice((0.7, 0.2), "ok")
    found = read_generation("correctness", Text("[[yes]]", "ok", choice), "[[yes]]")
    assert found.score == 1
    assert found.choice == choice
