"""Values of formulae in LaTeX and in plain type, and when two answers are equal."""

import cmath

import pytest

from selfpref.studies.livebench.scorers.mathematics import amps_hard, evaluate, letters, sound


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
        ("tan(x) + C", cmath.tan(0.7)),
    ],
)
def test_values(text, value):
    assert evaluate(text, {"x": 0.7}) == pytest.approx(value)


@pytest.mark.parametrize(
    "text", ["", "x +", "(x", "so it is done", r"\matrix{1}", "1/0", r"\log(0)"]
)
def test_what_is_no_formula_or_has_no_value_is_an_error(text):
    with pytest.raises(ValueError, match=r"unknown|expected|left over|too soon|domain|: "):
        evaluate(text, {"x": 1.0})


def test_variables():
    assert letters(r"\lambda^2 - \frac{3}{2} x \sin(x) + C") == {"lambda", "x"}


def right(key, text, question="Simplify.", *, tolerant=False):
    return amps_hard(question, key, text, tolerant=tolerant)


@pytest.mark.parametrize(
    ("key", "text", "strict", "tolerant"),
    [
        # The last box decides.
        ("5 (x-8)", r"$\boxed{x}$ no: $\boxed{5x - 40}$", 1, 1),
        ("5 (x-8)", r"$\boxed{5x - 40}$ no: $\boxed{x}$", 0, 0),
        # The right side of an equation before its approximation.
        (r"\frac{601}{6}", r"$\boxed{s^2 = \frac{601}{6} \approx 100.17}$", 1, 1),
        # A box without its backslash counts only tolerantly.
        ("5 (x-8)", "boxed{5(x-8)}.", 0, 1),
        ("5 (x-8)", "boxed: 5(x-8)", 0, 1),
        ("5 (x-8)", "so boxed as boxed{5(x-8)}", 0, 1),
        # As does a decimal to which the key is rounded.
        (r"\frac{\sqrt{917}}{2}", r"$\boxed{15.14}$", 0, 1),
        (r"\frac{\sqrt{917}}{2}", r"$\boxed{15.15}$", 0, 0),
    ],
)
def test_boxes(key, text, strict, tolerant):
    assert (right(key, text), right(key, text, tolerant=True)) == (strict, tolerant)


def test_an_indefinite_integral_may_differ_by_a_constant():
    question = "Find an indefinite integral (which can vary by a constant) of this."
    assert right("x^2", r"$\boxed{x^2 + 7}$", question) == 1
    assert right("x^2", r"$\boxed{x^2 + 7}$") == 0


def test_a_characteristic_polynomial_may_differ_by_its_sign_and_tolerantly_by_its_letter():
    question = "Find the characteristic polynomial."
    key = r"-\lambda ^3+8 \lambda"
    assert right(key, r"$\boxed{\lambda^3 - 8\lambda}$", question) == 1
    assert right(key, r"$\boxed{x^3 - 8x}$", question) == 0
    assert right(key, r"$\boxed{x^3 - 8x}$", question, tolerant=True) == 1


def test_a_broken_key_is_told():
    assert sound("2 x")
    assert not sound(r"\text{$\$$Aborted}")
