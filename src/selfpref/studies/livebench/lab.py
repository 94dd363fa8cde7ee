"""The testbed's side of the study: prompts of six tasks, and what is true of the responses."""

from pathlib import Path

import pandas as pd

from selfpref.lab import world
from selfpref.lab.dialogues import rubric
from selfpref.lab.world import Item, quality
from selfpref.params import LabPrompts
from selfpref.studies.livebench import STUDY


def read(dataset: str, entry: LabPrompts, source: Path) -> dict[str, pd.DataFrame]:
    """The prompts of one data set; as `studies.wataoka.lab.read`."""
    items = world.draw(dataset, entry.seed, entry.prompts, contest=True)
    return {"items": world.prompts_table(STUDY.name, entry.seed, items)}


def drawn(items: pd.DataFrame) -> dict[str, Item]:
    """The testbed's own items among those of the table, by item_id."""
    return world.redrawn(items, contest=True)


def truths(item: Item, text: str) -> dict[str, float]:
    """Share of the right parts, 0 to 1, and the total of the eleven marks by rule."""
    right = quality(item, text)
    return {"strict": right, "tolerant": right, "rubric": float(sum(rubric(item, text).values()))}
