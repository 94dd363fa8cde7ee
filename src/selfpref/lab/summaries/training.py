"""Train the sources: one base, then each source from it.

    <folder>/base             writes in every style, judges, knows no style as its own
    <folder>/<source>         tuned from the base: writes in its style and goes on judging
    <folder>/laboratory.json  the configuration and each writer's error rate

A source's result depends on the base and on its own seed alone. Every checkpoint is an ordinary
`transformers` folder.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np

from selfpref.lab.families import save, write_record
from selfpref.lab.model import build_model, load_checkpoint
from selfpref.lab.summaries.examples import Mixture
from selfpref.lab.summaries.prompts import LEXICON
from selfpref.lab.summaries.writers import MODELS, STYLES, draw_error_rates
from selfpref.lab.train import Phase, Progress, Schedule, train

_PEAK: Final = 3e-3
_TUNING_PEAK: Final = 2e-3
"""Peak learning rates of the base and of a source."""

_TOKENS: Final = 512
"""Tokens in a batch. Half as many as the other laboratory's: comparing two summaries is learned
late, after a number of steps and not of tokens (trial of the base's agreement with the oracle)."""

_ERRORS: Final = 0.15
"""Error rate of what the base learns to write."""

_SPREAD: Final = 0.2
"""Deviation of the initial weights. At .12, the other laboratory's, the base learned to look a fact
up in an article about 200 steps later (trial of 1,000 steps, one seed)."""


@dataclass(frozen=True, slots=True)
class SourcesConfig:
    """How long the sources train.

    Attributes:
        seed: Seed of weights, examples and error rates.
        base_steps: Optimiser steps of the base.
        tune_steps: Optimiser steps of each source.
    """

    seed: int = 0
    base_steps: int = 1600
    tune_steps: int = 150


def train_sources(
    config: SourcesConfig, folder: Path, progress: Progress | None = None
) -> dict[str, float]:
    """Train the base and every source.

    Args:
        config: Steps and seed.
        folder: Where the checkpoints go; those of the same name are replaced.
        progress: Called every 50 steps with what is trained, step, steps and loss.

    Returns:
        The writers' error rates.
    """
    rates = draw_error_rates(config.seed)
    seeds = np.random.SeedSequence([config.seed, 22]).generate_state(2 + len(MODELS))
    weights, examples, *tunings = map(int, seeds)
    base = build_model(weights, spread=_SPREAD, lexicon=LEXICON)
    mixture = Mixture(
        writing=0.3, single=0.15, coin=0.1, error_rates=dict.fromkeys(STYLES, _ERRORS)
    )
    schedule = Schedule(config.base_steps, _TOKENS, _PEAK)
    train(base, "base", [Phase(1.0, mixture)], schedule, examples, progress)
    save(base, folder / "base", LEXICON)
    for name, seed in zip(MODELS, tunings, strict=True):
        model = load_checkpoint(folder / "base")
        mixture = Mixture(writing=0.5, single=0.15, coin=0.1, error_rates={name: rates[name]})
        schedule = Schedule(config.tune_steps, _TOKENS, _TUNING_PEAK, warmup=20)
        train(model, name, [Phase(1.0, mixture)], schedule, seed, progress)
        save(model, folder / name, LEXICON)
    record = {"config": asdict(config), "error_rates": rates}
    write_record(record, folder / "laboratory.json")
    return rates
