"""A judge's total and marks: each fault of the release's parser, and the rules that mend it."""

import pytest

from selfpref.prompts.choices import CHOICE_PROMPTS
from selfpref.prompts.rubric import read_marks, read_total

MARKS = [1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 1]
SUMMED = " + ".join(map(str, MARKS))


TOTALS = {
    **{"Overall Score: 8": 8, "**Overall Score**: **10**/11": 10, "Overall Score: 11": 11},
    **{"Overall Score (out of 11): 10": 10, "Overall Score: 1 + 1 + 0 … = 7": 7},
    **{f"Overall Score: {SUMMED} = **7**": 7, "Overall Score: " + " + ".join("1" * 11): 11},
    "Overall Score: 3\n\nRevised overall score: 9": 9,
    **dict.fromkeys(f"Overall Score: {none}" for none in ("12", "-3", "7.5", "1 + 1")),
    "If so, the overall score would be 6": None,
}


@pytest.mark.parametrize("reply", TOTALS)
def test_the_last_total_that_is_one_counts(reply):
    assert read_total(reply) == TOTALS[reply]


@pytest.mark.parametrize("form", ["{}. {} ({}/1): ok", "{}) **{}** – {} point", "**{}. {} ({})**"])
def test_marks_of_a_numbered_list(form):
    lines = [form.format(n, "Language mechanics", mark) for n, mark in enumerate(MARKS, start=1)]
    assert read_marks("Justification:\n" + "\n".join(lines)) == MARKS


def test_marks_of_a_sum_and_none_where_one_is_missing_or_contradictory():
    lines = [f"{n + 1}. Criterion (1): because" for n in range(11)]
    assert read_marks("\n".join(lines)) == [1] * 11
    for last in ("", "11. Concision: N/A", "11. Concision: 1/0 - no"):
        assert read_marks("\n".join([*lines[:-1], last])) is None
    assert read_marks("+ 1 + 0") is None
    assert read_marks(f"Overall Score: {SUMMED} = 7") == MARKS
    assert read_marks(f"Overall Score: {SUMMED.replace('0', '2')}") is None


@pytest.mark.parametrize(
    ("wording", "reply", "total"),
    [
        ("plain", f'{{"marks": {MARKS}}}', 7),
        ("plain", '{"marks": [2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}', None),
        ("plain", '{"marks": [1.0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}', None),
        ("plain", "{marks}", None),
        ("lab", SUMMED.replace(" +", ""), 7),
        ("lab", SUMMED.replace(" +", "") + " 1", None),
        ("lab", SUMMED.replace(" +", "").replace("0", "2"), None),
    ],
)
def test_marks_alone_are_added_up(wording, reply, total):
    assert CHOICE_PROMPTS[wording].marks(reply) == (total, MARKS if total else None)
