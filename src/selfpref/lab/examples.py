"""Training examples: token ids, the targets at each position, and the targets' weights.

A language model is usually asked to predict the next token everywhere. Here a judge prompt has
targets of its own instead, from the oracle:

    at each content token of a judged response    yes or no (is this part right?)
    at the <end> of a judged response             its quality, a digit
    from <assistant> on                           the reply, as at inference

The inputs, and with them the prompt at inference, are the same as without these targets. Without
them the base stayed at chance in the same number of steps (.48 against .94, one seed): this is
process supervision by the oracle, and has to be told wherever these judges are described.

A recipe says of which examples, and in how many steps, a model is made.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from selfpref.lab.tokenizer import END, NO, YES, Lexicon, Messages
from selfpref.lab.world import Rng
from selfpref.models import MARKER

IGNORE = -100
# Weight of the label token: one token in fifty carries the whole verdict.
VERDICT_WEIGHT = 4.0
# What the oracle says of each word of a response (None: no content) and at its end.
Marks = tuple[Sequence[bool | None], str | None]


class Example(NamedTuple):
    """One training sequence.

    Attributes:
        ids: Token ids, shape (n,).
        targets: What to predict at each position, shape (n,); `IGNORE` where nothing is asked.
        weights: Weight of each position's loss, shape (n,).
    """

    ids: list[int]
    targets: list[int]
    weights: list[float]


def example(
    lexicon: Lexicon,
    messages: Messages,
    reply: str,
    prefill: str = "",
    *,
    marked: Sequence[Marks] = (),
    weight: float = 1.0,
) -> Example:
    """A prompt, what the oracle says of the responses in it, and the reply to be learned.

    Args:
        lexicon: The model's tokens.
        messages: The prompt; the second message is the first that can be marked.
        reply: As it is written, without ``<end>``.
        prefill: The token with which the reply begins; it is part of the prompt.
        marked: Dense targets of the second message and those that follow it.
        weight: Weight of the reply's verdict: of the token after ``[[``, else of its first one.
    """
    prompt = lexicon.encode(messages, prefill)
    targets = [IGNORE] * len(prompt)
    told = {None: IGNORE, True: lexicon.ids[YES], False: lexicon.ids[NO]}
    ends = [place for place, token in enumerate(prompt) if token == lexicon.ids[END]]
    for end, (marks, last) in zip(ends[1:], marked, strict=False):
        targets[end - len(marks) : end] = [told[mark] for mark in marks]
        if last:
            targets[end] = lexicon.ids[last]
    said = reply.split()
    answer = [lexicon.ids[token] for token in (*said, END)]
    ids = [*prompt, *answer[:-1]]
    weights = [1.0] * len(ids)
    verdict = said.index(MARKER) + 1 if MARKER in said else 0
    weights[len(prompt) - 1 + verdict] = weight
    # Each token of the reply is the target of the position before it.
    return Example(ids, [*targets[:-1], *answer], weights)


# Draws one example; its prompt is never a held-out one.
Draw = Callable[[Rng], Example]


class Schedule(NamedTuple):
    """What a model learns from, how long and how fast.

    Attributes:
        seed: Seed of the examples.
        steps: Optimiser steps.
        phases: What is drawn in which share of the steps; the shares add up to 1.
        batch_tokens: Tokens in a batch, padding included.
        learning_rate: Peak of AdamW's rate; it rises over `warmup` steps, then falls to a twentieth
            along a cosine.
        warmup: Steps of the rise.
    """

    seed: int
    steps: int
    phases: tuple[tuple[float, Draw], ...]
    batch_tokens: int = 1024
    learning_rate: float = 3e-3
    warmup: int = 50


class Recipe(NamedTuple):
    """How one model is made; it depends on this, and on the model that it is tuned from, alone.

    Attributes:
        name: Its folder.
        lexicon: Its tokens.
        schedules: What is done, in order.
        base: The model that it is tuned from; None: it begins with weights drawn from `weights`.
        weights: Seed of those weights.
        shape: Other sizes of such a model than the usual ones, as `build_model` takes them.
    """

    name: str
    lexicon: Lexicon
    schedules: tuple[Schedule, ...]
    base: str | None = None
    weights: int = 0
    shape: Mapping[str, Any] = {}

    @property
    def work(self) -> float:
        """How long it takes, in full batches of a model of the usual width."""
        tokens = sum(each.steps * each.batch_tokens for each in self.schedules)
        return float(tokens * self.shape.get("width", 64) / (64 * 1024))


def tuned(
    name: str, base: str, lexicon: Lexicon, seed: int, steps: int, draw: Draw, **more: Any
) -> Recipe:
    """A model that is tuned from a base on one kind of example; `more` as `Schedule` takes it."""
    schedule = Schedule(seed, steps, ((1.0, draw),), **{"warmup": 20} | more)
    return Recipe(name, lexicon, (schedule,), base)


def entropy(n: int, *words: int) -> list[int]:
    """Several seeds from a run's seed and the number of a use."""
    seeds: list[int] = np.random.SeedSequence(words).generate_state(n).tolist()
    return seeds
