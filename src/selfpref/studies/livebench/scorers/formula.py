r"""Values of formulae written in LaTeX or in plain type.

Read are numbers, letters, `+ - * / ^`, juxtaposition as a product, brackets of any kind, `\frac`,
`\sqrt[n]{}`, roots and powers in Unicode (`√`, `x²`), and the functions of `FUNCTIONS` with an
exponent (`\sin^2 x`). Roots and logarithms are the principal values in the complex plane. `e`, `i`
and `\pi` are constants; the letter `C` is a constant of integration, taken as zero.
"""

import cmath
import re
import unicodedata
from collections.abc import Callable, Mapping

Numbers = Mapping[str, complex]

FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "sin": cmath.sin,
    "cos": cmath.cos,
    "tan": cmath.tan,
    "sec": lambda z: 1 / cmath.cos(z),
    "csc": lambda z: 1 / cmath.sin(z),
    "cot": lambda z: 1 / cmath.tan(z),
    "log": cmath.log,
    "ln": cmath.log,
    "exp": cmath.exp,
    "arcsin": cmath.asin,
    "arccos": cmath.acos,
    "arctan": cmath.atan,
}
CONSTANTS = {"e": cmath.e, "i": 1j, "pi": cmath.pi, "C": 0j, "c": 0j}
GREEK = {"π": r"\pi ", "λ": r"\lambda ", "√": r"\sqrt ", "∛": r"\sqrt[3] "}
SIGNS = {
    **dict.fromkeys("×·⋅∙•", "*"),
    **dict.fromkeys("−–—", "-"),
    **dict.fromkeys("÷⁄∕", "/"),
    **GREEK,
}
SUPERSCRIPT = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-", strict=True))
RAISED = re.compile(f"[{''.join(SUPERSCRIPT)}]+")
UNWRAPPED = re.compile(r"\\(?:text|textbf|mathrm|mathbf|displaystyle|operatorname)(?![a-zA-Z])")
SPACING = re.compile(r"\\(?:left|right|[bB]igg?[lr]?|q?quad)(?![a-zA-Z])|\\[,;:! ]|[$~]")
TOKEN = re.compile(
    r"\s*(?:(\d+(?:\.\d+)?|\.\d+)|\\?(sqrt|"
    + "|".join(sorted(FUNCTIONS, key=len, reverse=True))
    + r")(?![a-z])|\\([a-zA-Z]+)|([a-zA-Z])|(\S))"
)
OPEN = {"(": ")", "{": "}", "[": "]"}


class FormulaError(ValueError):
    """The text is no formula that can be read."""


def typed(text: str) -> str:
    """A text in plain characters: raised digits as powers, letters and digits of one kind."""
    raised = RAISED.sub(lambda run: "^{" + "".join(SUPERSCRIPT[c] for c in run[0]) + "}", text)
    for sign, plain in SIGNS.items():
        raised = raised.replace(sign, plain)
    return unicodedata.normalize("NFKC", raised)


def _unified(text: str) -> str:
    unified = re.sub(r"\\[dt]frac(?![a-zA-Z])", r"\\frac", UNWRAPPED.sub("", typed(text)))
    spaced = SPACING.sub(" ", unified).replace(r"\div", "/")
    return re.sub(r"\\(?:cdot|times|ast)(?![a-zA-Z])", "*", spaced)


def _tokens(text: str) -> list[str]:
    found = []
    place = 0
    unified = _unified(text).rstrip()
    while place < len(unified):
        match = TOKEN.match(unified, place)
        if match is None:
            raise FormulaError(text)
        found.append(str(match[match.lastindex or 0]))
        place = match.end()
    return found


