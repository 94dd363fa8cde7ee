"""Rules of the language tasks."""

import difflib
import unicodedata
from collections import Counter

from selfpref.studies.livebench.scorers.answers import bolds, lines
from selfpref.studies.livebench.scorers.distance import edit_distance

GROUP = 4
TAG = "<PLOT_SUMMARY>"
QUOTES = str.maketrans("‘’“”–—−", "''\"\"---")


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
    wanted, given = (
        [part.strip() for part in plot.split(".") if part.strip()]
        for plot in (key, text.partition(TAG)[2] or text)
    )
    order = [_nearest(sentence, given) for sentence in wanted] if given else []
    return 1 - edit_distance(range(len(wanted)), order) / len(wanted)
