"""Rules of the reasoning tasks."""

import re

from selfpref.studies.livebench.scorers.answers import TRIPLE, bolds, boxed, lines, plain, states

VERDICT = re.compile(r"\b(yes|no|unknown)\b")
# A shape may be named with an adjective ("equilateral triangle"), but not in a list of shapes.
SHAPES = ("tetrahedra", "tetrahedron", "triangle", "square")


def _verdicts(text: str) -> list[str]:
    return VERDICT.findall(text.lower())[-3:]


def web_of_lies(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """Three words yes or no: the last three in bold; tolerant: in a box, or in the last line."""
    places = [" ".join(bolds(text))]
    if tolerant:
        places += [*boxed(text)[-1:], *lines(text)[-1:]]
    return float(any(_verdicts(place) == _verdicts(key) for place in places))


def zebra(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """One word or name: the last in triple stars; tolerant: wherever the answer is stated."""
    starred = TRIPLE.findall(text)
    right = bool(starred) and plain(starred[-1]) in (plain(key), plain(key.removesuffix(" movies")))
    return float(right or (tolerant and states(text, key)))


def spatial(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """A number or shape: any of the last three in bold; tolerant: wherever it is stated."""
    wanted = plain(key)
    for word in map(plain, bolds(text)[-3:]):
        if word == wanted:
            return 1.0
        if wanted in SHAPES and wanted in word and len(word) < 2 * len(wanted) + 5:
            return 1.0
    return float(tolerant and states(text, key))
