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
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from selfpref.files import write_text
from selfpref.lab import choice_judges, families
from selfpref.lab.choice import CHOICE_JUDGES
from selfpref.lab.injected import draw_families
from selfpref.lab.jobs import Job, run_jobs
from selfpref.lab.refinement import training as refinement
from selfpref.lab.summaries import training as summaries
from selfpref.lab.summaries.articles import draw_error_rates
from selfpref.params import Lab


@dataclass(frozen=True, slots=True)
class Dialogues:
    """The models of dialogues and contests.

    Attributes:
        families: How many write and judge, 2 to 8.
        onlookers: How many judge and write nothing.
        base_steps: Optimiser steps of the base.
        tune_steps: Optimiser steps of each family and onlooker.
        contest_steps: Optimiser steps of each judge of contests.
    """

    families: int
    onlookers: int
    base_steps: int
    tune_steps: int
    contest_steps: int


@dataclass(frozen=True, slots=True)
class Summaries:
    """The models of summaries: optimiser steps of the base and of each source."""

    base_steps: int
    tune_steps: int


@dataclass(frozen=True, slots=True)
class Refinement:
    """The models that refine: optimiser steps of a translator, of its tuning, of the solver."""

    translator_steps: int
    tune_steps: int
    solver_steps: int


@dataclass(frozen=True, slots=True)
class LabConfig:
    """What is trained for one seed; what is None is not."""

    seed: int
    dialogues: Dialogues | None = None
    summaries: Summaries | None = None
    refinement: Refinement | None = None


def of_params(seed: int, lab: Lab) -> LabConfig:
    """The configuration that the section `lab` of the parameters gives."""
    return LabConfig(
        seed,
        Dialogues(**lab.dialogues.model_dump()) if lab.dialogues else None,
        Summaries(**lab.summaries.model_dump()) if lab.summaries else None,
        Refinement(**lab.refinement.model_dump()) if lab.refinement else None,
    )


def train_models(
    config: LabConfig,
    folder: Path,
    processes: int | None = None,
    progress: Callable[[str], object] = lambda name: None,
) -> None:
    """Train every model of one seed.

    Args:
        config: Which, and how long.
        folder: Where the checkpoints go; those of the same name are replaced.
        processes: Models trained at a time, each on one thread; None: one a processor.
        progress: Called with the name of each model that is done; `jobs` tells them all.
    """
    run_jobs(jobs(config, folder), processes, progress)
    write_text(folder / "laboratory.json", json.dumps(_record(config), indent=1) + "\n")


def jobs(config: LabConfig, folder: Path) -> list[Job]:
    """One job a model, bases included."""
    found = []
    if config.dialogues:
        steps = config.dialogues
        drawn = draw_families(config.seed, steps.families, steps.onlookers)
        found += families.jobs(folder, config.seed, drawn, steps.base_steps, steps.tune_steps)
        found += choice_judges.jobs(folder, config.seed, steps.contest_steps)
    if config.summaries:
        found += summaries.jobs(folder, config.seed, **asdict(config.summaries))
    if config.refinement:
        found += refinement.jobs(folder, config.seed, **asdict(config.refinement))
    return found


def _record(config: LabConfig) -> dict[str, object]:
    """The configuration, and what was drawn and injected."""
    record: dict[str, object] = {"config": asdict(config)}
    if config.dialogues:
        drawn = draw_families(config.seed, config.dialogues.families, config.dialogues.onlookers)
        record["families"] = [asdict(family) for family in drawn]
        record["contest_judges"] = [asdict(judge) for judge in CHOICE_JUDGES]
    if config.summaries:
        record["error_rates"] = draw_error_rates(config.seed)
    return record
