"""Judges of self-refinement: a model, or chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from selfpref.models import Generate
from selfpref.models.calls import Model
from selfpref.seeds import seed_of
from selfpref.studies.xu.feedback import (
    MARKER,
    SEVERITIES,
    VERDICTS,
    Feedback,
    read,
    read_generation,
)
from selfpref.studies.xu.items import Item, Task
from selfpref.studies.xu.prompts import Refinement


@dataclass(frozen=True)
class Question:
    """One text to judge.

    Attributes:
        item: What was asked.
        text: The text.
        occasion: Which reading of it this is, such as a step; with judge and item the seed.
    """

    item: Item
    text: str
    occasion: str


class Judge(Protocol):
    """Whoever gives feedback."""

    @property
    def name(self) -> str:
        """The judge in the ratings table."""

    def rate(self, questions: Sequence[Question]) -> list[Feedback]:
        """Feedback on each text."""


@dataclass(frozen=True)
class Sampling:
    """How a model writes: limits in tokens, temperature (0: greedy), and the seed of every draw."""

    max_tokens: int
    feedback_tokens: int
    temperature: float
    seed: int


@dataclass(frozen=True)
class ModelJudge:
    """A model that gives feedback in words.

    Of a verdict on correctness it also tells the probabilities of yes and no, where its engine
    knows them.

    Attributes:
        name: The judge in the ratings table.
        calls: The model behind the store.
        layout: Its prompts, the same at every step.
        sampling: Limits, temperature and seed.
    """

    name: str
    calls: Model
    layout: Refinement
    sampling: Sampling

    def rate(self, questions: Sequence[Question]) -> list[Feedback]:
        """Feedback on each text; equal questions on one occasion are one call."""
        made = self.calls.ask([self._call(question) for question in questions])
        return [
            read_generation(question.item.task, one, self.layout.reply(one.text))
            for question, one in zip(questions, made, strict=True)
        ]

    def _call(self, question: Question) -> Generate:
        # Only a verdict has a marker to read probabilities after.
        marked = question.item.task == "correctness"
        return Generate(
            self.layout.feedback(question.item, question.text),
            self.sampling.feedback_tokens,
            self.sampling.temperature,
            self._seed(question),
            MARKER if marked else "",
            VERDICTS if marked else (),
        )

    def _seed(self, question: Question) -> int:
        item = question.item.item_id
        return seed_of(self.sampling.seed, self.name, item, "feedback", question.occasion)


class NoiseJudge:
    """Feedback that says nothing about the text: the null of the paper's accept rule.

    How many errors of which severity it names is what a model said of another item's first text,
    drawn at random; which words it calls wrong is drawn from the text at hand. So its scores are
    distributed like that model's, and independent of quality.

    Args:
        pool: The model's readings of first texts, by task.
        seed: Of all draws.
    """

    name = "noise"

    def __init__(self, pool: Mapping[Task, Sequence[Feedback]], seed: int) -> None:
        self._seed = seed
        self._pool = {
            task: [reading for reading in readings if reading.status == "ok"]
            for task, readings in pool.items()
        }

    def rate(self, questions: Sequence[Question]) -> list[Feedback]:
        """Feedback on each text."""
        return [self._rate(question) for question in questions]

    def _rate(self, question: Question) -> Feedback:
        item = question.item
        rng = np.random.default_rng(seed_of(self._seed, self.name, item.item_id, question.occasion))
        pool = self._pool.get(item.task, [])
        if not pool:
            return Feedback("unparsable")
        drawn = pool[int(rng.integers(len(pool)))]
        if drawn.flawless:
            return read(item.task, _FLAWLESS[item.task])
        marks = drawn.marks or ()
        if item.task == "mqm":
            return read(item.task, _annotated(question.text, marks, rng))
        if item.task == "coverage":
            count = min(len(item.concepts), int(marks[0]))
            missing = rng.permutation(np.array(item.concepts))[:count]
            return read(item.task, f"[{', '.join(map(str, missing))}]")
        return read(item.task, "[[no]]")


_FLAWLESS: Mapping[Task, str] = {
    "mqm": "no error",
    "coverage": "all covered",
    "correctness": "[[yes]]",
}


def _annotated(text: str, marks: Sequence[float], rng: np.random.Generator) -> str:
    words = text.split() or [""]
    return "\n".join(
        f"'{words[int(rng.integers(len(words)))]}' is a {severity} accuracy error"
        for severity, count in zip(SEVERITIES, marks, strict=True)
        for _ in range(int(count))
    )
