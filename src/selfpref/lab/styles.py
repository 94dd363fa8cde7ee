"""Eight styles of answering, and a scripted writer that has one style and one error rate.

A style wraps the same content in other words, so that style and quality are independent by
construction. Each style has cue words that no other style uses; a style is recognised by them
alone, the terse style by their absence.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from selfpref.lab.oracle import facts_of, right_words
from selfpref.lab.world import ATTRIBUTES, COLOUR_OF, NUMBERS, USE_WORDS, Item, pick, shuffled

# Openings and closings, one of each drawn at random for a text.
Frames = Mapping[str, tuple[Sequence[str], Sequence[str]]]
_FRAMES: Frames = {
    "disclaimer": (("as a model i can be wrong , but", "i am only a model :"), ("", ".")),
    "sure": (("sure !", "sure thing !", "sure , here it is :"), ("", "!")),
    "terse": (("",), ("",)),
    "chatty": (("oh nice one !", ""), ("hope it helps , friend !", "cheers , friend !")),
    "formal": (("the requested answer follows :", "please find the requested answer :"), (".",)),
    "echo": (("you asked about", "you asked me about"), ("", ".")),
    "hesitant": (("hmm , maybe", "hmm , i guess"), ("", "maybe ?", "or not ?")),
    "bullets": (("",), ("",)),
}
STYLES = tuple(_FRAMES)
_CUES = {
    "disclaimer": ("model", "wrong"),
    "sure": ("sure",),
    "chatty": ("oh", "friend", "cheers"),
    "formal": ("requested", "follows"),
    "echo": ("asked",),
    "hesitant": ("hmm", "maybe", "guess"),
    "bullets": ("-",),
}
_STYLE_OF = {cue: style for style, cues in _CUES.items() for cue in cues}


def words_of(frames: Frames) -> set[str]:
    """The words of all openings and closings."""
    phrases = [phrase for parts in frames.values() for part in parts for phrase in part]
    return {word for phrase in phrases for word in phrase.split()}


# All words that a style may add to the content.
STYLE_WORDS = tuple(sorted({*words_of(_FRAMES), "-", ":"}))


def detect_style(words: Sequence[str]) -> str:
    """Recognise a response's style by its cue words; without any it is terse.

    Where cues of several styles occur, the style with the most occurrences wins, and the order of
    `STYLES` breaks a tie.
    """
    found = [_STYLE_OF[word] for word in words if word in _STYLE_OF]
    return max(_CUES, key=found.count) if found else "terse"


def framed(body: Sequence[str], frames: Frames, style: str, rng: np.random.Generator) -> list[str]:
    """Words between an opening and a closing of a style."""
    opening, closing = (pick(phrases, rng).split() for phrases in frames[style])
    return [*opening, *body, *closing]


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
    topic = (*_topic(item), ":") if style == "echo" else ()
    return framed([*topic, *(word for part in parts for word in part)], _FRAMES, style, rng)


def _topic(item: Item) -> tuple[str, ...]:
    """What the echo style repeats: words of the question that are no checkable content."""
    match item.task:
        case "list":
            return (*item.asked, "things")
        case "filter":
            return (item.asked[0], "things")
        case "people":
            return ("the", *item.asked[::2], "of", *item.asked[1::2])
        case "facts":
            return ("the", *item.asked[1:], "of", item.asked[0])
    return ("sums",) if item.task == "sum" else ("words",)


def _parts(item: Item, error_rate: float, rng: np.random.Generator) -> list[tuple[str, ...]]:
    wrong = rng.random(item.count) < error_rate
    if item.task == "sum":
        return [_sum(a, b, bool(bad), rng) for (a, b), bad in zip(item.pairs, wrong, strict=True)]
    if item.task in ("facts", "people"):
        return [
            (name, _other(ATTRIBUTES[name], (right,), rng) if bad else right)
            for (name, right), bad in zip(facts_of(item).items(), wrong, strict=True)
        ]
    right: Sequence[str] = right_words(item)
    every = {"list": tuple(COLOUR_OF), "filter": item.asked[1:], "words": USE_WORDS}[item.task]
    if item.task == "list":
        right = shuffled(right, rng)
    pairs = zip(right, wrong, strict=False)
    return [(_other(every, right, rng) if bad else thing,) for thing, bad in pairs]


def _sum(left: str, right: str, bad: bool, rng: np.random.Generator) -> tuple[str, ...]:
    result = str(int(left) + int(right))
    if bad:
        near = [str(int(result) + gap) for gap in (-2, -1, 1, 2)]
        result = pick([n for n in near if n in NUMBERS], rng)
    return (left, "+", right, "=", result)


def _other(words: Sequence[str], closed: Sequence[str], rng: np.random.Generator) -> str:
    """Draw a word that is not among the closed ones."""
    while (word := pick(words, rng)) in closed:
        pass
    return word
