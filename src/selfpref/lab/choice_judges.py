"""Tune the judges from the testbed's base model.

    <folder>/<judge>     an ordinary `transformers` checkpoint with the tokens of k-way choices
    <folder>/contest.json     the judges and what was injected in each

A judge depends on the base, on its own place in the list and on the seed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from transformers import LlamaForCausalLM

from selfpref.lab.choice import CHOICE_JUDGES, ChoiceJudge, ChoiceMixture
from selfpref.lab.families import end_with_parent, save, write_record
from selfpref.lab.model import load_checkpoint, make_deterministic
from selfpref.lab.tokenizer import CONTEST
from selfpref.lab.train import Phase, Schedule, train

# A new token starts near the tokens whose part it plays.
_LIKE = {"<answer_c>": ("<answer_a>", "<answer_b>"), "C": ("A", "B"), "tie": ("A", "B")}


def widen(model: LlamaForCausalLM, seed: int) -> None:
    """Add the tokens of k-way choices to a model, in place."""
    make_deterministic(seed)
    model.resize_token_embeddings(len(CONTEST.ids), mean_resizing=False)
    weights: torch.Tensor = model.model.embed_tokens.weight
    with torch.no_grad():
        for token in CONTEST.added:
            like = weights[[CONTEST.token_id(other) for other in _LIKE[token]]].mean(0)
            weights[CONTEST.token_id(token)] = like + 0.05 * torch.randn_like(like)


def tune_choice_judge(base: Path, judge: ChoiceJudge, folder: Path, steps: int, seed: int) -> str:
    """Tune one judge from the saved base, save it under its name, and return the name."""
    model = load_checkpoint(base)
    widen(model, seed)
    phases = [Phase(1.0, ChoiceMixture(judge))]
    train(model, judge.name, phases, Schedule(steps, learning_rate=4e-3, warmup=20), seed)
    save(model, folder / judge.name, CONTEST)
    return judge.name


def train_choice_judges(
    base: Path,
    folder: Path,
    *,
    steps: int,
    seed: int,
    processes: int,
    done: Callable[[str], object],
    judges: Sequence[ChoiceJudge] = CHOICE_JUDGES,
) -> None:
    """Tune every judge of one seed.

    Args:
        base: The checkpoint of the testbed's base model.
        folder: Where the judges go; those of the same name are replaced.
        steps: Optimiser steps of each.
        seed: Seed of the run.
        processes: Judges tuned at a time, each on one thread.
        done: Told the name of each judge as it is finished.
        judges: Who is tuned.
    """
    folder.mkdir(parents=True, exist_ok=True)
    seeds = np.random.SeedSequence([seed, 3]).generate_state(len(judges))
    # Spawned, not forked: torch's threads do not survive a fork.
    with ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=end_with_parent
    ) as pool:
        futures = [
            pool.submit(tune_choice_judge, base, judge, folder, steps, int(own))
            for judge, own in zip(judges, seeds, strict=True)
        ]
        for future in as_completed(futures):
            done(future.result())
    record = [asdict(judge) for judge in judges]
    write_record(record, folder / "contest.json")
