"""Eight styles of answering, and a scripted writer that has one style and one error rate.

A style wraps the same content in other words, so that style and quality are independent by
construction. Each style has cue words that no other style uses; a style is recognised by them
alone, the terse style by their absence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from selfpref.lab.vocabulary import ATTRIBUTES, COLOUR_OF, COLOURS, FACTS, NUMBERS, USE_WORDS
from selfpref.lab.world import Item

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

STYLE_WORDS: Final[tuple[str, ...]] = tuple(
    sorted(
        {
            word
            for openings, closings in _FRAMES.values()
            for phrase in (*openings, *closings)
            for word in phrase.split()
        }
        | {"-", ":"}
    )
)
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
    openings, closings = _FRAMES[style]
    opening = openings[int(rng.integers(len(openings)))].split()
    closing = closings[int(rng.integers(len(closings)))].split()
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
    if item.task == "facts":
        person = FACTS[item.asked[0]]
        return [
            (name, _other(ATTRIBUTES[name], (person[name],), rng) if bad else person[name])
            for name, bad in zip(item.asked[1:], wrong, strict=True)
        ]
    if item.task == "people":
        return [
            (name, _other(ATTRIBUTES[name], (right,), rng) if bad else right)
            for (name, who), bad in zip(item.pairs, wrong, strict=True)
            for right in (FACTS[who][name],)
        ]
    if item.task == "filter":
        right = [thing for thing in item.asked[1:] if COLOUR_OF[thing] == item.asked[0]]
        return [
            (_other(item.asked[1:], right, rng) if bad else thing,)
            for thing, bad in zip(right, wrong, strict=True)
        ]
    if item.task == "list":
        good = [thing for colour in item.asked for thing in COLOURS[colour]]
        good = [good[int(index)] for index in rng.permutation(len(good))]
        every, closed = tuple(COLOUR_OF), tuple(good)
    else:
        good = list(item.asked)
        every, closed = USE_WORDS, item.asked
    return [
        (_other(every, closed, rng) if bad else thing,)
        for thing, bad in zip(good, wrong, strict=False)
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
        word = words[int(rng.integers(len(words)))]
        if word not in closed:
            return word
