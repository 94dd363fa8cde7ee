"""Engines: what answers. One protocol for local weights and, later, for served models.

    generate   a continuation of each prompt
    choose     the probabilities of label tokens at the next position
    score      the log-likelihood of a continuation given its prompt

An engine's result for one prompt depends on that prompt alone, never on what shares its batch.
Answers come as they are made, in any order, each with the index of its prompt: what has come can
be kept while the rest is under way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

# truncated: the prompt exceeds the context and was not asked; cut: the answer reached its limit.
Status = Literal["ok", "cut", "truncated"]


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
        probabilities: One a label, in the order asked; they sum to `mass`, at most 1.
        status: `truncated` (and no probabilities) where the prompt exceeds the context.
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
        sum_nll: Sum of the negative log-likelihoods of its tokens, in nats; NaN where truncated.
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
    ) -> Iterator[tuple[int, Generation]]:
        """Continue each prompt; a temperature of 0 is greedy.

        With a marker such as `[[`, each answer tells the probabilities of the labels after it:
        an explanation first, then the verdict.
        """

    def choose(
        self, prompts: Sequence[Prompt], labels: Sequence[str]
    ) -> Iterator[tuple[int, Choice]]:
        """Probabilities of the labels as the next token of each prompt."""

    def score(
        self, prompts: Sequence[Prompt], continuations: Sequence[str]
    ) -> Iterator[tuple[int, Score]]:
        """Log-likelihood of each continuation given its prompt."""
