"""Eight styles of answering, and a scripted writer that has one style and one error rate.

A style wraps the same content in other words, so that style and quality are independent by
construction. Each style has cue words that no other style uses; a style is recognised by them
alone, the terse style by their absence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from selfpref.lab.oracle import facts_of
from selfpref.lab.vocabulary import ATTRIBUTES, COLOUR_OF, COLOURS, NUMBERS, USE_WORDS
from selfpref.lab.world import Item, pick, shuffled

STYLES: Final[tuple[str, ...]] = (
    "disclaimer", "sure", "terse", "chatty", "formal", "echo", "hesitant", "bullets",
)  # fmt: skip

# Each style: openings and closings, one of each drawn at random for a response.
_FRAMES: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "disclaimer": (("as a model i can be wrong , but", "i am only a model :"), ("", ".")),
    "sure": (("sure !", "sure thing !", "sure , here it is :"), ("", "!")),
    "terse": (("",), ("",)),
    "chatty": (("oh nice one !", ""), ("hope it helps , friend !", "cheers , friend !")),
    "formal": (("the requested answer follows :", "please find the requested answer :"), (".",)),
    "echo": (("you asked about", "you asked me about"), ("", ".")),
    "hesitant": (("hmm , maybe", "hmm , i guess"), ("", "maybe ?", "or not ?")),
    "bullets": (("",), ("",)),
}
_CUES: Final[dict[str, frozenset[str]]] = {
    "disclaimer": frozenset({"model", "wrong"}),
    "sure": frozenset({"sure"}),
    "chatty": frozenset({"oh", "friend", "cheers"}),
    "formal": frozenset({"requested", "follows"}),
    "echo": frozenset({"asked"}),
    "hesitant": frozenset({"hmm", "maybe", "guess"}),
    "bullets": frozenset({"-"}),
}

_STYLE_OF: Final = {cue: style for style, cues in _CUES.items() for cue in cues}


def words_of(frames: Mapping[str, tuple[Sequence[str], Sequence[str]]]) -> set[str]:
    """The words of all openings and closings."""
    phrases = [phrase for parts in frames.values() for part in parts for phrase in part]
    return {word for phrase in phrases for word in phrase.split()}


STYLE_WORDS: Final[tuple[str, ...]] = tuple(sorted({*words_of(_FRAMES), "-", ":"}))
"""All words that a style may add to the content."""


def detect_style(words: Sequence[str]) -> str:
    """Recognise a response's style by its cue words; without any it is terse.

    Where cues of several styles occur, the style with the most occurrences wins, and the order of
    `STYLES` breaks a tie.
    """
    found = [_STYLE_OF[word] for word in words if word in _STYLE_OF]
    return max(_CUES, key=found.count) if found else "terse"


def write(item: Item, style: str, error_rate: float, rng: np.random.Generator) -> list[str]:
    """Write a response by script: content with errors, wrapped in a style.

    Args:
        item: The prompt.
        style: One of `STYLES`.
        error_rate: Probability that a part is wrong, in [0, 1], independent over parts.
        rng: Source of randomness.

    Returns:
        The response's words.
    """
    parts = _parts(item, error_rate, rng)
    if style == "bullets":
        return [word for part in parts for word in ("-", *part)]
    opening, closing = (pick(phrases, rng).split() for phrases in _FRAMES[style])
    if style == "echo":
        opening = [*opening, *_topic(item), ":"]
    return [*opening, *(word for part in parts for word in part), *closing]


def _topic(item: Item) -> tuple[str, ...]:
    """What the echo style repeats: words of the question that are no checkable content."""
    if item.task == "list":
        return (*item.asked, "things")
    if item.task == "sum":
        return ("sums",)
    if item.task == "filter":
        return (item.asked[0], "things")
    if item.task == "people":
        return ("the", *item.asked[::2], "of", *item.asked[1::2])
    return ("words",) if item.task == "words" else ("the", *item.asked[1:], "of", item.asked[0])


def _parts(item: Item, error_rate: float, rng: np.random.Generator) -> list[tuple[str, ...]]:
    wrong = rng.random(item.count) < error_rate
    if item.task == "sum":
        return [_sum(a, b, bool(bad), rng) for (a, b), bad in zip(item.pairs, wrong, strict=True)]
    if item.task in ("facts", "people"):
        return [
            (name, _other(ATTRIBUTES[name], (right,), rng) if bad else right)
            for (name, right), bad in zip(facts_of(item).items(), wrong, strict=True)
        ]
    right, every = item.asked, USE_WORDS
    if item.task == "filter":
        every = item.asked[1:]
        right = tuple(thing for thing in every if COLOUR_OF[thing] == item.asked[0])
    if item.task == "list":
        every = tuple(COLOUR_OF)
        right = shuffled([thing for colour in item.asked for thing in COLOURS[colour]], rng)
    return [
        (_other(every, right, rng) if bad else thing,)
        for thing, bad in zip(right, wrong, strict=False)
    ]


def _sum(left: str, right: str, bad: bool, rng: np.random.Generator) -> tuple[str, ...]:
    result = str(int(left) + int(right))
    if bad:
        near = [str(int(result) + gap) for gap in (-2, -1, 1, 2)]
        result = _other(tuple(n for n in near if n in NUMBERS), (), rng)
    return (left, "+", right, "=", result)


def _other(words: Sequence[str], closed: Sequence[str], rng: np.random.Generator) -> str:
    """Draw a word that is not among the closed ones."""
    while True:
        if (word := pick(words, rng)) not in closed:
            return word
