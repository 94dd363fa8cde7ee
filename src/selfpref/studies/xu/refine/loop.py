"""The loop of self-refinement, all arms in step: one batch of calls a step and judge.

Arms share their draws: the same text of the same item is revised, and judged by the same judge,
with the same seed at the same step in every arm. What differs between arms is what the rule did.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from selfpref.models import Generate, Prompt, Status
from selfpref.models.calls import Model
from selfpref.seeds import seed_of
from selfpref.studies.xu.feedback import Feedback
from selfpref.studies.xu.items import Item
from selfpref.studies.xu.prompts import Refinement
from selfpref.studies.xu.refine.judges import Judge, Question, Sampling
from selfpref.studies.xu.refine.rules import ARMS, Arm, accepts


@dataclass(frozen=True)
class Text:
    """What a writer answered.

    Attributes:
        text: The text.
        status: The engine's: `ok`, `cut` at the limit, or why there is no text.
    """

    text: str
    status: Status

    @property
    def written(self) -> bool:
        """Whether there is a text, whole or cut off."""
        return self.status in ("ok", "cut")


@dataclass(frozen=True)
class Writer:
    """The model that writes and revises.

    Attributes:
        name: The responder in the tables.
        calls: The model behind the store.
        layout: Its prompts.
        sampling: Limits, temperature and seed.
    """

    name: str
    calls: Model
    layout: Refinement
    sampling: Sampling

    def write(self, items: Sequence[Item], samples: int = 1) -> list[list[Text]]:
        """First texts of each item, `samples` draws."""
        asked = [(item, sample) for item in items for sample in range(samples)]
        made = self._generate(
            [self.layout.write(item) for item, _ in asked],
            [self._seed(item, "write", sample) for item, sample in asked],
        )
        return [made[start : start + samples] for start in range(0, len(made), samples)]

    def revise(self, questions: Sequence[Question], said: Sequence[Feedback]) -> list[Text]:
        """A better text for each, given what was said of it."""
        prompts = [
            self.layout.revise(question.item, question.text, reading.reply or "")
            for question, reading in zip(questions, said, strict=True)
        ]
        return self._generate(
            prompts, [self._seed(q.item, "revise", q.occasion) for q in questions]
        )

    def _generate(self, prompts: Sequence[Prompt], seeds: Sequence[int]) -> list[Text]:
        limit, temperature = self.sampling.max_tokens, self.sampling.temperature
        made = self.calls.ask(
            [
                Generate(prompt, limit, temperature, seed)
                for prompt, seed in zip(prompts, seeds, strict=True)
            ]
        )
        return [Text(one.text.strip(), one.status) for one in made]

    def _seed(self, item: Item, *parts: object) -> int:
        return seed_of(self.sampling.seed, self.name, item.item_id, *parts)


@dataclass(frozen=True)
class State:
    """One item in one arm after one step.

    Attributes:
        item: The item.
        arm: The arm.
        step: From 0.
        text: What was kept.
        reading: What the arm's judge said of it.
    """

    item: Item
    arm: Arm
    step: int
    text: Text
    reading: Feedback


def refine(
    items: Sequence[Item],
    firsts: Sequence[Text],
    writer: Writer,
    judges: Mapping[Arm, Judge],
    *,
    steps: int,
    seed: int,
) -> list[State]:
    """Refine every item in every arm.

    Args:
        items: What is asked.
        firsts: The first text of each.
        writer: Who revises.
        judges: The judge of each arm.
        steps: How many times.
        seed: Of the coin.

    Returns:
        Every item, arm and step from 0 to `steps`.
    """
    begun = [(arm, *pair) for arm in judges for pair in zip(items, firsts, strict=True)]
    readings = _rate(
        [arm for arm, _, _ in begun],
        [Question(item, text.text, "0") for _, item, text in begun],
        judges,
    )
    now = [
        State(item, arm, 0, text, reading)
        for (arm, item, text), reading in zip(begun, readings, strict=True)
    ]
    history = list(now)
    for step in range(1, steps + 1):
        now = _next(now, writer, judges, step, seed)
        history += now
    return history


def _next(
    now: list[State], writer: Writer, judges: Mapping[Arm, Judge], step: int, seed: int
) -> list[State]:
    """One step of every item and arm."""
    open_ = [
        i for i, state in enumerate(now)
        if state.reading.status == "ok" and not state.reading.flawless
    ]  # fmt: skip
    occasion = str(step)
    asked = [Question(now[i].item, now[i].text.text, occasion) for i in open_]
    revised = writer.revise(asked, [now[i].reading for i in open_])
    # An empty revision is no text; there is nothing to judge.
    made = [(i, text) for i, text in zip(open_, revised, strict=True) if text.written and text.text]
    readings = _rate(
        [now[i].arm for i, _ in made],
        [Question(now[i].item, text.text, occasion) for i, text in made],
        judges,
    )
    after = [State(s.item, s.arm, step, s.text, s.reading) for s in now]
    for (i, text), reading in zip(made, readings, strict=True):
        old = now[i]
        draw = np.random.default_rng(seed_of(seed, old.item.item_id, "coin", step)).random()
        if accepts(ARMS[old.arm].rule, old.reading, reading, float(draw)):
            after[i] = State(old.item, old.arm, step, text, reading)
    return after


def _rate(
    arms: Sequence[Arm], questions: Sequence[Question], judges: Mapping[Arm, Judge]
) -> list[Feedback]:
    """Each question to the judge of its arm; one batch a judge."""
    found: list[Feedback] = [Feedback("unparsable")] * len(questions)
    for judge in {id(judge): judge for judge in judges.values()}.values():
        part = [i for i, arm in enumerate(arms) if judges[arm] is judge]
        for i, reading in zip(part, judge.rate([questions[i] for i in part]), strict=True):
            found[i] = reading
    return found
