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

from itertools import product

import numpy as np

from selfpref.lab.world import pick

# What an error costs, and the lowest score.
SEVERITIES = {"critical": 5.0, "major": 5.0, "minor": 1.0}
FLOOR = -25.0
ARTICLES, POLARITY = ("the", "a"), ("often", "never")
ADJECTIVES = ("red", "small", "old", "kind")
NOUNS = ("dog", "cat", "nurse", "judge", "goat", "pilot")
VERBS = ("sees", "likes", "hears", "finds")
CLASSES = (ARTICLES, POLARITY, ADJECTIVES, NOUNS, VERBS)
# The styles: a text of a style begins with its opener.
OPENERS = ("so", "well", "look", "thus")
_SOURCE = "lo mi unda erno siri dalo pemu gati kamo tevu rali zobe nupo fida poki sarte wuno chelo"
_TARGET = [word for words in CLASSES for word in words]
# Source word to target word.
DICTIONARY = dict(zip(_SOURCE.split(), _TARGET, strict=True))
_SEVERITY = dict.fromkeys(ARTICLES, "minor") | dict.fromkeys(POLARITY, "critical")
# Where the target's words D1 A1 N1 P V D2 A2 N2 stand in the source.
_ORDER = (0, 2, 1, 3, 4, 5, 7, 6)
# Severity and word.
Error = tuple[str, str]


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


def errors(reference: str, text: str) -> list[Error]:
    """The errors of a translation, in the order of its words.

    Args:
        reference: The right translation.
        text: What was written, with or without an opener.

    Returns:
        Severity and word of each error: the wrong or surplus word of the text, or the word of the
        reference that it lacks. Of several alignments of one cost, the one with most substitutions.
    """
    right, given = reference.split(), body(text)
    # Of the first words of both the cheapest alignment: its cost and its errors.
    best: dict[tuple[int, int], tuple[float, list[Error]]] = {}
    for i, j in product(range(len(right) + 1), range(len(given) + 1)):
        ways: list[tuple[int, int, list[Error]]] = []
        if i and j:
            pair = right[i - 1], given[j - 1]
            worse = severity(max(pair, key=_cost))
            ways.append((i - 1, j - 1, [(worse, pair[1])] if pair[0] != pair[1] else []))
        if i:
            ways.append((i - 1, j, [(severity(right[i - 1]), right[i - 1])]))
        if j:
            ways.append((i, j - 1, [(severity(given[j - 1]), given[j - 1])]))
        whole = [[*best[a, b][1], *new] for a, b, new in ways] or [[]]
        costs = [sum(SEVERITIES[severity] for severity, _ in found) for found in whole]
        best[i, j] = min(zip(costs, whole, strict=True), key=lambda way: way[0])
    return best[len(right), len(given)][1]


def score(found: list[Error]) -> float:
    """The score of a translation with these errors, -25..0."""
    return max(FLOOR, -sum(SEVERITIES[severity] for severity, _ in found))


def _cost(word: str) -> float:
    return SEVERITIES[severity(word)]
