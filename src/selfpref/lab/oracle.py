"""The rule-based oracle: what is correct in a response, and how good the response is.

    quality(item, response) = correct parts / parts asked for          in [0, 1]

It reads the response's words and nothing else, so it judges a trained model's output just as it
judges a hand-written one. A part counts once: repeating a right thing earns nothing, and only the
first ``count`` things of a list are read, so that padding does not pay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from selfpref.lab.vocabulary import ATTRIBUTE_OF, COLOUR_OF, FACTS, NUMBERS, USE_WORDS
from selfpref.lab.world import Item

TOP_DIGIT: Final = 9
_USE_WORDS: Final = frozenset(USE_WORDS)
_NUMBERS: Final = frozenset(NUMBERS)


def split_words(text: str) -> list[str]:
    """Split a response into words; punctuation is set apart by spaces in this world."""
    return text.lower().split()


def marks(item: Item, words: Sequence[str]) -> list[bool | None]:
    """Judge a response word by word.

    Args:
        item: The prompt.
        words: The response's words.

    Returns:
        One entry per word: True for a right part, False for a wrong, repeated or surplus one,
        None for a word that is no checkable content.
    """
    if item.task == "sum":
        return _sum_marks(item, words)
    found: list[bool | None] = []
    seen: set[str] = set()
    parts = 0
    for word in words:
        part = _part(item, word)
        if part is None:
            found.append(None)
            continue
        key, right = part
        parts += 1
        # Coverage has no limit on the number of words; a list does, or padding would pay.
        surplus = item.task == "list" and parts > item.count
        found.append(right and key not in seen and not surplus)
        seen.add(key)
    return found


def quality(item: Item, response: str) -> float:
    """Share of the asked-for parts that a response gets right, in [0, 1]."""
    return marks(item, split_words(response)).count(True) / item.count


def quality_digit(value: float) -> int:
    """Map a quality in [0, 1] to the score 0 to 9 that the models rate with, halves rounded up."""
    return int(TOP_DIGIT * value + 0.5)


def facts_of(item: Item) -> dict[str, str]:
    """The attributes that are asked for and their values (facts and people)."""
    person, *names = item.asked
    pairs = item.pairs if item.task == "people" else [(name, person) for name in names]
    return {name: FACTS[who][name] for name, who in pairs}


def _part(item: Item, word: str) -> tuple[str, bool] | None:
    """What a word stands for as a part of a response, and whether it is right; None: no content."""
    if item.task in ("facts", "people"):
        attribute = ATTRIBUTE_OF.get(word)
        return (attribute, facts_of(item).get(attribute) == word) if attribute else None
    if item.task == "words":
        return (word, word in item.asked) if word in _USE_WORDS else None
    colour, offered = COLOUR_OF.get(word), item.asked[1:]
    if item.task == "list":
        return (word, colour in item.asked) if colour else None
    return (word, colour == item.asked[0] and word in offered) if colour else None


def _sum_marks(item: Item, words: Sequence[str]) -> list[bool | None]:
    """Mark the number after each ``a + b =``; an asked-for sum counts as often as it was asked."""
    open_sums = item.pairs
    found: list[bool | None] = [None] * len(words)
    for index in range(4, len(words)):
        left, plus, right, equals, result = words[index - 4 : index + 1]
        if plus != "+" or equals != "=" or not {left, right, result} <= _NUMBERS:
            continue
        asked = (left, right) in open_sums
        found[index] = asked and int(left) + int(right) == int(result)
        if found[index]:
            open_sums.remove((left, right))
    return found
