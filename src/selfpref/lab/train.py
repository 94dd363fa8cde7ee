"""Training of one model on a schedule of mixtures, with length buckets and dense targets.

The loss is the weighted mean over all positions that have a target of -log p(target), in nats.
A model trained twice from one seed on one machine has the same weights bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from transformers import LlamaForCausalLM

from selfpref.lab.examples import IGNORE, Example
from selfpref.lab.llama import Batch, TrainedLlama
from selfpref.lab.model import make_deterministic
from selfpref.lab.tokenizer import PAD, token_id

_POOL = 480
"""Examples drawn at once to sort by length: enough that batches waste little padding."""


class Mixture(Protocol):
    """What a training phase draws its examples from."""

    def draw(self, rng: np.random.Generator) -> Example:
        """Draw one example; its prompt is never a held-out one."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A share of the steps with one mixture of examples."""

    share: float
    mixture: Mixture


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast to train.

    Attributes:
        steps: Optimiser steps.
        batch_tokens: Tokens in a batch, padding included.
        learning_rate: Peak of AdamW's rate; it rises over `warmup` steps, then falls to a twentieth
            along a cosine.
        warmup: Steps of the rise.
    """

    steps: int
    batch_tokens: int = 1024
    learning_rate: float = 3e-3
    warmup: int = 50


def train(
    model: LlamaForCausalLM,
    phases: list[Phase],
    schedule: Schedule,
    seed: int,
) -> None:
    """Train a model in place.

    Args:
        model: The model; it is left in evaluation mode.
        phases: Mixtures in order; their shares of the steps add up to 1.
        schedule: Steps, batch size and rate.
        seed: Seed of the examples.
    """
    make_deterministic(seed)
    trained = TrainedLlama(model)
    weights = [trained.vector]
    optimiser = torch.optim.AdamW(
        weights, lr=schedule.learning_rate, betas=(0.9, 0.98), weight_decay=0.01, fused=True
    )
    rates = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate(step, schedule))
    ends = np.cumsum([phase.share for phase in phases]) * schedule.steps
    children = np.random.SeedSequence(seed).spawn(len(phases))
    streams = [
        batches(phase.mixture, schedule.batch_tokens, child)
        for phase, child in zip(phases, children, strict=True)
    ]
    for step in range(schedule.steps):
        current = min(int(np.searchsorted(ends, step, side="right")), len(phases) - 1)
        loss = trained.loss(next(streams[current]))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        rates.step()
    trained.store()
    model.train(False)


def batches(mixture: Mixture, tokens: int, seed: np.random.SeedSequence) -> Iterator[Batch]:
    """Yield batches without end, rows of like length together, in random order."""
    rng = np.random.default_rng(seed)
    while True:
        pool = sorted(
            (mixture.draw(rng) for _ in range(_POOL)), key=lambda example: len(example.ids)
        )
        groups: list[list[Example]] = [[]]
        for example in pool:
            if (len(groups[-1]) + 1) * len(example.ids) > tokens:
                groups.append([])
            groups[-1].append(example)
        for index in rng.permutation(len(groups)):
            yield _collate(groups[int(index)])


def _collate(rows: list[Example]) -> Batch:
    shape = (len(rows), max(len(row.ids) for row in rows))
    ids = np.full(shape, token_id(PAD), dtype=np.int64)
    targets = np.full(shape, IGNORE, dtype=np.int64)
    weights = np.zeros(shape, dtype=np.float32)
    for index, row in enumerate(rows):
        length = len(row.ids)
        ids[index, :length] = row.ids
        targets[index, :length] = row.targets
        weights[index, :length] = row.weights
    return torch.from_numpy(ids), torch.from_numpy(targets), torch.from_numpy(weights)


def _rate(step: int, schedule: Schedule) -> float:
    rise = min(1.0, (step + 1) / schedule.warmup)
    fall = 0.5 * (1.0 + np.cos(np.pi * step / schedule.steps))
    return float(rise * (0.05 + 0.95 * fall))
