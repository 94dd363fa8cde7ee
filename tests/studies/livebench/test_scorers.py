"""Scoring rules by hand-written cases: what the form asks for, and what tolerance forgives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfpref.studies.livebench.scorers import SCORERS, score

GROUPS = "ant, bee, fly, wasp, oak, elm, ash, fir"
CHOICE = r"Pick. $\textbf{(A) }25\qquad\textbf{(B) }32 \text{ miles}$ If you cannot, guess."


def check(task, key, text, question="?"):
    found = score(task, question, key, text)
    return found["strict"], found["tolerant"]


@pytest.mark.parametrize(
    ("task", "key", "text", "strict", "tolerant"),
    [
        ("typos", "A tidy text.", "Here:\n\nA tidy\ntext.", 1, 1),
        ("typos", "It's tidy.", "It’s tidy.", 0, 1),
        ("connections", GROUPS, "**bee, ant, wasp, fly, Elm, oak, fir, ash**", 1, 1),
        ("connections", GROUPS, "One: ant, bee, fly, wasp\nTwo: oak, elm, ash, fir", 0, 1),
        # One sentence moved to the front: two edits of three.
        ("plot_unscrambling", "A ran. B sat. C fell.", "C fell. A ran. B sat.", 1 / 3, 1 / 3),
        ("web_of_lies_v2", "yes, no, yes", "**yes** or **no**: **Yes, no, yes**.", 1, 1),
        ("web_of_lies_v2", "yes, no, yes", "Thus: yes, no, yes.", 0, 1),
        ("web_of_lies_v2", "yes, no, yes", r"$\boxed{yes, no, yes}$ it is.", 0, 1),
        ("zebra_puzzle", "tea", "***coffee*** no, ***Tea***", 1, 1),
        ("zebra_puzzle", "spy movies", "***spy***", 1, 1),
        ("zebra_puzzle", "tea", "The answer is **tea**.", 0, 1),
        ("spatial", "4", "**4** since **two** cuts **cross**", 1, 1),
        ("spatial", "4", "**4** a **b** c **d** e **f**", 0, 0),
        ("spatial", "triangle", "an **equilateral triangle**", 1, 1),
        ("cta", "home_city", "`home_city`", 1, 1),
        ("cta", "city", "The class is\n**city**", 0, 1),
        ("olympiad", "2,1,3", "Answer: 2, 1, 3", 1, 1),
        ("olympiad", "2,1,3", "Answer: 2, 3", 2 / 3, 2 / 3),
        ("olympiad", "2,1,3", "They are 2, 1, 3", 0, 1),
        ("tablejoin", '{"a": "x", "b": "y"}', "```python\n{'a': 'x', 'b': 'y'}\n```", 1, 1),
        # Two hits, one pair without a target: 2 * 2 / (2 + 3).
        ("tablejoin", '{"a": "x", "b": "y"}', "{'a': 'x', 'b': 'y', 'c': None}", 0.8, 1),
    ],
)
def test_rules(task, key, text, strict, tolerant):
    assert check(task, key, text) == pytest.approx((strict, tolerant))


@pytest.mark.parametrize(
    ("key", "text", "strict", "tolerant"),
    [
        ("A", "so AAAAA", 1, 1),
        ("B", "it is 32 \\text{ miles}.", 1, 1),
        ("A", "The answer is (A) of course", 0, 1),
        ("045", "the answer is 045", 1, 1),
        ("045", "the answer is 45.", 0, 1),
        ("045", "the answer is 46.", 0, 0),
    ],
)
def test_competition(key, text, strict, tolerant):
    assert check("math_comp", key, text, CHOICE) == (strict, tolerant)


CSV = "a,b\n1,x\n2,\n"


@pytest.mark.parametrize(
    ("kind", "key", "text", "strict", "tolerant"),
    [
        ("CSV", CSV, "```csv\na,b\n1.0000000001,x\n2,NaN\n```", 1, 1),
        ("CSV", CSV, "b,a\nx,1\n,2", 1, 1),
        ("CSV", CSV, "id,A,B\n7,1,x\n8,2,", 0, 1),
        ("JSON", '{"7": {"a": 1, "b": "x&y"}}', '[{"a": "1", "b": "x&amp;y"}]', 0, 1),
        ("JSON", '{"7": {"a": 1, "b": null}}', '[{"a": 1.0, "b": ""}]', 1, 1),
        ("JSONL", '{"a": 1}\n{"a": 2}', '{"a": 1}\n{"a": 2}\n', 1, 1),
        ("TSV", "a\tb\n1\t2\n", "a\tb\n1\t3\n", 0, 0),
        ("Markdown", "| a | b |\n|:--|--:|\n| 1 | x |", "|a|b|\n|---|---|\n|1|x|", 1, 1),
        (
            "HTML",
            "<table><tr><th>a</th></tr><tr><td>1</td></tr></table>",
            "<table>\n<thead><tr><th> a </th></tr></thead>\n<tr><td> 1 </td></tr></table>",
            1,
            1,
        ),
    ],
)
def test_tables_in_every_format(kind, key, text, strict, tolerant):
    question = f"Please convert the Input Table from XML format to {kind} format."
    assert check("tablereformat", key, text, question) == (strict, tolerant)


@pytest.mark.parametrize(
    ("task", "key"),
    [
        ("typos", None),
        ("typos", ""),
        ("summarize", "A text."),
        ("AMPS_Hard", r"\text{$\$$Aborted}"),
    ],
)
def test_without_a_rule_or_a_sound_key_there_is_no_score(task, key):
    assert score("typos", "", "A text.", "A text.")
    assert score(task, "", key, "A text.") == {}


KEYS = {
    "tablejoin": '{"a": "x"}',
    "tablereformat": CSV,
    "math_comp": "B",
    "olympiad": "2,1",
    "AMPS_Hard": "2 x",
}


@given(st.sampled_from(sorted(SCORERS)), st.text(max_size=80))
def test_every_response_has_a_score_and_tolerance_never_takes_away(task, text):
    question = "from XML format to CSV format"
    found = score(task, question, KEYS.get(task, "yes, no, yes"), text)
    assert 0 <= found["strict"] <= found["tolerant"] <= 1
