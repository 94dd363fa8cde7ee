"""The items of the refinement laboratory: held-out requests of its three tasks."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from selfpref.errors import SelfprefError
from selfpref.lab.refinement import tasks
from selfpref.prompts.items import TASKS, Item, Task

LANGUAGES: Final[Mapping[Task, str]] = {
    "mqm": "lab-en",
    "coverage": "coverage",
    "correctness": "math",
}
FIELDS: Final[Mapping[Task, str]] = {
    "mqm": "translations",
    "coverage": "concepts",
    "correctness": "sums",
}
"""What the parameters call the number of requests of a task."""


def draw(seed: int, counts: Mapping[Task, int]) -> list[Item]:
    """Draw the items of one seed, numbered from 1 in each task.

    Args:
        seed: The seed.
        counts: How many of each task.

    Raises:
        SelfprefError: A task has fewer held-out requests.
    """
    found = []
    for number, task in enumerate(TASKS):
        rng = np.random.default_rng(np.random.SeedSequence([seed, 21, number]))
        try:
            requests = tasks.draw_held_out(task, counts[task], rng)
        except ValueError as error:
            raise SelfprefError(f"params.yaml: requests: {error}; lower {FIELDS[task]}") from error
        found += [
            _item(f"{LANGUAGES[task]}/{i}", request) for i, request in enumerate(requests, start=1)
        ]
    return found


def _item(item_id: str, request: tasks.Request) -> Item:
    _, _, asked = request.text.partition(" ")
    if request.task == "mqm":
        return Item(item_id, "mqm", asked, request.right, "Lab", "English", oracle=True)
    if request.task == "coverage":
        concepts = tuple(request.right.split())
        return Item(item_id, "coverage", ", ".join(concepts), concepts=concepts)
    return Item(item_id, "correctness", asked, request.right)
