"""Train the models of the refinement testbed, in parallel processes.

    <folder>/fair       translator: writes with errors in any style, revises mostly in its own
                        style, and gives feedback by the rule
    <folder>/partial    the same, with a bonus for its own style: the injected bias
    <folder>/small      as fair, a quarter as wide in all and a layer less
    <folder>/solver     constrained generation and sums
    <folder>/refiners.json   the configuration

`fair` and `partial` are tuned from one base with the same examples but for the judge's marks. Every
checkpoint is an ordinary `transformers` folder. A model depends on its own seed alone, not on which
process trains it nor on how many there are.
"""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import numpy as np
from transformers import LlamaForCausalLM

from selfpref.lab.families import end_with_parent, save, write_record
from selfpref.lab.model import build_model
from selfpref.lab.refinement.layouts import LEXICON, Mixture
from selfpref.lab.train import Phase, Schedule, train

OWN_STYLE: Final = "so"
"""The style of every translator; a bonus, where there is one, is for it."""
OWN_SHARE: Final = 0.7
ERROR_RATE: Final = 0.25
NAMES: Final = ("fair", "partial", "small", "solver")


@dataclass(frozen=True, slots=True)
class RefinersConfig:
    """How long the models of one seed train; the defaults are the published ones.

    Attributes:
        seed: Of weights and examples.
        translator_steps: Optimiser steps of a translator's base.
        tune_steps: Optimiser steps of its tuning.
        solver_steps: Optimiser steps of the solver, half as large as the others'.
        processes: Processes that train at a time, each on one thread.
    """

    seed: int = 0
    translator_steps: int = 1200
    tune_steps: int = 400
    solver_steps: int = 2000
    processes: int = 2


def _mixture(
    write: float, feedback: float, translation: float, *, tuned: bool = False, bonus: bool = False
) -> Mixture:
    """Shares of examples; a tuned model has a style of its own."""
    style, share = (OWN_STYLE, OWN_SHARE) if tuned else (None, 0.0)
    return Mixture(write, feedback, translation, ERROR_RATE, style, share, bonus)


# Judging first: it is what writing and revising build on, and the hardest to learn.
BASE: Final = [Phase(0.4, _mixture(0.1, 0.9, 1.0)), Phase(0.6, _mixture(0.25, 0.25, 1.0))]
SOLVER: Final = [Phase(0.45, _mixture(0.3, 0.7, 0.0)), Phase(0.55, _mixture(0.3, 0.4, 0.0))]


def train_translators(config: RefinersConfig, folder: Path) -> None:
    """Train the base of the large translators, then `fair` and `partial` from it."""
    weights, examples, tuning = _entropy(config.seed, "translators")
    base = _translator(config, build_model(weights, lexicon=LEXICON), examples)
    start = {name: value.clone() for name, value in base.state_dict().items()}
    for name, bonus in (("fair", False), ("partial", True)):
        base.load_state_dict(start)
        _tune(config, base, name, bonus, tuning)
        save(base, folder / name, LEXICON)


def train_small(config: RefinersConfig, folder: Path) -> None:
    """Train the small translator."""
    weights, examples, tuning = _entropy(config.seed, "small")
    model = build_model(weights, width=32, layers=2, lexicon=LEXICON)
    _translator(config, model, examples)
    _tune(config, model, "small", False, tuning)
    save(model, folder / "small", LEXICON)


def train_solver(config: RefinersConfig, folder: Path) -> None:
    """Train the model of the other two tasks."""
    weights, examples, _ = _entropy(config.seed, "solver")
    model = build_model(weights, lexicon=LEXICON)
    schedule = Schedule(config.solver_steps, batch_tokens=512)
    train(model, "solver", SOLVER, schedule, examples)
    save(model, folder / "solver", LEXICON)


JOBS: Final[dict[str, Callable[[RefinersConfig, Path], None]]] = {
    "translators": train_translators,
    "small": train_small,
    "solver": train_solver,
}


def train_refiners(
    config: RefinersConfig, folder: Path, progress: Callable[[str], None] = lambda job: None
) -> None:
    """Train every model of one seed.

    Args:
        config: Steps and seed.
        folder: Where the checkpoints go; those of the same name are replaced.
        progress: Called with the name of each job that is done.
    """
    # Spawned, not forked: torch's threads do not survive a fork.
    with ProcessPoolExecutor(
        config.processes, mp_context=get_context("spawn"), initializer=end_with_parent
    ) as pool:
        futures = {pool.submit(job, config, folder): name for name, job in JOBS.items()}
        for future in as_completed(futures):
            future.result()
            progress(futures[future])
    # How many processes trained changes nothing, so it must not change a byte of the record.
    made_of = {key: value for key, value in asdict(config).items() if key != "processes"}
    write_record(made_of, folder / "refiners.json")


def _translator(config: RefinersConfig, model: LlamaForCausalLM, seed: int) -> LlamaForCausalLM:
    train(model, "base", BASE, Schedule(config.translator_steps), seed)
    return model


def _tune(
    config: RefinersConfig, model: LlamaForCausalLM, name: str, bonus: bool, seed: int
) -> None:
    schedule = Schedule(config.tune_steps, learning_rate=3e-3, warmup=20)
    train(
        model, name, [Phase(1.0, _mixture(0.2, 0.5, 1.0, tuned=True, bonus=bonus))], schedule, seed
    )


def _entropy(seed: int, job: str) -> list[int]:
    """Seeds of weights, examples and tuning."""
    number = list(JOBS).index(job)
    state = np.random.SeedSequence([seed, 20, number]).generate_state(3)
    return [int(value) for value in state]
