r"""Rules of the mathematics tasks: multiple choice, lists of formulae, and formulae.

Two formulae are equal when their values agree at every one of `POINTS`. An indefinite integral may
differ by a constant, a characteristic polynomial by its sign. Tolerant: the box may lack its
backslash or be drawn otherwise, the variable may have another name, and a decimal number counts if
the key rounds to it.
"""

import re
from contextlib import suppress

from selfpref.studies.livebench.scorers.answers import boxed, edited, lines, plain
from selfpref.studies.livebench.scorers.formula import evaluate, letters, typed
from selfpref.texts import enclosed

OPTION = re.compile(r"\\textbf\{\(([A-E])\)\s?\}(.*?)(?:\\qquad|\$)")
# Where the benchmark looks for a value: near the end of the response.
NEAR_VALUE, NEAR_DIGITS = 20, 50
# Anywhere but where functions of the task are singular.
POINTS = (0.37, 0.73, 1.19, 1.61, 2.33)
CLOSE = 1e-6
BOX = re.compile(r"(?i)boxed|□|☐")
CONTENT = re.compile(r"(?:\s+(?:as|answer|variance|\w+\s*=))?[\s:]*(?:([({])|([^\n□☐]+))")
DECIMAL = re.compile(r"-?\d*\.(\d+)")


def competition(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """A letter four times or in a box, or its value near the end; else three digits at the end.

    Tolerant: also the last single letter of the last line, or the last number of the response.
    """
    last = lines(text)[-1:] if tolerant else []
    if not re.fullmatch("[A-E]", key):
        numbers = re.findall(r"\d+", text) if tolerant else []
        right = key in text[-NEAR_DIGITS:] or [int(one) for one in numbers[-1:]] == [int(key)]
        return float(right)
    value = dict(OPTION.findall(question)).get(key, "").strip().strip("$~")
    named = [letter for line in last for letter in re.findall(r"\b([A-E])\b", line)]
    right = key * 4 in text or [plain(box) for box in boxed(text)[-1:]] == [key.lower()]
    right |= bool(value) and value in text[-(NEAR_VALUE + len(value)) :]
    return float(right or named[-1:] == [key])


def olympiad(question: str, key: str, text: str, *, tolerant: bool) -> float:
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
    if tolerant:
        places += [*boxed(text)[-1:], *rows[-1:]]
    wanted, *lists = ([int(one) for one in re.findall(r"\d+", part)] for part in (key, *places))
    given = next(filter(None, lists), [])
    return 1 - edited(wanted, given) / max(len(wanted), len(given))


def sound(key: str) -> bool:
    """Whether the key itself is a formula."""
    with suppress(ValueError):
        return bool(_values(key, key))
    return False


def _values(formula: str, key: str, *, rename: bool = False) -> list[complex]:
    """The values of a formula at every point, its letters being those of the key."""
    names, own = letters(key), letters(formula)
    if rename and len(own) == len(names) == 1:
        names = own
    return [evaluate(formula, dict.fromkeys(names, point)) for point in POINTS]


def _equal(question: str, key: str, formula: str, *, tolerant: bool) -> bool:
    """Whether a formula equals the key; a `ValueError` says that it cannot be read."""
    wanted, given = _values(key, key), _values(formula, key, rename=tolerant)
    if "indefinite integral" in question:
        wanted, given = ([value - values[0] for value in values] for values in (wanted, given))
    signs = (1, -1) if "characteristic polynomial" in question else (1,)
    decimal = DECIMAL.fullmatch(formula) if tolerant else None
    slack = 0.5 * 10.0 ** -len(decimal[1]) if decimal else 0.0
    return any(
        all(
            abs(a - sign * b) <= max(slack, CLOSE * max(1.0, abs(a), abs(b)))
            for a, b in zip(wanted, given, strict=True)
        )
        for sign in signs
    )


def _drawn(text: str) -> list[str]:
    """Contents of everything that is meant as a box, and the last line."""
    unified, found = typed(text), []
    for match in BOX.finditer(unified):
        if content := CONTENT.match(unified, match.end()):
            bracket = enclosed(unified, content.start(1)) if content[1] else None
            found.append(content[2] or bracket or "")
    return [*found, *lines(unified)[-1:]]


def amps_hard(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """Whether the last box holds a formula equal to the key; tolerant: the last readable one.

    Of an equation the right side counts, before any decimal approximation.
    """
    for place in reversed(_drawn(text) if tolerant else boxed(text)[-1:]):
        exact = re.split(r"≈|\\approx", place)[0]
        with suppress(ValueError):
            formula = exact.rpartition("=")[2].strip().rstrip(".,")
            return float(_equal(question, key, formula, tolerant=tolerant))
    return 0.0
