"""The words of the testbed's world, and nothing else.

Every list is a constant: the world does not change with the seed of a run, so that two seeds differ
in their models and not in what is true. The words of the four tasks are disjoint from each other
and from the words of the styles, hence a word alone says what kind of content it is.
"""

from __future__ import annotations

import hashlib
from typing import Final

COLOURS: Final[dict[str, tuple[str, ...]]] = {
    "red": ("cherry", "brick", "ruby", "tomato", "poppy", "blood"),
    "green": ("grass", "frog", "lime", "moss", "emerald", "pea"),
    "blue": ("sky", "ocean", "sapphire", "jeans", "cobalt", "whale"),
    "yellow": ("lemon", "canary", "corn", "sun", "butter", "mustard"),
    "white": ("snow", "milk", "salt", "swan", "chalk", "flour"),
    "black": ("coal", "raven", "ink", "tar", "ebony", "soot"),
    "brown": ("bark", "toast", "bear", "cocoa", "mud", "walnut"),
    "pink": ("flamingo", "salmon", "blush", "peony", "bubblegum", "pig"),
}
"""Colour to its things. No thing has two colours."""

COLOUR_OF: Final[dict[str, str]] = {
    thing: colour for colour, things in COLOURS.items() for thing in things
}

ATTRIBUTES: Final[dict[str, tuple[str, ...]]] = {
    "city": ("oslo", "lima", "cairo", "delhi", "quito", "turin"),
    "job": ("baker", "nurse", "pilot", "tailor", "judge", "farmer"),
    "pet": ("cat", "dog", "hamster", "parrot", "turtle", "goat"),
    "food": ("rice", "soup", "bread", "stew", "pasta", "curry"),
}
"""Attribute to its possible values. No value belongs to two attributes."""

ATTRIBUTE_OF: Final[dict[str, str]] = {
    value: attribute for attribute, values in ATTRIBUTES.items() for value in values
}

PEOPLE: Final[tuple[str, ...]] = (
    "mila", "otto", "nadia", "hugo", "wren", "ivo", "suri", "bram", "tess", "kofi",
)  # fmt: skip


def _fact(person: str, attribute: str) -> str:
    # A hash serves as a fixed table of invented facts without structure to exploit.
    digest = hashlib.sha256(f"{person} {attribute}".encode()).digest()
    return ATTRIBUTES[attribute][digest[0] % len(ATTRIBUTES[attribute])]


FACTS: Final[dict[str, dict[str, str]]] = {
    person: {attribute: _fact(person, attribute) for attribute in ATTRIBUTES} for person in PEOPLE
}
"""Person to attribute to value: the facts that a response is checked against."""

USE_WORDS: Final[tuple[str, ...]] = (
    "river", "lamp", "window", "garden", "train", "music", "paper", "stone", "bridge", "winter",
    "market", "engine", "letter", "forest", "clock", "island", "mirror", "candle", "pocket",
    "ladder", "harbour", "feather", "copper", "valley",
)  # fmt: skip
"""The words that a prompt may ask to use."""

MAX_OPERAND: Final = 5
NUMBERS: Final[tuple[str, ...]] = tuple(str(value) for value in range(2 * MAX_OPERAND + 3))
"""All operands and sums; the digits among them are the scores of a rating as well."""

QUESTION_WORDS: Final[tuple[str, ...]] = (
    "list", "or", "things", "add", "sums", "and", "use", "the", "words", "tell", "of", "+", "=",
)  # fmt: skip
