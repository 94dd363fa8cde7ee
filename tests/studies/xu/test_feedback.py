"""What feedback says: annotated, explicitly without error, unusable; and the release's rules."""

import numpy as np
import pytest

from selfpref.models import Choice, Text
from selfpref.studies.xu import feedback
from selfpref.studies.xu.feedback import read, read_generation

MAJOR = "'x' is a major accuracy error"


@pytest.mark.parametrize(
    ("reply", "standing", "marks"),
    [
        ("'a cat' is a minor fluency/grammar error", -1, (0, 0, 1)),
        (
            "'a' is a Major accuracy/addition error\n'b' is a MINOR style/awkward error",
            -6,
            (0, 1, 1),
        ),
        (f"{MAJOR}\n'b' is a critical other error\n{MAJOR}", -15, (1, 2, 0)),
        # The severity of the statement counts, not one that is quoted or part of a word.
        ("'major cities' is a minor accuracy/mistranslation error", -1, (0, 0, 1)),
        ("'the majority of' is a minor style/awkward error", -1, (0, 0, 1)),
        # Statements that run on without a line break, and a last one that was cut off.
        ("'a' is a minor style/awkward error'b' is a major accuracy/omission error", -6, (0, 1, 1)),
        (f"{MAJOR}\n'b' is a minor termin", -6, (0, 1, 1)),
        (
            "The text has no major errors. One minor fluency/punctuation error is there.",
            -1,
            (0, 0, 1),
        ),
        # Reported scores have a floor; the accept rule compares without it.
        ("\n".join([MAJOR] * 7), -35, (0, 7, 0)),
        *((said, 0, (0, 0, 0)) for said in ("No errors found.", " None.", "no-error")),
        ("The translation does not contain any errors.", 0, (0, 0, 0)),
        ("There are no issues.", 0, (0, 0, 0)),
        ("'a cat' is a no-error translation", 0, (0, 0, 0)),
    ],
)
def test_errors_are_weighed_and_an_explicit_lack_of_them_is_perfect(reply, standing, marks):
    found = read("mqm", reply)
    assert found == feedback.Feedback("ok", max(standing, -25), standing, marks, reply)
    assert found.flawless == (standing == 0)


@pytest.mark.parametrize(
    ("task", "reply", "score", "standing"),
    [
        *(("coverage", said, 1, 0) for said in ("all covered", "All concepts are covered.")),
        ("coverage", "['cat', 'Dog', dog]", 0, -2),
        ("coverage", "missing concepts: 'cat'", 0, -1),
        # The release compared the length of the reply: a long name is still one concept.
        ("coverage", "[an extraordinarily long concept]", 0, -1),
        ("coverage", "[]", 0, -1),
        ("coverage", "The sentence does not cover all concepts.", 0, -1),
        # What the model makes up after its answer is none, nor is an instruction it repeats.
        ("coverage", "['cat']\t\tGenerated Sentence: A cat. \t\tFeedback: all covered", 0, -1),
        ("coverage", "List them. If nothing is, output 'all covered'  ['cat']", 0, -1),
        ("coverage", "List them. If nothing is, output 'all covered'  all covered", 1, 0),
        # The last verdict counts; one in brackets is the one that was asked for.
        ("correctness", "First [[no]], but then: 3. [[Yes]]", 1, 0),
        ("correctness", "[[yes]]? I get 4, so [[no]]", 0, -1),
        ("correctness", "[[no]], though the answer is correct in form", 0, -1),
        ("correctness", "At first sight the answer is incorrect; no, the answer is correct.", 1, 0),
        ("correctness", "The answer is incorrect. The correct answer is 4.", 0, -1),
        ("correctness", "The answer is not correct", 0, -1),
    ],
)
def test_missing_concepts_and_verdicts_are_what_the_answer_says(task, reply, score, standing):
    found = read(task, reply)
    assert (found.status, found.score, found.standing) == ("ok", score, standing)
    assert found.marks == ((float(-standing),) if task == "coverage" else None)


