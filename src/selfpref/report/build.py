"""Write what a reader of a profile opens: the judges' page and the book."""

import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from platform import python_version

import pandas as pd

from selfpref import paths
from selfpref.files import write_text
from selfpref.params import TASKS, Params
from selfpref.plots import show
from selfpref.report import book, gather, judges, page
from selfpref.report.book import TESTBED
from selfpref.report.chapters import figure, label, shown
from selfpref.report.gather import Study
from selfpref.say import papers
from selfpref.studies.claims import counted

BOOK, JUDGES = "book", "judges.md"
# Figures of the first page: each stands for what a study found, in the order of the studies.
HEADLINES = {
    "wataoka": ("without_a_self", "fig1b_bias", "outside_reader_slopes"),
    "panickssery": ("fig1_recognition_vs_preference", "controls"),
    "xu": ("refined_by_noise", "perceived"),
    "livebench": ("position",),
    "beyond": ("power",),
}
NOTES = {
    "wataoka": "Equal-opportunity bias; pairs that its own response won and lost with people. A "
    "judge without self-preference is not at 0: compare with another person's and with the other "
    "judges'. Only the regression takes out how noisily each judge errs.",
    "panickssery": "Confidence over both orders, corrected; 0.5 is neither.",
    "xu": "Points of MQM, mean of the languages. Selection alone makes a rise: a judge of noise "
    "under the same rule has one as well.",
    "livebench": "By category. Where a judge's own response always stands in one place, as that of "
    "o3-mini in the release, self and place cannot be told apart.",
}
# HTML in Markdown ends at an empty line.
BLANK = re.compile(r"<details>.*?</details>", re.DOTALL)
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


def _sources(params: Params) -> show.Table:
    rows = [
        {"data set": name, "study": study, "reader": entry.reader, "pinned in": entry.source}
        for study in TASKS
        for name, entry in params.study(study).datasets.items()
    ]
    return show.table(pd.DataFrame(rows))


def _compared(studies: Sequence[Study]) -> show.Table:
    """Of every table that sets printed numbers beside recomputed ones: how far they are apart."""
    rows = [
        {
            "study": study.key,
            "table": one.title,
            "numbers": int(one.frame["difference"].count()),
            "largest difference": one.frame["difference"].abs().max(),
        }
        for study in studies
        for one in study.outputs
        if one.frame is not None and "difference" in one.frame and "recomputed" in one.frame
    ]
    return show.table(pd.DataFrame(rows))


def _pictures(study: Study) -> set[str]:
    """The labels of the pictures that a study's chapter shows."""
    found = {
        shown(output)
        for made in study.pages
        for cell in made.notebook.cells
        for output in cell.get("outputs", [])
    }
    return {label(study.key, name) for name in found - {""}}


def _index(params: Params, studies: Sequence[Study]) -> str:
    file = paths.claims_file()
    claims = pd.read_csv(file) if file.is_file() else pd.DataFrame()
    lead = [
        (study, one)
        for study in studies
        for name in HEADLINES.get(study.key, ())
        for one in study.figures
        if one.name == name and one.file("svg").is_file()
    ]
    return page.text(
        "index.md.j2",
        profile=params.profile,
        studies=studies,
        source=SOURCES[params.profile],
        chapters={study.key for study in studies if study.pages},
        claims=claims,
        counted=counted(claims),
        lead=[
            (figure(one, study.key, one.caption, name=f"first-{one.name}"), study.pages[0])
            for study, one in lead
            if study.pages
        ],
        compared=_compared(studies),
        testbed=(paths.root() / TESTBED).is_dir(),
        params=params,
        seeds=", ".join(map(str, params.lab.seeds)),
        datasets=_sources(params),
        versions=_versions(models=bool(params.models)),
    )


def build(params: Params) -> Path:
    """Write the judges' page and the book, and return its first page.

    Without figures the first page says how to get them.
    """
    folder = paths.report_dir(params.profile)
    known = {study: number for number, study in enumerate(papers())}
    wanted = sorted([*params.studies, "beyond"], key=lambda study: known.get(study, -1))
    studies = gather.studies(params.profile, wanted)
    found = gather.frames(studies)
    text = page.text(
        "judges.md.j2",
        profile=params.profile,
        lines=judges.first_lines(found),
        tables=judges.tables(found),
        titles={study.key: study.pages[0].title if study.pages else study.key for study in studies},
        notes=NOTES,
    )
    text = BLANK.sub(lambda block: re.sub(r"\n\s*\n", "\n", block[0]), text)
    write_text(folder / JUDGES, text)
    drawn = set[str]().union(*map(_pictures, studies))
    outputs = page.text("outputs.md.j2", studies=studies, label=label, shown=drawn)
    pages = {"index": _index(params, studies), "judges": text, "outputs": outputs}
    return book.build(studies, pages, folder / BOOK)
