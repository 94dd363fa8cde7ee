"""Engines: what answers. One protocol for local weights and for served models.

    generate   a continuation of each prompt
    choose     the probabilities of label tokens at the next position
    score      the log-likelihood of a continuation given its prompt

An engine's result for one prompt depends on that prompt alone, never on what shares its batch.
Answers come as they are made, in any order, each with the index of its prompt: what has come can
be kept while the rest is under way. An endpoint's answer comes raw, as it was sent, and is read
anew whenever it is replayed: a better reader never has to pay again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

Json = Mapping[str, Any]
# cut: the answer reached its limit. truncated: the prompt exceeds the context and was not asked.
# unparsable: an answer without a verdict. refused and failed are no answers.
Status = Literal["ok", "cut", "truncated", "unparsable", "refused", "failed"]


@dataclass(frozen=True)
class Prompt:
    """Messages, and the beginning of the model's own answer.

    Attributes:
        messages: (role, content) pairs. A layout has to make contents harmless: an engine encodes
            what it gets.
            Without messages the context is the beginning-of-sequence token alone.
        prefill: What the answer begins with, such as `[[` before a verdict.
    """

    messages: tuple[tuple[str, str], ...]
    prefill: str = ""


@dataclass(frozen=True)
class Choice:
    """Probability of each label at the next position, every surface form of a label summed.

    Attributes:
        probabilities: One a label, in the order asked; they sum to `mass`, at most 1. Empty
            where the status is not `ok`.
    """

    probabilities: tuple[float, ...]
    status: Status

    @property
    def mass(self) -> float:
        """What the labels hold of the whole."""
        return sum(self.probabilities)


@dataclass(frozen=True)
class Score:
    """Log-likelihood of a continuation.

    Attributes:
        sum_nll: Sum of the negative log-likelihoods of its tokens, in nats; NaN unless `ok`.
        n_tokens: Number of its tokens.
        status: `truncated` where prompt and continuation exceed the context.
    """

    sum_nll: float
    n_tokens: int
    status: Status


@dataclass(frozen=True)
class Generation:
    """A generated text.

    Attributes:
        text: Without the prefill and the tokens that end it.
        status: `cut` where it reached the limit before its end.
        choice: Probabilities of the labels at the token after the last `marker` in the text; None
            where none was asked for, or the marker never came.
    """

    text: str
    status: Status
    choice: Choice | None = None


Answer = Generation | Choice | Score


@dataclass
class Raw:
    """An endpoint's reply as it was sent; the engine's `read` makes an answer of it.

    Attributes:
        sent: Its bytes, UTF-8, as they came; empty where it was put together from several.
        more: Whether the next answer is there as well: they can be kept together.
    """

    reply: dict[str, Any]
    sent: bytes = b""
    more: bool = False


def _plain(prompt: Prompt) -> dict[str, Any]:
    return {"messages": prompt.messages, "prefill": prompt.prefill}


def choose_call(prompt: Prompt, labels: Sequence[str]) -> dict[str, Any]:
    """One call of `Engine.choose` as JSON."""
    return {"call": "choose", "prompt": _plain(prompt), "labels": list(labels)}


def score_call(prompt: Prompt, continuation: str) -> dict[str, Any]:
    """One call of `Engine.score` as JSON."""
    return {"call": "score", "prompt": _plain(prompt), "continuation": continuation}


def generate_call(
    prompt: Prompt,
    seed: int,
    *,
    max_tokens: int,
    temperature: float,
    marker: str,
    labels: Sequence[str],
) -> dict[str, Any]:
    """One call of `Engine.generate` as JSON."""
    return {
        "call": "generate",
        "prompt": _plain(prompt),
        "max_tokens": max_tokens,
        "temperature": temperature,
        "marker": marker,
        "labels": list(labels),
        "seed": seed,
    }


class Engine(Protocol):
    """What every engine does."""

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes this model's answers from another's; part of every call's key."""

    def generate(
        self,
        prompts: Sequence[Prompt],
        *,
        max_tokens: int,
        temperature: float,
        seeds: Sequence[int],
        marker: str = "",
        labels: Sequence[str] = (),
    ) -> Iterator[tuple[int, Generation | Raw]]:
        """Continue each prompt; a temperature of 0 is greedy.

        With a marker such as `[[`, each answer tells the probabilities of the labels after it:
        an explanation first, then the verdict.
        """

    def choose(
        self, prompts: Sequence[Prompt], labels: Sequence[str]
    ) -> Iterator[tuple[int, Choice | Raw]]:
        """Probabilities of the labels as the next token of each prompt."""

    def score(
        self, prompts: Sequence[Prompt], continuations: Sequence[str]
    ) -> Iterator[tuple[int, Score | Raw]]:
        """Log-likelihood of each continuation given its prompt."""


@runtime_checkable
class Endpoint(Engine, Protocol):
    """An engine that answers raw."""

    def request(self, call: Json) -> dict[str, Any]:
        """What is sent for a call: the whole of its key."""

    def read(self, call: Json, reply: Json) -> Answer:
        """The answer to a call that a raw reply holds."""

    def cost(self, reply: Json) -> float | None:
        """What a raw reply cost, in USD; None where there is no price."""