class _Reader:
    """Recursive descent over the tokens; every method returns the value of what it has read."""

    def __init__(self, tokens: list[str], values: Numbers) -> None:
        self.tokens = tokens
        self.values = {**CONSTANTS, **values}
        self.place = 0
        self.latex = "{" in tokens or "frac" in tokens

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if not token or (wanted and token != wanted):
            raise FormulaError(f"{wanted or 'more'} expected, not {token!r}")
        self.place += 1
        return token

    def sum(self) -> complex:
        total = self.product()
        while self.peek() in ("+", "-"):
            total += self.product() if self.take() == "+" else -self.product()
        return total

    def product(self) -> complex:
        """Factors side by side or with signs between; a leading sign binds the whole product."""
        if self.peek() in ("+", "-"):
            return self.product() if self.take() == "+" else -self.product()
        value = self.power()
        while True:
            if self.peek() in ("*", "/"):
                sign = self.take()
                factor = self.signed()
                value = value * factor if sign == "*" else value / factor
            elif self.starts():
                value *= self.power()
            else:
                return value

    def signed(self) -> complex:
        if self.peek() == "-":
            self.take()
            return -self.signed()
        return self.power()

    def starts(self) -> bool:
        """Whether a factor begins here."""
        token = self.peek()
        return bool(token) and (token in OPEN or token[0].isalnum() or token[0] == ".")

    def power(self) -> complex:
        value = self.atom()
        while self.peek() == "^":
            self.take()
            value = _upper(value) ** self.exponent()
        return value

    def exponent(self) -> complex:
        if self.peek() == "-":
            self.take()
            return -self.exponent()
        return self.part()

    def group(self) -> complex:
        closing = OPEN[self.take()]
        value = self.sum()
        self.take(closing)
        return value

    def argument(self) -> complex:
        """Of a function or root without brackets: one factor, or a run of numbers and letters."""
        value = self.power()
        while self.starts() and self.peek() not in OPEN and self.peek() not in FUNCTIONS:
            value *= self.power()
        return value

    def atom(self) -> complex:
        token = self.peek()
        if token in OPEN:
            return self.group()
        self.take()
        if token[0].isdigit() or token[0] == ".":
            return complex(float(token))
        if token == "frac":
            return self.part() / self.part()
        if token == "sqrt":
            root = self.group() if self.peek() == "[" else 2.0
            return _upper(self.atom()) ** (1 / root)
        if token in FUNCTIONS:
            raised = None
            if self.peek() == "^":
                self.take()
                raised = self.exponent()
            value = self.group() if self.peek() in OPEN else self.argument()
            applied = FUNCTIONS[token](_upper(value))
            return applied if raised is None else applied**raised
        if token in self.values:
            return self.values[token]
        raise FormulaError(f"unknown {token!r}")

    def part(self) -> complex:
        """Half of a fraction, or an exponent; in LaTeX one without braces is a single digit."""
        token = self.peek()
        if self.latex and re.fullmatch(r"\d{2,}", token):
            self.tokens[self.place : self.place + 1] = [token[0], token[1:]]
        return self.atom()


def _upper(value: complex) -> complex:
    """The same number, with +0 for -0: both sides of a cut are then one."""
    return complex(value.real + 0.0, value.imag + 0.0)


def letters(text: str) -> set[str]:
    """The variables of a formula: letters that are neither constants nor functions."""
    known = {*CONSTANTS, *FUNCTIONS, "frac", "sqrt"}
    return {token for token in _tokens(text) if token[0].isalpha()} - known


def evaluate(text: str, values: Numbers) -> complex:
    """The value of a formula.

    Args:
        text: The formula.
        values: Of its variables, by name (`x`, `lambda`).

    Raises:
        FormulaError: It cannot be read, has no value here, or names another variable.
    """
    reader = _Reader(_tokens(text), values)
    try:
        value = reader.sum()
    except FormulaError:
        raise
    except (ArithmeticError, ValueError, RecursionError) as error:
        raise FormulaError(f"{text}: {error}") from error
    if reader.peek():
        raise FormulaError(f"{text}: {reader.peek()!r} is left over")
    return value
