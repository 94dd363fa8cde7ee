"""The testbed's side of the study: prompts of six tasks, and what is true of the responses."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from selfpref.lab import world
from selfpref.lab.dialogues import rubric
from selfpref.lab.world import quality
from selfpref.params import LabPrompts
from selfpref.studies.livebench import STUDY


def read(dataset: str, entry: LabPrompts, source: Path) -> dict[str, pd.DataFrame]:
    """The prompts of one data set; as `studies.wataoka.lab.read`."""
    items = world.draw(dataset, entry.seed, entry.prompts, contest=True)
    return {"items": world.prompts_table(STUDY.name, entry.seed, items)}


def oracle(items: pd.DataFrame) -> Callable[[str, str], dict[str, float]]:
    """From an item's id and a response to what is true of it; nothing of others' items.

    That is the share of the right parts, 0 to 1, and the total of the eleven marks by rule.
    """
    known = world.redrawn(items, contest=True)

    def truths(item: str, text: str) -> dict[str, float]:
        if item not in known:
            return {}
        right = quality(known[item], text)
        marks = rubric(known[item], text)
        return {"strict": right, "tolerant": right, "rubric": float(sum(marks.values()))}

    return truths
