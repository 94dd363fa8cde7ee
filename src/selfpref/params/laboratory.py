"""The section `lab`: the size of the laboratory, and how long its models train."""

from typing import Annotated

from pydantic import Field

from selfpref.params.section import Section


class Refiners(Section):
    """The laboratory's models that refine their own texts (Xu et al.).

    Attributes:
        seeds: The seed of the models, in a folder `seed-<n>`; empty in profiles without them.
        translator_steps: Optimiser steps of each translator's base.
        tune_steps: Optimiser steps of each translator.
        solver_steps: Optimiser steps of the model of the other two tasks.
    """

    seeds: Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=1)] = []
    translator_steps: Annotated[int, Field(ge=1)] = 1200
    tune_steps: Annotated[int, Field(ge=1)] = 400
    solver_steps: Annotated[int, Field(ge=1)] = 2000

    def training(self) -> dict[str, int]:
        """The arguments of `RefinersConfig` but the seed and the processes."""
        return self.model_dump(exclude={"seeds"})


class Summarisers(Section):
    """The laboratory's models that write and judge summaries (Panickssery et al.).

    Attributes:
        seeds: One set of models each, in a folder `seed-<n>`; empty in profiles without one.
        base_steps: Optimiser steps of the base.
        tune_steps: Optimiser steps of each source.
    """

    seeds: list[Annotated[int, Field(ge=0)]] = []
    base_steps: Annotated[int, Field(ge=1)] = 1600
    tune_steps: Annotated[int, Field(ge=1)] = 150


class Lab(Section):
    """The laboratory: how large its world is, and how long its models train.

    Attributes:
        seeds: One laboratory each, a data set `seed-<n>`; empty in profiles without one.
        prompts: Prompts a seed.
        pairs: Pairs of responses a seed that the annotator labels and every judge reads.
        noise: The annotator's noise, in units of quality (0..1).
        families: Models that write and judge.
        onlookers: Judges that write nothing.
        base_steps: Optimiser steps of the base model.
        tune_steps: Optimiser steps of each family.
        contests: The seeds that hold a contest (the LiveBench study), some of `seeds`.
        contest_prompts: Prompts of a contest, over its six categories.
        contest_steps: Optimiser steps of each contestant.
        processes: Families trained at a time.
        refiners: The models of the Xu study.
        summarisers: The models of the Panickssery study.
    """

    seeds: list[Annotated[int, Field(ge=0)]] = []
    prompts: Annotated[int, Field(ge=1)] = 400
    pairs: Annotated[int, Field(ge=1)] = 1500
    noise: Annotated[float, Field(gt=0)] = 0.15
    families: Annotated[int, Field(ge=2, le=8)] = 8
    onlookers: Annotated[int, Field(ge=0)] = 2
    base_steps: Annotated[int, Field(ge=1)] = 3000
    tune_steps: Annotated[int, Field(ge=1)] = 400
    contests: list[Annotated[int, Field(ge=0)]] = []
    contest_prompts: Annotated[int, Field(ge=6)] = 120
    contest_steps: Annotated[int, Field(ge=1)] = 400
    processes: Annotated[int, Field(ge=1)] = 2
    refiners: Refiners = Refiners()
    summarisers: Summarisers = Summarisers()

    def training(self) -> dict[str, int]:
        """The arguments of `LabConfig` but the seed."""
        return {
            "n_families": self.families,
            "n_onlookers": self.onlookers,
            "base_steps": self.base_steps,
            "tune_steps": self.tune_steps,
            "processes": self.processes,
        }
