r"""Rules of the mathematics tasks: multiple choice, lists of formulae, and formulae.

Two formulae are equal when their values agree at every one of `POINTS`. An indefinite integral may
differ by a constant, a characteristic polynomial by its sign. Tolerant: the box may lack its
backslash or be drawn otherwise, the variable may have another name, and a decimal number counts if
the key rounds to it.
"""

import re
from contextlib import suppress

from selfpref.studies.livebench.scorers.answers import boxed, lines, plain
from selfpref.studies.livebench.scorers.formula import FormulaError, evaluate, letters, typed
from selfpref.texts import enclosed

OPTION = re.compile(r"\\textbf\{\(([A-E])\)\s?\}(.*?)(?:\\qquad|\$)")
CHOSEN = re.compile(r"\(?\b([A-E])\b\)?")
# Where the benchmark looks for a value: near the end of the response.
NEAR_VALUE, NEAR_DIGITS = 20, 50
# Anywhere but where functions of the task are singular.
POINTS = (0.37, 0.73, 1.19, 1.61, 2.33)
CLOSE = 1e-6
BOX = re.compile(r"(?i)boxed|□|☐")
CONTENT = re.compile(r"(?:\s+(?:as|answer|variance|\w+\s*=))?[\s:]*(?:([({])|([^\n□☐]+))")
DECIMAL = re.compile(r"-?\d*\.(\d+)")


def _option(question: str, letter: str) -> str:
    options: dict[str, str] = dict(OPTION.findall(question))
    return options.get(letter, "").strip().strip("$~")


def _choice(question: str, key: str, text: str, *, tolerant: bool) -> bool:
    if key * 4 in text:
        return True
    box = boxed(text)
    if box and plain(box[-1]) == key.lower():
        return True
    value = _option(question, key)
    if value and value in text[-(NEAR_VALUE + len(value)) :]:
        return True
    letters = CHOSEN.findall(lines(text)[-1]) if tolerant and lines(text) else []
    return bool(letters) and letters[-1] == key


def competition(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """A letter four times or in a box, or its value near the end; else three digits at the end.

    Tolerant: also the last single letter of the last line, or the last number of the response.
    """
    if re.fullmatch("[A-E]", key):
        return float(_choice(question, key, text, tolerant=tolerant))
    numbers = re.findall(r"\d+", text) if tolerant else []
    last = bool(numbers) and int(numbers[-1]) == int(key)
    return float(key in text[-NEAR_DIGITS:] or last)


def _identifiers(text: str, *, tolerant: bool) -> list[int]:
    """The list after the last "answer:", there or a line on; tolerant: a box, the last line."""
    rows = lines(text)
    named = [number for number, line in enumerate(rows) if "answer:" in line.lower()]
    places = []
    if named:
        after = rows[named[-1]].lower().rpartition("answer:")[2]
        places = [after, *rows[named[-1] + 1 :][:1]]
    if tolerant:
        places += [*boxed(text)[-1:], *rows[-1:]]
    lists = ([int(number) for number in re.findall(r"\d+", place)] for place in places)
    return next((found for found in lists if found), [])


def olympiad(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """1 - edit distance / length of the longer list of formula numbers."""
    # What is measured without scoring anew needs none of it.
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415

    wanted = [int(number) for number in key.split(",")]
    given = _identifiers(text, tolerant=tolerant)
    return 1 - Levenshtein.distance(wanted, given) / max(len(wanted), len(given))


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
