"""What feedback says: the three states, the released rule, and the declared grammar."""

import numpy as np
import pytest

from selfpref.studies.xu import feedback


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("'a cat' is a minor fluency/grammar error", -1),
        ("'a cat' is a major accuracy/mistranslation error", -5),
        ("'a cat' is a critical accuracy/mistranslation error", -5),
        ("'a' is a Major accuracy/addition error\n'b' is a MINOR style/awkward error", -6),
        # The severity of the statement counts, not the one that is quoted.
        ("'major cities' is a minor accuracy/mistranslation error", -1),
        ("'the majority of' is a minor style/awkward error", -1),
        # Statements that run on without a line break, and a last one that was cut off.
        ("'a' is a minor style/awkward error'b' is a major accuracy/omission error", -6),
        ("'a' is a major accuracy/omission error\n'b", -5),
        ("'a' is a major accuracy/omission error\n'b' is a minor termin", -6),
        ("The text has no major errors. One minor fluency/punctuation error is there.", -1),
        ("\n".join(["'a' is a critical accuracy/omission error"] * 9), -25),
    ],
)
def test_errors_are_counted(reply, score):
    said = feedback.mqm(reply)
    assert (said.status, said.score) == ("ok", score)


def test_marks_count_errors_by_severity():
    reply = "'a' is a minor style error\n'b' is a minor style error\n'c' is a critical other error"
    assert feedback.mqm(reply).marks == (1, 0, 2)


@pytest.mark.parametrize(
    "reply",
    [
        "No errors found.",
        "none",
        " None.",
        "no-error",
        "There are no errors in the translation.",
        "The translation does not contain any errors.",
        "There are no issues.",
        "'a cat' is a no-error translation",
    ],
)
def test_an_explicit_lack_of_errors_is_perfect(reply):
    assert feedback.mqm(reply) == feedback.Feedback("ok", 0.0, 0.0, (0, 0, 0))


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("", "unparsable"),
        ("[BLOCKED]", "refused"),
        ("The translation is marked as [BLOCKED], so no errors can be annotated.", "refused"),
        ("1. 1. 1. 1. 1.", "unparsable"),
        ("There is no translation provided.", "unparsable"),
        ("This context is un-translatable. No errors.", "unparsable"),
        ("I am unable to identify errors.", "unparsable"),
        ("'a cat' is a non-translation error", "unparsable"),
        ("'a cat' is a catastrophic accuracy/mistranslation error", "unparsable"),
        # An error of unknown weight leaves the sum unknown.
        ("'a' is a minor style error\n'b' is a serious accuracy/omission error", "unparsable"),
    ],
)
def test_feedback_that_says_nothing_is_missing_not_perfect(reply, status):
    said = feedback.mqm(reply)
    assert said.status == status
    assert np.isnan(said.score)
    assert said.marks is None


def test_an_unknown_severity_is_told_apart():
    assert feedback.unknown_severity("'a' is a serious accuracy/omission error")
    assert not feedback.unknown_severity("'a' is a minor accuracy/omission error")
    assert not feedback.unknown_severity("'a' is a style/awkward minor error")


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("[BLOCKED]", 0),
        ("", 0),
        ("'a' is a Major accuracy/omission error", 0),
        ("'major cities' is a minor accuracy/mistranslation error", -6),
        ("critical major minor minor", -12),
        ("critical " * 6, -25),
    ],
)
def test_the_released_rule_counts_lower_case_substrings(reply, score):
    assert feedback.released_mqm(reply) == score


def test_the_released_loop_compared_without_a_floor():
    assert feedback.released_mqm("critical " * 6, floor=-np.inf) == -30


@pytest.mark.parametrize(
    ("reply", "status", "score"),
    [
        ("all covered", "ok", 1),
        ("All concepts are covered.", "ok", 1),
        ("['cat', 'dog']", "ok", 0),
        ("missing concepts: 'cat'", "ok", 0),
        ("The sentence does not cover all concepts.", "ok", 0),
        # What the model makes up after its answer is none.
        ("['cat']\t\tGenerated Sentence: A cat. \t\tFeedback: all covered", "ok", 0),
        ("[BLOCKED]", "refused", np.nan),
        ("", "unparsable", np.nan),
        ("10 concepts covered", "unparsable", np.nan),
        ("Concepts: ['cat']", "unparsable", np.nan),
    ],
)
def test_coverage_is_what_the_answer_says(reply, status, score):
    said = feedback.coverage(reply)
    assert said.status == status
    assert said.score == pytest.approx(score, nan_ok=True)


def test_a_repeated_instruction_is_no_answer():
    instruction = "List what is missing. If nothing is, output 'all covered'"
    assert feedback.coverage(f"{instruction}  ['cat']").score == 0
    assert feedback.coverage(f"{instruction}  all covered").score == 1
    assert feedback.released_coverage(f"{instruction}  ['cat']") == 1
    assert feedback.coverage(instruction).status == "unparsable"


@pytest.mark.parametrize(
    ("reply", "good"),
    [
        ("'a cat' is a minor fluency/grammar error", True),
        ('"a cat" is a critical locale convention/name format error.', True),
        ("'a' is a minor style/awkward error\n'b' is a major accuracy/omission error", True),
        ("No errors found.", True),
        ("none", True),
        ("'a cat' is a minor", False),
        ("'a' is a minor style/awkward error\n'b", False),
        ("'a cat' is bad", False),
        ("[BLOCKED]", False),
        ("", False),
    ],
)
def test_the_declared_grammar(reply, good):
    assert feedback.well_formed(reply) is good


def test_quoted_spans_are_looked_for_in_text_and_source():
    reply = (
        "'the red fox' is a minor style error\n\"le renard\" is a major accuracy error\n'x' is a"
    )
    assert feedback.quoted(reply, "The red fox runs.") == (1, 2)
    assert feedback.quoted(reply, "The red fox runs.", "Le renard court.") == (2, 2)
    assert feedback.quoted("none", "text") == (0, 0)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("[[no]] ... no: [[yes]]", 1),
        ("The answer is correct.", 1),
        ("Step 2 is wrong. The answer is incorrect. The correct answer is 4.", 0),
        ("The answer is not correct", 0),
        ("At first sight the answer is incorrect; no, the answer is correct.", 1),
        # A verdict in brackets is the one that was asked for.
        ("[[no]], though the answer is correct in form", 0),
        ("All incorrect steps are fine.", None),
        ("", None),
    ],
)
def test_correctness_is_the_last_verdict_and_never_assumed(reply, score):
    found = feedback.correctness(reply)
    assert (found.status == "ok", found.standing) == (
        score is not None,
        None if score is None else score - 1,
    )
