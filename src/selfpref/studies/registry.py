"""The studies: what reads their data sets and fills their tables.

A study is a folder with `STUDY` (who fills its tables) and, where models are asked,
`stages.STAGES`; each is imported where it is used.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref import paths, tables
from selfpref.ask import NO_EXAMPLE, example
from selfpref.models.calls import Model
from selfpref.models.open import open_model
from selfpref.params import Params, Refine
from selfpref.params.data import JUDGMENTS
from selfpref.processes import each
from selfpref.tables.parts import StudyTables
from selfpref.tables.schemas import TABLES

Frames = dict[str, pd.DataFrame]
# From a data set's key, its entry in the parameters (whose class its reader decides) and its pinned
# files, or the user's own file, to tables.
Reader = Callable[[str, Any, Path], Frames]

# By study the readers of its data sets, and the modules that hold them; users' files are any's.
READERS = {
    "wataoka": {
        "mt-bench": "studies.wataoka.read.mt_bench",
        "vicuna80": "studies.wataoka.read.vicuna80",
        "elobench": "studies.wataoka.read.elobench",
        "mt-bench-hub": "studies.wataoka.read.hub",
        "chatbot-arena": "studies.wataoka.read.hub",
        "prompts": "formats.prompts",
        "lab": "studies.wataoka.lab",
    },
    "livebench": {
        "livebench": "studies.livebench.read.release",
        "livebench-hub": "studies.livebench.read.hub",
        "lab": "studies.livebench.lab",
    },
    "panickssery": {
        "panickssery": "studies.panickssery.read",
        "xsum": "studies.panickssery.read.articles",
        "cnn-dailymail": "studies.panickssery.read.articles",
        "articles": "studies.panickssery.read.own",
        "lab": "studies.panickssery.lab",
    },
    "xu": {
        "xu": "studies.xu.read",
        "flores": "studies.xu.read.requests",
        "commongen-hard": "studies.xu.read.requests",
        "math": "studies.xu.read.requests",
        "lab": "studies.xu.read.requests",
    },
}
# Of these an entry is made whole: it names many evaluators.
OF_ENTRIES = ("finetune", "recognise-tuned")
FILES = {
    "scores": "formats.scores",
    "perplexities": "formats.perplexities",
} | dict.fromkeys(JUDGMENTS, "formats.datasets")


def read(params: Params, study: str, dataset: str) -> Frames:
    """The tables of one data set: those that the study's data sets fill, empty ones among them."""
    entry = params.study(study).datasets[dataset]
    reader: Reader = import_module(f"selfpref.{(READERS[study] | FILES)[entry.reader]}").read
    found = reader(dataset, entry, paths.root() / entry.source)
    empty = {name: tables.empty(name) for name in tables_of(study).filled}
    assert found.keys() <= empty.keys()
    return empty | found


def tables_of(study: str) -> StudyTables:
    """Who fills a study's tables."""
    found: StudyTables = import_module(f"selfpref.studies.{study}").STUDY
    return found


def make(params: Params, study: str, task: str, key: str) -> Frames:
    """What a stage that asks models makes, of every model of its entry, side by side.

    Args:
        params: The stage's parameters.
        study: Which study.
        task: A key of `STAGES` in the study's `stages`.
        key: A key of the task's section.

    Returns:
        Tables by name; and what the stage tells beside them, a row index of models in front:
        `dropped` or `tuned`, and `example`, the first model's first question with its answer.
    """
    calls = [(part, study, task, name) for name, part in _of_members(params, study, task, key)]
    parts = each(_make, calls)
    names = [name for *_, name in calls]
    own, made = tables_of(study), {}
    for folder in parts[0]:
        found = [part[folder] for part in parts]
        if (table := own.table_of(folder)) in TABLES:
            made[folder] = tables.together(table, found)
        elif folder == "example":
            made[folder] = found[0]
        else:
            made[folder] = pd.concat(dict(zip(names, found, strict=True)))
    return made


def write(profile: str, study: str, part: str, made: Frames) -> None:
    """Write the tables among what `make` made, one file each."""
    own = tables_of(study)
    filled = {name: table for name, table in made.items() if own.table_of(name) in TABLES}
    own.write(profile, part, **filled)


def _make(params: Params, study: str, task: str, name: str) -> Frames:
    """The same of one model."""
    stage = import_module(f"selfpref.studies.{study}.stages").STAGES[task]
    if task in OF_ENTRIES:
        found: Frames = stage(params, name)
        return found
    shown = []

    @contextmanager
    def open_and_show(*arguments: Any) -> Iterator[Model]:
        with open_model(*arguments) as model:
            yield model
            shown.append(example(model))

    return {**stage(params, name, open_and_show), "example": next(iter(shown), NO_EXAMPLE)}


def _of_members(params: Params, study: str, task: str, key: str) -> list[tuple[str, Params]]:
    """For every model of an entry its name, and the parameters as if it stood there alone."""
    # Entries for several stay, since an external judge may be named by one.
    params = params.model_copy(update={"models": {**params.models, **params.every_model()}})
    if task in OF_ENTRIES:
        return [(key, params)]
    section, found = params.study(study), []
    use = getattr(section, task)[key]
    for name in params.names(key):
        own = use
        if isinstance(use, Refine):
            others = [other for other in params.names(use.external) if other != name]
            own = use.model_copy(update={"external": others[0] if others else name})
        alone = section.model_copy(update={task: {name: own}})
        found.append((name, params.model_copy(update={study: alone})))
    return found
