r"""Rule of AMPS_Hard: the formula in the box equals the key.

Two formulae are equal when their values agree at every one of `POINTS`. An indefinite integral may
differ by a constant, a characteristic polynomial by its sign. Tolerant: the box may lack its
backslash or be drawn otherwise, the variable may have another name, and a decimal number counts if
the key rounds to it.
"""

import re
from contextlib import suppress

from selfpref.studies.livebench.scorers.answers import boxed, enclosed, lines
from selfpref.studies.livebench.scorers.formula import FormulaError, evaluate, letters, typed

# Anywhere but where functions of the task are singular.
POINTS = (0.37, 0.73, 1.19, 1.61, 2.33)
CLOSE = 1e-6
BOX = re.compile(r"(?i)boxed|□|☐")
CONTENT = re.compile(r"(?:\s+(?:as|answer|variance|\w+\s*=))?[\s:]*(?:([({])|([^\n□☐]+))")
DECIMAL = re.compile(r"-?\d*\.(\d+)")


def sound(key: str) -> bool:
    """Whether the key itself is a formula."""
    try:
        _values(key, key)
    except FormulaError:
        return False
    return True


def _values(formula: str, key: str, *, rename: bool = False) -> list[complex]:
    """The values of a formula at every point, its letters being those of the key."""
    names = letters(key)
    own = letters(formula)
    if rename and len(own) == len(names) == 1:
        names = own
    return [evaluate(formula, dict.fromkeys(names, point)) for point in POINTS]


def _near(one: list[complex], two: list[complex], slack: float = 0.0) -> bool:
    pairs = zip(one, two, strict=True)
    return all(abs(a - b) <= max(slack, CLOSE * max(1.0, abs(a), abs(b))) for a, b in pairs)


def _equal(question: str, key: str, formula: str, *, tolerant: bool) -> bool:
    """Whether a formula equals the key; a `FormulaError` says that it cannot be read."""
    wanted, given = _values(key, key), _values(formula, key, rename=tolerant)
    if "indefinite integral" in question:
        wanted, given = ([value - values[0] for value in values] for values in (wanted, given))
    signs = (1, -1) if "characteristic polynomial" in question else (1,)
    decimal = DECIMAL.fullmatch(formula) if tolerant else None
    slack = 0.5 * 10.0 ** -len(decimal[1]) if decimal else 0.0
    return any(_near(wanted, [sign * value for value in given], slack) for sign in signs)


def _right_side(formula: str) -> str:
    """What an equation ends with, before any decimal approximation."""
    exact = re.split(r"≈|\\approx", formula)[0]
    return exact.rpartition("=")[2].strip().rstrip(".,")


def _drawn(text: str) -> list[str]:
    """Contents of everything that is meant as a box, and the last line."""
    unified = typed(text)
    found = []
    for match in BOX.finditer(unified):
        if content := CONTENT.match(unified, match.end()):
            bracket = enclosed(unified, content.start(1)) if content[1] else None
            found.append(content[2] or bracket or "")
    return [*found, *lines(unified)[-1:]]


def amps_hard(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """Whether the last box holds a formula equal to the key; tolerant: the last readable one."""
    places = _drawn(text) if tolerant else boxed(text)[-1:]
    for formula in map(_right_side, reversed(places)):
        with suppress(FormulaError):
            return float(_equal(question, key, formula, tolerant=tolerant))
    return 0.0
