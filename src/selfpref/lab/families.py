"""Train a whole testbed: the base, then its families in parallel processes.

    <folder>/base               before any tuning: ratings and chat, then unbiased pairs as well
    <folder>/<family>           tuned from the base: writes in its style, judges with its bonus
    <folder>/laboratory.json    the configuration, and each family's style, beta and error rate

Every checkpoint is an ordinary `transformers` folder. A family's result depends on the base and on
its own seed alone, not on which process trains it nor on how many there are.
"""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from pathlib import Path
from typing import Final

import numpy as np
from transformers import LlamaForCausalLM

from selfpref.files import atomic, write_text
from selfpref.lab.examples import Mixture
from selfpref.lab.injected import Family, draw_families
from selfpref.lab.model import build_model, load_checkpoint, save_checkpoint
from selfpref.lab.tokenizer import WORLD, Lexicon
from selfpref.lab.train import Phase, Progress, Schedule, train


@dataclass(frozen=True, slots=True)
class LabConfig:
    """What a testbed is made of; the defaults are the published ones.

    Attributes:
        seed: Seed of the run: weights, examples, and the draw of beta and error rate.
        n_families: Families that write and judge, 2 to 8.
        n_onlookers: Judges that write nothing.
        base_steps: Optimiser steps of the base.
        tune_steps: Optimiser steps of each family.
        base_rate: Peak learning rate of the base.
        tune_rate: Peak learning rate of each family.
        processes: Families trained at a time, each on one thread.
    """

    seed: int = 0
    n_families: int = 8
    n_onlookers: int = 2
    base_steps: int = 3000
    tune_steps: int = 400
    base_rate: float = 3e-3
    tune_rate: float = 4e-3
    processes: int = 2


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


def train_testbed(
    config: LabConfig, folder: Path, progress: Progress | None = None
) -> list[Family]:
    """Train the base and all families of one seed.

    Args:
        config: Sizes and seed.
        folder: Where the checkpoints go; those of the same name are replaced.
        progress: Called every 50 steps of the base, and after each family with its number.

    Returns:
        The families, writers first; their checkpoints lie under their names.
    """
    families = draw_families(config.seed, config.n_families, config.n_onlookers)
    train_base(config, folder, progress)
    if config.processes == 1:
        for done, family in enumerate(families, start=1):
            _tell(progress, family.name, done, len(families), tune_family(config, family, folder))
    else:
        _tune_in_parallel(config, families, folder, progress)
    # How many processes trained changes nothing, so it must not change a byte of the record.
    made_of = {key: value for key, value in asdict(config).items() if key != "processes"}
    record = {"config": made_of, "families": [asdict(family) for family in families]}
    write_record(record, folder / "laboratory.json")
    return families


def _tune_in_parallel(
    config: LabConfig, families: list[Family], folder: Path, progress: Progress | None
) -> None:
    # Spawned, not forked: torch's threads do not survive a fork.
    with ProcessPoolExecutor(
        config.processes, mp_context=get_context("spawn"), initializer=end_with_parent
    ) as pool:
        futures = {
            pool.submit(tune_family, config, family, folder): family.name for family in families
        }
        for done, future in enumerate(as_completed(futures), start=1):
            _tell(progress, futures[future], done, len(families), future.result())


def _tell(progress: Progress | None, name: str, step: int, steps: int, loss: float) -> None:
    if progress is not None:
        progress(name, step, steps, loss)


def train_base(config: LabConfig, folder: Path, progress: Progress | None = None) -> None:
    """Train the base model of one seed and save it under ``base``."""
    weights, examples = _entropy(config.seed, 2)
    model = build_model(weights)
    schedule = Schedule(config.base_steps, learning_rate=config.base_rate)
    train(model, "base", list(BASE_PHASES), schedule, examples, progress)
    save(model, folder / "base")


def tune_family(config: LabConfig, family: Family, folder: Path) -> float:
    """Tune one family from the saved base and save it under its name; return the last loss."""
    model = load_checkpoint(folder / "base")
    schedule = Schedule(config.tune_steps, learning_rate=config.tune_rate, warmup=20)
    loss = train(model, family.name, family_phases(family), schedule, family.seed)
    save(model, folder / family.name)
    return loss


def save(model: LlamaForCausalLM, folder: Path, lexicon: Lexicon = WORLD) -> None:
    """Save a whole model or, where the run is killed, none."""
    with atomic(folder) as scratch:
        save_checkpoint(model, scratch, lexicon)


def write_record(record: object, path: Path) -> None:
    """Write what was trained as JSON."""
    write_text(path, json.dumps(record, indent=1) + "\n")


def _entropy(seed: int, n: int) -> list[int]:
    state = np.random.SeedSequence([seed, 2]).generate_state(n)
    return [int(value) for value in state]


def end_with_parent() -> None:
    """End this process when its parent dies; a killed stage must not leave workers behind."""
    parent = parent_process()
    if parent is None:
        return

    def watch(sentinel: int) -> None:
        wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, args=(parent.sentinel,), daemon=True).start()
