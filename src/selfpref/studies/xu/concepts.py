"""Which concepts a sentence holds: the truth of constrained generation (CommonGen-Hard).

Two matchers, both on lower-cased words: `surface` asks for the concept as a word of the sentence;
`lemma` asks for it as a word or as the lemma of one. Lemmas come from simplemma's English
dictionary, one lemma a form whatever its part of speech. Xu et al. (arXiv 2402.11436) took spaCy's,
which look at the part of speech: coverage may differ from theirs by a few points.
"""

import re
from collections.abc import Iterable
from typing import Literal

import simplemma

Matcher = Literal["surface", "lemma"]
MATCHERS: tuple[Matcher, ...] = ("surface", "lemma")

_WORD = re.compile(r"[^\W\d_]+")


def missing_concepts(text: str, concepts: Iterable[str], matcher: Matcher) -> list[str]:
    """The concepts that a text lacks, in their order.

    Args:
        text: A sentence, in English.
        concepts: Single words, as the data set writes them.
        matcher: `surface` or `lemma`.
    """
    held = {word.lower() for word in _WORD.findall(text)}
    if matcher == "lemma":
        held |= {simplemma.lemmatize(word, lang="en").lower() for word in held}
    return [concept for concept in concepts if concept.lower() not in held]


def covers(text: str, concepts: Iterable[str], matcher: Matcher) -> float:
    """1 if every concept is there, else 0 (the paper's truth of a sentence)."""
    return float(not missing_concepts(text, concepts, matcher))
