"""What a judge's reply says: each fault of the release's parser, and the rules that mend it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfpref.prompts.replies import CRITERIA, TOP, labels, read_marks, read_preference, read_total

NUMBERS, LETTERS = labels(3, letters=False), labels(3, letters=True)


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("2", "2"),
        (" 3.\n", "3"),
        ("Response 1", "1"),
        ("**2**", "2"),
        ("[[3]]", "3"),
        ("The best response is 2.", "2"),
        # A number that counts the candidates.
        ("of the 3 responses, 1", "1"),
        ("Of the 3 responses, 1 is the most accurate.", "1"),
        # The last verdict, not the first digit.
        ("Response 1 is short. Response 2 is wrong. So 3", "3"),
        ("I first thought 1, but my verdict is 2", "2"),
        ("Response 2 is better than Response 1", "2"),
        ("I prefer response 3 over response 2.", "3"),
        ("1\n\nReasons:\n1. It is clear.\n2. It is short.\n3. It is right.", "1"),
        ("2 because it names 3 reasons", "2"),
    ],
)
def test_the_last_verdict_counts(reply, label):
    assert read_preference(reply, NUMBERS).value == label


@pytest.mark.parametrize(
    "reply", ["0", "4", "-1", "10", "", "none of them", "All 3 responses are equal", "2/3", "tie"]
)
def test_what_is_out_of_range_is_no_verdict(reply):
    read = read_preference(reply, NUMBERS)
    assert (read.value, read.status) == (None, "unparsable")


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("A", "A"),
        ("B.", "B"),
        ("(C)", "C"),
        ("Response A is longer, so A", "A"),
        ("A response that convinces: Response C", "C"),
        ("I think B is better than A", "B"),
        ("D", None),
        ("I like a response of this kind", None),
    ],
)
def test_letters_are_read_and_articles_are_not(reply, label):
    assert read_preference(reply, LETTERS).value == label


def test_a_tie_is_a_verdict_only_where_it_is_allowed():
    assert read_preference("It is a tie.", LETTERS, ties=True).value == "tie"
    assert read_preference("It is a tie.", LETTERS).status == "unparsable"
    assert read_preference("Not a tie: B", LETTERS, ties=True).value == "B"


@given(st.text(max_size=60), st.integers(2, 6), st.booleans(), st.booleans())
def test_a_preference_is_always_a_label_or_nothing(reply, number, letters, ties):
    names = labels(number, letters=letters)
    read = read_preference(reply, names, ties=ties)
    assert read.status in ("ok", "unparsable")
    assert (read.status == "ok") == (read.value in {*names, *(["tie"] if ties else [])})


@pytest.mark.parametrize(
    ("reply", "total"),
    [
        ("Overall Score: 8", 8),
        ("overall score - 9", 9),
        ("**Overall Score:** 8", 8),
        ("**Overall Score**: **10**/11", 10),
        ("Overall Score (out of 11): 10", 10),
        ("Overall Score: 8.0", 8),
        ("Overall Score: 0", 0),
        ("Overall Score: 1 + 1 + 0 … = 7", 7),
        ("Overall Score: 1 + 1 + 0 + 0 + 0 + 1 + 0 + 1 + 1 + 1 + 1 = **7**", 7),
        ("Overall Score: " + " + ".join("1" * 11), 11),
        ("Overall Score: 3\n\nRevised overall score: 9", 9),
    ],
)
def test_totals_in_every_form(reply, total):
    read = read_total(reply)
    assert (read.value, read.status) == (total, "ok")


@pytest.mark.parametrize(
    "reply",
    [
        "Overall Score: 12",
        "Overall Score: -3",
        "Overall Score: 7.5",
        "Overall Score: 1 + 1",
        "Overall Score: high",
        "If so, the overall score would be 6",
        "8",
        "",
    ],
)
def test_a_total_that_is_none_has_no_value(reply):
    read = read_total(reply)
    assert (read.value, read.status) == (None, "unparsable")


@pytest.mark.parametrize(
    "form",
    [
        "{n}. {name} (1/1): fine",
        "{n}. {name}: 1 - fine",
        "{n}. **{name}** (1 point): fine",
        "{n}) {name} – 1: fine",
        "**{n}. {name} (1)**: fine",
    ],
)
def test_marks_of_a_numbered_list(form):
    lines = [form.format(n=n, name=name.capitalize()) for n, name in enumerate(CRITERIA, start=1)]
    lines[3] = lines[3].replace("1/1", "0/1").replace("1 p", "0 p")
    marks = read_marks("Justification:\n" + "\n".join(lines))
    assert marks is not None
    assert len(marks) == TOP
    assert set(marks) <= {0, 1}


def test_marks_say_what_the_list_says():
    text = "\n".join(f"{n + 1}. Criterion ({n % 2}/1): because" for n in range(11))
    assert read_marks(text) == [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]
    assert read_marks("+ 1 + 0") is None
    assert read_marks("Overall Score: 1 + 1 + 0 + 0 + 0 + 1 + 0 + 1 + 1 + 1 + 1 = 7") == [
        *(1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 1)
    ]


def test_a_missing_or_contradictory_mark_leaves_none():
    lines = [f"{n + 1}. Criterion (1): because" for n in range(11)]
    assert read_marks("\n".join(lines[:-1])) is None
    assert read_marks("\n".join([*lines[:-1], "11. Concision: N/A"])) is None
    assert read_marks("\n".join([*lines[:-1], "11. Concision: 1/0 - no"])) is None
