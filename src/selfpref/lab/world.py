"""Prompts of the laboratory: four checkable tasks, drawn from an explicit seed.

    list    "list 3 red or blue things"         -> things of those colours
    sum     "add 3 + 5 and 2 + 6"               -> "3 + 5 = 8 2 + 6 = 8"
    words   "use the words river lamp clock"    -> text that contains them
    facts   "tell the city pet job of mila"     -> "city oslo pet cat job nurse"

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

from selfpref.lab.vocabulary import ATTRIBUTES, COLOURS, MAX_OPERAND, PEOPLE, USE_WORDS

Task = Literal["list", "sum", "words", "facts"]
TASKS: Final[tuple[Task, ...]] = ("list", "sum", "words", "facts")
HELD_OUT_ONE_IN: Final = 5


@dataclass(frozen=True, slots=True)
class Item:
    """One prompt and what a response to it is checked against.

    Attributes:
        task: Kind of the prompt.
        asked: What is asked for: colours (list), operands in pairs (sum), words (words), or the
            person followed by the attributes (facts).
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


def draw_items(n: int, seed: np.random.SeedSequence) -> list[Item]:
    """Draw prompts without repetition, the four tasks in turn.

    Args:
        n: Number of prompts; the list task has 192 different ones.
        seed: Source of all randomness.

    Returns:
        ``n`` different items, about a fifth of them held out.

    Raises:
        ValueError: A task has fewer different prompts than asked for.
    """
    rng = np.random.default_rng(seed)
    items: dict[str, Item] = {}
    for index in range(n):
        task = TASKS[index % len(TASKS)]
        for _attempt in range(10_000):
            item = draw_item(task, rng)
            if item.question not in items:
                items[item.question] = item
                break
        else:
            raise ValueError(f"prompts: {n} asked for, but task {task!r} has too few; lower it")
    return list(items.values())


def draw_training_item(rng: np.random.Generator) -> Item:
    """Draw a prompt that is not held out, each task equally likely."""
    while True:
        item = draw_item(TASKS[int(rng.integers(len(TASKS)))], rng)
        if not item.held_out:
            return item


def _choose(words: tuple[str, ...], count: int, rng: np.random.Generator) -> tuple[str, ...]:
    return tuple(words[int(index)] for index in rng.permutation(len(words))[:count])
