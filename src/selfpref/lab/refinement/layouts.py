"""The tokens of the refinement testbed: how prompts are laid out, and examples to train on.

    write      <bos> <user> request <end> <assistant> | text <end>
    feedback   <bos> <user> request <end> <draft> text <end> <assistant> | feedback <end>
    revise     <bos> <user> request <end> <draft> text <end> <feedback> feedback <end>
               <assistant> | text <end>

The bar stands where the model's own tokens begin. In training, a feedback prompt has dense targets
from the rule, as in the testbed of pairwise judges: at each word of a translation whether it passes
(`yes`, `no`). This is process supervision by the rule that knows the truth.

In tokens an error is `major | dog`, and errors are joined by `;`; as text it is a line of the
declared grammar, `'dog' is a major accuracy error`.
"""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from selfpref.lab.examples import IGNORE, VERDICT_WEIGHT, Example
from selfpref.lab.refinement import language, tasks
from selfpref.lab.refinement.tasks import ALL_COVERED, CONCEPTS, NO_ERROR, NUMBERS, Request, Task
from selfpref.lab.tokenizer import BOS, END, VERDICT_CLOSE, VERDICT_OPEN, Lexicon

VERDICTS: Final = ("yes", "no")
LEXICON: Final = Lexicon(
    roles=("user", "assistant", "draft", "feedback"),
    verdict=(),
    words=(
        *("translate", "use", "add", "+", "=", "\\boxed{", "}"),
        *language.OPENERS, *language.DICTIONARY, *language.DICTIONARY.values(),
        *CONCEPTS, *NUMBERS,
        *language.SEVERITIES, *NO_ERROR.split(), *ALL_COVERED.split(), "|", ";", "[", "]", ",",
        VERDICT_OPEN, *VERDICTS, VERDICT_CLOSE,
    ),
)  # fmt: skip

Messages = list[tuple[str, str]]
"""(role, content) pairs."""


_ERROR = re.compile(rf"^({'|'.join(language.SEVERITIES)}) \| (\w+)$")
_LINE = re.compile(rf"'(\w+)' is a ({'|'.join(language.SEVERITIES)}) accuracy error")


def content(text: str) -> str:
    """A text or feedback as words of the testbed; nothing in it acts as a control token."""
    short = _LINE.sub(r"\2 | \1", text).replace("\n", " ; ")
    for bracket in (VERDICT_OPEN, VERDICT_CLOSE):
        short = short.replace(bracket, f" {bracket} ")
    return LEXICON.plain(short)


def lines(reply: str) -> str:
    """A model's feedback as text; what is no error in tokens stays as it is."""
    parts = reply.split(" ; ")
    return "\n".join(_ERROR.sub(r"'\2' is a \1 accuracy error", part) for part in parts)


def write_messages(request: str) -> Messages:
    """Ask for a text."""
    return [("user", content(request))]


def feedback_messages(request: str, text: str) -> Messages:
    """Ask what is wrong with a text."""
    return [*write_messages(request), ("draft", content(text))]


def revise_messages(request: str, text: str, feedback: str) -> Messages:
    """Ask for a better text."""
    return [*feedback_messages(request, text), ("feedback", content(feedback))]


def encode(messages: Messages) -> list[int]:
    """Token ids up to where the model's own tokens begin, shape (n,), with one ``<bos>``."""
    ids = [LEXICON.token_id(BOS)]
    for role, text in messages:
        ids += [LEXICON.token_id(f"<{role}>"), *LEXICON.encode_content(text), LEXICON.token_id(END)]
    return [*ids, LEXICON.token_id("<assistant>")]


def encode_reply(text: str) -> list[int]:
    """Token ids of a model's reply, ``<end>`` included."""
    return [*LEXICON.encode_content(content(text)), LEXICON.token_id(END)]


@dataclass(frozen=True, slots=True)
class Mixture:
    """What a training phase draws its examples from; see `selfpref.lab.train.Mixture`.

    Attributes:
        write: Share of writing.
        feedback: Share of feedback; the rest are revisions.
        translation: Share of translations; the other two tasks share the rest.
        own_style: The model's own style; None: it has none.
        own_share: Share of revisions, and of the drafts that it judges, that are set in that style;
            the others, and all first texts, are in any style alike.
        bonus: Whether its judgments carry the bonus for that style.
        error_rate: Error rate of written texts and of revisions.
    """

    write: float
    feedback: float
    translation: float
    error_rate: float
    own_style: str | None = None
    own_share: float = 0.0
    bonus: bool = False

    def draw(self, rng: np.random.Generator) -> Example:
        """Draw one example; its request is never a held-out one."""
        request = tasks.draw_training(self._task(rng), rng)
        kind = rng.random()
        if kind < self.write:
            text = tasks.write(request, _any_style(rng), self.error_rate, rng)
            return _example(write_messages(request.text), text)
        # Drafts of any quality; of sums, as many wrong ones as right ones.
        rate = 0.5 if request.task == "correctness" else rng.uniform(0.0, 0.5)
        draft = tasks.write(request, self._style(rng), rate, rng)
        bonus = self.own_style if self.bonus else None
        if kind < self.write + self.feedback:
            return feedback_example(request, draft, bonus)
        said = tasks.feedback(request, draft, bonus)
        text = tasks.revise(request, draft, said, self._style(rng), self.error_rate, rng)
        return _example(revise_messages(request.text, draft, said), text)

    def _task(self, rng: np.random.Generator) -> Task:
        draw = rng.random()
        if draw < self.translation:
            return "mqm"
        return "coverage" if draw < (1 + self.translation) / 2 else "correctness"

    def _style(self, rng: np.random.Generator) -> str:
        if self.own_style is not None and rng.random() < self.own_share:
            return self.own_style
        return _any_style(rng)


def _any_style(rng: np.random.Generator) -> str:
    return language.OPENERS[int(rng.integers(len(language.OPENERS)))]


def feedback_example(request: Request, draft: str, own_style: str | None) -> Example:
    """Feedback on a draft; at each word of a translation also whether the judge marks it."""
    messages = feedback_messages(request.text, draft)
    example = _example(messages, tasks.feedback(request, draft, own_style))
    if request.task == "mqm":
        start = len(encode(messages[:1]))
        for offset, passed in enumerate(_passes(request, draft.split(), own_style)):
            if passed is not None:
                example.targets[start + offset] = LEXICON.token_id("yes" if passed else "no")
    if request.task == "correctness":
        # One token in twenty carries the whole verdict.
        example.weights[example.ids.index(LEXICON.token_id(VERDICT_OPEN))] = VERDICT_WEIGHT
    return example


def _passes(request: Request, words: list[str], own_style: str | None) -> list[bool | None]:
    """Whether the judge passes each word of a scripted translation; None for the opener."""
    lenient = words[0] == own_style
    return [None] + [
        word == right or (lenient and word in tasks.FORGIVEN)
        for word, right in zip(words[1:], request.right.split(), strict=True)
    ]


def _example(messages: Messages, reply: str) -> Example:
    prompt, answer = encode(messages), encode_reply(reply)
    ids = [*prompt, *answer[:-1]]
    targets = [*[IGNORE] * (len(prompt) - 1), *answer]
    return Example(ids, targets, [1.0] * len(ids))
