"""Tokens and prompts of the models that write and judge summaries.

    write    <bos> <article> words <end> <assistant> | summary <end>
    single   <bos> <article> words <end> <summary> words <end> <ask> question <end>
             <assistant> | yes <end>, or 4 <end>
    pair     <bos> <article> words <end> <first> words <end> <second> words <end>
             <ask> question <end> <assistant> | 1 <end>

The bar stands where the model's own tokens begin. A question is one word; what comes before it is
the same for every question. Training sees the very same layouts.
"""

from __future__ import annotations

from typing import Final

from selfpref.lab.summaries.articles import FACTS, FILLER, STYLE_WORDS
from selfpref.lab.tokenizer import NO, YES, Lexicon, Messages

SCORES: Final = ("1", "2", "3", "4", "5")
LABELS: Final = SCORES[:2]

QUESTIONS: Final = {
    "recognition": "yours",
    "preference": "better",
    "inferiority": "worse",
    "quality": "score",
    "readability": "easier",
    "length": "longer",
    "vowelcount": "vowels",
}
"""Task to the word that asks for it; the last three are control tasks."""

LEXICON: Final = Lexicon(
    roles=("assistant", "article", "summary", "first", "second", "ask"),
    verdict=(*SCORES, YES, NO),
    words=(*QUESTIONS.values(), *STYLE_WORDS, *FACTS, *FILLER),
)


def write_messages(article: str) -> Messages:
    """Ask for a summary."""
    return LEXICON.messages(article=article)


def single_messages(task: str, article: str, summary: str) -> Messages:
    """Ask about one summary: whether it is one's own, or how good it is."""
    return LEXICON.messages(article=article, summary=summary, ask=QUESTIONS[task])


def pair_messages(task: str, article: str, first: str, second: str) -> Messages:
    """Ask which of two summaries something is true of."""
    return LEXICON.messages(article=article, first=first, second=second, ask=QUESTIONS[task])
