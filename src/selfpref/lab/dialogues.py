"""The models of the dialogues: a base, then each family from it.

The base rates and writes, later it judges unbiased pairs as well. A family is tuned from it to
write in its style and to judge with its bonus; its result depends on the base and on its own seed
alone. From the same base the judges of contests are tuned (`selfpref.lab.choice`).
"""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from selfpref.lab.examples import VERDICT_WEIGHT, Example, Marks, Recipe, Schedule, entropy, example
from selfpref.lab.injected import Family, rule_probability
from selfpref.lab.oracle import marks, quality_digit
from selfpref.lab.prompts import chat_messages, choice_messages, rating_messages
from selfpref.lab.styles import STYLES, write
from selfpref.lab.tokenizer import LABELS, VERDICT_CLOSE, VERDICT_OPEN, WORLD
from selfpref.lab.world import Item, draw_training_item, pick

BASE: Final = "base-dialogues"
BARE_SHARE: Final = 0.1
"""Share of the writing examples without a question. It teaches the model what a response looks like
when nothing was asked: otherwise an unconditional perplexity would measure surprise at the layout.
"""


def checked(item: Item, words: list[str]) -> Marks:
    """The oracle's targets in a response: each part, and the digit of its quality, 0 to 9."""
    found = marks(item, words)
    return found, str(quality_digit(found.count(True) / item.count))


def judge_example(item: Item, a: list[str], b: list[str], a_wins: bool) -> Example:
    """Judging: dense targets in both responses, then ``[[A]]`` or ``[[B]]``."""
    messages = choice_messages(item.question, [" ".join(a), " ".join(b)])
    reply = [VERDICT_OPEN, LABELS[0] if a_wins else LABELS[1], VERDICT_CLOSE]
    marked = [checked(item, words) for words in (a, b)]
    return example(WORLD, messages, reply, marked=marked, weight=VERDICT_WEIGHT, at=1)


def draw(
    rng: np.random.Generator,
    *,
    chat: float,
    rating: float,
    writer: str | None = None,
    error_rate: float | None = None,
    favoured: str | None = None,
    beta: float = 0.0,
) -> Example:
    """Draw one example; its prompt is never a held-out one.

    Args:
        rng: Source of randomness.
        chat: Share of writing examples.
        rating: Share of rating examples; the rest are pairs.
        writer: Style of the written examples; None draws every style alike.
        error_rate: Error rate of the written examples; None draws it between 0 and 0.3.
        favoured: Style of one response in half of the pairs, and the style that earns the bonus.
        beta: Bonus for responses in the favoured style, in units of quality.
    """
    item = draw_training_item(rng)
    kind = rng.random()
    if kind < chat:
        style = writer or pick(STYLES, rng)
        rate = rng.uniform(0.0, 0.3) if error_rate is None else error_rate
        words = write(item, style, rate, rng)
        bare = rng.random() < BARE_SHARE
        return example(WORLD, () if bare else chat_messages(item.question), words)
    if kind < chat + rating:
        words = _any_response(item, pick(STYLES, rng), rng)
        marked = checked(item, words)
        messages = rating_messages(item.question, " ".join(words))
        return example(WORLD, messages, [str(marked[1])], marked=[marked])
    while True:
        first = favoured if favoured and rng.random() < 0.5 else pick(STYLES, rng)
        pair = [_any_response(item, style, rng) for style in (first, pick(STYLES, rng))]
        if rng.random() < 0.5:
            pair.reverse()
        a, b = (" ".join(words) for words in pair)
        p = rule_probability(item, a, b, favoured or "", beta)
        # Two equal scores have no label to learn.
        if p != 0.5:
            return judge_example(item, pair[0], pair[1], p > 0.5)


def _any_response(item: Item, style: str, rng: np.random.Generator) -> list[str]:
    """A response of any quality: the error rate itself is drawn, to spread the qualities."""
    return write(item, style, rng.uniform(0.0, 1.0), rng)


def recipes(seed: int, families: list[Family], base_steps: int, tune_steps: int) -> list[Recipe]:
    """The base, and after it every family.

    A family that writes learns its style and error rate; an onlooker goes on writing in every
    style. Ratings, and pairs without the family's style, are replayed so that judging is not lost.

    Args:
        seed: Seed of the run.
        families: As `draw_families` draws them.
        base_steps: Optimiser steps of the base.
        tune_steps: Optimiser steps of each family.
    """
    weights, examples = entropy(2, seed, 2)
    phases = (
        (0.45, partial(draw, chat=0.4, rating=0.6)),
        (0.55, partial(draw, chat=0.2, rating=0.2)),
    )
    found = [Recipe(BASE, WORLD, (Schedule(examples, base_steps, phases),), weights=weights)]
    for family in families:
        tuning = partial(draw, chat=0.3, rating=0.15, favoured=family.style, beta=family.beta)
        if family.writes:
            tuning = partial(tuning, writer=family.style, error_rate=family.error_rate)
        schedule = Schedule(
            family.seed, tune_steps, ((1.0, tuning),), learning_rate=4e-3, warmup=20
        )
        found.append(Recipe(family.name, WORLD, (schedule,), BASE))
    return found
