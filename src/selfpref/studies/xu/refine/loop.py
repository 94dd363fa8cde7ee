"""The loop of self-refinement, all arms in step: one batch of calls a step and judge.

Arms share their draws: the same text of the same item is revised, and judged by the same judge,
with the same seed at the same step in every arm. What differs between arms is what the rule did:
when a revision takes the place of the text that it revises.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from selfpref.models import Text
from selfpref.seeds import seed_of
from selfpref.studies.xu.feedback import Feedback
from selfpref.studies.xu.items import Item
from selfpref.studies.xu.refine.judges import Judge, Participant, Question, written

PLAIN: Final = "plain"
Arm = Literal["plain", "accept-all", "accept-random", "external", "noise"]
ARMS: Final[dict[Arm, Literal["own", "external", "noise"]]] = {
    "plain": "own",
    "accept-all": "own",
    "accept-random": "own",
    "external": "external",
    "noise": "noise",
}
"""Who judges an arm: the writer (`own`), another model (`external`), or chance (`noise`)."""


def accepts(arm: Arm, old: Feedback, new: Feedback, draw: float) -> bool:
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
    match arm:
        case "accept-all":
            return True
        case "accept-random":
            return draw < 0.5
        case _:
            return new.standing > old.standing


@dataclass(frozen=True)
class State:
    """One item in one arm after one step.

    Attributes:
        item: The item.
        arm: The arm.
        step: From 0.
        text: What was kept.
        said: What the arm's judge said of it.
    """

    item: Item
    arm: Arm
    step: int
    text: Text
    said: Feedback


def refine(
    firsts: Sequence[tuple[Item, Text]],
    writer: Participant,
    judges: Mapping[Arm, Judge],
    *,
    steps: int,
    seed: int,
) -> list[State]:
    """Refine every item in every arm.

    Args:
        firsts: What is asked, and the first text of each.
        writer: Who revises.
        judges: The judge of each arm.
        steps: How many times.
        seed: Of the coin.

    Returns:
        Every item, arm and step from 0 to `steps`.
    """
    now = _judged([(item, arm, 0, text) for arm in judges for item, text in firsts], judges)
    history = list(now)
    for step in range(1, steps + 1):
        now = _next(now, writer, judges, step, seed)
        history += now
    return history


def _next(
    now: list[State], writer: Participant, judges: Mapping[Arm, Judge], step: int, seed: int
) -> list[State]:
    """One step of every item and arm."""
    faulty = [state for state in now if state.said.status == "ok" and not state.said.flawless]
    asked = [Question(state.item, state.text.text, str(step)) for state in faulty]
    revised = writer.revise(asked, [state.said for state in faulty])
    made = [
        (state.item, state.arm, step, text)
        for state, text in zip(faulty, revised, strict=True)
        # An empty revision is no text; there is nothing to judge.
        if written(text) and text.text
    ]
    offers = {(new.item.item_id, new.arm): new for new in _judged(made, judges)}
    after = []
    for old in now:
        new = offers.get((old.item.item_id, old.arm))
        draw = np.random.default_rng(seed_of(seed, old.item.item_id, "coin", step)).random()
        if new is not None and accepts(old.arm, old.said, new.said, float(draw)):
            after.append(new)
        else:
            after.append(replace(old, step=step))
    return after


def _judged(
    texts: Sequence[tuple[Item, Arm, int, Text]], judges: Mapping[Arm, Judge]
) -> list[State]:
    """Each text with the feedback of its arm's judge; one batch a judge."""
    found: dict[int, State] = {}
    for judge in {id(judge): judge for judge in judges.values()}.values():
        part = [i for i, (_, arm, _, _) in enumerate(texts) if judges[arm] is judge]
        asked = [Question(texts[i][0], texts[i][3].text, str(texts[i][2])) for i in part]
        for i, said in zip(part, judge.rate(asked), strict=True):
            found[i] = State(*texts[i], said)
    return [found[i] for i in range(len(texts))]
