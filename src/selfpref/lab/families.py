"""Train the models of the dialogues: a base, then each family from it.

The base rates and writes, later it judges unbiased pairs as well. A family is tuned from it to
write in its style and to judge with its bonus; its result depends on the base and on its own seed
alone. From the same base the judges of contests are tuned (`selfpref.lab.choice_judges`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from selfpref.lab.examples import Mixture
from selfpref.lab.injected import Family
from selfpref.lab.jobs import Job
from selfpref.lab.model import build_model, load_checkpoint, save_checkpoint
from selfpref.lab.train import Phase, Schedule, train

BASE: Final = "base-dialogues"
_PEAK: Final = 3e-3
_TUNING_PEAK: Final = 4e-3
"""Peak learning rates of the base and of a family."""

BASE_PHASES: Final[tuple[Phase, ...]] = (
    Phase(0.45, Mixture(chat=0.4, rating=0.6)),
    Phase(0.55, Mixture(chat=0.2, rating=0.2)),
)


def family_phases(family: Family) -> list[Phase]:
    """The one phase of a family's tuning.

    A family that writes learns its style and error rate; an onlooker goes on writing in every
    style. Ratings, and pairs without the family's style, are replayed so that judging is not lost.
    """
    writer = family.style if family.writes else None
    return [
        Phase(
            1.0,
            Mixture(
                chat=0.3,
                rating=0.15,
                writer=writer,
                error_rate=family.error_rate if family.writes else None,
                favoured=family.style,
                beta=family.beta,
            ),
        )
    ]


def jobs(
    folder: Path, seed: int, families: list[Family], base_steps: int, tune_steps: int
) -> list[Job]:
    """The base, and after it every family.

    Args:
        folder: Where the checkpoints go, each under its name.
        seed: Seed of the run.
        families: As `draw_families` draws them.
        base_steps: Optimiser steps of the base.
        tune_steps: Optimiser steps of each family.
    """
    tunes = [
        Job(family.name, tune_steps, tune_family, (folder, family, tune_steps), BASE)
        for family in families
    ]
    return [Job(BASE, base_steps, train_base, (folder, seed, base_steps)), *tunes]


def train_base(folder: Path, seed: int, steps: int) -> None:
    """Train the base model of one seed."""
    weights, examples = _entropy(seed, 2)
    model = build_model(weights)
    train(model, list(BASE_PHASES), Schedule(steps, learning_rate=_PEAK), examples)
    save_checkpoint(model, folder / BASE)


def tune_family(folder: Path, family: Family, steps: int) -> None:
    """Tune one family from the saved base."""
    model = load_checkpoint(folder / BASE)
    schedule = Schedule(steps, learning_rate=_TUNING_PEAK, warmup=20)
    train(model, family_phases(family), schedule, family.seed)
    save_checkpoint(model, folder / family.name)


def _entropy(seed: int, n: int) -> list[int]:
    state = np.random.SeedSequence([seed, 2]).generate_state(n)
    return [int(value) for value in state]
