"""The models of the dialogues: a base, then each family from it, and the bias of its judge.

The base rates and writes, later it judges unbiased pairs as well. A family is tuned from it to
write in its style and to judge by a rule with a bonus beta for its own style:

    score(y)    = quality(y) + beta * [style(y) is the family's own]
    P(A wins)   = 1, 0 or 1/2 as score(A) is above, below or equal to score(B)

Its result depends on the base and on its own seed alone. From the same base the judges of contests
are tuned. The same rule run on the pairs of an experiment gives the
*injected* verdicts; with beta = 0 it is the *oracle rule*, an unbiased judge. The oracle rule's
equal-opportunity bias is not zero, because the metric moves with the quality gap between the
responder and its opponents once the human labels are noisy; hence both stand beside what is
measured. The human annotator is the oracle with noise (a Bradley-Terry choice):

    P(human prefers A) = 1 / (1 + exp(-(quality(A) - quality(B)) / noise)),   a tie if equal

Contests: a judge answers prompts of six tasks, marks responses by a rubric, and says which of three
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

Beta is drawn per family from the run's seed and is independent of the style: an evenly spaced set
of values is permuted at random, so that every seed covers the same range and several seeds cross
beta with style. Error rates are permuted likewise.
"""

import json
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from selfpref.lab import world
from selfpref.lab.tokenizer import (
    CONTEST,
    VERDICT_WEIGHT,
    WORLD,
    Example,
    Recipe,
    Schedule,
    entropy,
    example,
    judge_messages,
    tuned,
)
from selfpref.lab.world import STYLES, WORDS, Item, Rng, marks, pick, quality, split_words, write
from selfpref.models import MARKER

BASE = "base-dialogues"
EQUAL = 1e-9
# Smallest and largest bonus, in units of quality, and error rate of the writing families.
BETAS = (-0.3, 0.7)
ERROR_RATES = (0.08, 0.45)
LETTERS = ("A", "B", "C")
TIE = "tie"
RUBRIC_OPEN = ":"


class Family(NamedTuple):
    """One model family: it judges, and writes unless `writes` is False.

    Attributes:
        name: Slug; a writing family is named after its style.
        style: The style it writes in, or for a judge that writes nothing the style it favours.
        error_rate: Share of wrong parts in the texts it learned to write from, in [0, 1].
        beta: Injected bonus for its style, in units of quality.
        writes: Whether it has responses in the experiments.
        seed: Entropy of its tuning.
    """

    name: str
    style: str
    error_rate: float
    beta: float
    writes: bool
    seed: int

    @property
    def first(self) -> float:
        """No place earns a bonus."""
        return 0.0


FAIR = Family("", "", 0.0, 0.0, False, 0)


def draw_families(seed: int, n_families: int, n_onlookers: int) -> list[Family]:
    """Draw the families of one seed, beta and error rate independent of the style.

    Args:
        seed: Seed of the run.
        n_families: Families that write and judge, at most the number of styles.
        n_onlookers: Judges that write nothing.

    Returns:
        The writing families in the order of their styles, then the onlookers.
    """
    rng = world.stream(seed, 1)
    betas, errors = (
        rng.permutation(np.linspace(*ends, n_families)).tolist() for ends in (BETAS, ERROR_RATES)
    )
    seeds = rng.integers(2**31, size=n_families + n_onlookers).tolist()
    families = [
        Family(style, style, error, beta, True, own)
        for style, error, beta, own in zip(STYLES, errors, betas, seeds, strict=False)
    ]
    for number, own in enumerate(seeds[n_families:], start=1):
        favoured, beta = pick(STYLES[:n_families], rng), rng.uniform(*BETAS)
        families.append(Family(f"onlooker-{number}", favoured, 0.0, beta, False, own))
    return families


def load_families(folder: Path) -> list[Family]:
    """Read the families of a trained testbed from its ``laboratory.json``."""
    record = json.loads((folder / "laboratory.json").read_text())
    return [Family(**family) for family in record["families"]]


