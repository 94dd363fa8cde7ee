"""The studies: what reads their data sets, fills their tables and computes their frames.

A study is a folder with `STUDY` (who fills its tables), `metrics.compute` and, where models are
asked, `stages.STAGES`; each is imported where it is used.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref import paths
from selfpref.models.open import OpenModel
from selfpref.params import Params
from selfpref.tables.parts import StudyTables

Frames = dict[str, pd.DataFrame]
# From a data set's key, its entry in the parameters (whose class its reader decides) and its pinned
# files, or the user's own file, to tables.
Reader = Callable[[str, Any, Path], Frames]
# From parameters, a key of the section and what opens its models to what the stage makes.
Stage = Callable[[Params, str, OpenModel], object]

# Each study, and the sections of the parameters whose entries are its stages that ask models.
STUDIES = {
    "wataoka": ("respond", "judge", "perplexity"),
    "livebench": ("compete", "assess", "tie_breakers"),
    "xu": ("refine",),
    "panickssery": ("summarise", "recognise", "finetune"),
    "beyond": (),
}
# The readers of `datasets`, and the modules that hold them.
READERS = {
    "pairs": "formats.pairs",
    "scores": "formats.scores",
    "mt-bench": "studies.wataoka.read.mt_bench",
    "vicuna80": "studies.wataoka.read.vicuna80",
    "mt-bench-hub": "studies.wataoka.read.mt_bench_hub",
    "chatbot-arena": "studies.wataoka.read.chatbot_arena",
    "livebench": "studies.livebench.read",
    "livebench-hub": "studies.livebench.read.hub",
    "panickssery": "studies.panickssery.read",
    "xu": "studies.xu.read",
}


def reader_of(name: str) -> Reader:
    """What reads a kind of data set, a key of `READERS`."""
    found: Reader = import_module(f"selfpref.{READERS[name]}").read
    return found


def read(params: Params, dataset: str) -> Frames:
    """The tables of one entry of `datasets`."""
    entry = params.datasets[dataset]
    return reader_of(entry.reader)(dataset, entry, paths.root() / entry.source)


def tables_of(study: str) -> StudyTables:
    """Who fills a study's tables."""
    found: StudyTables = import_module(f"selfpref.studies.{study}").STUDY
    return found


def compute(study: str, params: Params) -> Frames:
    """The frames that a study's figures draw, from its tables."""
    found: Frames = import_module(f"selfpref.studies.{study}.metrics").compute(params)
    return found


def stages() -> dict[str, Stage]:
    """The stages that ask models, by section of the parameters."""
    return {
        section: import_module(f"selfpref.studies.{study}.stages").STAGES[section]
        for study, sections in STUDIES.items()
        for section in sections
    }
