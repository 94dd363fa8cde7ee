"""Train all models of one seed into one folder.

    <folder>/base-dialogues     before any tuning; from it
        disclaimer ... bullets      families: write in a style, judge with a bonus
        onlooker-1, onlooker-2      judge with a bonus, write nothing
        partisan ... umpire         rate, and choose among three
    <folder>/base-summaries     from it clerk, host and aide: write and judge summaries
    <folder>/base-translators   from it fair and partial: write, judge and revise translations
    <folder>/small, solver      a small translator; the model of the other two tasks
    <folder>/laboratory.json    the configuration and all that was drawn from the seed

Every checkpoint is an ordinary `transformers` folder. No byte depends on how many processes train.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict
from functools import partial
from pathlib import Path

from selfpref.files import write_text
from selfpref.lab import choice, dialogues
from selfpref.lab.examples import Recipe
from selfpref.lab.injected import draw_families
from selfpref.lab.refinement import training as refinement
from selfpref.lab.summaries import training as summaries
from selfpref.lab.summaries.articles import draw_error_rates
from selfpref.lab.train import make
from selfpref.params import Lab
from selfpref.processes import pool, processors


def train_models(
    seed: int,
    lab: Lab,
    folder: Path,
    processes: int | None = None,
    progress: Callable[[str], object] = lambda name: None,
) -> None:
    """Train every model of one seed.

    Args:
        seed: The seed.
        lab: Which groups of models, and how long.
        folder: Where the checkpoints go; those of the same name are replaced.
        processes: Models trained at a time, each on one thread; None: one a processor.
        progress: Called with the name of each model that is done; `recipes` tells them all.
    """
    run(recipes(seed, lab), partial(make, folder), processes, progress)
    write_text(folder / "laboratory.json", json.dumps(_record(seed, lab), indent=1) + "\n")


def run(
    recipes: Sequence[Recipe],
    work: Callable[[Recipe], object],
    processes: int | None = None,
    progress: Callable[[str], object] = lambda name: None,
) -> None:
    """Follow recipes, each as soon as its base is made; of those that can begin the longest first.

    Args:
        recipes: No two of one name.
        work: Makes one model; a module's own, since it is sent to another process by name.
        processes: How many models are made at a time; None: one a processor.
        progress: Called with the name of each model that is done.
    """
    with pool(processes or processors()) as workers:
        running: dict[Future[object], str] = {}

        def begin(base: str | None) -> None:
            ready = [recipe for recipe in recipes if recipe.base == base]
            for recipe in sorted(ready, key=lambda recipe: -recipe.work):
                running[workers.submit(work, recipe)] = recipe.name

        begin(None)
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(future)
                future.result()
                progress(name)
                begin(name)


def recipes(seed: int, lab: Lab) -> list[Recipe]:
    """One recipe a model, bases included."""
    found = []
    if steps := lab.dialogues:
        drawn = draw_families(seed, steps.families, steps.onlookers)
        found += dialogues.recipes(seed, drawn, steps.base_steps, steps.tune_steps)
        found += choice.recipes(seed, steps.contest_steps)
    if lab.summaries:
        found += summaries.recipes(seed, **lab.summaries.model_dump())
    if lab.refinement:
        found += refinement.recipes(seed, **lab.refinement.model_dump())
    return found


def _record(seed: int, lab: Lab) -> dict[str, object]:
    """The configuration, and what was drawn and injected."""
    groups = lab.model_dump(include={"dialogues", "summaries", "refinement"})
    record: dict[str, object] = {"config": {"seed": seed, **groups}}
    if steps := lab.dialogues:
        drawn = draw_families(seed, steps.families, steps.onlookers)
        record["families"] = [asdict(family) for family in drawn]
        record["contest_judges"] = [asdict(judge) for judge in choice.CHOICE_JUDGES]
    if lab.summaries:
        record["error_rates"] = draw_error_rates(seed)
    return record
