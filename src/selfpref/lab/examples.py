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

from selfpref.lab.injected import rule_probability
from selfpref.lab.oracle import marks, quality_digit
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
    return reply_example(prompt, [IGNORE] * len(prompt), reply)


def rating_example(item: Item, words: list[str]) -> Example:
    """Rating: dense targets in the response, then the digit of its quality."""
    text = " ".join(words)
    prompt = encode_messages(rating_messages(item.question, text))
    targets = dense_targets(prompt, item, [words])
    digit = next(target for target in reversed(targets) if target != IGNORE)
    return reply_example(prompt, targets, [digit, token_id(END)])


def judge_example(item: Item, a: list[str], b: list[str], a_wins: bool) -> Example:
    """Judging: dense targets in both responses, then ``[[A]]`` or ``[[B]]``."""
    prompt = encode_messages(judge_messages(item.question, " ".join(a), " ".join(b)))
    targets = dense_targets(prompt, item, [a, b])
    label = token_id(LABELS[0] if a_wins else LABELS[1])
    reply = [token_id(VERDICT_OPEN), label, token_id(VERDICT_CLOSE), token_id(END)]
    example = reply_example(prompt, targets, reply)
    example.weights[len(prompt)] = VERDICT_WEIGHT
    return example


def dense_targets(prompt: list[int], item: Item, responses: list[list[str]]) -> list[int]:
    """The oracle's targets in a prompt that holds responses, each closed by ``<end>``.

    Args:
        prompt: Token ids of a prompt that ends in its responses and the assistant's marker.
        item: What the responses are checked against.
        responses: The words of each response, in the order of the prompt.

    Returns:
        One target a position of the prompt: yes or no at content words, the digit of the quality
        at each response's ``<end>``, `IGNORE` elsewhere.
    """
    targets, end = [IGNORE] * len(prompt), token_id(END)
    stops = [position for position, token in enumerate(prompt) if token == end]
    for stop, words in zip(stops[-len(responses) :], responses, strict=True):
        found = marks(item, words)
        for offset, mark in enumerate(found):
            if mark is not None:
                targets[stop - len(words) + offset] = token_id(YES if mark else NO)
        targets[stop] = token_id(str(quality_digit(found.count(True) / item.count)))
    return targets


def reply_example(prompt: list[int], targets: list[int], reply: list[int]) -> Example:
    """Join a prompt and a reply; each reply token is the target of the position before it."""
    ids = [*prompt, *reply[:-1]]
    return Example(ids, [*targets[:-1], *reply], [1.0] * len(ids))


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
