"""Who writes, revises and judges: models, chance, and the majority of samples.

**Chance** is the null of the paper's accept rule: a judge whose scores are distributed like the
model's and say nothing of the text.

**Self-consistency** judges mathematics. A writer solves each problem n times. The current answer is
that of the first sample; round r calls it correct if it equals the majority of the first k_r
samples, then puts that majority in its place.

    step r    text: the current answer before round r    score: 1 if it is the majority, else 0

Samples without an answer do not vote; without any vote the rating is unparsable and the answer
stays. Of equally frequent answers the one that came first wins. Each round counts for itself: in
the release of Xu et al. its differences ran on from round to round, and two missing answers agreed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from selfpref.models import Generate, Prompt, Text
from selfpref.models.calls import Model
from selfpref.params import Refine
from selfpref.seeds import seed_of
from selfpref.studies.xu.feedback import SEVERITIES, VERDICTS, Feedback, read, read_generation
from selfpref.studies.xu.items import Item, Task
from selfpref.studies.xu.prompts import Refinement
from selfpref.studies.xu.truths import answer_of


class Draft(NamedTuple):
    """One text to judge or to revise.

    Attributes:
        item: What was asked.
        text: The text.
        occasion: Which reading of it this is, such as a step; with judge and item the seed.
    """

    item: Item
    text: str
    occasion: str


@dataclass(frozen=True)
class Participant:
    """A model behind the store that writes, revises, and gives feedback in words.

    Of a verdict on correctness it also tells the probabilities of yes and no, where its engine
    knows them.

    Attributes:
        name: The responder and judge in the tables.
        model: The model.
        prompts: Its prompts, the same at every step.
        use: What is done, and with which limits and temperature.
        seed: Of every draw.
        scores: Whether it tells the likelihood of a given text.
    """

    name: str
    model: Model
    prompts: Refinement
    use: Refine
    seed: int
    scores: bool = True

    def write(self, items: Sequence[Item], samples: int = 1) -> list[list[Text]]:
        """First texts of each item, `samples` draws."""
        made = self._texts(
            (self.prompts.write(item), item, "write", sample)
            for item in items
            for sample in range(samples)
        )
        return [made[start : start + samples] for start in range(0, len(made), samples)]

    def revise(self, questions: Sequence[Draft], said: Sequence[Feedback]) -> list[Text]:
        """A better text for each, given what was said of it."""
        return self._texts(
            (self.prompts.revise(item, text, feedback.reply or ""), item, "revise", occasion)
            for (item, text, occasion), feedback in zip(questions, said, strict=True)
        )

    def rate(self, questions: Sequence[Draft]) -> list[Feedback]:
        """Feedback on each text; equal questions on one occasion are one call."""
        made = self.model.ask([self._asked(*question) for question in questions])
        return [
            read_generation(question.item.task, one, self.prompts.reply(one.text))
            for question, one in zip(questions, made, strict=True)
        ]

    def _asked(self, item: Item, text: str, occasion: str) -> Generate:
        # Only a verdict has a marker to read probabilities after.
        marker = self.prompts.marker if item.task == "correctness" else ""
        return Generate(
            self.prompts.feedback(item, text),
            self.use.feedback_tokens,
            self.use.temperature,
            seed_of(self.seed, self.name, item.item_id, "feedback", occasion),
            marker,
            VERDICTS if marker else (),
        )

    def _texts(self, asked: Iterable[tuple[Prompt, Item, str, object]]) -> list[Text]:
        limit, temperature = self.use.max_tokens, self.use.temperature
        calls = [
            Generate(prompt, limit, temperature, seed_of(self.seed, self.name, item.item_id, *of))
            for prompt, item, *of in asked
        ]
        return [Text(one.text.strip(), one.status) for one in self.model.ask(calls)]


def written(text: Text) -> bool:
    """Whether there is a text, whole or cut off at its limit."""
    return text.status in ("ok", "cut")


@dataclass(frozen=True)
class NoiseJudge:
    """Feedback that says nothing about the text: the null of the paper's accept rule.

    How many errors of which severity it names is what a model said of another item's first text,
    drawn at random; which words it calls wrong is drawn from the text at hand. So its scores are
    distributed like that model's, and independent of quality.

    Attributes:
        said: The model's readings of first texts, with their tasks; the usable ones are drawn from.
        seed: Of all draws.
    """

    said: Sequence[tuple[Task, Feedback]]
    seed: int
    name: str = "noise"

    def rate(self, questions: Sequence[Draft]) -> list[Feedback]:
        """Feedback on each text."""
        return [self._rate(*question) for question in questions]

    @cached_property
    def _usable(self) -> dict[Task, list[Feedback]]:
        found: dict[Task, list[Feedback]] = {}
        for task, said in self.said:
            if said.status == "ok":
                found.setdefault(task, []).append(said)
        return found

    def _rate(self, item: Item, text: str, occasion: str) -> Feedback:
        rng = np.random.default_rng(seed_of(self.seed, self.name, item.item_id, occasion))
        if not (pool := self._usable.get(item.task)):
            return Feedback("unparsable")
        drawn = pool[int(rng.integers(len(pool)))]
        if drawn.flawless:
            return read(item.task, _FLAWLESS[item.task])
        marks = drawn.marks or ()
        if item.task == "mqm":
            return read(item.task, _annotated(text, marks, rng))
        if item.task == "coverage":
            count = min(len(item.concepts), int(marks[0]))
            missing = rng.permutation(np.array(item.concepts))[:count]
            return read(item.task, f"[{', '.join(map(str, missing))}]")
        return read(item.task, "[[no]]")


Judge = Participant | NoiseJudge

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


def rounds(samples: Sequence[str], prefixes: Sequence[int]) -> list[tuple[int, float | None]]:
    """The rounds of one problem.

    Args:
        samples: Solutions, at least as many as the longest prefix.
        prefixes: How many of them vote in each round.

    Returns:
        Of each round the sample whose answer is the current one before it, and 1 if the majority
        agrees with it, 0 if not; None without a majority.
    """
    answers = [answer_of(sample) for sample in samples]
    current = 0
    found: list[tuple[int, float | None]] = []
    for count in prefixes:
        votes = Counter(answer for answer in answers[:count] if answer is not None)
        if not votes:
            found.append((current, None))
            continue
        # Of equally frequent answers the one that came first.
        winner = votes.most_common(1)[0][0]
        found.append((current, float(answers[current] == winner)))
        current = answers.index(winner)
    return found
