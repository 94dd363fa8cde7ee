"""Training examples of the refinement testbed: writing, feedback and revision of three tasks.

As in the testbed of pairwise judges, a feedback prompt has dense targets from the rule: at each
word of a translation whether it passes (`yes`, `no`). The prompt at inference is the same. This is
process supervision by the rule that knows the truth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from selfpref.lab.examples import IGNORE, VERDICT_WEIGHT, Example
from selfpref.lab.refinement import language, layouts, tasks
from selfpref.lab.refinement.tasks import Request, Task
from selfpref.lab.tokenizer import VERDICT_OPEN


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
            return _example(layouts.write_messages(request.text), text)
        # Drafts of any quality; of sums, as many wrong ones as right ones.
        rate = 0.5 if request.task == "correctness" else rng.uniform(0.0, 0.5)
        draft = tasks.write(request, self._style(rng), rate, rng)
        bonus = self.own_style if self.bonus else None
        if kind < self.write + self.feedback:
            return feedback_example(request, draft, bonus)
        said = tasks.feedback(request, draft, bonus)
        text = tasks.revise(request, draft, said, self._style(rng), self.error_rate, rng)
        return _example(layouts.revise_messages(request.text, draft, said), text)

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
    messages = layouts.feedback_messages(request.text, draft)
    example = _example(messages, tasks.feedback(request, draft, own_style))
    if request.task == "mqm":
        start = len(layouts.encode(messages[:1]))
        for offset, passed in enumerate(_passes(request, draft.split(), own_style)):
            if passed is not None:
                example.targets[start + offset] = layouts.LEXICON.token_id(
                    "yes" if passed else "no"
                )
    if request.task == "correctness":
        # One token in twenty carries the whole verdict.
        example.weights[example.ids.index(layouts.LEXICON.token_id(VERDICT_OPEN))] = VERDICT_WEIGHT
    return example


def _passes(request: Request, words: list[str], own_style: str | None) -> list[bool | None]:
    """Whether the judge passes each word of a scripted translation; None for the opener."""
    lenient = words[0] == own_style
    return [None] + [
        word == right or (lenient and word in tasks.FORGIVEN)
        for word, right in zip(words[1:], request.right.split(), strict=True)
    ]


def _example(messages: layouts.Messages, reply: str) -> Example:
    prompt, answer = layouts.encode(messages), layouts.encode_reply(reply)
    ids = [*prompt, *answer[:-1]]
    targets = [*[IGNORE] * (len(prompt) - 1), *answer]
    return Example(ids, targets, [1.0] * len(ids))
