"""The loop of self-refinement, all arms in step: one batch of calls a step and judge.

Arms share their draws: the same text of the same item is revised, and judged by the same judge,
with the same seed at the same step in every arm. What differs between arms is what the rule did:
when a revision takes the place of the text that it revises.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from selfpref.models import Text
from selfpref.seeds import seed_of
from selfpref.studies.xu.chains import BEST
from selfpref.studies.xu.feedback import Feedback
from selfpref.studies.xu.items import Item
from selfpref.studies.xu.refine.judges import Draft, Judge, Participant, written

PLAIN: Final = "plain"
ARMS: Final = {
    "plain": "own",
    "accept-all": "own",
    "accept-random": "own",
    "external": "external",
    "noise": "noise",
}
"""Who judges an arm: the writer (`own`), another model (`external`), or chance (`noise`)."""


def accepts(arm: str, old: Feedback, new: Feedback, draw: float) -> bool:
    """Whether an arm accepts a revision; never if its feedback says nothing usable.

    Args:
        arm: `accept-all` accepts every revision, `accept-random` one in two, and any other arm, by
            the paper's rule, one with a strictly higher score.
        old: Of the text.
        new: Of the revision.
        draw: Uniform in [0, 1).
    """
    if old.standing is None or new.standing is None:
        return False
    coins = {"accept-all": True, "accept-random": draw < 0.5}
    return coins.get(arm, new.standing > old.standing)


@dataclass(frozen=True)
class State:
    """A text that a condition holds at a step, and what was said of it.

    Attributes:
        item: The item, without its condition.
        condition: The arm, or how else the text came about.
        step: From 0.
        text: The text.
        said: What the condition's judge said of it.
        judge: That judge.
        sample: Among the candidates of one step.
    """

    item: Item
    condition: str
    step: int
    text: Text
    said: Feedback
    judge: str
    sample: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """The item and the text: what a reading of it, or a truth, depends on."""
        return self.item.item_id, self.text.text

    @property
    def place(self) -> dict[str, object]:
        """The text's name in the tables; the plain arm has no condition in front."""
        front = "" if self.condition == PLAIN else f"{self.condition}/"
        return {"item_id": front + self.item.item_id, "step": self.step, "sample": self.sample}

    @property
    def best(self) -> bool:
        """Whether it is one of several candidates (step 0), or the best of them."""
        return self.condition.startswith(BEST)


def refine(
    firsts: Sequence[tuple[Item, Text]], writer: Participant, judges: Mapping[str, Judge]
) -> list[State]:
    """Refine every item in every arm.

    Args:
        firsts: What is asked, and the first text of each.
        writer: Who revises, and how often.
        judges: The judge of each arm.

    Returns:
        Every item, arm and step, from 0.
    """
    now = _judged([(item, arm, 0, text) for arm in judges for item, text in firsts], judges)
    history = list(now)
    for step in range(1, writer.use.steps + 1):
        now = _next(now, writer, judges, step)
        history += now
    return history


def _next(
    now: list[State], writer: Participant, judges: Mapping[str, Judge], step: int
) -> list[State]:
    """One step of every item and arm."""
    faulty = [state for state in now if state.said.status == "ok" and not state.said.flawless]
    asked = [Draft(state.item, state.text.text, str(step)) for state in faulty]
    revised = writer.revise(asked, [state.said for state in faulty])
    made = [
        (state.item, state.condition, step, text)
        for state, text in zip(faulty, revised, strict=True)
        # An empty revision is no text; there is nothing to judge.
        if written(text) and text.text
    ]
    offers = {(new.item.item_id, new.condition): new for new in _judged(made, judges)}
    after = []
    for old in now:
        new = offers.get((old.item.item_id, old.condition))
        coin = np.random.default_rng(seed_of(writer.seed, old.item.item_id, "coin", step))
        if new is not None and accepts(old.condition, old.said, new.said, float(coin.random())):
            after.append(new)
        else:
            after.append(replace(old, step=step))
    return after


def _judged(
    texts: Sequence[tuple[Item, str, int, Text]], judges: Mapping[str, Judge]
) -> list[State]:
    """Each text with the feedback of its arm's judge; one batch a judge."""
    found: dict[int, State] = {}
    for judge in {id(judge): judge for judge in judges.values()}.values():
        part = [i for i, (_, arm, _, _) in enumerate(texts) if judges[arm] is judge]
        asked = [Draft(texts[i][0], texts[i][3].text, str(texts[i][2])) for i in part]
        for i, said in zip(part, judge.rate(asked), strict=True):
            found[i] = State(*texts[i], said, judge.name)
    return [found[i] for i in range(len(texts))]
