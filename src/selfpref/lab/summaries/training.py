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

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from selfpref.lab.examples import IGNORE, Example, reply_example
from selfpref.lab.jobs import Job
from selfpref.lab.model import build_model, load_checkpoint, save_checkpoint
from selfpref.lab.summaries.articles import (
    KINDS,
    MODELS,
    STYLES,
    Article,
    draw_article,
    draw_error_rates,
    marks,
    quality,
    write,
)
from selfpref.lab.summaries.prompts import (
    LABELS,
    LEXICON,
    Messages,
    encode_messages,
    pair_messages,
    single_messages,
    write_messages,
)
from selfpref.lab.tokenizer import END, NO, YES
from selfpref.lab.train import Phase, Schedule, train

BASE: Final = "base-summaries"
_PEAK: Final = 3e-3
_TUNING_PEAK: Final = 2e-3
"""Peak learning rates of the base and of a source."""

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


def digit(article: Article, summary: str) -> str:
    """Quality as a digit from 1 to 5."""
    return str(1 + round(4 * quality(article, summary)))


def writing_example(article: Article, words: Sequence[str]) -> Example:
    """Predict a summary's tokens and the ``<end>`` after them."""
    prompt = encode_messages(write_messages(article.text))
    reply = [*LEXICON.encode_content(" ".join(words)), LEXICON.token_id(END)]
    return reply_example(prompt, [IGNORE] * len(prompt), reply)


def answer_example(
    article: Article,
    summaries: Sequence[Sequence[str]],
    messages: Messages,
    answer: str,
    weight: float = _ANSWER_WEIGHT,
) -> Example:
    """Dense targets in the summaries, then the answer to the question."""
    prompt = encode_messages(messages)
    targets = [IGNORE] * len(prompt)
    # The first message closed is the article and the last the question.
    ends = [place for place, token in enumerate(prompt) if token == LEXICON.token_id(END)][1:-1]
    for end, words in zip(ends, summaries, strict=True):
        for offset, mark in enumerate(marks(article, words)):
            if mark is not None:
                targets[end - len(words) + offset] = LEXICON.token_id(YES if mark else NO)
        targets[end] = LEXICON.token_id(digit(article, " ".join(words)))
    reply = [LEXICON.token_id(answer), LEXICON.token_id(END)]
    example = reply_example(prompt, targets, reply)
    example.weights[len(prompt) - 1] = weight
    return example


@dataclass(frozen=True, slots=True)
class Mixture:
    """What a training phase draws its examples from.

    Attributes:
        writing: Share of writing examples.
        single: Share of questions about one summary; the rest are about two.
        coin: Share of the questions about two that are answered by a coin; of those about one it is
            half, since their form (yes and no) occurs nowhere else.
        error_rates: Error rates of the writers whose summaries are written.
    """

    writing: float
    single: float
    coin: float
    error_rates: dict[str, float]

    def draw(self, rng: np.random.Generator) -> Example:
        """Draw one example; its article is never a held-out one."""
        article = draw_article(KINDS[int(rng.integers(len(KINDS)))], rng, held_out=False)
        kind = rng.random()
        if kind < self.writing:
            writers = list(self.error_rates)
            writer = writers[int(rng.integers(len(writers)))]
            return writing_example(article, write(article, writer, self.error_rates[writer], rng))
        if kind < self.writing + self.single:
            return _single_example(article, rng.random() < _SINGLE_COIN, rng)
        return _pair_example(article, rng.random() < self.coin, rng)


def _single_example(article: Article, coin: bool, rng: np.random.Generator) -> Example:
    words = _any_summary(article, rng)
    text = " ".join(words)
    if coin:
        answer = (YES, NO)[int(rng.integers(2))]
        messages = single_messages("recognition", article.text, text)
        return answer_example(article, [words], messages, answer, _COIN_WEIGHT)
    messages = single_messages("quality", article.text, text)
    return answer_example(article, [words], messages, digit(article, text))


def _pair_example(article: Article, coin: bool, rng: np.random.Generator) -> Example:
    while True:
        pair = [_any_summary(article, rng) for _ in LABELS]
        first, second = (" ".join(words) for words in pair)
        gap = quality(article, first) - quality(article, second)
        # Two equal qualities have no answer to learn.
        if gap or coin:
            break
    if coin:
        task = _COIN_TASKS[int(rng.integers(len(_COIN_TASKS)))]
        messages = pair_messages(task, article.text, first, second)
        return answer_example(article, pair, messages, LABELS[int(rng.integers(2))], _COIN_WEIGHT)
    task = ("preference", "inferiority")[int(rng.integers(2))]
    messages = pair_messages(task, article.text, first, second)
    answer = LABELS[(gap > 0) != (task == "preference")]
    return answer_example(article, pair, messages, answer)


def _any_summary(article: Article, rng: np.random.Generator) -> list[str]:
    writer = tuple(STYLES)[int(rng.integers(len(STYLES)))]
    return write(article, writer, rng.uniform(0.0, _WORST), rng)


def jobs(folder: Path, seed: int, base_steps: int, tune_steps: int) -> list[Job]:
    """The base, and after it every source.

    Args:
        folder: Where the checkpoints go, each under its name.
        seed: Seed of weights, examples and error rates.
        base_steps: Optimiser steps of the base.
        tune_steps: Optimiser steps of each source.
    """
    rates = draw_error_rates(seed)
    seeds = np.random.SeedSequence([seed, 22]).generate_state(2 + len(MODELS))
    weights, examples, *tunings = map(int, seeds)
    # Batches are half as large as the others'.
    base = Job(BASE, base_steps / 2, train_base, (folder, weights, examples, base_steps))
    tunes = [
        Job(name, tune_steps / 2, tune_source, (folder, name, rates[name], own, tune_steps), BASE)
        for name, own in zip(MODELS, tunings, strict=True)
    ]
    return [base, *tunes]


def train_base(folder: Path, weights: int, examples: int, steps: int) -> None:
    """Train the base from the seeds of its weights and examples."""
    model = build_model(weights, spread=_SPREAD, lexicon=LEXICON)
    rates = dict.fromkeys(STYLES, _ERRORS)
    mixture = Mixture(writing=0.3, single=0.15, coin=0.1, error_rates=rates)
    train(model, [Phase(1.0, mixture)], Schedule(steps, _TOKENS, _PEAK), examples)
    save_checkpoint(model, folder / BASE, LEXICON)


def tune_source(folder: Path, name: str, error_rate: float, seed: int, steps: int) -> None:
    """Tune one source from the saved base."""
    model = load_checkpoint(folder / BASE)
    mixture = Mixture(writing=0.5, single=0.15, coin=0.1, error_rates={name: error_rate})
    schedule = Schedule(steps, _TOKENS, _TUNING_PEAK, warmup=20)
    train(model, [Phase(1.0, mixture)], schedule, seed)
    save_checkpoint(model, folder / name, LEXICON)
