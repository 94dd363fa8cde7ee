"""Write the report of a profile: the index and the judges' cards."""

import re
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from platform import python_version
from typing import Any

import pandas as pd

from selfpref import paths
from selfpref.files import atomic
from selfpref.params import TASKS, Params
from selfpref.plots import show
from selfpref.report import gather, page
from selfpref.report.cards import cards

INDEX, JUDGES = "index.html", "judges"
SOURCES = {
    "lab": "Small models, trained on this machine, write, judge, score and refine. What each of "
    "them was taught to prefer is known, so every measure can be held against the truth. No "
    "number here is about any large model.",
    "demo": "Two small models, trained on this machine for seconds, write and judge: enough to see "
    "that everything runs, and too little for any number to mean something.",
    "recorded": "Verdicts and ratings that the papers' authors and others released, as stored and, "
    "where a release contradicts itself, corrected. No model was run.",
    "live": "A small real model, SmolLM2-135M-Instruct, read, answered and judged on this machine.",
    "paper": "Models were asked: local weights, served models, or hosted ones.",
    **dict.fromkeys(
        ("panickssery", "xu", "livebench"),
        "An example of how the study runs with a real model, SmolLM2-135M-Instruct, on this "
        "machine: ten items, too few for any number to mean something.",
    ),
}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _versions(*, models: bool) -> list[tuple[str, str]]:
    """This package and what it and its extra need themselves, for models too where some ran."""
    extras = {"", "pipeline", *(["models"] if models else [])}
    direct = [
        re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
        for requirement in requires("selfpref") or []
        if requirement.partition("extra == ")[2].strip("'\"") in extras
    ]
    names = ("selfpref", *sorted(direct, key=str.lower))
    return [("python", python_version()), *((name, _version(name)) for name in names)]


def _sources(params: Params) -> pd.DataFrame:
    rows = [
        {"data set": name, "study": study, "reader": entry.reader, "pinned in": entry.source}
        for study in TASKS
        for name, entry in params.study(study).datasets.items()
    ]
    return pd.DataFrame(rows, columns=["data set", "study", "reader", "pinned in"])


def build(params: Params) -> Path:
    """Write the whole report and return its index; without figures it says how to get them."""
    folder = paths.report_dir(params.profile)
    studies = gather.studies(params.profile, [*params.studies, "beyond"])
    made = cards(params, studies)
    shared: dict[str, Any] = {"profile": params.profile, "table": show.table}
    with atomic(folder / JUDGES) as scratch:
        scratch.mkdir()
        for card in made:
            page.write(scratch / card.file, "card.html.j2", card=card, **shared)
    page.write(
        folder / INDEX,
        "index.html.j2",
        studies=studies,
        cards=made,
        source=SOURCES[params.profile],
        params=params,
        seeds=", ".join(map(str, params.lab.seeds)),
        datasets=_sources(params),
        versions=_versions(models=bool(params.models)),
        **shared,
    )
    return folder / INDEX
