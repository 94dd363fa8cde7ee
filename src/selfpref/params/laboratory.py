"""The section `lab`: which models of the testbed are trained, and how long."""

from typing import Annotated

from pydantic import Field

from selfpref.params.section import Natural, Positive, Section


class LabDialogues(Section):
    """Models that respond to prompts and judge pairs; from the same base, those of contests.

    Attributes:
        families: Models that write and judge.
        onlookers: Judges that write nothing.
        base_steps: Optimiser steps of the base model.
        tune_steps: Optimiser steps of each family and onlooker.
        contest_steps: Optimiser steps of each model of the contests (the LiveBench study).
    """

    families: Annotated[int, Field(ge=2, le=8)]
    onlookers: Natural
    base_steps: Positive
    tune_steps: Positive
    contest_steps: Positive


class LabSummaries(Section):
    """Models that write and judge summaries (Panickssery et al.).

    Attributes:
        base_steps: Optimiser steps of the base.
        tune_steps: Optimiser steps of each source.
    """

    base_steps: Positive
    tune_steps: Positive


class LabRefinement(Section):
    """Models that refine their own texts (Xu et al.).

    Attributes:
        translator_steps: Optimiser steps of each translator's base.
        tune_steps: Optimiser steps of each translator.
        solver_steps: Optimiser steps of the model of the other two tasks.
    """

    translator_steps: Positive
    tune_steps: Positive
    solver_steps: Positive


class Lab(Section):
    """The testbed.

    Attributes:
        seeds: One set of models each, in `data/<profile>/models/seed-<n>`; empty in profiles
            without a testbed.
        dialogues: The models of two studies; left out: none.
        summaries: Those of Panickssery et al.; left out: none.
        refinement: Those of Xu et al.; left out: none.
    """

    seeds: list[Natural]
    dialogues: LabDialogues | None = None
    summaries: LabSummaries | None = None
    refinement: LabRefinement | None = None
