r"""Rules of the mathematics tasks: multiple choice, lists of formulae, and formulae.

Two formulae are equal when their values agree at every one of `POINTS`. An indefinite integral may
differ by a constant, a characteristic polynomial by its sign. Tolerant: the box may lack its
backslash or be drawn otherwise, the variable may have another name, and a decimal number counts if
the key rounds to it.

`evaluate` gives the value of a formula in LaTeX or in plain type.

Read are numbers, letters, `+ - * / ^`, juxtaposition as a product, brackets of any kind, `\frac`,
`\sqrt[n]{}`, roots and powers in Unicode (`√`, `x²`), and the functions of `FUNCTIONS` with an
exponent (`\sin^2 x`). Roots and logarithms are the principal values in the complex plane. `e`, `i`
and `\pi` are constants; the letter `C` is a constant of integration, taken as zero. What is no such
formula raises a `ValueError`.
"""

import cmath
import re
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import suppress

from selfpref.studies.livebench.scorers.words import Both, boxed, edited, lines, plain
from selfpref.texts import enclosed

FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    **{name: getattr(cmath, name) for name in ("sin", "cos", "tan", "log", "exp")},
    **{f"arc{name}": getattr(cmath, f"a{name}") for name in ("sin", "cos", "tan")},
    "ln": cmath.log,
    "sec": lambda z: 1 / cmath.cos(z),
    "csc": lambda z: 1 / cmath.sin(z),
    "cot": lambda z: 1 / cmath.tan(z),
}
# Added to a number, it makes +0 of -0: both sides of a cut are then one.
UPPER = 0j
CONSTANTS = {"e": cmath.e, "i": 1j, "pi": cmath.pi, "C": 0j, "c": 0j}
SIGNS = str.maketrans("×·⋅∙•−–—÷⁄∕", "*****---///")
LETTERS = str.maketrans({"π": r"\pi ", "λ": r"\lambda ", "√": r"\sqrt ", "∛": r"\sqrt[3] "})
RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
# What is written otherwise, or only for the eye.
SPELT = {
    r"\\(?:text|textbf|mathrm|mathbf|displaystyle|operatorname)(?![a-zA-Z])": "",
    r"\\[dt]frac(?![a-zA-Z])": r"\\frac",
    r"\\(?:left|right|[bB]igg?[lr]?|q?quad)(?![a-zA-Z])|\\[,;:! ]|[$~]": " ",
    r"\\div": "/",
    r"\\(?:cdot|times|ast)(?![a-zA-Z])": "*",
}
NAMED = "|".join(sorted(("sqrt", *FUNCTIONS), key=len, reverse=True))
TOKEN = re.compile(
    r"\s*(?:(\d+(?:\.\d+)?|\.\d+)|\\?(" + NAMED + r")(?![a-z])|\\([a-zA-Z]+)|([a-zA-Z])|(\S))"
)
OPEN = {"(": ")", "{": "}", "[": "]"}
# How closely operators bind; factors side by side bind as a product does.
SUM, PRODUCT, POWER = 1, 2, 3
BINDS = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "^": POWER}


def typed(text: str) -> str:
    """A text in plain characters: raised digits as powers, letters and digits of one kind."""
    raised = RAISED.sub(lambda run: "^{" + unicodedata.normalize("NFKC", run[0]) + "}", text)
    return unicodedata.normalize("NFKC", raised.translate(SIGNS).translate(LETTERS))


def _tokens(text: str) -> list[str]:
    text = typed(text)
    for pattern, other in SPELT.items():
        text = re.sub(pattern, other, text)
    return [match[match.lastindex or 0] for match in TOKEN.finditer(text)]


