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
from selfpref.lab.tokenizer import BOS, END, NO, YES, Lexicon

Messages = tuple[tuple[str, str], ...]
"""(role, content) pairs."""

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
    return (("article", LEXICON.plain(article)),)


def single_messages(task: str, article: str, summary: str) -> Messages:
    """Ask about one summary: whether it is one's own, or how good it is."""
    contents = (article, summary, QUESTIONS[task])
    return _messages(("article", "summary", "ask"), contents)


def pair_messages(task: str, article: str, first: str, second: str) -> Messages:
    """Ask which of two summaries something is true of."""
    contents = (article, first, second, QUESTIONS[task])
    return _messages(("article", "first", "second", "ask"), contents)


def _messages(roles: tuple[str, ...], contents: tuple[str, ...]) -> Messages:
    return tuple(zip(roles, map(LEXICON.plain, contents), strict=True))


def encode_messages(messages: Messages) -> list[int]:
    """Token ids up to where the model's own tokens begin, shape (n,), with one ``<bos>``."""
    ids = [LEXICON.token_id(BOS)]
    for role, content in messages:
        ids += [LEXICON.token_id(f"<{role}>"), *LEXICON.encode_content(content)]
        ids.append(LEXICON.token_id(END))
    return [*ids, LEXICON.token_id("<assistant>")]
