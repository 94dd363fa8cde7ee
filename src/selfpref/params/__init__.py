"""The parameters: what params.yaml may hold, and what a stage may read of it.

Every section is a pydantic model that refuses unknown keys. `load` validates a whole file.
`section_of` gives a stage's notebook the values that dvc.yaml declares for it, and `gather` makes
parameters of them again: what a stage does not declare cannot change a result of it, and what its
executed notebook shows is what was run.
"""

from selfpref.params.data import Articles as Articles
from selfpref.params.data import Dataset as Dataset
from selfpref.params.data import LabPrompts as LabPrompts
from selfpref.params.data import LabRequests as LabRequests
from selfpref.params.data import Requests as Requests
from selfpref.params.data import Sentences as Sentences
from selfpref.params.laboratory import Lab as Lab
from selfpref.params.models import Hosted as Hosted
from selfpref.params.models import Model as Model
from selfpref.params.models import Ray as Ray
from selfpref.params.models import Transformers as Transformers
from selfpref.params.models import hosted as hosted
from selfpref.params.reading import load as load
from selfpref.params.stage import gather as gather
from selfpref.params.stage import section_of as section_of
from selfpref.params.studies import Panickssery as Panickssery
from selfpref.params.uses import Contest as Contest
from selfpref.params.uses import Finetune as Finetune
from selfpref.params.uses import Judge as Judge
from selfpref.params.uses import Refine as Refine
from selfpref.params.uses import Tuning as Tuning
from selfpref.params.uses import Verdicts as Verdicts
from selfpref.params.uses import Writing as Writing
from selfpref.params.whole import TASKS as TASKS
from selfpref.params.whole import Params as Params
