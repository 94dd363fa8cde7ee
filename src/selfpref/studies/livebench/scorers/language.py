"""Rules of the language and the reasoning tasks, by name of the task."""

import difflib
import re
import unicodedata
from collections import Counter

from selfpref.studies.livebench.scorers.answers import TRIPLE, bolds, boxed, lines, plain, states

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


def _listed(text: str) -> list[str]:
    """The items of all lines that list groups: what follows a heading, parted by commas."""
    rows = (line.replace("*", "").rpartition(":")[2].split(",") for line in lines(text))
    return [item for row in rows if len(row) % GROUP == 0 for item in row]


def connections(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """Share of the key's groups of four in the best list in bold; tolerant: in the last lists."""
    wanted = _groups(key.split(","))
    answers = [part.split(",") for part in bolds(text.replace("\n", ""))]
    if tolerant:
        answers.append(_listed(text)[-GROUP * len(wanted) :])
    return max((_share(wanted, _groups(answer)) for answer in answers), default=0.0)


def _share(wanted: list[frozenset[str]], given: list[frozenset[str]]) -> float:
    return sum(group in given for group in wanted) / len(wanted)


def _nearest(sentence: str, given: list[str]) -> int:
    """The place of the most similar sentence, by the ratio of matching characters (difflib)."""
    if sentence in given:
        return given.index(sentence)
    # Characters in common, in whatever order, bound the ratio from above.
    own = Counter(sentence)
    shared = [2 * (own & Counter(other)).total() / len(sentence + other) for other in given]
    matcher = difflib.SequenceMatcher(b=sentence)
    best = (-1.0, -1)
    for bound, place in sorted(zip(shared, range(len(given)), strict=True), reverse=True):
        if bound < best[0]:
            break
        matcher.set_seq1(given[place])
        best = max(best, (matcher.ratio(), place))
    return best[1]


def plot_unscrambling(question: str, key: str, text: str) -> float:
    """1 - edit distance / sentences, after each sentence of the key finds the nearest given one."""
    # What is measured without scoring anew needs none of it.
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415

    wanted, given = (
        [part.strip() for part in plot.split(".") if part.strip()]
        for plot in (key, text.partition(TAG)[2] or text)
    )
    order = [_nearest(sentence, given) for sentence in wanted] if given else []
    return 1 - Levenshtein.distance(range(len(wanted)), order) / len(wanted)


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
