"""Train all models of one seed into one folder, each by its recipe.

    <folder>/base-dialogues     before any tuning; from it
        disclaimer ... bullets      families: write in a style, judge with a bonus
        onlooker-1, onlooker-2      judge with a bonus, write nothing
        partisan ... umpire         rate, and choose among three
    <folder>/base-summaries     from it clerk, host and aide: write and judge summaries
    <folder>/base-translators   from it fair and partial: write, judge and revise translations
    <folder>/small, solver      a small translator; the model of the other two tasks
    <folder>/laboratory.json    the configuration and all that was drawn from the seed

Every checkpoint is an ordinary `transformers` folder. No byte depends on how many processes train:
a model trained twice from one seed on one machine has the same weights bit by bit. The loss is the
weighted mean over all positions that have a target of -log p(target), in nats; batches hold rows of
like length.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import LlamaForCausalLM

from selfpref.files import write_text
from selfpref.lab import dialogues, refinement, summaries
from selfpref.lab.examples import IGNORE, Draw, Example, Recipe, Schedule
from selfpref.lab.model import Batch, TrainedLlama, begin, make_deterministic, save_checkpoint
from selfpref.params import Lab
from selfpref.processes import pool, processors

# Examples drawn at once to sort by length: enough that batches waste little padding.
_POOL = 480
# Of ids, targets and weights.
FILLERS = (0, IGNORE, 0)


def train_models(
    seed: int, lab: Lab, folder: Path, progress: Callable[[str], object] = lambda name: None
) -> None:
    """Train every model of one seed.

    Args:
        seed: The seed.
        lab: Which groups of models, and how long.
        folder: Where the checkpoints go; those of the same name are replaced.
        progress: Called with the name of each model that is done; `recipes` tells them all.
    """
    with pool(processors()) as workers:
        # Bases first, and of each round the longest first.
        for tuned in (False, True):
            found = [recipe for recipe in recipes(seed, lab) if (recipe.base is not None) == tuned]
            found.sort(key=lambda recipe: -recipe.work)
            done = workers.map(partial(make, folder), found)
            for recipe, _ in zip(found, done, strict=True):
                progress(recipe.name)
    record: dict[str, object] = {"config": {"seed": seed, **lab.model_dump(exclude={"seeds"})}}
    if steps := lab.dialogues:
        drawn = dialogues.draw_families(seed, steps.families, steps.onlookers)
        record["families"] = [family._asdict() for family in drawn]
        record["contest_judges"] = [judge._asdict() for judge in dialogues.CHOICE_JUDGES]
    if lab.summaries:
        record["error_rates"] = summaries.draw_error_rates(seed)
    write_text(folder / "laboratory.json", json.dumps(record, indent=1) + "\n")


def recipes(seed: int, lab: Lab) -> list[Recipe]:
    """One recipe a model, bases included."""
    found = []
    if steps := lab.dialogues:
        drawn = dialogues.draw_families(seed, steps.families, steps.onlookers)
        times = steps.base_steps, steps.tune_steps, steps.contest_steps
        found += dialogues.recipes(seed, drawn, *times)
    if lab.summaries:
        found += summaries.recipes(seed, **lab.summaries.model_dump())
    if lab.refinement:
        found += refinement.recipes(seed, **lab.refinement.model_dump())
    return found


def make(folder: Path, recipe: Recipe) -> None:
    """Make one model and save it under its name, from the saved one that it is tuned from."""
    model = begin(folder, recipe)
    for schedule in recipe.schedules:
        train(model, schedule)
    save_checkpoint(model, folder / recipe.name, recipe.lexicon)


def train(model: LlamaForCausalLM, schedule: Schedule) -> None:
    """Train a model in place; it is left in evaluation mode."""
    make_deterministic(schedule.seed)
    trained = TrainedLlama(model)
    weights = [trained.vector]
    optimiser = torch.optim.AdamW(weights, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    shares, draws = zip(*schedule.phases, strict=True)
    ends = np.cumsum(shares) * schedule.steps
    children = np.random.SeedSequence(schedule.seed).spawn(len(draws))
    streams = list(map(batches, draws, [schedule.batch_tokens] * len(draws), children))
    for step in range(schedule.steps):
        current = int(np.searchsorted(ends[:-1], step, side="right"))
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
            # The first token of every lexicon is for padding.
            ids, targets, weights = (
                pad_sequence([torch.tensor(part) for part in parts], True, filler)
                for parts, filler in zip(zip(*groups[index], strict=True), FILLERS, strict=True)
            )
            yield ids, targets, weights


def _rate(step: int, schedule: Schedule) -> float:
    rise = min(1.0, (step + 1) / schedule.warmup)
    fall = 0.5 * (1.0 + np.cos(np.pi * step / schedule.steps))
    return schedule.learning_rate * float(rise * (0.05 + 0.95 * fall))
