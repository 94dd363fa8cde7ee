"""What answers: an engine turns calls into answers. One protocol for local and served models.

    Generate   a continuation of a prompt                              -> Text
    Choose     the probabilities of label tokens at the next position  -> Choice
    Score      the log-likelihood of a continuation given its prompt   -> Likelihood

An engine's answer to a call depends on that call alone, never on what shares its batch. Answers
come as they are made, in any order, each with the index of its call: what has come can be kept
while the rest is under way. An endpoint's answer comes raw, as it was sent, and is read anew
whenever it is replayed: a better reader never has to pay again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

Json = Mapping[str, Any]
# A verdict is the token after it.
MARKER = "[["
# Limit of a reply that is a verdict, such as `[[A]]`, where the prefill cannot be sent.
VERDICT_TOKENS = 16
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

    def said(self, *, fold: bool) -> tuple[tuple[str, str], ...]:
        """The messages; folded, a system turn's text stands in the first user message, in front."""
        told = [content for role, content in self.messages if role == "system"]
        if not fold or not told:
            return self.messages
        (role, content), *later = [message for message in self.messages if message[0] != "system"]
        return (role, "\n\n".join([*told, content])), *later


@dataclass(frozen=True)
class _Call:
    """One question to a model; as JSON it is part of its key in the store."""

    prompt: Prompt

    def as_json(self) -> dict[str, Any]:
        """The call as it stands in its key.

        Where an answer begins that is given, as a prefill or to be scored, is part of the key: such
        an answer once began at the end of the generation prompt. A label is a given answer, too.
        """
        told = {"call": type(self).__name__.lower(), **vars(self), "prompt": vars(self.prompt)}
        if self.prompt.messages and (self.prompt.prefill or not isinstance(self, Generate)):
            told["begins"] = "content"
        return told

    @property
    def options(self) -> tuple[object, ...]:
        """What calls that are answered together have in common."""
        own = ("prompt", "seed", "continuation")
        common = [value for name, value in vars(self).items() if name not in own]
        return type(self), self.prompt.prefill, *common


@dataclass(frozen=True)
class Generate(_Call):
    """Ask for a continuation of a prompt.

    Attributes:
        prompt: What it continues.
        max_tokens: Where it is cut off.
        temperature: 0 is greedy.
        seed: Of the sample.
        marker: Such as `[[`: the answer then tells the probabilities of the labels after it (an
            explanation first, then the verdict).
        labels: Which labels.
    """

    max_tokens: int
    temperature: float
    seed: int
    marker: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choose(_Call):
    """Ask for the probabilities of labels as the next token of a prompt."""

    labels: tuple[str, ...]


@dataclass(frozen=True)
class Score(_Call):
    """Ask for the log-likelihood of a continuation given its prompt."""

    continuation: str


Call = Generate | Choose | Score


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
class Likelihood:
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
class Text:
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


Answer = Text | Choice | Likelihood


@dataclass
class Raw:
    """An endpoint's reply as it was sent; the engine's `read` makes an answer of it."""

    reply: dict[str, Any]


# As they are made, each with the index of its call.
Answers = Iterator[tuple[int, Answer | Raw]]


class Engine(Protocol):
    """What every engine does."""

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes this model's answers from another's; part of every call's key."""

    def answer(self, calls: Sequence[Call]) -> Answers:
        """Answers as they are made, each with the index of its call.

        Args:
            calls: Equal in `options`: kind, prefill, limit, temperature, marker, labels.
        """


@dataclass(frozen=True)
class Together:
    """An engine of several processes or workers: where a model runs does not change its answers."""

    identity: dict[str, Any]
    answer: Callable[[Sequence[Any]], Answers]


@runtime_checkable
class Endpoint(Engine, Protocol):
    """An engine that answers raw."""

    def request(self, call: Call) -> dict[str, Any]:
        """What is sent for a call: the whole of its key."""

    def read(self, call: Call, reply: Json) -> Answer:
        """The answer to a call that a raw reply holds."""
