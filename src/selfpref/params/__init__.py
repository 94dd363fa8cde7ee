"""The parameters: what params.yaml may hold, and what a stage may read of it.

Every section is a pydantic model that refuses unknown keys. `load` validates a whole file;
`stage_params` hands a stage the part that dvc.yaml declares for it, and nothing else, so that a
parameter which DVC does not track cannot change a result.
"""

from selfpref.params.data import (
    Articles,
    Dataset,
    Dialogues,
    LabRequests,
    Problems,
    Questions,
    Requests,
    Sentences,
)
from selfpref.params.models import Hosted, Model, Price, Ray, Transformers, hosted
from selfpref.params.reading import StageParams, load, stage_params
from selfpref.params.settings import Bootstrap, Livebench, Panickssery, Wataoka, Xu
from selfpref.params.uses import (
    Assess,
    Compete,
    Contest,
    Finetune,
    Judge,
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
from selfpref.params.whole import Params

__all__ = [
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
    "LabRequests",
    "Livebench",
    "Model",
    "Panickssery",
    "Params",
    "Perplexity",
    "Price",
    "Problems",
    "Questions",
    "Ray",
    "Recognise",
    "Refine",
    "Requests",
    "Respond",
    "Sentences",
    "StageParams",
    "Summarise",
    "TieBreaker",
    "Transformers",
    "Tuning",
    "Verdicts",
    "Wataoka",
    "Writing",
    "Xu",
    "hosted",
    "load",
    "stage_params",
]
