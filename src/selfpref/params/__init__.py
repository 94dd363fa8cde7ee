"""The parameters: what params.yaml may hold, and what a stage may read of it.

Every section is a pydantic model that refuses unknown keys. `load` validates a whole file.
`section_of` gives a stage's notebook the values that dvc.yaml declares for it, and `gather` makes
parameters of them again: what a stage does not declare cannot change a result of it, and what its
executed notebook shows is what was run.
"""

from selfpref.params.data import (
    Articles,
    Dataset,
    Dialogues,
    LabContest,
    LabPrompts,
    LabRequests,
    Problems,
    Prompts,
    Questions,
    Requests,
    Sentences,
)
from selfpref.params.laboratory import Lab
from selfpref.params.models import Hosted, Model, Ray, Transformers, hosted, members
from selfpref.params.reading import load
from selfpref.params.stage import gather, section_of
from selfpref.params.studies import Bootstrap, Livebench, Panickssery, Wataoka, Xu
from selfpref.params.uses import (
    Assess,
    Compete,
    Contest,
    Finetune,
    Judge,
    Label,
    Perplexity,
    Recognise,
    Refine,
    Respond,
    Summarise,
    TieBreaker,
    Tuning,
    Verdicts,
    Writing,
)
from selfpref.params.whole import TASKS, Params

__all__ = [
    "TASKS",
    "Articles",
    "Assess",
    "Bootstrap",
    "Compete",
    "Contest",
    "Dataset",
    "Dialogues",
    "Finetune",
    "Hosted",
    "Judge",
    "Lab",
    "LabContest",
    "LabPrompts",
    "LabRequests",
    "Label",
    "Livebench",
    "Model",
    "Panickssery",
    "Params",
    "Perplexity",
    "Problems",
    "Prompts",
    "Questions",
    "Ray",
    "Recognise",
    "Refine",
    "Requests",
    "Respond",
    "Sentences",
    "Summarise",
    "TieBreaker",
    "Transformers",
    "Tuning",
    "Verdicts",
    "Wataoka",
    "Writing",
    "Xu",
    "gather",
    "hosted",
    "load",
    "members",
    "section_of",
]
