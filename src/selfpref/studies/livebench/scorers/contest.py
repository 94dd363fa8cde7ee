"""Rules of the contest tasks: multiple choice, three-digit answers, and lists of formulae."""

import re

from selfpref.studies.livebench.scorers.answers import boxed, lines, plain
from selfpref.studies.livebench.scorers.distance import edit_distance

OPTION = re.compile(r"\\textbf\{\(([A-E])\)\s?\}(.*?)(?:\\qquad|\$)")
CHOSEN = re.compile(r"\(?\b([A-E])\b\)?")
# Where the benchmark looks for a value: near the end of the response.
NEAR_VALUE, NEAR_DIGITS = 20, 50


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
    wanted = [int(number) for number in key.split(",")]
    given = _identifiers(text, tolerant=tolerant)
    return 1 - edit_distance(wanted, given) / max(len(wanted), len(given))
