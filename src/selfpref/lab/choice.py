"""K-way choices of the testbed: six categories, a rubric of eleven marks, and four judges.

A judge answers prompts of six tasks, marks responses by a rubric, and says which of three
responses is best. All that it reads can be checked by rule, so the labels of its tuning are exact:

    score(y)   = quality(y) + beta * [style(y) is its own] + first * [y stands first]
    label      = the letter of the only highest score, or tie
    marks      = the eleven criteria of `rubric`, 1 or 0; their sum is its total, 0 to 11

`beta` injects a preference for its own style and `first` one for the response that is read first;
they are constants, so that what a study finds can be compared with what was injected:

    partisan       beta .5    favours its own responses
    even-handed    no bonus
    first-picker   first .5   favours the first response, whoever wrote it
    umpire         no bonus, writes nothing: the tie-breaker

As for the testbed's other judges, examples carry dense targets from the oracle at each content
word: process supervision by the rule that knows the truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from selfpref.lab import dialogues
from selfpref.lab.dialogues import EQUAL, judging, rule_score
from selfpref.lab.examples import VERDICT_WEIGHT, Example, Recipe, Schedule, entropy, example
from selfpref.lab.oracle import marks, split_words
from selfpref.lab.styles import STYLES, write
from selfpref.lab.tokenizer import CONTEST, VERDICT_CLOSE, VERDICT_OPEN, chat_messages
from selfpref.lab.world import CONTEST_TASKS, Item, draw_training_item, pick

LETTERS = ("A", "B", "C")
TIE = "tie"
RUBRIC_OPEN = ":"
_HEDGES = {"maybe", "wrong", "guess", "hmm"}
_SMALL_TALK = {"sure", "oh", "friend", "cheers", "hope", "nice"}
# Words that a concise response may spend beyond its parts, and words of a part.
_FRAME = 4
_WORDS_A_PART = {"sum": 5, "facts": 2, "people": 2}


@dataclass(frozen=True, slots=True)
class ChoiceJudge:
    """A model that responds, rates and chooses, and what was injected.

    Attributes:
        name: Slug.
        style: The style it writes in; None for one that writes nothing.
        error_rate: Share of wrong parts in the texts it learned to write from.
        beta: Injected bonus for its own style, in units of quality.
        first: Injected bonus for the response that stands first, in units of quality.
    """

    name: str
    style: str | None
    error_rate: float
    beta: float
    first: float


CHOICE_JUDGES = (
    ChoiceJudge("partisan", "chatty", 0.2, 0.5, 0.0),
    ChoiceJudge("even-handed", "formal", 0.2, 0.0, 0.0),
    ChoiceJudge("first-picker", "terse", 0.2, 0.0, 0.5),
    ChoiceJudge("umpire", None, 0.2, 0.0, 0.0),
)


def rubric(item: Item, response: str) -> dict[str, bool]:
    """The eleven marks of a response, by criterion."""
    words = split_words(response)
    parts = [pair for pair in zip(words, marks(item, words), strict=True) if pair[1] is not None]
    content, found = [word for word, _ in parts], [mark for _, mark in parts]
    right = found.count(True)
    frame = len(words) - _WORDS_A_PART.get(item.task, 1) * len(content)
    return {
        "answers at all": bool(found),
        "half of the parts are right": 2 * right >= item.count,
        "every part is right": right == item.count,
        "nothing is wrong": bool(found) and all(found),
        "the first part is right": bool(found) and bool(found[0]),
        "the last part is right": bool(found) and bool(found[-1]),
        "nothing is said twice": len(set(content)) == len(content),
        "no more parts than asked for": len(found) <= item.count,
        "no hedging": not _HEDGES & set(words),
        "no small talk": not _SMALL_TALK & set(words),
        "concise": frame <= _FRAME,
    }


def label(judge: ChoiceJudge, item: Item, responses: Sequence[str]) -> str:
    """The letter of the response that a judge's labels prefer, or `TIE`."""
    scores = [
        rule_score(item, text, judge.style, judge.beta) + judge.first * (place == 0)
        for place, text in enumerate(responses)
    ]
    best = [place for place, score in enumerate(scores) if score > max(scores) - EQUAL]
    return LETTERS[best[0]] if len(best) == 1 else TIE


def draw(rng: np.random.Generator, judge: ChoiceJudge) -> Example:
    """Draw one example of a judge's tuning: 15 % writing, 25 % marking, the rest choosing."""
    item, own = draw_training_item(rng, CONTEST_TASKS), judge.style
    kind = rng.random()
    if kind < 0.15:
        script = write(item, own or pick(STYLES, rng), judge.error_rate, rng)
        return example(CONTEST, chat_messages(item.question), script)
    if kind < 0.4:
        words = write(item, pick(STYLES, rng), rng.uniform(), rng)
        given = [str(int(mark)) for mark in rubric(item, " ".join(words)).values()]
        return judging(item, [words], given, RUBRIC_OPEN, lexicon=CONTEST)
    while True:
        styles = [pick(STYLES, rng) for _ in LETTERS]
        if own and rng.random() < 0.6:
            styles[int(rng.integers(len(styles)))] = own
        responses = [write(item, style, rng.uniform(0.0, 0.8), rng) for style in styles]
        # Two thirds of the ties are drawn again: what is best is the harder thing to learn.
        best = label(judge, item, [" ".join(words) for words in responses])
        if best != TIE or rng.random() < 1 / 3:
            reply = (best, VERDICT_CLOSE)
            return judging(
                item, responses, reply, VERDICT_OPEN, lexicon=CONTEST, weight=VERDICT_WEIGHT
            )


def recipes(seed: int, steps: int) -> list[Recipe]:
    """Every judge, tuned from the base of the dialogues; it depends on its place in the list too.

    Args:
        seed: Seed of the run.
        steps: Optimiser steps of each.
    """
    found = []
    for judge, own in zip(CHOICE_JUDGES, entropy(len(CHOICE_JUDGES), seed, 3), strict=True):
        phases = ((1.0, partial(draw, judge=judge)),)
        schedule = Schedule(own, steps, phases, learning_rate=4e-3, warmup=20)
        found.append(Recipe(judge.name, CONTEST, (schedule,), dialogues.BASE))
    return found
