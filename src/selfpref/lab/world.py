"""The testbed's world: prompts drawn from a seed, what is right in a response, and styles.

    list    "list 3 red or blue things"         -> things of those colours
    sum     "add 3 + 5 and 2 + 6"               -> "3 + 5 = 8 2 + 6 = 8"
    words   "use the words river lamp clock"    -> text that contains them
    facts   "tell the city pet job of mila"     -> "city oslo pet cat job nurse"

and in contests two more, whose answers stand in the prompt or take two people's facts together:

    filter  "tell the red things of sky ruby frog brick"  -> "ruby brick"
    people  "tell the job of mila and the pet of otto"    -> "job nurse pet goat"

The words are constants: two seeds differ in their models and not in what is true. Those of the
tasks are disjoint from each other and from the words of the styles, hence a word alone says what
kind of content it is.

A fifth of all prompts is *held out* by a hash of the prompt's text: no judge is ever trained on a
label for one of them. The split depends on the text alone, so that it survives another seed,
another order and another number of prompts.

**The oracle** reads a response's words and nothing else, so it judges a trained model's output just
as it judges a hand-written one:

    quality(item, response) = correct parts / parts asked for          in [0, 1]

A part counts once: repeating a right thing earns nothing, and only the first `count` things of a
list are read, so that padding does not pay.

**A style** wraps the same content in other words, so that style and quality are independent by
construction. Each has cue words that no other style uses; it is recognised by them alone, the terse
style by their absence. The scripted writer has one style and one error rate.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from ruamel.yaml import YAML

from selfpref.errors import SelfprefError

WORDS: dict[str, Any] = YAML(typ="safe").load(Path(__file__).with_name("words.yaml"))
COLOURS: dict[str, list[str]] = WORDS["colours"]
COLOUR_OF = {thing: colour for colour, things in COLOURS.items() for thing in things}
ATTRIBUTES: dict[str, list[str]] = WORDS["attributes"]
ATTRIBUTE_OF = {value: name for name, values in ATTRIBUTES.items() for value in values}
# Person to attribute to value: the facts that a response is checked against.
FACTS: dict[str, dict[str, str]] = WORDS["people"]
USE_WORDS: list[str] = WORDS["use"]
MAX_OPERAND = 5
# All operands and sums; the digits among them are the scores of a rating as well.
NUMBERS = tuple(map(str, range(2 * MAX_OPERAND + 3)))

TASKS = ("list", "sum", "words", "facts")
CONTEST_TASKS = (*TASKS, "filter", "people")
# Draws in a row without a new item after which there are no more.
PATIENCE = 10_000

# Words that are checkable content, by task.
_CONTENT: dict[str, Collection[str]] = {"words": USE_WORDS}
_CONTENT |= dict.fromkeys(("list", "filter"), COLOUR_OF)
_CONTENT |= dict.fromkeys(("facts", "people"), ATTRIBUTE_OF)
Choice = TypeVar("Choice")
Rng = np.random.Generator


@dataclass(frozen=True, slots=True)
class Item:
    """One prompt and what a response to it is checked against; in every world of the testbed.

    Attributes:
        task: Kind of the prompt.
        asked: What a right response is made of: sums such as ``1 + 2`` (sum), the words (words),
            the values in order (facts, people), or the things, of a list more than are asked for;
            an article's key facts; the words of the right translation, the concepts, the sum.
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
    def right(self) -> str:
        """What is asked for, as a text."""
        return " ".join(self.asked)


def _digest(text: str) -> str:
    # SHA-256, since Python's own hash differs from process to process.
    return hashlib.sha256(text.encode()).hexdigest()


def is_held_out(question: str) -> bool:
    """Tell whether a prompt belongs to the held-out fifth, by a hash of its text."""
    return int(_digest("held-out:" + question)[:12], 16) % 5 == 0


def stream(*words: int) -> Rng:
    """The random numbers of one use, from a run's seed and the number of the use."""
    return np.random.default_rng(words)


def pick(choices: Collection[Choice], rng: Rng) -> Choice:
    """Draw one of several, all alike."""
    return tuple(choices)[rng.integers(len(choices))]


def shuffled(choices: Collection[Choice], rng: Rng) -> tuple[Choice, ...]:
    """All of several, in random order."""
    every = tuple(choices)
    return tuple(every[index] for index in rng.permutation(len(every)))


def for_training(draw: Callable[[], Item]) -> Item:
    """Draw until an item is not held out."""
    while is_held_out((item := draw()).question):
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
        item, misses = draw(len(found)), misses + 1
        if item.question not in found and (is_held_out(item.question) or not held_out):
            found[item.question], misses = item, 0
    return list(found.values())


