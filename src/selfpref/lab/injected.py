"""The truth that is injected in a family's judge, and the rules to compare its verdicts with.

A family's tuning labels follow a rule with a bonus beta for its own style:

    score(y)    = quality(y) + beta * [style(y) is the family's own]
    P(A wins)   = 1, 0 or 1/2 as score(A) is above, below or equal to score(B)

The same rule run on the pairs of an experiment gives the *injected* verdicts; with beta = 0 it is
the *oracle rule*, an unbiased judge. The oracle rule's equal-opportunity bias is not zero, because
the metric moves with the quality gap between the responder and its opponents once the human labels
are noisy; hence both stand beside what is measured.

The human annotator is the oracle with noise (a Bradley-Terry choice):

    P(human prefers A) = 1 / (1 + exp(-(quality(A) - quality(B)) / noise)),   a tie if equal

Beta is drawn per family from the run's seed and is independent of the style: an evenly spaced set
of values is permuted at random, so that every seed covers the same range and several seeds cross
beta with style. Error rates are permuted likewise.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from selfpref.lab.oracle import quality, split_words
from selfpref.lab.styles import STYLES, detect_style
from selfpref.lab.world import Item

Label = Literal["a", "b", "tie"]
_EQUAL: Final = 1e-9
BETAS: Final = (-0.3, 0.7)
"""Smallest and largest bonus, in units of quality."""

ERROR_RATES: Final = (0.08, 0.45)
"""Smallest and largest error rate of the writing families."""


@dataclass(frozen=True, slots=True)
class Family:
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


def draw_families(seed: int, n_families: int, n_onlookers: int) -> list[Family]:
    """Draw the families of one seed, beta and error rate independent of the style.

    Args:
        seed: Seed of the run.
        n_families: Families that write and judge, at most the number of styles.
        n_onlookers: Judges that write nothing.

    Returns:
        The writing families in the order of their styles, then the onlookers.

    Raises:
        ValueError: More families than styles.
    """
    if n_families > len(STYLES):
        raise ValueError(f"families: {n_families} asked for, but there are {len(STYLES)} styles")
    rng = np.random.default_rng(np.random.SeedSequence([seed, 1]))
    betas = rng.permutation(np.linspace(*BETAS, n_families))
    errors = rng.permutation(np.linspace(*ERROR_RATES, n_families))
    seeds = rng.integers(2**31, size=n_families + n_onlookers)
    families = [
        Family(STYLES[i], STYLES[i], float(errors[i]), float(betas[i]), True, int(seeds[i]))
        for i in range(n_families)
    ]
    for i in range(n_onlookers):
        favoured = STYLES[int(rng.integers(n_families))]
        beta = float(rng.uniform(*BETAS))
        name = f"onlooker-{i + 1}"
        families.append(Family(name, favoured, 0.0, beta, False, int(seeds[n_families + i])))
    return families


def load_families(folder: Path) -> list[Family]:
    """Read the families of a trained testbed from its ``laboratory.json``."""
    record = json.loads((folder / "laboratory.json").read_text())
    return [Family(**family) for family in record["families"]]


def rule_score(item: Item, response: str, style: str, beta: float) -> float:
    """Score of a response under a family's rule: quality plus the bonus for its style."""
    return quality(item, response) + beta * (detect_style(split_words(response)) == style)


def rule_probability(
    item: Item, response_a: str, response_b: str, style: str, beta: float
) -> float:
    """Probability that the rule prefers A: 1, 0, or 1/2 for equal scores."""
    gap = rule_score(item, response_a, style, beta) - rule_score(item, response_b, style, beta)
    return 0.5 if abs(gap) < _EQUAL else float(gap > 0)


def human_label(
    item: Item, response_a: str, response_b: str, rng: np.random.Generator, noise: float
) -> Label:
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
    if abs(gap) < _EQUAL:
        return "tie"
    return "a" if draw < 1.0 / (1.0 + math.exp(-gap / noise)) else "b"
