"""A judge's total and marks: each fault of the release's parser, and the rules that mend it."""

import pytest

from selfpref.prompts.rubric import CRITERIA, TOP, read_marks, read_total


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
    assert read_total(reply) == total


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
    assert read_total(reply) is None


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