def draw_item(task: str, rng: Rng) -> Item:
    """Draw one prompt of a task."""
    if task == "sum":
        count = int(rng.integers(2, 4))
        operands = rng.integers(1, MAX_OPERAND + 1, size=(count, 2))
        sums = tuple(f"{left} + {right}" for left, right in operands)
        return Item(task, sums, count, f"add {' and '.join(sums)}")
    if task == "filter":
        colour, own = pick(COLOURS.items(), rng)
        count, others = rng.integers(2, 4, size=2).tolist()
        strangers = [thing for thing in COLOUR_OF if thing not in own]
        offered = shuffled(own, rng)[:count] + shuffled(strangers, rng)[:others]
        things = shuffled(offered, rng)
        right = tuple(thing for thing in things if thing in own)
        return Item(task, right, count, f"tell the {colour} things of {' '.join(things)}")
    if task == "people":
        count = int(rng.integers(2, 4))
        names = shuffled(ATTRIBUTES, rng)[:count]
        chosen = list(zip(names, shuffled(FACTS, rng), strict=False))
        wanted = " and ".join(f"the {name} of {who}" for name, who in chosen)
        values = tuple(FACTS[who][name] for name, who in chosen)
        return Item(task, values, count, f"tell {wanted}")
    # Facts have four attributes at most; elsewhere more parts make equal qualities rarer.
    count = int(rng.integers(3, 5 if task == "facts" else 6))
    if task == "list":
        several = 1 if rng.random() < 0.2 else 2
        colours = shuffled(COLOURS, rng)[:several]
        things = tuple(thing for colour in colours for thing in COLOURS[colour])
        return Item(task, things, count, f"list {count} {' or '.join(colours)} things")
    if task == "words":
        words = shuffled(USE_WORDS, rng)[:count]
        return Item(task, words, count, f"use the words {' '.join(words)}")
    who, names = pick(FACTS, rng), pick([*permutations(ATTRIBUTES, count)], rng)
    values = tuple(FACTS[who][name] for name in names)
    return Item(task, values, count, f"tell the {' '.join(names)} of {who}")


def draw(dataset: str, seed: int, prompts: int, *, contest: bool = False) -> dict[str, Item]:
    """Different items of one data set by item_id, the four tasks, or six of contests, in turn.

    About a fifth of them is held out.

    Raises:
        SelfprefError: The world has fewer prompts; the list task has 192 different ones.
    """
    own, tasks = (20, CONTEST_TASKS) if contest else (10, TASKS)
    rng = stream(seed, own)
    items = distinct(prompts, lambda found: draw_item(tasks[found % len(tasks)], rng))
    if len(items) < prompts:
        raise SelfprefError(
            f"params.yaml: datasets.{dataset}.prompts: the testbed has {len(items)}; lower it"
        )
    return {f"{dataset}/{item.item_id}": item for item in items}


def prompts_table(study: str, seed: int, items: dict[str, Item]) -> pd.DataFrame:
    """The items table of prompts, which `redrawn` finds again; a prompt is its own cluster."""
    return pd.DataFrame(
        {
            "study": study,
            "item_id": item_id,
            "category": item.task,
            "cluster": item_id,
            "messages": [{"role": "user", "content": item.question}],
            "reference": None,
            "metadata": json.dumps({"held_out": is_held_out(item.question), "seed": seed}),
        }
        for item_id, item in items.items()
    )


def redrawn(items: pd.DataFrame, *, contest: bool = False) -> dict[str, Item]:
    """The testbed's own items among those of a table, by item_id."""
    seeds = items["metadata"].map(lambda entry: json.loads(entry).get("seed"))
    datasets = items["item_id"].str.partition("/")[0]
    found: dict[str, Item] = {}
    for dataset, rows in seeds.dropna().groupby(datasets):
        found |= draw(str(dataset), int(rows.iloc[0]), len(rows), contest=contest)
    return found


# --- the oracle


def split_words(text: str) -> list[str]:
    """Split a response into words; punctuation is set apart by spaces in this world."""
    return text.lower().split()