def rule_score(item: Item, response: str, style: str | None, beta: float) -> float:
    """Score of a response under a family's rule: quality plus the bonus for its style."""
    return quality(item, response) + beta * (world.detect_style(response) == style)


def human_label(item: Item, response_a: str, response_b: str, rng: Rng, noise: float) -> str:
    """Label a pair as a noisy human annotator would.

    Args:
        item: The prompt.
        response_a: First response.
        response_b: Second response.
        rng: Source of the annotator's noise; one draw per call, ties included.
        noise: Scale of the logistic noise, in units of quality, positive.

    Returns:
        ``"a"``, ``"b"``, or ``"tie"`` for equal quality.
    """
    gap = quality(item, response_a) - quality(item, response_b)
    draw = rng.random()
    if abs(gap) < EQUAL:
        return "tie"
    return "a" if draw < 1.0 / (1.0 + math.exp(-gap / noise)) else "b"


def judging(
    item: Item,
    responses: Sequence[str],
    reply: str = "",
    prefill: str = "",
    *,
    weight: float = 1.0,
) -> Example:
    """A rating of one response or a choice among several.

    Dense targets in each response are the oracle's marks of its parts, and the digit of its quality
    at its end.

    Args:
        item: The prompt.
        responses: One or several.
        reply: As `example` takes it, and what follows; empty: the digit of the only response.
        prefill: With which the reply begins.
        weight: Of the verdict.
    """
    messages = judge_messages(item.question, responses)
    marked = [(marks(item, split_words(text)), world.digit(item, text)) for text in responses]
    # What a model without the tokens of contests reads and says has the same ids.
    return example(CONTEST, messages, reply or marked[0][1], prefill, marked=marked, weight=weight)


def draw(rng: Rng, *, chat: float, rating: float, family: Family = FAIR) -> Example:
    """Draw one example; its prompt is never a held-out one.

    Args:
        rng: Source of randomness.
        chat: Share of writing examples.
        rating: Share of rating examples; the rest are pairs.
        family: Its style stands in half of the pairs and earns its bonus; where it writes, the
            written examples have its style and error rate; else they have every style alike and an
            error rate between 0 and 0.3.
    """
    item = world.for_training(lambda: world.draw_item(pick(world.TASKS, rng), rng))
    kind = rng.random()
    if kind < chat:
        if family.writes:
            text = write(item, family.style, family.error_rate, rng)
        else:
            text = write(item, pick(STYLES, rng), rng.uniform(0.0, 0.3), rng)
        # Some without a question teach what a response looks like when nothing was asked: else an
        # unconditional perplexity would measure surprise at the layout.
        bare = rng.random() < 0.1
        return example(WORLD, () if bare else WORLD.messages(user=item.question), text)
    if kind < chat + rating:
        # Of any quality: the error rate itself is drawn, to spread the qualities.
        return judging(item, [write(item, pick(STYLES, rng), rng.uniform(), rng)])
    while True:
        own = family.style and rng.random() < 0.5
        styles = (family.style if own else pick(STYLES, rng), pick(STYLES, rng))
        pair = [write(item, style, rng.uniform(), rng) for style in styles]
        if rng.random() < 0.5:
            pair.reverse()
        # Two equal scores have no label to learn.
        if (best := label(family, item, pair)) != TIE:
            return judging(item, pair, f"{MARKER} {best} ]]", weight=VERDICT_WEIGHT)


class ChoiceJudge(NamedTuple):
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
    beta: float = 0.0
    first: float = 0.0


CHOICE_JUDGES = (
    ChoiceJudge("partisan", "chatty", 0.2, beta=0.5),
    ChoiceJudge("even-handed", "formal", 0.2),
    ChoiceJudge("first-picker", "terse", 0.2, first=0.5),
    ChoiceJudge("umpire", None, 0.2),
)


