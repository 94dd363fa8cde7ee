"""Train the models that refine.

    fair       translator: writes with errors in any style, revises mostly in its own style, and
               gives feedback by the rule
    partial    the same, with a bonus for its own style: the injected bias
    small      as fair, a quarter as wide in all and a layer less
    solver     constrained generation and sums

`fair` and `partial` are tuned from one base with the same examples but for the judge's marks. A
model depends on its own seed alone.
"""

from pathlib import Path
from typing import Final, Literal

import numpy as np
from transformers import LlamaForCausalLM

from selfpref.lab.jobs import Job
from selfpref.lab.model import build_model, load_checkpoint, save_checkpoint
from selfpref.lab.refinement.layouts import LEXICON, Mixture
from selfpref.lab.train import Phase, Schedule, train

BASE: Final = "base-translators"
OWN_STYLE: Final = "so"
"""The style of every translator; a bonus, where there is one, is for it."""
OWN_SHARE: Final = 0.7
ERROR_RATE: Final = 0.25


def _mixture(
    write: float, feedback: float, translation: float, *, tuned: bool = False, bonus: bool = False
) -> Mixture:
    """Shares of examples; a tuned model has a style of its own."""
    style, share = (OWN_STYLE, OWN_SHARE) if tuned else (None, 0.0)
    return Mixture(write, feedback, translation, ERROR_RATE, style, share, bonus)


# Judging first: it is what writing and revising build on, and the hardest to learn.
BASE_PHASES: Final = [Phase(0.4, _mixture(0.1, 0.9, 1.0)), Phase(0.6, _mixture(0.25, 0.25, 1.0))]
SOLVER_PHASES: Final = [
    Phase(0.45, _mixture(0.3, 0.7, 0.0)),
    Phase(0.55, _mixture(0.3, 0.4, 0.0)),
]


def jobs(
    folder: Path, seed: int, translator_steps: int, tune_steps: int, solver_steps: int
) -> list[Job]:
    """The translators' base and after it the two large ones; the small one; the solver.

    Args:
        folder: Where the checkpoints go, each under its name.
        seed: Of weights and examples.
        translator_steps: Optimiser steps of a translator before it is tuned.
        tune_steps: Optimiser steps of its tuning.
        solver_steps: Optimiser steps of the solver, half as large as the others'.
    """
    small = (translator_steps + tune_steps) / 2
    return [
        Job(BASE, translator_steps, train_base, (folder, seed, translator_steps)),
        Job("fair", tune_steps, tune_translator, (folder, seed, "fair", tune_steps), BASE),
        Job("partial", tune_steps, tune_translator, (folder, seed, "partial", tune_steps), BASE),
        Job("small", small, train_small, (folder, seed, translator_steps, tune_steps)),
        Job("solver", solver_steps / 2, train_solver, (folder, seed, solver_steps)),
    ]


def train_base(folder: Path, seed: int, steps: int) -> None:
    """Train the base of the large translators."""
    weights, examples, _ = _entropy(seed, "translators")
    model = build_model(weights, lexicon=LEXICON)
    train(model, BASE_PHASES, Schedule(steps), examples)
    save_checkpoint(model, folder / BASE, LEXICON)


def tune_translator(folder: Path, seed: int, name: Literal["fair", "partial"], steps: int) -> None:
    """Tune a large translator from the saved base."""
    *_, tuning = _entropy(seed, "translators")
    model = load_checkpoint(folder / BASE)
    _tune(model, steps, tuning, bonus=name == "partial")
    save_checkpoint(model, folder / name, LEXICON)


def train_small(folder: Path, seed: int, steps: int, tune_steps: int) -> None:
    """Train the small translator."""
    weights, examples, tuning = _entropy(seed, "small")
    model = build_model(weights, width=32, layers=2, lexicon=LEXICON)
    train(model, BASE_PHASES, Schedule(steps), examples)
    _tune(model, tune_steps, tuning, bonus=False)
    save_checkpoint(model, folder / "small", LEXICON)


def train_solver(folder: Path, seed: int, steps: int) -> None:
    """Train the model of the other two tasks."""
    weights, examples, _ = _entropy(seed, "solver")
    model = build_model(weights, lexicon=LEXICON)
    train(model, SOLVER_PHASES, Schedule(steps, batch_tokens=512), examples)
    save_checkpoint(model, folder / "solver", LEXICON)


def _tune(model: LlamaForCausalLM, steps: int, seed: int, *, bonus: bool) -> None:
    mixture = _mixture(0.2, 0.5, 1.0, tuned=True, bonus=bonus)
    train(model, [Phase(1.0, mixture)], Schedule(steps, learning_rate=3e-3, warmup=20), seed)


def _entropy(seed: int, kind: Literal["translators", "small", "solver"]) -> list[int]:
    """Seeds of weights, examples and tuning."""
    number = ("translators", "small", "solver").index(kind)
    state = np.random.SeedSequence([seed, 20, number]).generate_state(3)
    return [int(value) for value in state]
