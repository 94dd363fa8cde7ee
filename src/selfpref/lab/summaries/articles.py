"""Articles with key facts and filler, and what is right in a summary of one.

    notes     a person's city, job, pet and food among filler words
    reports   something red, something green, something blue and something yellow among filler words

The words of an article stand in random order; its summary is its four key facts, in the order of
the slots. No fact belongs to two slots, none is a filler word, and the two kinds share no fact.

    quality(article, summary) = key facts that the summary gives / 4        in {0, 1/4, ..., 1}

A fifth of all articles, by a hash of the text, is *held out*: experiments draw from these alone and
the training of the sources from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from selfpref.lab.oracle import split_words
from selfpref.lab.vocabulary import ATTRIBUTES, COLOURS, USE_WORDS
from selfpref.lab.world import is_held_out

Kind = Literal["notes", "reports"]
_VALUES: Final = 3
"""Facts that a slot may hold; a model learns to look one up in an article sooner with few."""

_COLOURS: Final = ("red", "green", "blue", "yellow")
SLOTS: Final[dict[Kind, tuple[tuple[str, ...], ...]]] = {
    "notes": tuple(values[:_VALUES] for values in ATTRIBUTES.values()),
    "reports": tuple(COLOURS[colour][:_VALUES] for colour in _COLOURS),
}
"""Kind of article to its slots, each with the facts that it may hold."""

KINDS: Final = tuple(SLOTS)
FACTS: Final = tuple(fact for slots in SLOTS.values() for slot in slots for fact in slot)
FILLER: Final = USE_WORDS
_FILLERS: Final = (3, 6)
"""Fewest filler words of an article, and one more than the most."""

_KIND_OF: Final = {fact: kind for kind, slots in SLOTS.items() for slot in slots for fact in slot}


@dataclass(frozen=True, slots=True)
class Article:
    """One article.

    Attributes:
        kind: Which set it belongs to.
        facts: Its key facts, one a slot.
        text: Its words, joined by spaces.
    """

    kind: Kind
    facts: tuple[str, ...]
    text: str


def draw_article(kind: Kind, rng: np.random.Generator, *, held_out: bool) -> Article:
    """Draw one article that is, or is not, held out."""
    while True:
        facts = tuple(slot[int(rng.integers(len(slot)))] for slot in SLOTS[kind])
        filler = rng.permutation(len(FILLER))[: int(rng.integers(*_FILLERS))]
        words = [*facts, *(FILLER[int(index)] for index in filler)]
        text = " ".join(words[int(index)] for index in rng.permutation(len(words)))
        if is_held_out(text) == held_out:
            return Article(kind, facts, text)


def draw_articles(kind: Kind, n: int, seed: int) -> list[Article]:
    """Draw different held-out articles; the first of them are the same for every n."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, KINDS.index(kind), 20]))
    drawn: dict[str, Article] = {}
    while len(drawn) < n:
        article = draw_article(kind, rng, held_out=True)
        drawn[article.text] = article
    return list(drawn.values())


def read_article(text: str) -> Article:
    """The article of a text that `draw_article` made."""
    words = text.split()
    kind = next(_KIND_OF[word] for word in words if word in _KIND_OF)
    return Article(kind, tuple(w for slot in SLOTS[kind] for w in words if w in slot), text)


def marks(article: Article, words: Sequence[str]) -> list[bool | None]:
    """Judge a summary word by word.

    Returns:
        One entry a word: True for a key fact of the article at its first mention, False for any
        other fact, None for a word that is no fact.
    """
    return [
        (word in article.facts and word not in words[:place]) if word in _KIND_OF else None
        for place, word in enumerate(words)
    ]


def quality(article: Article, summary: str) -> float:
    """Share of the article's key facts that a summary gives, in [0, 1]."""
    return marks(article, split_words(summary)).count(True) / len(article.facts)