class _Reader:
    """Precedence climbing over the tokens; every method returns the value of what it has read."""

    def __init__(self, tokens: list[str], values: Mapping[str, complex]) -> None:
        self.tokens = [*tokens, ""]
        self.values = {**CONSTANTS, **values}
        self.latex = "{" in tokens or "frac" in tokens

    def starts(self) -> bool:
        """Whether a factor begins here."""
        token = self.tokens[0]
        return token in OPEN or token[:1].isalnum() or token[:1] == "."

    def signed(self, read: Callable[[], complex]) -> complex:
        sign = self.tokens.pop(0) if self.tokens[0] in ("+", "-") else ""
        value = self.signed(read) if sign else read()
        return -value if sign == "-" else value

    def operation(self, least: int = SUM) -> complex:
        """As far as operators bind at least so closely; a leading sign binds a whole product."""
        if least < POWER and self.tokens[0] in ("+", "-"):
            value = self.signed(lambda: self.operation(PRODUCT))
        else:
            value = self.atom()
        while (binds := BINDS.get(self.tokens[0], PRODUCT * self.starts())) >= least:
            sign = self.tokens.pop(0) if self.tokens[0] in BINDS else "*"
            if binds == POWER:
                value = (value + UPPER) ** self.signed(self.part)
            elif binds == PRODUCT:
                factor = self.signed(lambda: self.operation(POWER))
                value = value / factor if sign == "/" else value * factor
            else:
                term = self.operation(PRODUCT)
                value += term if sign == "+" else -term
        return value

    def group(self) -> complex:
        closing = OPEN[self.tokens.pop(0)]
        value = self.operation()
        if self.tokens.pop(0) != closing:
            raise ValueError(f"{closing!r} expected")
        return value

    def argument(self) -> complex:
        """Of a function without brackets: one factor, or a run of numbers and letters."""
        if self.tokens[0] in OPEN:
            return self.group()
        value = self.operation(POWER)
        while self.starts() and self.tokens[0] not in {*OPEN, *FUNCTIONS}:
            value *= self.operation(POWER)
        return value

    def atom(self) -> complex:
        if self.tokens[0] in OPEN:
            return self.group()
        token = self.tokens.pop(0)
        if token[0].isdigit() or token[0] == ".":
            return complex(float(token))
        if token == "frac":
            return self.part() / self.part()
        if token == "sqrt":
            root = self.group() if self.tokens[0] == "[" else 2.0
            return (self.atom() + UPPER) ** (1 / root)
        if token in FUNCTIONS:
            raised: complex = 1.0
            if self.tokens[0] == "^":
                self.tokens.pop(0)
                raised = self.signed(self.part)
            return FUNCTIONS[token](self.argument() + UPPER) ** raised
        return self.values[token]

    def part(self) -> complex:
        """Half of a fraction, or an exponent; in LaTeX one without braces is a single digit."""
        token = self.tokens[0]
        if self.latex and re.fullmatch(r"\d{2,}", token):
            self.tokens[:1] = [token[0], token[1:]]
        return self.atom()


def letters(text: str) -> set[str]:
    """The variables of a formula: letters that are neither constants nor functions."""
    known = {*CONSTANTS, *FUNCTIONS, "frac", "sqrt"}
    return {token for token in _tokens(text) if token[0].isalpha()} - known


def evaluate(text: str, values: Mapping[str, complex]) -> complex:
    """The value of a formula.

    Args:
        text: The formula.
        values: Of its variables, by name (`x`, `lambda`).

    Raises:
        ValueError: It cannot be read, has no value here, or names another variable.
    """
    reader = _Reader(_tokens(text), values)
    try:
        value = reader.operation()
    except (ArithmeticError, LookupError, RecursionError) as error:
        raise ValueError(f"{text}: {error}") from error
    if reader.tokens[0]:
        raise ValueError(f"{text}: {reader.tokens[0]!r} is left over")
    return value


OPTION = re.compile(r"\\textbf\{\(([A-E])\)\s?\}(.*?)(?:\\qquad|\$)")
# Where the benchmark looks for a value: near the end of the response.
NEAR_VALUE, NEAR_DIGITS = 20, 50
# Anywhere but where functions of the task are singular.
POINTS = (0.37, 0.73, 1.19, 1.61, 2.33)
CLOSE = 1e-6
BOX = re.compile(r"(?i)boxed|□|☐")
CONTENT = re.compile(r"(?:\s+(?:as|answer|variance|\w+\s*=))?[\s:]*(?:([({])|([^\n□☐]+))")
DECIMAL = re.compile(r"-?\d*\.(\d+)")


