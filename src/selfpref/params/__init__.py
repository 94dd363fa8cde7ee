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
from selfpref.params.laboratory import Lab, Refiners, Summarisers
from selfpref.params.models import OPENAI, Hosted, Model, Named, Price, Ray, Transformers, hosted
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
from selfpref.params.whole import MODEL_SECTIONS, Params

__all__ = [
    "MODEL_SECTIONS",
    "OPENAI",
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
    "LabRequests",
    "Livebench",
    "Model",
    "Named",
    "Panickssery",
    "Params",
    "Perplexity",
    "Price",
    "Problems",
    "Questions",
    "Ray",
    "Recognise",
    "Refine",
    "Refiners",
    "Requests",
    "Respond",
    "Sentences",
    "StageParams",
    "Summarise",
    "Summarisers",
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
