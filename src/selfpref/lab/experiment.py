"""The testbed's prompts as tables; a draw of prompts is one data set."""

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.lab.world import CONTEST_TASKS, TASKS, Item, draw_items


def draw(dataset: str, seed: int, prompts: int, *, contest: bool = False) -> dict[str, Item]:
    """The items of one data set by item_id, those of contests from six tasks in turn.

    Raises:
        SelfprefError: The world has fewer prompts.
    """
    own, tasks = (20, CONTEST_TASKS) if contest else (10, TASKS)
    items = draw_items(prompts, np.random.SeedSequence([seed, own]), tasks)
    if len(items) < prompts:
        raise SelfprefError(
            f"params.yaml: datasets.{dataset}.prompts: {prompts} asked for, but task "
            f"{tasks[len(items) % len(tasks)]!r} has too few; lower it"
        )
    return {f"{dataset}/{item.item_id}": item for item in items}


def prompts_table(study: str, seed: int, items: dict[str, Item]) -> pd.DataFrame:
    """The items table of prompts that `redrawn` finds again."""
    notes = [{"held_out": item.held_out, "seed": seed} for item in items.values()]
    return items_table(study, items, notes)


def redrawn(items: pd.DataFrame, *, contest: bool = False) -> dict[str, Item]:
    """The testbed's own items among those of a table, by item_id."""
    seeds = items["metadata"].map(lambda entry: json.loads(entry).get("seed"))
    datasets = items["item_id"].str.replace(r"/.*", "", regex=True)
    found: dict[str, Item] = {}
    for dataset, rows in seeds[seeds.notna()].groupby(datasets):
        found |= draw(str(dataset), int(rows.iloc[0]), len(rows), contest=contest)
    return found


def items_table(
    study: str, items: dict[str, Item], metadata: Sequence[Mapping[str, object]]
) -> pd.DataFrame:
    """The items table; a prompt is its own cluster."""
    return pd.DataFrame(
        {
            "study": study,
            "item_id": item_id,
            "category": item.task,
            "cluster": item_id,
            "messages": [{"role": "user", "content": item.question}],
            "reference": None,
            "metadata": json.dumps(notes),
        }
        for (item_id, item), notes in zip(items.items(), metadata, strict=True)
    )
