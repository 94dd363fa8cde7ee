"""Prompts of the testbed: checkable tasks, drawn from an explicit seed.

    list    "list 3 red or blue things"         -> things of those colours
    sum     "add 3 + 5 and 2 + 6"               -> "3 + 5 = 8 2 + 6 = 8"
    words   "use the words river lamp clock"    -> text that contains them
    facts   "tell the city pet job of mila"     -> "city oslo pet cat job nurse"

and in contests two more, whose answers stand in the prompt or take two people's facts together:

    filter  "tell the red things of sky ruby frog brick"  -> "ruby brick"
    people  "tell the job of mila and the pet of otto"    -> "job nurse pet goat"

A fifth of all prompts is *held out* by a hash of the prompt's text: no judge is ever trained on a
label for one of them. The split depends on the text alone, so that it survives another seed,
another order and another number of prompts.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import permutations
from typing import Final, Literal

import numpy as np

from selfpref.lab.vocabulary import ATTRIBUTES, COLOUR_OF, COLOURS, MAX_OPERAND, PEOPLE, USE_WORDS

Task = Literal["list", "sum", "words", "facts", "filter", "people"]
TASKS: Final[tuple[Task, ...]] = ("list", "sum", "words", "facts")
CONTEST_TASKS: Final[tuple[Task, ...]] = (*TASKS, "filter", "people")
HELD_OUT_ONE_IN: Final = 5


@dataclass(frozen=True, slots=True)
class Item:
    """One prompt and what a response to it is checked against.

    Attributes:
        task: Kind of the prompt.
        asked: What is asked for: colours (list), operands in pairs (sum), words (words), the
            person followed by the attributes (facts), the colour followed by the things offered
            (filter), or attributes and people in pairs (people).
        count: Number of parts that a complete response has, at least 1.
        question: The prompt's text, unique for an item.
    """

    task: Task
    asked: tuple[str, ...]
    count: int
    question: str

    @property
    def item_id(self) -> str:
        """Task and a hash of the prompt's text, such as ``list/3f9a0c12be``."""
        return f"{self.task}/{_digest(self.question)[:10]}"

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """What is asked for, two by two: operands (sum), or attributes and people (people)."""
        return list(zip(self.asked[::2], self.asked[1::2], strict=True))

    @property
    def held_out(self) -> bool:
        """Whether no judge may be trained on a label for this prompt."""
        return is_held_out(self.question)


def _digest(text: str) -> str:
    # SHA-256, since Python's own hash differs from process to process.
    return hashlib.sha256(text.encode()).hexdigest()


def is_held_out(question: str) -> bool:
    """Tell whether a prompt belongs to the held-out fifth, by a hash of its text."""
    return int(_digest("held-out:" + question)[:12], 16) % HELD_OUT_ONE_IN == 0


def draw_item(task: Task, rng: np.random.Generator) -> Item:
    """Draw one prompt of a task."""
    if task == "sum":
        count = int(rng.integers(2, 4))
        operands = tuple(str(n) for n in rng.integers(1, MAX_OPERAND + 1, size=2 * count))
        pairs = [f"{a} + {b}" for a, b in zip(operands[::2], operands[1::2], strict=True)]
        return Item("sum", operands, count, "add " + " and ".join(pairs))
    if task == "filter":
        return _draw_filter(rng)
    if task == "people":
        count = int(rng.integers(2, 4))
        names = _choose(tuple(ATTRIBUTES), count, rng)
        people = _choose(PEOPLE, count, rng)
        asked = tuple(word for pair in zip(names, people, strict=True) for word in pair)
        wanted = [f"the {name} of {who}" for name, who in zip(names, people, strict=True)]
        return Item("people", asked, count, "tell " + " and ".join(wanted))
    # Facts have four attributes at most; elsewhere more parts make equal qualities rarer.
    count = int(rng.integers(3, 5 if task == "facts" else 6))
    if task == "list":
        colours = _choose(tuple(COLOURS), 1 if rng.random() < 0.2 else 2, rng)
        return Item("list", colours, count, f"list {count} {' or '.join(colours)} things")
    if task == "words":
        words = _choose(USE_WORDS, count, rng)
        return Item("words", words, count, "use the words " + " ".join(words))
    person = PEOPLE[int(rng.integers(len(PEOPLE)))]
    orders = list(permutations(ATTRIBUTES, count))
    attributes = orders[int(rng.integers(len(orders)))]
    question = f"tell the {' '.join(attributes)} of {person}"
    return Item("facts", (person, *attributes), count, question)


def _draw_filter(rng: np.random.Generator) -> Item:
    colour = tuple(COLOURS)[int(rng.integers(len(COLOURS)))]
    count, others = (int(n) for n in rng.integers(2, 4, size=2))
    strangers = tuple(thing for thing, its in COLOUR_OF.items() if its != colour)
    offered = (*_choose(COLOURS[colour], count, rng), *_choose(strangers, others, rng))
    things = _choose(offered, len(offered), rng)
    question = f"tell the {colour} things of {' '.join(things)}"
    return Item("filter", (colour, *things), count, question)


def draw_items(n: int, seed: np.random.SeedSequence, tasks: tuple[Task, ...] = TASKS) -> list[Item]:
    """Draw prompts without repetition, the tasks in turn.

    Args:
        n: Number of prompts; the list task has 192 different ones.
        seed: Source of all randomness.
        tasks: The tasks to draw from.

    Returns:
        ``n`` different items, about a fifth of them held out.

    Raises:
        ValueError: A task has fewer different prompts than asked for.
    """
    rng = np.random.default_rng(seed)
    items: dict[str, Item] = {}
    for index in range(n):
        task = tasks[index % len(tasks)]
        for _attempt in range(10_000):
            item = draw_item(task, rng)
            if item.question not in items:
                items[item.question] = item
                break
        else:
            raise ValueError(f"prompts: {n} asked for, but task {task!r} has too few; lower it")
    return list(items.values())


def draw_training_item(rng: np.random.Generator, tasks: tuple[Task, ...] = TASKS) -> Item:
    """Draw a prompt that is not held out, each task equally likely."""
    while True:
        item = draw_item(tasks[int(rng.integers(len(tasks)))], rng)
        if not item.held_out:
            return item


def _choose(words: tuple[str, ...], count: int, rng: np.random.Generator) -> tuple[str, ...]:
    return tuple(words[int(index)] for index in rng.permutation(len(words))[:count])
