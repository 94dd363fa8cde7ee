"""Readers of what the papers' authors released, and of a user's own judgments.

A reader takes the data set's key, the study, its source and the judges wanted, and returns the
tables. Adding a release is one module and one line here.
"""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from selfpref.formats import pairs, scores
from selfpref.formats.records import Judges
from selfpref.studies.livebench import read as livebench
from selfpref.studies.panickssery import read as panickssery
from selfpref.studies.wataoka.read import mt_bench, vicuna80
from selfpref.studies.xu import read as xu

Reader = Callable[[str, str, Path, Judges], dict[str, pd.DataFrame]]

READERS: dict[str, Reader] = {
    "mt-bench": mt_bench.read,
    "vicuna80": vicuna80.read,
    "xu": xu.read,
    "pairs": pairs.read,
    "scores": scores.read,
    "livebench": livebench.read,
    "panickssery": panickssery.read,
}
