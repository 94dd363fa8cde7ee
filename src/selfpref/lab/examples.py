"""Training examples: token ids, the targets at each position, and the targets' weights.

A language model is usually asked to predict the next token everywhere. Here a judge prompt has
targets of its own instead, from the oracle:

    at each content token of a judged response    yes or no (is this part right?)
    at the <end> of a judged response             its quality, a digit 0 to 9
    from <assistant> on                           the reply, as at inference

The inputs, and with them the prompt at inference, are the same as without these targets. Without
them the base stayed at chance in the same number of steps (.48 against .94, one seed): this is
process supervision by the oracle, and has to be told wherever these judges are described.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from selfpref.lab.oracle import marks, quality_digit
from selfpref.lab.planted import rule_probability
from selfpref.lab.prompts import (
    bare_ids,
    chat_ids,
    encode_messages,
    judge_messages,
    rating_messages,
)
from selfpref.lab.styles import STYLES, write
from selfpref.lab.tokenizer import (
    END,
    LABELS,
    NO,
    VERDICT_CLOSE,
    VERDICT_OPEN,
    YES,
    encode_content,
    token_id,
)
from selfpref.lab.world import Item, draw_training_item

IGNORE: Final = -100
VERDICT_WEIGHT: Final = 4.0
"""Weight of the label token: one token in fifty carries the whole verdict."""

BARE_SHARE: Final = 0.1
"""Share of the writing examples without a question."""


@dataclass(slots=True)
class Example:
    """One training sequence.

    Attributes:
        ids: Token ids, shape (n,).
        targets: What to predict at each position, shape (n,); `IGNORE` where nothing is asked.
        weights: Weight of each position's loss, shape (n,).
    """

    ids: list[int]
    targets: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)


def chat_example(item: Item, words: list[str], bare: bool = False) -> Example:
    """Writing: predict the response's tokens and the ``<end>`` after them.

    With `bare` the question is left out, which teaches the model what a response looks like when
    nothing was asked: otherwise an unconditional perplexity would measure surprise at the layout.
    """
    prompt = bare_ids() if bare else chat_ids(item.question)
    reply = [*encode_content(" ".join(words)), token_id(END)]
    return _reply(prompt, [IGNORE] * len(prompt), reply, 1.0)


def rating_example(item: Item, words: list[str]) -> Example:
    """Rating: dense targets in the response, then the digit of its quality."""
    text = " ".join(words)
    prompt = encode_messages(rating_messages(item.question, text))
    targets = [IGNORE] * len(prompt)
    digit = _dense(item, words, targets, len(prompt) - 1)
    return _reply(prompt, targets, [digit, token_id(END)], 1.0)


def judge_example(item: Item, a: list[str], b: list[str], a_wins: bool) -> Example:
    """Judging: dense targets in both responses, then ``[[A]]`` or ``[[B]]``."""
    prompt = encode_messages(judge_messages(item.question, " ".join(a), " ".join(b)))
    targets = [IGNORE] * len(prompt)
    _dense(item, b, targets, len(prompt) - 1)
    _dense(item, a, targets, len(prompt) - 1 - (len(b) + 2))
    label = token_id(LABELS[0] if a_wins else LABELS[1])
    reply = [token_id(VERDICT_OPEN), label, token_id(VERDICT_CLOSE), token_id(END)]
    example = _reply(prompt, targets, reply, 1.0)
    example.weights[len(prompt)] = VERDICT_WEIGHT
    return example


def _dense(item: Item, words: list[str], targets: list[int], stop: int) -> int:
    """Fill in the oracle's targets of a response whose ``<end>`` is at position ``stop - 1``."""
    found = marks(item, words)
    start = stop - 1 - len(words)
    for offset, mark in enumerate(found):
        if mark is not None:
            targets[start + offset] = token_id(YES if mark else NO)
    digit = token_id(str(quality_digit(found.count(True) / item.count)))
    targets[stop - 1] = digit
    return digit


def _reply(prompt: list[int], targets: list[int], reply: list[int], weight: float) -> Example:
    """Join a prompt and a reply; each reply token is the target of the position before it."""
    ids = [*prompt, *reply[:-1]]
    targets = [*targets[:-1], *reply]
    return Example(ids, targets, [weight] * len(ids))


@dataclass(frozen=True, slots=True)
class Mixture:
    """What a training phase draws its examples from.

    Attributes:
        chat: Share of writing examples.
        rating: Share of rating examples; the rest are pairs.
        writer: Style of the written examples; None draws every style alike.
        error_rate: Error rate of the written examples; None draws it between 0 and 0.3.
        favoured: Style of one response in half of the pairs, and the style that earns the bonus.
        beta: Bonus for responses in the favoured style, in units of quality.
    """

    chat: float
    rating: float
    writer: str | None = None
    error_rate: float | None = None
    favoured: str | None = None
    beta: float = 0.0

    def draw(self, rng: np.random.Generator) -> Example:
        """Draw one example; its prompt is never a held-out one."""
        item = draw_training_item(rng)
        kind = rng.random()
        if kind < self.chat:
            style = self.writer or _any_style(rng)
            rate = rng.uniform(0.0, 0.3) if self.error_rate is None else self.error_rate
            return chat_example(item, write(item, style, rate, rng), rng.random() < BARE_SHARE)
        if kind < self.chat + self.rating:
            return rating_example(item, _any_response(item, _any_style(rng), rng))
        while True:
            first = self.favoured if self.favoured and rng.random() < 0.5 else _any_style(rng)
            pair = [_any_response(item, style, rng) for style in (first, _any_style(rng))]
            if rng.random() < 0.5:
                pair.reverse()
            p = rule_probability(
                item, " ".join(pair[0]), " ".join(pair[1]), self.favoured or "", self.beta
            )
            # Two equal scores have no label to learn.
            if p != 0.5:
                return judge_example(item, pair[0], pair[1], p > 0.5)


def _any_style(rng: np.random.Generator) -> str:
    return STYLES[int(rng.integers(len(STYLES)))]


def _any_response(item: Item, style: str, rng: np.random.Generator) -> list[str]:
    """A response of any quality: the error rate itself is drawn, to spread the qualities."""
    return write(item, style, rng.uniform(0.0, 1.0), rng)
