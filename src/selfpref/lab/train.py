"""Training of one model by its recipe, with length buckets and dense targets.

The loss is the weighted mean over all positions that have a target of -log p(target), in nats.
A model trained twice from one seed on one machine has the same weights bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import LlamaForCausalLM

from selfpref.lab.examples import IGNORE, Draw, Example, Recipe, Schedule
from selfpref.lab.llama import Batch, TrainedLlama
from selfpref.lab.model import build_model, load_checkpoint, make_deterministic, save_checkpoint
from selfpref.lab.tokenizer import LABELS, Lexicon

_POOL = 480
"""Examples drawn at once to sort by length: enough that batches waste little padding."""


def make(folder: Path, recipe: Recipe) -> None:
    """Make one model and save it under its name, from the saved one that it is tuned from."""
    if recipe.base is None:
        shape = {"width": recipe.width, "layers": recipe.layers}
        model = build_model(recipe.weights, **shape, spread=recipe.spread, lexicon=recipe.lexicon)
    else:
        model = load_checkpoint(folder / recipe.base)
    if recipe.lexicon.added:
        widen(model, recipe.lexicon, recipe.schedules[0].seed)
    for schedule in recipe.schedules:
        train(model, schedule)
    save_checkpoint(model, folder / recipe.name, recipe.lexicon)


def widen(model: LlamaForCausalLM, lexicon: Lexicon, seed: int) -> None:
    """Add a lexicon's further tokens to a model, in place."""
    make_deterministic(seed)
    model.resize_token_embeddings(len(lexicon.ids), mean_resizing=False)
    weights: torch.Tensor = model.model.embed_tokens.weight
    with torch.no_grad():
        for token in lexicon.added:
            # A new token starts near those whose part it plays.
            parts = ("<answer_a>", "<answer_b>") if token.startswith("<") else LABELS
            like = weights[[lexicon.ids[part] for part in parts]].mean(0)
            weights[lexicon.ids[token]] = like + 0.05 * torch.randn_like(like)


def train(model: LlamaForCausalLM, schedule: Schedule) -> None:
    """Train a model in place; it is left in evaluation mode."""
    make_deterministic(schedule.seed)
    trained = TrainedLlama(model)
    weights = [trained.vector]
    optimiser = torch.optim.AdamW(weights, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    shares, draws = zip(*schedule.phases, strict=True)
    ends = np.cumsum(shares) * schedule.steps
    children = np.random.SeedSequence(schedule.seed).spawn(len(draws))
    streams = [
        batches(draw, schedule.batch_tokens, child)
        for draw, child in zip(draws, children, strict=True)
    ]
    for step in range(schedule.steps):
        current = min(int(np.searchsorted(ends, step, side="right")), len(draws) - 1)
        loss = trained.loss(next(streams[current]))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.param_groups[0]["lr"] = _rate(step, schedule)
        optimiser.step()
    trained.store()
    model.train(False)


def batches(draw: Draw, tokens: int, seed: np.random.SeedSequence) -> Iterator[Batch]:
    """Yield batches without end, rows of like length together, in random order."""
    rng = np.random.default_rng(seed)
    while True:
        pool = sorted((draw(rng) for _ in range(_POOL)), key=lambda example: len(example.ids))
        groups: list[list[Example]] = [[]]
        for example in pool:
            if (len(groups[-1]) + 1) * len(example.ids) > tokens:
                groups.append([])
            groups[-1].append(example)
        for index in rng.permutation(len(groups)):
            yield _collate(groups[int(index)])


def _collate(rows: list[Example]) -> Batch:
    ids, targets, weights = (
        [torch.tensor(getattr(row, name)) for row in rows] for name in ("ids", "targets", "weights")
    )
    # The first token of every lexicon is for padding.
    return (
        pad_sequence(ids, batch_first=True),
        pad_sequence(targets, batch_first=True, padding_value=IGNORE),
        pad_sequence(weights, batch_first=True),
    )


def _rate(step: int, schedule: Schedule) -> float:
    rise = min(1.0, (step + 1) / schedule.warmup)
    fall = 0.5 * (1.0 + np.cos(np.pi * step / schedule.steps))
    return schedule.learning_rate * float(rise * (0.05 + 0.95 * fall))
