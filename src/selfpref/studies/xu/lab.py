"""The testbed's side of the study: its requests as items, its prompts, the true errors of a text.

This is the one module of the study that imports the lab.
"""

from collections.abc import Mapping
from typing import Final

from selfpref.errors import SelfprefError
from selfpref.lab import language, refinement
from selfpref.lab.world import Item as Request
from selfpref.models import Prompt
from selfpref.studies.xu.items import TASKS, Item, Task
from selfpref.studies.xu.prompts import Refinement

# Of each task: the first part of its item ids, what the parameters call the number of its requests,
# and the first word of a request.
NAMES: Final[Mapping[Task, tuple[str, str, str]]] = {
    "mqm": ("lab-en", "translations", "translate"),
    "coverage": ("coverage", "concepts", "use"),
    "correctness": ("math", "sums", "add"),
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
    for task in TASKS:
        name, field, _ = NAMES[task]
        requests = refinement.held_out(task, counts[task], seed)
        if len(requests) < counts[task]:
            raise SelfprefError(
                f"params.yaml: xu.datasets: {counts[task]} of the task {task} asked for, only "
                f"{len(requests)} are held out; lower {field}"
            )
        found += [_item(f"{name}/{i}", request) for i, request in enumerate(requests, start=1)]
    return found


def _item(item_id: str, request: Request) -> Item:
    _, _, asked = request.question.partition(" ")
    if request.task == "mqm":
        return Item(item_id, "mqm", asked, request.right, "Lab", "English", oracle=True)
    if request.task == "coverage":
        concepts = ", ".join(request.asked)
        return Item(item_id, "coverage", concepts, concepts=request.asked)
    return Item(item_id, "correctness", asked, request.right)


def _asked(item: Item, **said: str) -> Prompt:
    request = f"{NAMES[item.task][2]} {item.request.replace(',', '')}"
    return Prompt(refinement.messages(user=request, **said))


LAB: Final = Refinement(
    _asked,
    lambda item, text: _asked(item, draft=text),
    lambda item, text, said: _asked(item, draft=text, feedback=said),
    refinement.lines,
    lambda text: f" {refinement.content(text)}",
)


def score(reference: str, text: str) -> float:
    """The true score of a translation, by the grammar of the invented language: -25..0."""
    return language.score(language.errors(reference, text))