def competition(question: str, key: str, text: str) -> Both:
    """A letter four times or in a box, or its value near the end; else three digits at the end.

    Tolerant: also the last single letter of the last line, or the last number of the response.
    """
    if not re.fullmatch("[A-E]", key):
        last = map(int, re.findall(r"\d+", text)[-1:])
        return key in text[-NEAR_DIGITS:], int(key) in last
    value = dict(OPTION.findall(question)).get(key, "").strip().strip("$~")
    named = re.findall(r"\b([A-E])\b", "".join(lines(text)[-1:]))
    right = key * 4 in text or [plain(box) for box in boxed(text)[-1:]] == [key.lower()]
    right |= bool(value) and value in text[-(NEAR_VALUE + len(value)) :]
    return right, key in named[-1:]


def olympiad(question: str, key: str, text: str) -> Both:
    """1 - edit distance / length of the longer list of formula numbers.

    The list stands after the last "answer:", there or a line on; tolerant: in a box, the last line.
    """
    rows = lines(text)
    places = [
        place
        for number, line in enumerate(rows)
        if "answer:" in line.lower()
        for place in (line.lower().rpartition("answer:")[2], " ".join(rows[number + 1 :][:1]))
    ][-2:]
    parts = (key, *places, *boxed(text)[-1:], *rows[-1:])
    wanted, *lists = ([int(one) for one in re.findall(r"\d+", part)] for part in parts)
    first = (next(filter(None, some), []) for some in (lists[: len(places)], lists))
    strict, tolerant = (1 - edited(wanted, one) / max(len(wanted), len(one)) for one in first)
    return strict, tolerant


def sound(key: str) -> bool:
    """Whether the key itself is a formula."""
    with suppress(ValueError):
        return bool(_values(key, key))
    return False


def _values(formula: str, key: str, *, rename: bool = False) -> list[complex]:
    """The values of a formula at every point, its letters being those of the key."""
    names = letters(key)
    own = letters(formula)
    if rename and len(own) == len(names) == 1:
        names = own
    return [evaluate(formula, dict.fromkeys(names, point)) for point in POINTS]


def _equal(question: str, key: str, formula: str, *, tolerant: bool) -> bool:
    """Whether a formula equals the key; a `ValueError` says that it cannot be read."""
    wanted = _values(key, key)
    given = _values(formula, key, rename=tolerant)
    if "indefinite integral" in question:
        wanted, given = ([value - values[0] for value in values] for values in (wanted, given))
    signs = (1, -1) if "characteristic polynomial" in question else (1,)
    decimal = DECIMAL.fullmatch(formula) if tolerant else None
    slack = 0.5 * 10.0 ** -len(decimal[1]) if decimal else 0.0
    return any(
        all(
            cmath.isclose(a, sign * b, rel_tol=CLOSE, abs_tol=max(slack, CLOSE))
            for a, b in zip(wanted, given, strict=True)
        )
        for sign in signs
    )


def _drawn(text: str) -> list[str]:
    """Contents of everything that is meant as a box, and the last line."""
    unified = typed(text)
    found = []
    for match in BOX.finditer(unified):
        if content := CONTENT.match(unified, match.end()):
            bracket = enclosed(unified, content.start(1)) if content[1] else None
            found.append(content[2] or bracket or "")
    return [*found, *lines(unified)[-1:]]


def amps_hard(question: str, key: str, text: str) -> Both:
    """Whether the last box holds a formula equal to the key; tolerant: the last readable one.

    Of an equation the right side counts, before any decimal approximation.
    """

    def right(places: list[str], *, tolerant: bool) -> bool:
        for place in reversed(places):
            exact = re.split(r"≈|\\approx", place)[0]
            with suppress(ValueError):
                formula = exact.rpartition("=")[2].strip().rstrip(".,")
                return _equal(question, key, formula, tolerant=tolerant)
        return False

    return right(boxed(text)[-1:], tolerant=False), right(_drawn(text), tolerant=True)
