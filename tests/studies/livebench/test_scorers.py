"""Scoring rules by hand-written cases: what the form asks for, and what tolerance forgives."""

import cmath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfpref.studies.livebench.scorers import SCORERS, score
from selfpref.studies.livebench.scorers.mathematics import evaluate, letters

GROUPS = "ant, bee, fly, wasp, oak, elm, ash, fir"
CHOICE = r"Pick. $\textbf{(A) }25\qquad\textbf{(B) }32 \text{ miles}$ If you cannot, guess."
INTEGRAL = "Find an indefinite integral (which can vary by a constant) of this."
POLYNOMIAL, CUBIC = "Find the characteristic polynomial.", r"-\lambda ^3+8 \lambda"
ROOT, JOINED = r"\frac{\sqrt{917}}{2}", '{"a": "x", "b": "y"}'


RULES = [
    ("typos", "A tidy text.", "Here:\n\nA tidy\ntext.", 1, 1),
    ("typos", "It's tidy.", "It’s tidy.", 0, 1),
    ("connections", GROUPS, "**bee, ant, wasp, fly, Elm, oak, fir, ash**", 1, 1),
    ("connections", GROUPS, "One: ant, bee, fly, wasp\nTwo: oak, elm, ash, yew", 0, 0.5),
    # One sentence moved to the front: two edits of three.
    ("plot_unscrambling", "A ran. B sat. C fell.", "C fell. A ran. B sat.", 1 / 3, 1 / 3),
    ("plot_unscrambling", "A ran. B sat. C fell.", "A run. B sat. C felt!", 1, 1),
    ("web_of_lies_v2", "yes, no, yes", "**yes** or **no**: **Yes, no, yes**.", 1, 1),
    ("web_of_lies_v2", "yes, no, yes", "Thus: yes, no, yes.", 0, 1),
    ("web_of_lies_v2", "yes, no, yes", r"$\boxed{yes, no, yes}$ it is.", 0, 1),
    ("zebra_puzzle", "tea", "***coffee*** no, ***Tea***", 1, 1),
    ("zebra_puzzle", "spy movies", "***spy***", 1, 1),
    ("zebra_puzzle", "tea", "Not ***tea*** but ***milk***: **tea**.", 0, 1),
    ("spatial", "4", "**4** since **two** cuts **cross**", 1, 1),
    ("spatial", "4", "**4** a **b** c **d** e **f**", 0, 0),
    ("spatial", "triangle", "an **equilateral triangle**", 1, 1),
    ("cta", "home_city", "`home_city`", 1, 1),
    ("cta", "city", "The class is\n**city**", 0, 1),
    ("olympiad", "2,1,3", "**Answer:**\n\n2, 1, 3", 1, 1),
    ("olympiad", "2,1,3", "Answer: 2, 3", 2 / 3, 2 / 3),
    ("olympiad", "2,1,3", "They are 2, 1, 3", 0, 1),
    ("tablejoin", JOINED, "```python\n{'a': 'x', 'b': 'y'}\n```", 1, 1),
    # Two hits, one pair without a target: 2 * 2 / (2 + 3).
    ("tablejoin", JOINED, "{'a': 'x', 'b': 'y', 'c': None}", 0.8, 1),
    ("tablejoin", JOINED, "{{'a': 'x'}}", 0, 0),
    ("math_comp", "A", "so AAAAA", 1, 1),
    ("math_comp", "B", "it is 32 \\text{ miles}.", 1, 1),
    ("math_comp", "A", "The answer is (A) of course", 0, 1),
    ("math_comp", "A", "The answer is (A)\nof course", 0, 0),
    ("math_comp", "045", "the answer is 045", 1, 1),
    ("math_comp", "045", "the answer is 45.", 0, 1),
    ("math_comp", "045", "the answer is 46.", 0, 0),
]
BOXES = [
    # The last box decides.
    ("Simplify.", "5 (x-8)", r"$\boxed{x}$ no: $\boxed{5x - 40}$", 1, 1),
    ("Simplify.", "5 (x-8)", r"$\boxed{5x - 40}$ no: $\boxed{x}$", 0, 0),
    ("Simplify.", "5 (x-8)", r"$\boxed{5x - 40}$ and \boxed{x", 1, 1),
    # The right side of an equation before its approximation.
    ("Solve.", r"\frac{601}{6}", r"$\boxed{s^2 = \frac{601}{6} \approx 100.17}$", 1, 1),
    # A box without its backslash counts only tolerantly.
    ("Simplify.", "5 (x-8)", r"$\boxed{5(x-8)}$ so $\boxed{5(x-}$", 0, 1),
    ("Simplify.", "5 (x-8)", "boxed{5(x-8)}.", 0, 1),
    ("Simplify.", "5 (x-8)", "boxed: 5(x-8)", 0, 1),
    ("Simplify.", "5 (x-8)", "so boxed as boxed{5(x-8)}", 0, 1),
    # As does a decimal to which the key is rounded.
    ("Simplify.", ROOT, r"$\boxed{15.14}$", 0, 1),
    ("Simplify.", ROOT, r"$\boxed{15.15}$", 0, 0),
    # An indefinite integral may differ by a constant, a characteristic polynomial by its sign
    # and, tolerantly, by its letter.
    (INTEGRAL, "x^2", r"$\boxed{x^2 + 7}$", 1, 1),
    ("Simplify.", "x^2", r"$\boxed{x^2 + 7}$", 0, 0),
    (POLYNOMIAL, CUBIC, r"$\boxed{\lambda^3 - 8\lambda}$", 1, 1),
    (POLYNOMIAL, CUBIC, r"$\boxed{x^3 - 8x}$", 0, 1),
]
CSV = "a,b\n1,x\n2,\n"
HTML = "<table><tr><th>a</th></tr><tr><td>1</td></tr></table>"
TABLES = [
    ("CSV", CSV, "```csv\na,b\n1.0000000001,x\n2,NaN\n```", 1, 1),
    ("CSV", CSV, "b,a\nx,1\n,2", 1, 1),
    ("CSV", CSV, "id,A,B\n7,1,x\n8,2,", 0, 1),
    ("CSV", CSV, "a\n1\n2", 0, 0),
    ("JSON", '{"7": {"a": 1, "b": "x&y"}}', '[{"a": "1", "b": "x&amp;y"}]', 0, 1),
    ("JSON", '{"7": {"a": 1, "b": null}}', '[{"a": 1.0, "b": ""}]', 1, 1),
    ("JSONL", '{"a": 1}\n{"a": 2}', '{"a": 1}\n{"a": 2}\n', 1, 1),
    ("TSV", "a\tb\n1\t2\n", "a\tb\n1\t3\n", 0, 0),
    ("Markdown", "| a | b |\n|:--|--:|\n| 1 | x |", "|a|b|\n|---|---|\n|1|x|", 1, 1),
    ("HTML", HTML, HTML.replace(">1<", ">\n 1 <").replace("<tr><th>", "<tr>\n<th>"), 1, 1),
]
CONVERT = "Please convert the Input Table from XML format to {} format."
CASES = [(task, CHOICE, *case) for task, *case in RULES]
CASES += [("AMPS_Hard", *case) for case in BOXES]
CASES += [("tablereformat", CONVERT.format(kind), *case) for kind, *case in TABLES]


