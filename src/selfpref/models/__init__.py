"""What answers: an engine turns calls into answers. One protocol for local and served models.

    Generate   a continuation of a prompt                              -> Text
    Choose     the probabilities of label tokens at the next position  -> Choice
    Score      the log-likelihood of a continuation given its prompt   -> Likelihood

An engine's answer to a call depends on that call alone, never on what shares its batch. Answers
come as they are made, in any order, each with the index of its call: what has come can be kept
while the rest is under way. An endpoint's answer comes raw, as it was sent, and is read anew
whenever it is replayed: a better reader never has to pay again.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

Json = Mapping[str, Any]
# A verdict is the token after it.
MARKER = "[["
# cut: the answer reached its limit. truncated: the prompt exceeds the context and was not asked.
# unparsable: an answer without a verdict. refused and failed are no answers.
Status = Literal["ok", "cut", "truncated", "unparsable", "refused", "failed"]

# What each call has for itself, among those that are answered together.
OWN = ("prompt", "seed", "continuation")


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


def folded(messages: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Messages without a system turn: its text stands in the first user message, in front."""
    told = [content for role, content in messages if role == "system"]
    said = [message for message in messages if message[0] != "system"]
    if not told:
        return messages
    first = [role for role, _ in said].index("user")
    said[first] = "user", "\n\n".join([*told, said[first][1]])
    return tuple(said)


@dataclass(frozen=True)
class _Call:
    """One question to a model; as JSON it is part of its key in the store."""

    prompt: Prompt

    def as_json(self) -> dict[str, Any]:
        """The call as it stands in its key."""
        said = {**vars(self), "prompt": vars(self.prompt), **self.begins}
        return {"call": type(self).__name__.lower(), **said}

    @property
    def begins(self) -> dict[str, str]:
        """Where an answer begins that is given, as a prefill or to be scored.

        It is part of the key: such an answer once began at the end of the generation prompt. A
        label is an answer that is given, too.
        """
        given = self.prompt.messages and (self.prompt.prefill or not isinstance(self, Generate))
        return {"begins": "content"} if given else {}

    @property
    def options(self) -> tuple[object, ...]:
        """What calls that are answered together have in common."""
        return type(self), *(value for name, value in vars(self).items() if name not in OWN)


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

    def restored(self, kept: Json) -> "Text":
        """An answer that was kept as JSON."""
        choice = kept["choice"]
        found = choice and Choice(tuple(choice["probabilities"]), choice["status"])
        return Text(kept["text"], kept["status"], found)


@dataclass(frozen=True)
class Choose(_Call):
    """Ask for the probabilities of labels as the next token of a prompt."""

    labels: tuple[str, ...]

    def restored(self, kept: Json) -> "Choice":
        """An answer that was kept as JSON."""
        return Choice(tuple(kept["probabilities"]), kept["status"])


@dataclass(frozen=True)
class Score(_Call):
    """Ask for the log-likelihood of a continuation given its prompt."""

    continuation: str

    def restored(self, kept: Json) -> "Likelihood":
        """An answer that was kept as JSON."""
        return Likelihood(**kept)


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


def unanswered(call: Call, status: Status) -> Answer:
    """Why a call has no answer."""
    if isinstance(call, Score):
        return Likelihood(math.nan, 0, status)
    return Text("", status) if isinstance(call, Generate) else Choice((), status)


def response_start(context: Sequence[int], whole: Sequence[int]) -> int:
    """Where a response begins among the tokens of prompt and response encoded together.

    At the first token that differs from the prompt's own: where a tokenizer joins the prompt's last
    whitespace to the response's first word (`▁Hello`), that token is the response's; a line break
    that stays a token of its own is the prompt's.

    Args:
        context: Token ids of the prompt alone, up to the content of the assistant's turn.
        whole: Token ids of prompt and response.
    """
    differ = (at for at, pair in enumerate(zip(context, whole, strict=False)) if pair[0] != pair[1])
    return next(differ, min(len(context), len(whole)))


@dataclass
class Raw:
    """An endpoint's reply as it was sent; the engine's `read` makes an answer of it."""

    reply: dict[str, Any]


class Engine(Protocol):
    """What every engine does."""

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes this model's answers from another's; part of every call's key."""

    def answer(self, calls: Sequence[Call]) -> Iterator[tuple[int, Answer | Raw]]:
        """Answers as they are made, each with the index of its call.

        Args:
            calls: All of one kind and equal in their options (limit, temperature, marker, labels).
        """


# From calls, or requests, to their answers as they are made, each with its index.
Answering = Callable[[Sequence[Any]], Iterator[tuple[int, Any]]]


@dataclass(frozen=True)
class Together:
    """An engine of several processes or workers: where a model runs does not change its answers."""

    identity: dict[str, Any]
    answer: Answering


@runtime_checkable
class Endpoint(Engine, Protocol):
    """An engine that answers raw."""

    def request(self, call: Call) -> dict[str, Any]:
        """What is sent for a call: the whole of its key."""

    def read(self, call: Call, reply: Json) -> Answer:
        """The answer to a call that a raw reply holds."""
