"""The parameters: what params.yaml may hold, and what a stage may read of it.

Every section is a pydantic model that refuses unknown keys. `load` validates a whole file.
`section_of` gives a stage's notebook the values that dvc.yaml declares for it, and `gather` makes
parameters of them again: what a stage does not declare cannot change a result of it, and what its
executed notebook shows is what was run.
"""

from selfpref.params.data import Articles, Dataset, LabPrompts, LabRequests, Requests, Sentences
from selfpref.params.models import Hosted, Lab, Model, Ray, Transformers
from selfpref.params.reading import gather, load, section_of
from selfpref.params.studies import (
    TASKS,
    Contest,
    Finetune,
    Judge,
    Panickssery,
    Params,
    Refine,
    Tuning,
    Verdicts,
    Writing,
)