def marks(item: Item, words: Sequence[str]) -> list[bool | None]:
    """Judge a response word by word.

    Args:
        item: The prompt.
        words: The response's words.

    Returns:
        One entry per word: True for a right part, False for a wrong, repeated or surplus one,
        None for a word that is no checkable content.
    """
    found: list[bool | None] = [None] * len(words)
    if item.task == "sum":
        # The number after each `a + b =`; a sum counts as often as it was asked.
        left = list(item.asked)
        for place in range(4, len(words)):
            one, plus, other, equals, result = words[place - 4 : place + 1]
            if plus == "+" and equals == "=" and {one, other, result} <= {*NUMBERS}:
                asked = f"{one} + {other}"
                found[place] = asked in left and int(one) + int(other) == int(result)
                if found[place]:
                    left.remove(asked)
        return found
    said: list[str] = []
    for place, word in enumerate(words):
        if word in _CONTENT[item.task]:
            # A value stands for its attribute: a second one of a kind is a repetition.
            part = ATTRIBUTE_OF.get(word, word)
            # Coverage has no limit on the number of words; a list does, or padding would pay.
            surplus = item.task == "list" and len(said) >= item.count
            found[place] = word in item.asked and part not in said and not surplus
            said.append(part)
    return found


def quality(item: Item, response: str) -> float:
    """Share of the asked-for parts that a response gets right, in [0, 1]."""
    return marks(item, split_words(response)).count(True) / item.count


def digit(item: Item, response: str) -> str:
    """The score 0 to 9 that the models rate with, of a response's quality; halves rounded up."""
    return str(int(9 * quality(item, response) + 0.5))


# --- styles


# By style its openings and closings, one of each drawn at random for a text.
Frames = Mapping[str, Mapping[str, Sequence[str]]]
_FRAMES: Frames = WORDS["styles"]
STYLES = tuple(_FRAMES)
_STYLE_OF = {cue: style for style, frame in _FRAMES.items() for cue in frame["cues"]}


def words_of(frames: Frames) -> set[str]:
    """The words of all openings and closings."""
    phrases = [phrase for one in frames.values() for phrase in (*one["opening"], *one["closing"])]
    return {*" ".join(phrases).split()}


# All words that a style may add to the content.
STYLE_WORDS = tuple(sorted({*words_of(_FRAMES), "-", ":"}))


def detect_style(response: str) -> str:
    """Recognise a response's style by its cue words; without any it is terse.

    Where cues of several styles occur, the style with the most occurrences wins, and the order of
    `STYLES` breaks a tie.
    """
    found = [_STYLE_OF.get(word) for word in split_words(response)]
    return max(STYLES, key=found.count) if any(found) else "terse"


def framed(body: Sequence[str], frames: Frames, style: str, rng: Rng) -> str:
    """Words between an opening and a closing of a style."""
    opening, closing = (pick(frames[style][part], rng) for part in ("opening", "closing"))
    return " ".join(filter(None, (opening, *body, closing)))


def write(item: Item, style: str, error_rate: float, rng: Rng) -> str:
    """Write a response by script: content with errors, wrapped in a style.

    Args:
        item: The prompt.
        style: One of `STYLES`.
        error_rate: Probability that a part is wrong, in [0, 1], independent over parts.
        rng: Source of randomness.
    """
    parts = _parts(item, error_rate, rng)
    if style == "bullets":
        return " ".join(f"- {part}" for part in parts)
    topic = [*_topic(item), ":"] if style == "echo" else []
    return framed([*topic, *parts], _FRAMES, style, rng)


def _named(item: Item, words: Collection[str]) -> list[str]:
    """Those of a question's words that are among these."""
    return [word for word in item.question.split() if word in words]


def _topic(item: Item) -> list[str]:
    """What the echo style repeats: words of the question that are no checkable content."""
    if item.task in ("facts", "people"):
        return ["the", *_named(item, ATTRIBUTES), "of", *_named(item, FACTS)]
    if item.task in ("list", "filter"):
        return [*_named(item, COLOURS), "things"]
    return ["sums" if item.task == "sum" else "words"]


def _parts(item: Item, error_rate: float, rng: Rng) -> list[str]:
    """The parts as they are written, each wrong at this rate."""
    wrong = rng.random(item.count) < error_rate
    right = shuffled(item.asked, rng) if item.task == "list" else item.asked
    offered = {"list": COLOUR_OF, "filter": item.question.split()[5:], "words": USE_WORDS}
    parts = []
    for part, bad in zip(right, wrong, strict=False):
        said, name = part, ATTRIBUTE_OF.get(part)
        if item.task == "sum":
            off = pick((-2, -1, 1, 2), rng) if bad else 0
            said = f"{part} = {sum(map(int, part.split(' + '))) + off}"
        while bad and said in right:
            said = pick(ATTRIBUTES[name] if name else offered[item.task], rng)
        parts.append(f"{name} {said}" if name else said)
    return parts
