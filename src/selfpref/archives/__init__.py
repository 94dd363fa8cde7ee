"""Readers of what the papers' authors released, and of a user's own judgments.

A reader takes the data set's key, the study, its source and the judges wanted, and returns the
tables. Adding a release is one module and one line here.
"""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from selfpref.archives import livebench, mt_bench, pairs, panickssery, scores, vicuna80, xu
from selfpref.archives.records import Judges

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
