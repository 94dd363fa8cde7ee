"""Rules of the language and the reasoning tasks, by name of the task."""

import difflib
import re
import unicodedata
from collections import Counter

from selfpref.studies.livebench.scorers.answers import (
    TRIPLE,
    bolds,
    boxed,
    edited,
    lines,
    plain,
    states,
)

GROUP = 4
TAG = "<PLOT_SUMMARY>"
QUOTES = str.maketrans("‘’“”–—−", "''\"\"---")
VERDICT = re.compile(r"\b(yes|no|unknown)\b")
# A shape may be named with an adjective ("equilateral triangle"), but not in a list of shapes.
SHAPES = ("tetrahedra", "tetrahedron", "triangle", "square")


def _typography(text: str) -> str:
    """One kind of quote, dash and blank; no emphasis."""
    unified = unicodedata.normalize("NFKC", text).translate(QUOTES)
    return " ".join(unified.replace("*", "").split())


def typos(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """The corrected text stands in the response, line breaks aside; tolerant: typography too."""
    if tolerant:
        return float(_typography(key) in _typography(text))
    return float(key in " ".join(line for line in text.split("\n") if line))


def _groups(items: list[str]) -> list[frozenset[str]]:
    names = [item.strip().strip("*.").lower() for item in items]
    return [frozenset(names[at : at + GROUP]) for at in range(0, len(names), GROUP)]


def connections(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """Share of the key's groups of four in the best list in bold.

    Tolerant: also in the last lines that list groups after a heading.
    """
    wanted = _groups(key.split(","))
    answers = [part.split(",") for part in bolds(text.replace("\n", ""))]
    if tolerant:
        rows = [line.replace("*", "").rpartition(":")[2].split(",") for line in lines(text)]
        listed = [item for row in rows if len(row) % GROUP == 0 for item in row]
        answers.append(listed[-GROUP * len(wanted) :])
    hits = (sum(group in _groups(answer) for group in wanted) for answer in answers)
    return max(hits, default=0) / len(wanted)


def _nearest(sentence: str, given: list[str]) -> int:
    """The place of the most similar sentence, by the ratio of matching characters (difflib)."""
    if sentence in given:
        return given.index(sentence)
    # Characters in common, in whatever order, bound the ratio from above.
    own, matcher, best = Counter(sentence), difflib.SequenceMatcher(b=sentence), (-1.0, -1)
    shared = [2 * (own & Counter(other)).total() / len(sentence + other) for other in given]
    for place in sorted(range(len(given)), key=shared.__getitem__, reverse=True):
        if shared[place] >= best[0]:
            matcher.set_seq1(given[place])
            best = max(best, (matcher.ratio(), place))
    return best[1]


def plot_unscrambling(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """1 - edit distance / sentences, after each sentence of the key finds the nearest given one."""
    wanted, given = (
        [part.strip() for part in plot.split(".") if part.strip()]
        for plot in (key, text.partition(TAG)[2] or text)
    )
    order = [_nearest(sentence, given) for sentence in wanted] if given else []
    return 1 - edited(range(len(wanted)), order) / len(wanted)


def web_of_lies(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """Three words yes or no: the last three in bold; tolerant: in a box, or in the last line."""
    places = [" ".join(bolds(text))]
    if tolerant:
        places += [*boxed(text)[-1:], *lines(text)[-1:]]
    wanted, *given = (VERDICT.findall(place.lower())[-3:] for place in (key, *places))
    return float(wanted in given)


def zebra(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """One word or name: the last in triple stars; tolerant: wherever the answer is stated."""
    starred = [plain(word) for word in TRIPLE.findall(text)[-1:]]
    right = any(plain(one) in starred for one in (key, key.removesuffix(" movies")))
    return float(right or (tolerant and states(text, key)))


def spatial(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """A number or shape: any of the last three in bold; tolerant: wherever it is stated."""
    wanted, words = plain(key), [plain(word) for word in bolds(text)[-3:]]
    named = [word for word in words if wanted in word and len(word) < 2 * len(wanted) + 5]
    right = wanted in words or (wanted in SHAPES and bool(named))
    return float(right or (tolerant and states(text, key)))
