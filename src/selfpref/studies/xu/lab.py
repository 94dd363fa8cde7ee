"""The testbed's side of the study: its requests as items, its prompts, the true errors of a text.

This is the one module of the study that imports the lab.
"""

from collections.abc import Mapping
from typing import Final

from selfpref.errors import SelfprefError
from selfpref.lab.refinement import language, layouts, tasks
from selfpref.models import Prompt
from selfpref.studies.xu.items import TASKS, Item, Task
from selfpref.studies.xu.prompts import Refinement

# The first part of a task's item ids, and what the parameters call the number of its requests.
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
VERBS: Final[Mapping[Task, str]] = {"mqm": "translate", "coverage": "use", "correctness": "add"}


def draw(seed: int, counts: Mapping[Task, int]) -> list[Item]:
    """Draw the items of one seed, numbered from 1 in each task.

    Args:
        seed: The seed.
        counts: How many of each task.

    Raises:
        SelfprefError: A task has fewer held-out requests.
    """
    found = []
    for task in TASKS:
        try:
            requests = tasks.held_out(task, counts[task], seed)
        except ValueError as error:
            raise SelfprefError(
                f"params.yaml: xu.datasets: {error}; lower {FIELDS[task]}"
            ) from error
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


def _request(item: Item) -> str:
    return f"{VERBS[item.task]} {item.request.replace(',', '')}"


LAB: Final = Refinement(
    lambda item: Prompt(tuple(layouts.write_messages(_request(item)))),
    lambda item, text: Prompt(tuple(layouts.feedback_messages(_request(item), text))),
    lambda item, text, said: Prompt(tuple(layouts.revise_messages(_request(item), text, said))),
    layouts.lines,
    lambda text: f" {layouts.content(text)}",
)


def score(reference: str, text: str) -> float:
    """The true score of a translation, by the grammar of the invented language: -25..0."""
    return language.score(language.errors(reference, text))
