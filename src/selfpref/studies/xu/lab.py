"""The testbed's side of the study: its requests as items, its prompts, the true errors of a text.

This is the one module of the study that imports the lab.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from selfpref.errors import SelfprefError
from selfpref.lab import refinement
from selfpref.models import Prompt
from selfpref.studies.xu.items import Item, Task
from selfpref.studies.xu.prompts import Refinement

# Of each task the first part of its item ids, and the first word of a request.
NAMES: Final[Mapping[Task, tuple[str, str]]] = {
    "mqm": ("lab-en", "translate"),
    "coverage": ("coverage", "use"),
    "correctness": ("math", "add"),
}


def draw(seed: int, counts: Mapping[Task, int]) -> list[Item]:
    """Draw the items of one seed, numbered from 1 in each task.

    Args:
        seed: The seed.
        counts: How many of each task.

    Raises:
        SelfprefError: A task has fewer held-out requests.
    """
    found = []
    for task, count in counts.items():
        requests = refinement.held_out(task, count, seed)
        if len(requests) < count:
            raise SelfprefError(
                f"params.yaml: xu.datasets: {count} of the task {task} asked for, only "
                f"{len(requests)} are held out; ask for fewer"
            )
        for number, one in enumerate(requests, start=1):
            name = f"{NAMES[task][0]}/{number}"
            item = Item(name, task, one.question.partition(" ")[2], one.right)
            if task == "mqm":
                item = replace(item, language="Lab", target="English", oracle=True)
            if task == "coverage":
                item = Item(name, task, ", ".join(one.asked), concepts=one.asked)
            found.append(item)
    return found


def _ask(_: str, item: Item, *said: str) -> Prompt:
    request = f"{NAMES[item.task][1]} {item.request.replace(',', '')}"
    named = dict(zip(("draft", "feedback"), said, strict=False))
    return Prompt(refinement.messages(user=request, **named))


LAB: Final = Refinement(_ask, refinement.lines)


def score(reference: str, text: str) -> float:
    """The true score of a translation, by the grammar of the invented language: -25..0."""
    return refinement.score(refinement.errors(reference, text))
