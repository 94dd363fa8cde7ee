"""Who writes summaries: a rule in the role of the human, and sources with styles of their own.

A summary gives each key fact, leaves it out, or gives another fact of its slot instead, and stands
in a frame of words that no article holds. The frames' lengths differ within a source and overlap
between sources, so that length, vowels and readability do not settle who wrote a summary.

How often a source errs is drawn from the seed, independent of its style.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from selfpref.lab.summaries.articles import SLOTS, Article


@dataclass(frozen=True, slots=True)
class Style:
    """A frame of words: what a summary begins and ends with, one of each drawn for each."""

    openings: tuple[str, ...]
    closings: tuple[str, ...]


HUMAN: Final = "human"
STYLES: Final[dict[str, Style]] = {
    HUMAN: Style(("", "in short"), ("", ".")),
    "clerk": Style(("please note :", "please note that"), ("", "as requested .")),
    "host": Style(("oh nice !", "well !"), ("cheers , friend !", "", "ok ?")),
    "aide": Style(("sure :", "sure thing , here :", "sure !"), ("", "hope it helps")),
}
"""Writer to style."""

MODELS: Final = tuple(name for name in STYLES if name != HUMAN)
STYLE_WORDS: Final = tuple(
    sorted(
        {
            word
            for style in STYLES.values()
            for phrase in (*style.openings, *style.closings)
            for word in phrase.split()
        }
    )
)
_ERROR_RATES: Final = (0.1, 0.2, 0.3)
_HUMAN_ERROR_RATE: Final = 0.1


def draw_error_rates(seed: int) -> dict[str, float]:
    """Share of the key facts that each writer gets wrong, half left out and half replaced."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, 21]))
    rates = rng.permutation(_ERROR_RATES)
    models = {name: float(rate) for name, rate in zip(MODELS, rates, strict=True)}
    return {HUMAN: _HUMAN_ERROR_RATE, **models}


def write(article: Article, writer: str, error_rate: float, rng: np.random.Generator) -> list[str]:
    """Write a summary by rule.

    Args:
        article: What is summarised.
        writer: Whose style, a key of `STYLES`.
        error_rate: Share of the key facts that are left out or replaced, in [0, 1].
        rng: Source of randomness.

    Returns:
        The summary's words.
    """
    style = STYLES[writer]
    body = []
    for fact, slot in zip(article.facts, SLOTS[article.kind], strict=True):
        draw = rng.random()
        if draw < error_rate / 2:
            continue
        others = [other for other in slot if other != fact]
        body.append(others[int(rng.integers(len(others)))] if draw < error_rate else fact)
    opening, closing = (
        phrases[int(rng.integers(len(phrases)))].split()
        for phrases in (style.openings, style.closings)
    )
    return [*opening, *body, *closing]
