"""Boxed answers: braces balanced, spellings normalised."""

import pytest

from selfpref.studies.xu.refine import judges
from selfpref.studies.xu.truths import boxed, correct, normalised


def test_braces_are_balanced_and_the_last_box_counts():
    assert boxed(r"first \boxed{1}, then \boxed{\frac{1}{2}} done") == r"\frac{1}{2}"
    assert boxed(r"\boxed{ \{1, 2\} }") == r"\{1, 2\}"
    assert boxed(r"\boxed{\frac{1}{2}") is None
    assert boxed("no box: 3") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"\dfrac{1}{2}", r"\frac12"),
        ("1/2", r"\frac{1}{2}"),
        ("-3/4", r"-\frac{3}{4}"),
        (r"\left( 1, 2 \right)", "(1,2)"),
        ("1,000", "1000"),
        ("10{,}000", "10000"),
        ("2.50", "2.5"),
        ("007", "7"),
        (r"5\text{ cm}", "5"),
        (r"\text{even}", "even"),
        (r"90^\circ", "90"),
        (r"50\%", "50"),
        (r"\sqrt2", r"\sqrt{2}"),
        (r"$x+1$", "x + 1"),
        ("3.", "3"),
    ],
)
def test_spellings_of_one_answer_are_equal(one, other):
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # The release cut at the first closing brace, so that these were equal.
        (r"\frac{1}{2}", r"\frac{1}{3}"),
        ("(1,2)", "(1,3)"),
        ("-3", "3"),
        ("12", "1,2"),
        ("0.5", "0.05"),
        (r"x^2", r"x^3"),
        ("2.5", "25"),
    ],
)
def test_different_answers_stay_different(one, other):
    assert normalised(one) != normalised(other)


def test_without_an_answer_nothing_is_correct():
    assert correct(r"so \boxed{1/2}", r"\frac{1}{2}") == 1
    assert correct("I do not know", r"\frac{1}{2}") == 0
    # Missing against missing was equal in the release.
    assert correct("I do not know", "") == 0
    assert correct(r"\boxed{}", "") == 0


def boxes(*answers):
    return [rf"\boxed{{{answer}}}" if answer else "?" for answer in answers]


def test_each_round_compares_the_current_answer_with_its_majority():
    samples = boxes("1", "2", "2", "3", "3", "3")
    found = judges.rounds(samples, (3, 6))
    # Round 1: 1 against 2. Round 2: 2, the majority by then, against 3.
    assert [(samples[sample], score) for sample, score in found] == [
        (r"\boxed{1}", 0.0),
        (r"\boxed{2}", 0.0),
    ]
    assert [score for _, score in judges.rounds(boxes("4", "4", "5"), (2, 3))] == [1.0, 1.0]


def test_samples_without_an_answer_do_not_vote():
    # Of equals the first.
    assert judges.rounds(boxes("2", "1", "1", "2"), (4,)) == [(0, 1.0)]
    found = judges.rounds(boxes("", "", ""), (2, 3))
    assert [score for _, score in found] == [None, None]
    # Nobody voted in the first round: the answer stays, and is not the majority of the second.
    assert [score for _, score in judges.rounds(boxes("", "", "5"), (2, 3))] == [None, 0.0]
