"""Train the models that write and judge summaries: one base, then each source from it.

The base writes in every style, judges, and knows no style as its own. A source is tuned from it to
write in its style and goes on judging.

Answers to `better`, `worse` and `score` follow the oracle. Those to `yours`, and to the questions
of the control tasks, are drawn by a coin: a source learns how such a question is answered and
nothing about the answer. As in `selfpref.lab.examples` the oracle adds dense targets: yes or no at
each fact of a judged summary, and the digit of its quality at its end.

A source's result depends on the base and on its own seed alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np

from selfpref.lab.examples import Example, Recipe, Schedule, entropy, example
from selfpref.lab.summaries import articles, prompts
from selfpref.lab.summaries.prompts import LABELS, LEXICON
from selfpref.lab.tokenizer import NO, YES, Messages
from selfpref.lab.world import Item, pick

BASE: Final = "base-summaries"
_TOKENS: Final = 512
"""Tokens in a batch. Half as many as the other testbed's: comparing two summaries is learned
late, after a number of steps and not of tokens (trial of the base's agreement with the oracle)."""

_ERRORS: Final = 0.15
"""Error rate of what the base learns to write."""

_SPREAD: Final = 0.2
"""Deviation of the initial weights. At .12, the other testbed's, the base learned to look a fact
up in an article about 200 steps later (trial of 1,000 steps, one seed)."""

_ANSWER_WEIGHT: Final = 1.5
_COIN_WEIGHT: Final = 0.3
"""Weight of an answer by coin: enough to learn its form, little noise."""

_SINGLE_COIN: Final = 0.5
_COIN_TASKS: Final = ("recognition", "readability", "length", "vowelcount")
_WORST: Final = 0.8
"""Summaries to be judged have any error rate up to this, to spread the qualities."""


def digit(article: Item, summary: str) -> str:
    """Quality as a digit from 1 to 5."""
    return str(1 + round(4 * articles.quality(article.asked, summary)))


def answer_example(
    article: Item,
    summaries: Sequence[Sequence[str]],
    messages: Messages,
    answer: str,
    weight: float = _ANSWER_WEIGHT,
) -> Example:
    """Dense targets in the summaries, then the answer to the question."""
    marked = [
        (articles.marks(article.asked, words), digit(article, " ".join(words)))
        for words in summaries
    ]
    return example(LEXICON, messages, [answer], marked=marked, weight=weight)


def draw(
    rng: np.random.Generator,
    *,
    writing: float,
    single: float,
    coin: float,
    error_rates: Mapping[str, float],
) -> Example:
    """Draw one example; its article is never a held-out one.

    Args:
        rng: Source of randomness.
        writing: Share of writing examples.
        single: Share of questions about one summary; the rest are about two.
        coin: Share of the questions about two that are answered by a coin; of those about one it is
            half, since their form (yes and no) occurs nowhere else.
        error_rates: Error rates of the writers whose summaries are written.
    """
    article = articles.draw_article(pick(articles.KINDS, rng), rng, held_out=False)
    kind = rng.random()
    if kind < writing:
        writer = pick(list(error_rates), rng)
        words = articles.write(article, writer, error_rates[writer], rng)
        return example(LEXICON, prompts.write_messages(article.question), words)
    if kind < writing + single:
        tossed = rng.random() < _SINGLE_COIN
        words = _any_summary(article, rng)
        text = " ".join(words)
        if not tossed:
            messages = prompts.single_messages("quality", article.question, text)
            return answer_example(article, [words], messages, digit(article, text))
        answer = pick((YES, NO), rng)
        messages = prompts.single_messages("recognition", article.question, text)
        return answer_example(article, [words], messages, answer, _COIN_WEIGHT)
    tossed = rng.random() < coin
    while True:
        pair = [_any_summary(article, rng) for _ in LABELS]
        first, second = (" ".join(words) for words in pair)
        gap = articles.quality(article.asked, first) - articles.quality(article.asked, second)
        # Two equal qualities have no answer to learn.
        if gap or tossed:
            break
    task = pick(_COIN_TASKS if tossed else ("preference", "inferiority"), rng)
    answer = pick(LABELS, rng) if tossed else LABELS[(gap > 0) != (task == "preference")]
    messages = prompts.pair_messages(task, article.question, first, second)
    weight = _COIN_WEIGHT if tossed else _ANSWER_WEIGHT
    return answer_example(article, pair, messages, answer, weight)


def _any_summary(article: Item, rng: np.random.Generator) -> list[str]:
    return articles.write(article, pick(tuple(articles.STYLES), rng), rng.uniform(0.0, _WORST), rng)


def recipes(seed: int, base_steps: int, tune_steps: int) -> list[Recipe]:
    """The base, and after it every source.

    Args:
        seed: Seed of weights, examples and error rates.
        base_steps: Optimiser steps of the base.
        tune_steps: Optimiser steps of each source.
    """
    rates = articles.draw_error_rates(seed)
    weights, examples, *tunings = entropy(2 + len(articles.MODELS), seed, 22)
    asked = partial(draw, single=0.15, coin=0.1)
    learned = partial(asked, writing=0.3, error_rates=dict.fromkeys(articles.STYLES, _ERRORS))
    schedule = Schedule(examples, base_steps, ((1.0, learned),), _TOKENS)
    found = [Recipe(BASE, LEXICON, (schedule,), weights=weights, spread=_SPREAD)]
    for name, own in zip(articles.MODELS, tunings, strict=True):
        learned = partial(asked, writing=0.5, error_rates={name: rates[name]})
        phases = ((1.0, learned),)
        schedule = Schedule(own, tune_steps, phases, _TOKENS, learning_rate=2e-3, warmup=20)
        found.append(Recipe(name, LEXICON, (schedule,), BASE))
    return found