def rubric(item: Item, response: str) -> dict[str, bool]:
    """The eleven marks of a response, by criterion."""
    words = split_words(response)
    parts = [pair for pair in zip(words, marks(item, words), strict=True) if pair[1] is not None]
    content, found = [word for word, _ in parts], [mark for _, mark in parts]
    right = found.count(True)
    words_a_part = {"sum": 5, "facts": 2, "people": 2}.get(item.task, 1)
    return {
        "answers at all": bool(found),
        "half of the parts are right": 2 * right >= item.count,
        "every part is right": right == item.count,
        "nothing is wrong": bool(found) and all(found),
        "the first part is right": found[:1] == [True],
        "the last part is right": found[-1:] == [True],
        "nothing is said twice": len(set(content)) == len(content),
        "no more parts than asked for": len(found) <= item.count,
        "no hedging": not {*WORDS["hedges"]} & {*words},
        "no small talk": not {*WORDS["small talk"]} & {*words},
        "concise": len(words) - words_a_part * len(content) <= 4,
    }


def label(judge: Family | ChoiceJudge, item: Item, responses: Sequence[str]) -> str:
    """The letter of the response that a judge's labels prefer, or `TIE`."""
    scores = [rule_score(item, text, judge.style, judge.beta) for text in responses]
    scores[0] += judge.first
    best = [place for place, score in enumerate(scores) if score > max(scores) - EQUAL]
    return LETTERS[best[0]] if len(best) == 1 else TIE


def draw_contest(rng: Rng, judge: ChoiceJudge) -> Example:
    """Draw one example of a judge's tuning: 15 % writing, 25 % marking, the rest choosing."""
    item = world.for_training(lambda: world.draw_item(pick(world.CONTEST_TASKS, rng), rng))
    own, kind = judge.style, rng.random()
    if kind < 0.15:
        text = write(item, own or pick(STYLES, rng), judge.error_rate, rng)
        return example(CONTEST, WORLD.messages(user=item.question), text)
    if kind < 0.4:
        text = write(item, pick(STYLES, rng), rng.uniform(), rng)
        given = " ".join("01"[mark] for mark in rubric(item, text).values())
        return judging(item, [text], given, RUBRIC_OPEN)
    while True:
        styles = [pick(STYLES, rng) for _ in LETTERS]
        if own and rng.random() < 0.6:
            styles[rng.integers(len(styles))] = own
        responses = [write(item, style, rng.uniform(0.0, 0.8), rng) for style in styles]
        # Two thirds of the ties are drawn again: what is best is the harder thing to learn.
        best = label(judge, item, responses)
        if best != TIE or rng.random() < 1 / 3:
            return judging(item, responses, f"{best} ]]", MARKER, weight=VERDICT_WEIGHT)


def recipes(
    seed: int, families: int, onlookers: int, base_steps: int, tune_steps: int, contest_steps: int
) -> list[Recipe]:
    """The base, and after it every family and the judges of contests.

    A family that writes learns its style and error rate; an onlooker goes on writing in every
    style. Ratings, and pairs without the family's style, are replayed so that judging is not lost.

    Args:
        seed: Seed of the run.
        families: As `draw_families` takes them, and onlookers.
        onlookers: The same.
        base_steps: Optimiser steps of the base.
        tune_steps: Optimiser steps of each family.
        contest_steps: Optimiser steps of each judge of contests.
    """
    weights, examples = entropy(2, seed, 2)
    phases = (
        (0.45, partial(draw, chat=0.4, rating=0.6)),
        (0.55, partial(draw, chat=0.2, rating=0.2)),
    )
    found = [Recipe(BASE, WORLD, (Schedule(examples, base_steps, phases),), weights=weights)]
    for one in draw_families(seed, families, onlookers):
        learned = partial(draw, chat=0.3, rating=0.15, family=one)
        how = (WORLD, one.seed, tune_steps, learned)
        found.append(tuned(one.name, BASE, *how, learning_rate=4e-3))
    for judge, own in zip(CHOICE_JUDGES, entropy(len(CHOICE_JUDGES), seed, 3), strict=True):
        chosen = (CONTEST, own, contest_steps, partial(draw_contest, judge=judge))
        found.append(tuned(judge.name, BASE, *chosen, learning_rate=4e-3))
    return found
