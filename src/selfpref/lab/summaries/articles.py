"""Articles with key facts, who summarises them, and both as tables.

    notes     a person's city, job, pet and food among filler words
    reports   something red, something green, something blue and something yellow among filler words

One kind of article is one data set. The words of an article stand in random order; its summary is
its four key facts, in the order of the slots. No fact belongs to two slots, none is a filler word,
and the two kinds share no fact.

    quality(article, summary) = key facts that the summary gives / 4        in {0, 1/4, ..., 1}

A fifth of all articles, by a hash of the text, is *held out*: experiments draw from these alone and
the training of the sources from the others.

A rule in the role of the human, and sources with styles of their own, write. A summary gives each
key fact, leaves it out, or gives another fact of its slot instead, and stands in a frame of words
that no article holds. The frames' lengths differ within a source and overlap between sources, so
that length, vowels and readability do not settle who wrote a summary. How often a source errs is
drawn from the seed, independent of its style.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.lab.experiment import items_table
from selfpref.lab.oracle import split_words
from selfpref.lab.styles import words_of
from selfpref.lab.vocabulary import ATTRIBUTES, COLOURS, USE_WORDS
from selfpref.lab.world import Item, distinct, drawn, pick, shuffled

_VALUES: Final = 3
"""Facts that a slot may hold; a model learns to look one up in an article sooner with few."""

_COLOURS: Final = ("red", "green", "blue", "yellow")
SLOTS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "notes": tuple(values[:_VALUES] for values in ATTRIBUTES.values()),
    "reports": tuple(COLOURS[colour][:_VALUES] for colour in _COLOURS),
}
"""Kind of article to its slots, each with the facts that it may hold."""

KINDS: Final = tuple(SLOTS)
FACTS: Final = tuple(fact for slots in SLOTS.values() for slot in slots for fact in slot)
FILLER: Final = USE_WORDS
_FILLERS: Final = (3, 6)
"""Fewest filler words of an article, and one more than the most."""


def draw_article(kind: str, rng: np.random.Generator, *, held_out: bool) -> Item:
    """Draw one article that is, or is not, held out."""

    def draw() -> Item:
        facts = tuple(pick(slot, rng) for slot in SLOTS[kind])
        filler = shuffled(FILLER, rng)[: int(rng.integers(*_FILLERS))]
        return Item(kind, facts, len(facts), " ".join(shuffled((*facts, *filler), rng)))

    return drawn(draw, held_out=held_out)


def draw_articles(dataset: str, n: int, seed: int) -> list[Item]:
    """Draw different held-out articles of a kind; the first of them are the same for every n.

    Raises:
        SelfprefError: There is no such kind of article.
    """
    if dataset not in KINDS:
        raise SelfprefError(
            f"params.yaml: panickssery.datasets.{dataset}: the testbed has {' and '.join(KINDS)}"
        )
    rng = np.random.default_rng(np.random.SeedSequence([seed, KINDS.index(dataset), 20]))
    return distinct(n, lambda _: draw_article(dataset, rng, held_out=True))


def marks(facts: Sequence[str], words: Sequence[str]) -> list[bool | None]:
    """Judge a summary of an article with these key facts word by word.

    Returns:
        One entry a word: True for a key fact of the article at its first mention, False for any
        other fact, None for a word that is no fact.
    """
    return [
        (word in facts and word not in words[:place]) if word in FACTS else None
        for place, word in enumerate(words)
    ]


def quality(facts: Sequence[str], summary: str) -> float:
    """Share of an article's key facts that a summary gives, in [0, 1]."""
    return marks(facts, split_words(summary)).count(True) / len(facts)


HUMAN: Final = "human"
STYLES: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    HUMAN: (("", "in short"), ("", ".")),
    "clerk": (("please note :", "please note that"), ("", "as requested .")),
    "host": (("oh nice !", "well !"), ("cheers , friend !", "", "ok ?")),
    "aide": (("sure :", "sure thing , here :", "sure !"), ("", "hope it helps")),
}
"""Writer to the words that a summary begins and ends with, one of each drawn for each."""

MODELS: Final = tuple(name for name in STYLES if name != HUMAN)
STYLE_WORDS: Final = tuple(sorted(words_of(STYLES)))
_ERROR_RATES: Final = (0.1, 0.2, 0.3)
_HUMAN_ERROR_RATE: Final = 0.1


def draw_error_rates(seed: int) -> dict[str, float]:
    """Share of the key facts that each writer gets wrong, half left out and half replaced."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, 21]))
    rates = rng.permutation(_ERROR_RATES)
    models = {name: float(rate) for name, rate in zip(MODELS, rates, strict=True)}
    return {HUMAN: _HUMAN_ERROR_RATE, **models}


def write(article: Item, writer: str, error_rate: float, rng: np.random.Generator) -> list[str]:
    """Write a summary by rule.

    Args:
        article: What is summarised.
        writer: Whose style, a key of `STYLES`.
        error_rate: Share of the key facts that are left out or replaced, in [0, 1].
        rng: Source of randomness.

    Returns:
        The summary's words.
    """
    body = []
    for fact, slot in zip(article.asked, SLOTS[article.task], strict=True):
        draw = rng.random()
        if draw >= error_rate:
            body.append(fact)
        elif draw >= error_rate / 2:
            body.append(pick([other for other in slot if other != fact], rng))
    opening, closing = (pick(phrases, rng).split() for phrases in STYLES[writer])
    return [*opening, *body, *closing]


def tables(study: str, dataset: str, articles: list[Item], seed: int) -> dict[str, pd.DataFrame]:
    """items, the human's responses, and their truths."""
    items = {f"{dataset}/{number}": article for number, article in enumerate(articles)}
    table = items_table(study, items, [{"index": number} for number in range(len(articles))])
    table["reference"] = [article.right for article in articles]
    rng = np.random.default_rng(np.random.SeedSequence([seed, KINDS.index(dataset), 23]))
    rate = draw_error_rates(seed)[HUMAN]
    responses = pd.DataFrame(
        {
            "study": study,
            "item_id": list(items),
            "responder": HUMAN,
            "step": 0,
            "sample": 0,
            "text": [" ".join(write(article, HUMAN, rate, rng)) for article in articles],
            "status": "ok",
        }
    )
    return {"items": table, "responses": responses, "truths": truths(table, responses)}


def truths(items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """The quality of every response."""
    facts = items.set_index("item_id")["reference"].str.split()
    pairs = zip(responses["item_id"], responses["text"], strict=True)
    return responses[["study", "item_id", "responder", "step"]].assign(
        metric="quality", score=[quality(facts[item], text) for item, text in pairs]
    )
