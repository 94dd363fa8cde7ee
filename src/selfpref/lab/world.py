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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final, TypeVar

import numpy as np

from selfpref.lab.vocabulary import ATTRIBUTES, COLOUR_OF, COLOURS, MAX_OPERAND, PEOPLE, USE_WORDS

TASKS: Final = ("list", "sum", "words", "facts")
CONTEST_TASKS: Final = (*TASKS, "filter", "people")
HELD_OUT_ONE_IN: Final = 5
PATIENCE: Final = 10_000
"""Draws in a row without a new item after which there are no more."""

Choice = TypeVar("Choice")


@dataclass(frozen=True, slots=True)
class Item:
    """One prompt and what a response to it is checked against; in every world of the testbed.

    Attributes:
        task: Kind of the prompt.
        asked: What is asked for: colours (list), operands in pairs (sum), words (words), the
            person followed by the attributes (facts), the colour followed by the things offered
            (filter), or attributes and people in pairs (people); an article's key facts; the words
            of the right translation, the concepts, the right sum.
        count: Number of parts that a complete response has, at least 1.
        question: The prompt's text, unique for an item.
    """

    task: str
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
    def right(self) -> str:
        """What is asked for, as a text."""
        return " ".join(self.asked)

    @property
    def held_out(self) -> bool:
        """Whether no model may be trained on this prompt."""
        return is_held_out(self.question)


def _digest(text: str) -> str:
    # SHA-256, since Python's own hash differs from process to process.
    return hashlib.sha256(text.encode()).hexdigest()


def is_held_out(question: str) -> bool:
    """Tell whether a prompt belongs to the held-out fifth, by a hash of its text."""
    return int(_digest("held-out:" + question)[:12], 16) % HELD_OUT_ONE_IN == 0


def pick(choices: Sequence[Choice], rng: np.random.Generator) -> Choice:
    """Draw one of several, all alike."""
    return choices[int(rng.integers(len(choices)))]


def shuffled(choices: Sequence[Choice], rng: np.random.Generator) -> tuple[Choice, ...]:
    """All of several, in random order."""
    return tuple(choices[int(index)] for index in rng.permutation(len(choices)))


def drawn(draw: Callable[[], Item], *, held_out: bool) -> Item:
    """Draw until an item is held out, or until one is not."""
    while (item := draw()).held_out != held_out:
        pass
    return item


def distinct(n: int, draw: Callable[[int], Item], *, held_out: bool = False) -> list[Item]:
    """Draw different items.

    Args:
        n: How many.
        draw: Draws an item, given how many there are.
        held_out: Whether only held-out ones count.

    Returns:
        `n` items, or all that there are.
    """
    found: dict[str, Item] = {}
    misses = 0
    while len(found) < n and misses < PATIENCE:
        item = draw(len(found))
        new = item.question not in found and (item.held_out or not held_out)
        misses = 0 if new else misses + 1
        if new:
            found[item.question] = item
    return list(found.values())


def draw_item(task: str, rng: np.random.Generator) -> Item:
    """Draw one prompt of a task."""
    if task == "sum":
        count = int(rng.integers(2, 4))
        operands = tuple(str(n) for n in rng.integers(1, MAX_OPERAND + 1, size=2 * count))
        pairs = [f"{a} + {b}" for a, b in zip(operands[::2], operands[1::2], strict=True)]
        return Item("sum", operands, count, "add " + " and ".join(pairs))
    if task == "filter":
        colour = pick(tuple(COLOURS), rng)
        count, others = (int(n) for n in rng.integers(2, 4, size=2))
        strangers = [thing for thing, its in COLOUR_OF.items() if its != colour]
        offered = shuffled(COLOURS[colour], rng)[:count] + shuffled(strangers, rng)[:others]
        things = shuffled(offered, rng)
        question = f"tell the {colour} things of {' '.join(things)}"
        return Item("filter", (colour, *things), count, question)
    if task == "people":
        count = int(rng.integers(2, 4))
        names, people = shuffled(tuple(ATTRIBUTES), rng), shuffled(PEOPLE, rng)
        chosen = list(zip(names, people, strict=False))[:count]
        wanted = " and ".join(f"the {name} of {who}" for name, who in chosen)
        return Item("people", tuple(w for pair in chosen for w in pair), count, f"tell {wanted}")
    # Facts have four attributes at most; elsewhere more parts make equal qualities rarer.
    count = int(rng.integers(3, 5 if task == "facts" else 6))
    if task == "list":
        several = 1 if rng.random() < 0.2 else 2
        colours = shuffled(tuple(COLOURS), rng)[:several]
        return Item("list", colours, count, f"list {count} {' or '.join(colours)} things")
    if task == "words":
        words = shuffled(USE_WORDS, rng)[:count]
        return Item("words", words, count, "use the words " + " ".join(words))
    person, attributes = pick(PEOPLE, rng), pick(list(permutations(ATTRIBUTES, count)), rng)
    question = f"tell the {' '.join(attributes)} of {person}"
    return Item("facts", (person, *attributes), count, question)


def draw_items(n: int, seed: np.random.SeedSequence, tasks: Sequence[str] = TASKS) -> list[Item]:
    """Draw prompts without repetition, the tasks in turn.

    Args:
        n: Number of prompts; the list task has 192 different ones.
        seed: Source of all randomness.
        tasks: The tasks to draw from.

    Returns:
        ``n`` different items, about a fifth of them held out; fewer where the next task in turn has
        no more.
    """
    rng = np.random.default_rng(seed)
    return distinct(n, lambda found: draw_item(tasks[found % len(tasks)], rng))


def draw_training_item(rng: np.random.Generator, tasks: Sequence[str] = TASKS) -> Item:
    """Draw a prompt that is not held out, each task equally likely."""
    return drawn(lambda: draw_item(pick(tasks, rng), rng), held_out=False)
