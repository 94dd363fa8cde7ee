"""The studies: what reads their data sets and fills their tables.

A study is a folder with `STUDY` (who fills its tables), `STAGES` where models are asked, and
readers; what is heavy is imported where it runs.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref import paths, tables
from selfpref.ask import NO_EXAMPLE, example
from selfpref.errors import SelfprefError
from selfpref.formats import datasets
from selfpref.models.calls import Model, open_model
from selfpref.params import Params, Refine
from selfpref.params.data import JUDGMENTS
from selfpref.processes import each
from selfpref.studies import livebench, panickssery, wataoka, xu
from selfpref.studies.livebench import lab as livebench_lab
from selfpref.studies.livebench import read as livebench_read
from selfpref.studies.panickssery import lab as panickssery_lab
from selfpref.studies.panickssery import read as panickssery_release
from selfpref.studies.panickssery.read import articles
from selfpref.studies.wataoka import lab as wataoka_lab
from selfpref.studies.wataoka import read as wataoka_read
from selfpref.studies.xu import read as xu_release
from selfpref.studies.xu.read import requests
from selfpref.tables.schemas import TABLES

Frames = dict[str, pd.DataFrame]
# From a data set's key, its entry in the parameters (whose class its reader decides) and its pinned
# files, or the user's own file, to tables.
Reader = Callable[[str, Any, Path], Frames]

# By study the readers of its data sets; users' files are any's.
READERS: dict[str, dict[str, Reader]] = {
    "wataoka": {
        "mt-bench": wataoka_read.mt_bench,
        "vicuna80": wataoka_read.vicuna80,
        "elobench": wataoka_read.elobench,
        "llm-sp": wataoka_read.llm_sp,
        "mt-bench-hub": wataoka_read.hub,
        "chatbot-arena": wataoka_read.hub,
        "prompts": datasets.prompts,
        "lab": wataoka_lab.read,
    },
    "livebench": {
        "livebench": livebench_read.release,
        "livebench-hub": livebench_read.questions,
        "lab": livebench_lab.read,
    },
    "panickssery": {
        "panickssery": panickssery_release.read,
        "xsum": articles.read,
        "cnn-dailymail": articles.read,
        "articles": articles.read_own,
        "lab": panickssery_lab.read,
    },
    "xu": {
        "xu": xu_release.read,
        **dict.fromkeys(("flores", "commongen-hard", "math", "requests", "lab"), requests.read),
    },
}
FILES: dict[str, Reader] = {
    "scores": datasets.scores,
    "perplexities": datasets.perplexities,
    **dict.fromkeys(JUDGMENTS, datasets.read),
}
STUDIES = {one.name: one for one in (wataoka.STUDY, livebench.STUDY, panickssery.STUDY, xu.STUDY)}
# What asks models, by study and task.
STAGES: dict[str, dict[str, Callable[..., Frames]]] = {
    name: import_module(f"selfpref.studies.{name}.stages").STAGES for name in STUDIES
}
# Of these an entry is made whole: it names many evaluators.
OF_ENTRIES = ("finetune", "recognise-tuned")


def reader(params: Params, study: str, dataset: str) -> Reader:
    """The reader of one data set.

    Raises:
        SelfprefError: The study has none of that name, or what it reads is not there.
    """
    entry, readers = params.study(study).datasets[dataset], READERS[study] | FILES
    where = f"{paths.PARAMS}: {study}.datasets.{dataset}"
    if entry.reader not in readers:
        raise SelfprefError(f"{where}.reader: the readers of {study} are {', '.join(readers)}")
    if not (paths.root() / entry.source).exists():
        raise SelfprefError(f"{where}.source: {entry.source} is not there; correct the path")
    return readers[entry.reader]


def read(params: Params, study: str, dataset: str) -> Frames:
    """The tables of one data set: those that the study's data sets fill, empty ones among them.

    Raises:
        SelfprefError: As `reader`; and as what it returns.
    """
    entry = params.study(study).datasets[dataset].model_copy(update={"study": study})
    found = reader(params, study, dataset)(dataset, entry, paths.root() / entry.source)
    empty = {name: tables.empty(name) for name in STUDIES[study].filled}
    assert found.keys() <= empty.keys()
    return empty | found


def make(params: Params, study: str, task: str, key: str) -> Frames:
    """What a stage that asks models makes, of every model of its entry, side by side.

    Args:
        params: The stage's parameters.
        study: Which study.
        task: A key of `STAGES` in the study's `stages`.
        key: A key of the task's section.

    Returns:
        Tables by folder, which `write` of the study takes; and what the stage tells beside them, a
        row index of models in front: `dropped` or `tuned`, and `example`, the first model's first
        question with its answer.
    """
    calls = [(part, study, task, name) for name, part in _of_members(params, study, task, key)]
    parts, names = each(_make, calls), [name for *_, name in calls]
    made = {"example": parts[0].pop("example", NO_EXAMPLE)}
    for folder in parts[0]:
        found = [part[folder] for part in parts]
        if (table := STUDIES[study].further.get(folder, folder)) in TABLES:
            made[folder] = tables.together(table, found)
        else:
            made[folder] = pd.concat(dict(zip(names, found, strict=True)))
    return made


def _make(params: Params, study: str, task: str, name: str) -> Frames:
    """The same of one model."""
    if task in OF_ENTRIES:
        return STAGES[study][task](params, name)
    shown = []

    @contextmanager
    def open_and_show(*arguments: Any) -> Iterator[Model]:
        with open_model(*arguments) as model:
            yield model
            shown.append(example(model))

    made = STAGES[study][task](params, name, open_and_show)
    return made | {"example": next(iter(shown), NO_EXAMPLE)}


def _of_members(params: Params, study: str, task: str, key: str) -> list[tuple[str, Params]]:
    """For every model of an entry its name, and the parameters as if it stood there alone."""
    # Entries for several stay, since an external judge may be named by one.
    params = params.model_copy(update={"models": {**params.models, **params.every_model()}})
    if task in OF_ENTRIES:
        return [(key, params)]
    section, found = params.study(study), []
    for name in params.names(key):
        use = getattr(section, task)[key]
        if isinstance(use, Refine):
            others = [other for other in params.names(use.external) if other != name]
            use = use.model_copy(update={"external": [*others, name][0]})
        alone = section.model_copy(update={task: {name: use}})
        found.append((name, params.model_copy(update={study: alone})))
    return found
