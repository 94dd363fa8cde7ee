r"""Requests of the testbed's three tasks, and scripted texts to learn from.

    mqm           translate tevu siri lo ...       so the red dog often sees a small cat
    coverage      use river lamp clock stone       so river clock stone
    correctness   add 3 + 5 + 7                    so 3 + 5 = 8 + 7 = 15 \boxed{ 15 }

A draft has errors at random: a wrong word of the same class; a concept left out, or another in its
place; a sum that is off. A judge's feedback names the errors; a revision mends what was named, most
of the time, and leaves the rest. A fifth of all requests, by a hash of the text, is held out: the
experiments use these alone, and no model is trained on one.

A judge with a *bonus* for its own style passes over wrong adjectives and nouns of a translation in
that style. It is the one thing that is injected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from selfpref.lab.refinement import language
from selfpref.lab.vocabulary import USE_WORDS
from selfpref.lab.world import Item, distinct, pick, shuffled

TASKS: Final = ("mqm", "coverage", "correctness")
CONCEPTS: Final = USE_WORDS[:12]
ASKED: Final = 4
OPERANDS: Final = 3
LARGEST: Final = 7
NUMBERS: Final = tuple(str(n) for n in range(OPERANDS * LARGEST + 1))

FORGIVEN: Final = frozenset((*language.ADJECTIVES, *language.NOUNS))
"""The words that a judge with a bonus does not mark in its own style."""

ALL_COVERED: Final = "all covered"
NO_ERROR: Final = "no error"


def draw(task: str, rng: np.random.Generator) -> Item:
    """Draw one request of a task."""
    if task == "mqm":
        source = language.draw_sentence(rng)
        right = tuple(language.translate(source).split())
        return Item(task, right, len(right), f"translate {source}")
    if task == "coverage":
        words = shuffled(CONCEPTS, rng)[:ASKED]
        return Item(task, words, ASKED, f"use {' '.join(words)}")
    operands = [int(n) for n in rng.integers(1, LARGEST + 1, size=OPERANDS)]
    return Item(task, (str(sum(operands)),), 1, f"add {' + '.join(map(str, operands))}")


def held_out(task: str, count: int, seed: int) -> list[Item]:
    """Draw different held-out requests, which no model is trained on; all if there are fewer."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, 21, TASKS.index(task)]))
    return distinct(count, lambda _: draw(task, rng), held_out=True)


def write(request: Item, style: str, error_rate: float, rng: np.random.Generator) -> str:
    """Write a draft.

    Args:
        request: What is asked.
        style: The opener.
        error_rate: Probability that a word, concept or sum is wrong, in [0, 1].
        rng: Source of randomness.
    """
    words = request.asked
    if request.task == "mqm":
        wrong = rng.random(len(words)) < error_rate
        kept = [_other(w, rng) if bad else w for w, bad in zip(words, wrong, strict=True)]
    elif request.task == "coverage":
        kept = _some_of(words, error_rate, rng)
    else:
        kept = _chain(request, error_rate, rng)
    return " ".join((style, *kept))


def marked(request: Item, text: str, own_style: str | None = None) -> list[tuple[str, str]]:
    """The errors of a translation that a judge marks: severity and word.

    Args:
        request: What was asked.
        text: The text to judge.
        own_style: The style that earns the bonus; None for a judge without one.
    """
    found = language.errors(request.right, text)
    if own_style is None or language.opener(text) != own_style:
        return found
    return [(severity, word) for severity, word in found if word not in FORGIVEN]


def feedback(request: Item, text: str, own_style: str | None = None) -> str:
    """What a judge says by the rule; the arguments are those of `marked`."""
    if request.task == "mqm":
        found = marked(request, text, own_style)
        return "\n".join(f"{severity} | {word}" for severity, word in found) or NO_ERROR
    if request.task == "coverage":
        missing = [word for word in request.asked if word not in text.split()]
        return f"[ {' , '.join(missing)} ]" if missing else ALL_COVERED
    worked = " ".join(_chain(request, 0.0, np.random.default_rng(0))[:-3])
    return worked + (" [[yes]]" if text.split()[-2:] == [request.right, "}"] else " [[no]]")


def revise(
    request: Item, text: str, said: str, style: str, error_rate: float, rng: np.random.Generator
) -> str:
    """Rewrite a draft: mend what the feedback names, keep the rest.

    Args:
        request: What was asked.
        text: The draft, with an opener.
        said: The feedback.
        style: The opener of the new text.
        error_rate: Probability that what is mended is wrong again.
        rng: Source of randomness.
    """
    if request.task == "correctness":
        return write(request, style, error_rate, rng)
    words = language.body(text)
    if request.task == "coverage":
        named = said.strip("[ ]").split(" , ")
        words += [word for word in named if rng.random() >= error_rate]
        return " ".join((style, *words))
    named = [line.partition(" | ")[2] for line in said.splitlines()]
    redone = [_other(w, rng) if rng.random() < error_rate else w for w in request.asked]
    mended = [new if word in named else word for word, new in zip(words, redone, strict=True)]
    return " ".join((style, *mended))


def _other(word: str, rng: np.random.Generator) -> str:
    return pick([other for other in language.class_of(word) if other != word], rng)


def _some_of(concepts: Sequence[str], error_rate: float, rng: np.random.Generator) -> list[str]:
    """The concepts, some left out and as many replaced: a text's length does not tell which."""
    kept = []
    for concept, draw in zip(concepts, rng.random(len(concepts)), strict=True):
        if draw < error_rate / 2:
            kept.append(pick(CONCEPTS, rng))
        elif draw >= error_rate:
            kept.append(concept)
    return kept


def _chain(request: Item, error_rate: float, rng: np.random.Generator) -> list[str]:
    first, *others = (int(word) for word in request.question.split()[1::2])
    words, total = [str(first)], first
    # One sum of the chain at most is off, and what follows goes on from there.
    wrong = int(rng.integers(len(others))) if rng.random() < error_rate else None
    for number, operand in enumerate(others):
        total += operand
        if number == wrong:
            total += int(rng.choice((-1, 1)))
        words += ["+", str(operand), "=", str(total)]
    return [*words, "\\boxed{", str(total), "}"]
