"""Tune the judges of contests from the base of the dialogues.

Each is an ordinary `transformers` checkpoint with the tokens of k-way choices. A judge depends on
the base, on its own place in the list and on the seed alone.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from transformers import LlamaForCausalLM

from selfpref.lab import families
from selfpref.lab.choice import CHOICE_JUDGES, ChoiceJudge, ChoiceMixture
from selfpref.lab.jobs import Job
from selfpref.lab.model import load_checkpoint, make_deterministic, save_checkpoint
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


def jobs(folder: Path, seed: int, steps: int) -> list[Job]:
    """Every judge, after the base of the dialogues.

    Args:
        folder: Where the base lies and the judges go, each under its name.
        seed: Seed of the run.
        steps: Optimiser steps of each.
    """
    seeds = np.random.SeedSequence([seed, 3]).generate_state(len(CHOICE_JUDGES))
    return [
        Job(judge.name, steps, tune_choice_judge, (folder, judge, int(own), steps), families.BASE)
        for judge, own in zip(CHOICE_JUDGES, seeds, strict=True)
    ]


def tune_choice_judge(folder: Path, judge: ChoiceJudge, seed: int, steps: int) -> None:
    """Tune one judge from the saved base."""
    model = load_checkpoint(folder / families.BASE)
    widen(model, seed)
    schedule = Schedule(steps, learning_rate=4e-3, warmup=20)
    train(model, [Phase(1.0, ChoiceMixture(judge))], schedule, seed)
    save_checkpoint(model, folder / judge.name, CONTEST)
