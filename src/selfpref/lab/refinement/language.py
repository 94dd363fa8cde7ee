"""An invented language and its exact grammar, so that the errors of a translation are computed.

    source    D1 N1 A1 P V D2 N2 A2      lo kamo siri unda poki mi tevu dalo
    target    D1 A1 N1 P V D2 A2 N2      the red dog often sees a small cat

Every source word stands for one target word; only the order differs. A text begins with an opener,
which is its style and no part of the translation. Its errors are those of the cheapest alignment of
its words to the reference; each word has the severity of its class:

    minor       article                               costs 1
    major       noun, adjective, verb, anything else  costs 5
    critical    often / never (turns the meaning)     costs 5

which are the weights of the error annotations that judges write.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Final

import numpy as np

from selfpref.lab.world import pick

SEVERITIES: Final = {"critical": 5.0, "major": 5.0, "minor": 1.0}
"""What an error costs."""
FLOOR: Final = -25.0
"""The lowest score."""
ARTICLES: Final = ("the", "a")
POLARITY: Final = ("often", "never")
ADJECTIVES: Final = ("red", "small", "old", "kind")
NOUNS: Final = ("dog", "cat", "nurse", "judge", "goat", "pilot")
VERBS: Final = ("sees", "likes", "hears", "finds")
CLASSES: Final = (ARTICLES, POLARITY, ADJECTIVES, NOUNS, VERBS)

OPENERS: Final = ("so", "well", "look", "thus")
"""The styles: a text of a style begins with its opener."""

_SOURCE: Final = (
    *("lo", "mi"),
    *("unda", "erno"),
    *("siri", "dalo", "pemu", "gati"),
    *("kamo", "tevu", "rali", "zobe", "nupo", "fida"),
    *("poki", "sarte", "wuno", "chelo"),
)
_TARGET: Final = tuple(word for words in CLASSES for word in words)
DICTIONARY: Final[dict[str, str]] = dict(zip(_SOURCE, _TARGET, strict=True))
"""Source word to target word."""

_SEVERITY: Final = dict.fromkeys(ARTICLES, "minor") | dict.fromkeys(POLARITY, "critical")
# Where the target's words D1 A1 N1 P V D2 A2 N2 stand in the source.
_ORDER: Final = (0, 2, 1, 3, 4, 5, 7, 6)


def severity(word: str) -> str:
    """The severity of an error in a target word."""
    return _SEVERITY.get(word, "major")


def class_of(word: str) -> tuple[str, ...]:
    """The words of a target word's class, itself among them."""
    return next(words for words in CLASSES if word in words)


def translate(source: str) -> str:
    """The one right translation of a source sentence.

    Raises:
        KeyError: A word is not of the language.
    """
    words = source.split()
    return " ".join(DICTIONARY[words[place]] for place in _ORDER)


def draw_sentence(rng: np.random.Generator) -> str:
    """A source sentence, all words drawn alike."""
    inverse = {target: source for source, target in DICTIONARY.items()}
    slots = (ARTICLES, NOUNS, ADJECTIVES, POLARITY, VERBS, ARTICLES, NOUNS, ADJECTIVES)
    return " ".join(inverse[pick(slot, rng)] for slot in slots)


def opener(text: str) -> str | None:
    """The style of a text, None where it begins otherwise."""
    first = text.split()[:1]
    return first[0] if first and first[0] in OPENERS else None


def body(text: str) -> list[str]:
    """The words of a text after its opener."""
    words = text.split()
    return words[1:] if opener(text) else words


def errors(reference: str, text: str) -> list[tuple[str, str]]:
    """The errors of a translation, in the order of its words.

    Args:
        reference: The right translation.
        text: What was written, with or without an opener.

    Returns:
        Severity and word of each error: the wrong or surplus word of the text, or the word of the
        reference that it lacks. Of several alignments of one cost, the one with most substitutions.
    """
    right, given = reference.split(), body(text)
    lost, extra = ([_cost(word) for word in words] for words in (right, given))
    costs = [[0.0, *accumulate(extra)]]
    for wanted, loss in zip(right, lost, strict=True):
        above = costs[-1]
        row = [above[0] + loss]
        for j, word in enumerate(given):
            other = above[j] + (0.0 if word == wanted else max(loss, extra[j]))
            row.append(min(other, above[j + 1] + loss, row[j] + extra[j]))
        costs.append(row)
    found: list[tuple[str, str]] = []
    i, j = len(right), len(given)
    while i or j:
        if i and j and costs[i][j] == costs[i - 1][j - 1] + _replacing(right[i - 1], given[j - 1]):
            i, j = i - 1, j - 1
            if right[i] != given[j]:
                worse = max((right[i], given[j]), key=_cost)
                found.append((severity(worse), given[j]))
        elif i and costs[i][j] == costs[i - 1][j] + lost[i - 1]:
            i -= 1
            found.append((severity(right[i]), right[i]))
        else:
            j -= 1
            found.append((severity(given[j]), given[j]))
    return found[::-1]


def score(found: list[tuple[str, str]]) -> float:
    """The score of a translation with these errors, -25..0."""
    return max(FLOOR, -sum(SEVERITIES[severity] for severity, _ in found))


def _cost(word: str) -> float:
    return SEVERITIES[severity(word)]


def _replacing(wanted: str, word: str) -> float:
    return 0.0 if wanted == word else max(_cost(wanted), _cost(word))