@pytest.mark.parametrize(("task", "question", "key", "text", "strict", "tolerant"), CASES)
def test_a_response_has_a_strict_and_a_tolerant_score(task, question, key, text, strict, tolerant):
    found = score(task, question, key, text)
    assert found == pytest.approx({"strict": strict, "tolerant": tolerant})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2x^2 - 3", 2 * 0.49 - 3),
        (r"\frac12", 0.5),
        ("2(x + 5/2)² – 25/2", 2 * 3.2**2 - 12.5),
        ("(23√2)/2", 23 * 2**0.5 / 2),
        ("√3x", 3**0.5 * 0.7),
        ("9√[5]{44}", 9 * 44**0.2),
        (r"9\cdot2^{\frac{2}{5}}", 9 * 2**0.4),
        ("2^{2}3^211", 4 * 9 * 11),
        (r"\sin ^2(x)", cmath.sin(0.7) ** 2),
        (r"4 i \sqrt{5}", 4j * 5**0.5),
        (r"\sqrt[3]{-8}", 2 * cmath.exp(1j * cmath.pi / 3)),
        ("x/2x", 0.7 / 2 * 0.7),
        ("tan 2x + C", cmath.tan(1.4)),
    ],
)
def test_values(text, value):
    assert evaluate(text, {"x": 0.7}) == pytest.approx(value)


NO_FORMULAE = ["", "x +", "(x", "so it is done", r"\matrix{1}", "1/0", r"\log(0)", "x)", "y"]


@pytest.mark.parametrize("text", NO_FORMULAE)
def test_what_is_no_formula_or_has_no_value_is_an_error(text):
    with pytest.raises(ValueError, match=r"expected|domain|: "):
        evaluate(text, {"x": 1.0})


def test_variables():
    assert letters(r"\lambda^2 - \frac{3}{2} x \sin(x) + C") == {"lambda", "x"}


@pytest.mark.parametrize(
    ("task", "key"),
    [("typos", None), ("typos", ""), ("summarize", "A text."), ("AMPS_Hard", r"\text{$\$$No}")],
)
def test_without_a_rule_or_a_sound_key_there_is_no_score(task, key):
    assert score(task, "", key, "A text.") == {}


KEYS = {"tablejoin": JOINED, "tablereformat": CSV, "math_comp": "B", "olympiad": "2,1"}
KEYS |= {"AMPS_Hard": "2 x"}


@given(st.sampled_from(sorted(SCORERS)), st.text(max_size=80))
def test_every_response_has_a_score_and_tolerance_never_takes_away(task, text):
    found = score(task, "from XML format to CSV format", KEYS.get(task, "yes, no, yes"), text)
    assert 0 <= found["strict"] <= found["tolerant"] <= 1