@pytest.mark.parametrize(
    ("task", "reply"),
    [
        *((task, reply) for task in ("mqm", "coverage", "correctness") for reply in ("", "Fine.")),
        ("mqm", "1. 1. 1. 1. 1."),
        ("mqm", "There is no translation provided."),
        ("mqm", "This context is un-translatable. No errors."),
        ("mqm", "I am unable to identify errors."),
        ("mqm", "'a cat' is a non-translation error"),
        # An error of unknown weight leaves the sum unknown.
        ("mqm", "'a' is a minor style error\n'b' is a serious accuracy/omission error"),
        ("coverage", "10 concepts covered"),
        ("coverage", "Concepts: ['cat']"),
        ("coverage", "List them. If nothing is, output 'all covered'"),
        ("correctness", "[[maybe]]"),
        ("correctness", "All incorrect steps are fine."),
        *((task, "It is [BLOCKED], no errors") for task in ("mqm", "coverage", "correctness")),
    ],
)
def test_what_says_nothing_is_missing_and_not_perfect(task, reply):
    found = read(task, reply)
    assert found.status == ("refused" if "BLOCKED" in reply else "unparsable")
    assert np.isnan(found.score)
    assert (found.standing, found.marks, found.flawless) == (None, None, False)


def test_an_unknown_severity_is_told_apart():
    assert feedback.unknown_severity("'a' is a serious accuracy/omission error")
    assert not feedback.unknown_severity("'a' is a minor accuracy/omission error")
    assert not feedback.unknown_severity("'a' is a style/awkward minor error")


def test_the_released_rules_count_substrings():
    said = {"[BLOCKED]": 0, "": 0, "'a' is a Major accuracy/omission error": 0}
    said |= {"'major cities' is a minor accuracy error": -6, "critical major minor minor": -12}
    assert {reply: feedback.released_mqm(reply) for reply in said} == said
    assert feedback.released_mqm("critical " * 6) == -25
    # Its loop compared scores without a floor.
    assert feedback.released_mqm("critical " * 6, floor=-np.inf) == -30
    assert feedback.released_coverage("output 'all covered'  ['cat']") == 1
    assert feedback.released_coverage("All covered") == 0


@pytest.mark.parametrize(
    ("reply", "good"),
    [
        ('"a cat" is a critical locale convention/name format error.', True),
        ("'a' is a minor style/awkward error\n\n'b' is a major accuracy/omission error", True),
        *(("No errors found.", True), ("none", True), ("'a cat' is a minor", False)),
        ("'a' is a minor style/awkward error\n'b", False),
        *(("'a cat' is bad", False), ("[BLOCKED]", False), ("", False)),
    ],
)
def test_the_declared_grammar(reply, good):
    assert feedback.well_formed(reply) is good


def test_quoted_spans_are_looked_for_in_text_and_source():
    reply = "'the red fox' is a minor style error\n\"le renard.\" is a major accuracy error\n'x' is"
    assert feedback.quoted(reply, "The red fox runs.") == (1, 2)
    assert feedback.quoted(reply, "The red fox runs.", "Le renard court.") == (2, 2)
    assert feedback.quoted("none", "text") == (0, 0)


def test_a_reply_that_was_cut_off_says_nothing_and_probabilities_stand_beside_a_verdict():
    found = read_generation("mqm", Text(MAJOR, "cut"), MAJOR)
    assert (found.status, found.reply, found.standing) == ("truncated", MAJOR, None)
    found = read_generation("mqm", Text("", "refused"), "")
    assert (found.status, found.reply) == ("refused", None)
    choice = Choice((0.7, 0.2), "ok")
    found = read_generation("correctness", Text("[[yes]]", "ok", choice), "[[yes]]")
    assert (found.score, found.choice) == (1, choice)
