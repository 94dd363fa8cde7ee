"""What feedback says: annotated, explicitly without error, unusable; and the release's rules."""

import numpy as np
import pytest

from selfpref.models import Choice, Text
from selfpref.studies.xu import feedback
from selfpref.studies.xu.feedback import read, read_generation

MAJOR = "'x' is a major accuracy error"


# By reply: critical, major and minor errors.
ERRORS = {
    "'a' is a Major accuracy/addition error\n'b' is a MINOR style/awkward error": (0, 1, 1),
    f"{MAJOR}\n'b' is a critical other error\n{MAJOR}": (1, 2, 0),
    # The severity of the statement counts, not one that is quoted or part of a word.
    "'major cities' is a minor accuracy/mistranslation error": (0, 0, 1),
    # Statements that run on without a line break, and a last one that was cut off.
    "'a' is a minor style/awkward error'b' is a major accuracy/omission error": (0, 1, 1),
    f"{MAJOR}\n'b' is a minor termin": (0, 1, 1),
    "The text has no major errors. One minor fluency/punctuation error is there.": (0, 0, 1),
    "\n".join([MAJOR] * 7): (0, 7, 0),
    **dict.fromkeys((" None.", "The text does not contain any errors."), (0, 0, 0)),
    "'a cat' is a no-error translation": (0, 0, 0),
    "'a' is a style/awkward minor error": (0, 0, 1),
}
# By reply: the concepts that it calls missing.
MISSING = {
    **dict.fromkeys(("all covered", "All concepts are covered."), 0),
    "['cat', 'Dog', dog]": 2,
    "missing concepts: 'cat'": 1,
    # The release compared the length of the reply: a long name is still one concept.
    "[an extraordinarily long concept]": 1,
    "The sentence does not cover all concepts.": 1,
    # What the model makes up after its answer is none, nor is an instruction that it repeats.
    "['cat']\t\tGenerated Sentence: A cat. \t\tFeedback: all covered": 1,
    "List them. If nothing is, output 'all covered'  all covered": 0,
}
# The last verdict counts; one in brackets is the one that was asked for.
VERDICTS = {
    "First [[no]], but then: 3. [[Yes]]": 1,
    "[[no]], though the answer is correct in form": 0,
    "At first sight the answer is incorrect; no, the answer is correct.": 1,
    "The answer is incorrect. The correct answer is 4.": 0,
    "The answer is not correct": 0,
}
NOTHING = {
    "mqm": [
        *("1. 1. 1. 1. 1.", "There is no translation provided.", "I am unable to identify errors."),
        *("This context is un-translatable. No errors.", "'a cat' is a non-translation error"),
        # An error of unknown weight leaves the sum unknown.
        "'a' is a minor style error\n'b' is a serious accuracy/omission error",
    ],
    "coverage": [
        *("10 concepts covered", "Concepts: ['cat']"),
        "List them. If nothing is, output 'all covered'",
    ],
    "correctness": ["[[maybe]]", "All incorrect steps are fine."],
}


def test_a_reply_is_read_as_what_it_says():
    for reply, marks in ERRORS.items():
        points = -(5.0 * marks[0] + 5.0 * marks[1] + marks[2])
        # Reported scores have a floor; the accept rule compares without it.
        found = read("mqm", reply)
        assert found == feedback.Feedback("ok", max(points, -25), points, marks, reply)
    for reply, count in MISSING.items():
        wanted = feedback.Feedback("ok", float(count == 0), -count, (count,), reply)
        assert read("coverage", reply) == wanted
    for reply, score in VERDICTS.items():
        wanted = feedback.Feedback("ok", score, score - 1, None, reply)
        assert read("correctness", reply) == wanted


@pytest.mark.parametrize("task", NOTHING)
def test_what_says_nothing_is_missing_and_not_perfect(task):
    for reply in ["", "Fine.", "It is [BLOCKED], no errors", *NOTHING[task]]:
        found = read(task, reply)
        assert found.status == ("refused" if "BLOCKED" in reply else "unparsable"), reply
        assert np.isnan(found.score)
        assert (found.standing, found.marks) == (None, None)


def test_the_released_rules_count_substrings():
    said = {"": 0, "'a' is a Major style error": 0, "critical " * 6: -25}
    said |= {"'major cities' is a minor accuracy error": -6, "critical major minor minor": -12}
    assert {reply: feedback.released("mqm", reply) for reply in said} == said
    assert feedback.released("coverage", "output 'all covered'  ['cat']") == 1
    assert feedback.released("coverage", "All covered") == 0


def test_the_declared_grammar():
    kept = ["'a' is a minor style/awkward error\n\n'b' is a major accuracy/omission error", "none"]
    kept += ['"a cat" is a critical locale convention/name format error.', "No errors found."]
    broken = ["'a cat' is a minor", "'a' is a minor style/awkward error\n'b", "'a cat' is bad"]
    assert all(map(feedback.well_formed, kept))
    assert not any(map(feedback.well_formed, [*broken, "[BLOCKED]", ""]))


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
