"""The book of a profile: what a reader opens. Sphinx and myst-nb build it from `conf.py`.

Its pages are the executed chapters, the judges' page, a list of all that was made, and a first page
which leads to them. A study is a folder under figures/<profile>/ with a list of outputs
(`Gallery.prune`); its chapter is the executed notebook of the same name. The same inputs give the
same bytes, and no page asks a network.
"""

import io
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from platform import python_version
from typing import Any

import nbformat
import pandas as pd
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.files import atomic_folder, write_text
from selfpref.params import TASKS, Params
from selfpref.plots import show
from selfpref.plots.save import listed
from selfpref.report import judges, page
from selfpref.report.sections import heading, source
from selfpref.say import papers
from selfpref.studies.claims import counted
from selfpref.texts import visible

BOOK, JUDGES = "book", "judges.md"
# The testbed over several seeds, a page of the book.
TESTBED = "docs/lab-reference"
# Ten rules from the released data, a page of their book; what its links lead to stands beside it.
RULES, BESIDE = "docs/rules.md", "../report/recorded/"
# Pictures and tables of released texts, which git ignores: no page that is in git may need them.
RELEASED = ("fig1a_example",)
# Figures of the first page: each stands for what a study found, in the order of the studies.
HEADLINES = {
    "wataoka": ("fig1b_bias", "without_a_self", "outside_reader_slopes"),
    "panickssery": ("fig1_recognition_vs_preference", "controls"),
    "xu": ("refined_by_noise", "perceived"),
    "livebench": ("third_judge",),
    "beyond": ("power",),
}
SOURCES = {
    "lab": "Small models, trained on this machine, write, judge, score and refine. What each was "
    "taught to prefer is known. No number here is about any large model.",
    "demo": "Two small models, trained here for seconds, write and judge: no number means a thing.",
    "recorded": "Verdicts and ratings that the papers' authors and others released, as stored and, "
    "where a release contradicts itself, corrected. No model was run.",
    "live": "A small real model, SmolLM2-135M-Instruct, read, answered and judged on this machine.",
    **dict.fromkeys(
        ("paper-wataoka", "paper-panickssery", "paper-xu", "paper-livebench"),
        "The paper's own setting, with today's models in the place of those shut down: local "
        "weights, served models, or hosted ones were asked.",
    ),
    **dict.fromkeys(
        ("panickssery", "xu", "livebench"),
        "How the study runs with a small model, SmolLM2-135M-Instruct: a few items, no evidence.",
    ),
}
# The tag of a cell that computes a measure by hand.
SHOWN = "show-input"
# `Gallery.table` puts an apostrophe before what a spreadsheet would take for a formula.
QUOTED = re.compile(r"^'(?=[=+\-@\t])")
NUMBERED = re.compile(r"^(fig|table)(\d+[a-z]?)_")
KINDS = {"fig": "Fig.", "table": "Table"}
# What MyST and HTML read as more than text; captions hold names that came with the data.
INERT = str.maketrans({"{": "&#123;", "<": "&lt;", "`": "&#96;", "\n": " "})
COLOURS = re.compile(r"\x1b\[\d+(;\d+)*m")


@dataclass(frozen=True)
class Output:
    """One picture with its numbers, or one table.

    Attributes:
        folder: Where its files lie.
        name: File name without ending.
        caption: Of a picture; empty for a table.
        formats: Endings of its files that are there.
    """

    folder: Path
    name: str
    caption: str
    formats: list[str]

    @property
    def title(self) -> str:
        """The name in words; what the paper numbers keeps its number."""
        named = NUMBERED.sub(lambda found: f"{KINDS[found[1]]} {found[2]}: ", self.name, count=1)
        return named.replace("_", " ")

    @property
    def label(self) -> str:
        """Its anchor where a chapter shows it."""
        return f"{self.folder.name}-{self.name}".replace("_", "-")

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Its numbers; empty where there are none."""
        try:
            frame = pd.read_csv(self.folder / f"{self.name}.csv")
        except (FileNotFoundError, pd.errors.EmptyDataError):
            return pd.DataFrame()
        texts = frame.select_dtypes("str")
        return frame.assign(**texts.apply(lambda one: one.str.replace(QUOTED, "", regex=True)))

    def figure(self, caption: str, name: str) -> str:
        """The directive that shows it, with links to its other files.

        Args:
            caption: What stands below it.
            name: Its anchor.
        """
        place = f"figures/{self.folder.name}/{self.name}"
        said = caption.translate(INERT)
        links = (f"{{download}}`{kind} <{place}.{kind}>`" for kind in self.formats if kind != "svg")
        alt = said.partition(". ")[0]
        head = f"``````{{figure}} {place}.svg\n:name: {name}\n:alt: {alt}"
        return f"{head}\n\n{' '.join([said, ' · '.join(links)]).rstrip()}\n``````"


@dataclass(frozen=True)
class Study:
    """One study of a profile.

    Attributes:
        key: The name of its folder.
        chapter: Executed; None where there is none.
        outputs: Its pictures and tables by name, in the order of the chapter.
    """

    key: str
    chapter: NotebookNode | None
    outputs: Mapping[str, Output]

    @property
    def title(self) -> str:
        """The chapter's first heading."""
        return self.key if self.chapter is None else heading(self.chapter)

    def drawn(self, output: NotebookNode) -> Output | None:
        """The picture of the gallery that an output of a cell shows, if it does."""
        place = str(output.get("metadata", {}).get("figure", ""))
        found = self.outputs.get(place.rpartition("/")[2])
        return found if found and "svg" in found.formats else None

    @property
    def shown(self) -> set[str]:
        """The labels of the pictures that the chapter shows."""
        cells = self.chapter.cells if self.chapter else []
        pictures = (self.drawn(output) for cell in cells for output in cell.get("outputs", []))
        return {one.label for one in pictures if one}


def _there(folder: Path, made: Mapping[str, Any]) -> list[str]:
    return [kind for kind in made["formats"] if (folder / f"{made['name']}.{kind}").is_file()]


def studies(params: Params) -> list[Study]:
    """Every study of a profile that has been drawn, in the order of the claims."""
    known, found = [*papers()], []
    keys = [*params.studies, "beyond"]
    for key in sorted(keys, key=lambda key: known.index(key) if key in known else -1):
        folder = paths.figure_dir(params.profile, key)
        hidden = () if source(params.profile) == "lab" else RELEASED
        outputs = {
            one["name"]: Output(folder, one["name"], one["caption"] or "", _there(folder, one))
            for one in listed(folder)
            if one["name"] not in hidden
        }
        path = paths.report_dir(params.profile) / f"{key}.ipynb"
        chapter = nbformat.read(path, as_version=4) if path.is_file() else None
        if listed(folder):
            found.append(Study(key, chapter, outputs))
    return found


def _parts(cell: NotebookNode, study: Study) -> list[NotebookNode]:
    """A cell of code with its outputs, its pictures between them as cells of Markdown.

    Code that a reader is to follow is shown; what draws is folded, what only loads left out.
    """
    tags = cell.metadata.get("tags", [])
    if SHOWN not in tags and not cell.outputs:
        return []
    part = deepcopy(cell)
    part.metadata["tags"], part.outputs = tags if SHOWN in tags else [*tags, "hide-input"], []
    made, outputs = [part], iter(cell.outputs)
    for output in outputs:
        if (picture := study.drawn(output)) is None:
            part.outputs.append(output)
            continue
        caption = next(outputs)["data"]["text/markdown"].replace("&lt;", "<")
        shown = picture.figure(caption, picture.label)
        name = f"{cell.id}-{len(made)}"
        part = nbformat.v4.new_code_cell(cell.source, id=name, metadata={"tags": ["remove-input"]})
        made += [nbformat.v4.new_markdown_cell(shown, id=f"{name}-figure"), part]
    return made if part.outputs or len(made) == 1 else made[:-1]


def _lay_out(profile: str, made: Sequence[Study], pages: Mapping[str, str], folder: Path) -> None:
    """Write the sources of the book, with all that its pages link to."""
    for study in made:
        if study.chapter is not None:
            chapter = deepcopy(study.chapter)
            chapter.cells = [
                part
                for cell in study.chapter.cells
                for part in (_parts(cell, study) if cell.cell_type == "code" else [cell])
            ]
            nbformat.write(chapter, folder / f"{study.key}.ipynb")
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    # Copies: Sphinx names a download by where its file really lies.
    for name, place in (
        ("figures", paths.figures_dir(profile)),
        ("testbed", paths.root() / TESTBED),
    ):
        if place.is_dir():
            shutil.copytree(place, folder / name)
    if paths.claims_file().is_file():
        shutil.copy(paths.claims_file(), folder)


def _versions(*, models: bool) -> list[tuple[str, str]]:
    """This package and what it and its extra need themselves, for models too where some ran."""
    extras = {"", "pipeline", *(["models"] if models else [])}
    direct = {
        re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
        for requirement in requires("selfpref") or []
        if requirement.partition("extra == ")[2].strip("'\"") in extras
    }
    found = [("python", python_version())]
    for name in ("selfpref", *sorted(direct, key=str.lower)):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, "not installed"))
    return found


def _sources(params: Params) -> show.Table:
    rows = [
        {"data set": name, "study": study, "reader": entry.reader, "pinned in": entry.source}
        for study in TASKS
        for name, entry in params.study(study).datasets.items()
    ]
    return show.table(pd.DataFrame(rows))


def _compared(made: Sequence[Study]) -> show.Table:
    """Of every table that sets printed numbers beside recomputed ones: how far they are apart."""
    rows = [
        {
            "study": study.key,
            "table": one.title,
            "numbers": int(one.frame["difference"].count()),
            "largest difference": one.frame["difference"].abs().max(),
        }
        for study in made
        for one in study.outputs.values()
        if {"difference", "recomputed"} <= {*one.frame}
    ]
    return show.table(pd.DataFrame(rows))


def _pages(params: Params, made: Sequence[Study]) -> dict[str, str]:
    """The pages in Markdown: the first one, the judges' and the list of outputs."""
    file = paths.claims_file()
    claims = pd.read_csv(file) if file.is_file() else pd.DataFrame()
    rules = params.profile == paths.RELEASED and (paths.root() / RULES).is_file()
    frames = {(study.key, one.name): one.frame for study in made for one in study.outputs.values()}
    text = page.text(
        "judges.md.j2",
        profile=params.profile,
        first=judges.first(frames),
        tables=judges.tables(frames),
        titles={study.key: study.title for study in made},
        notes=judges.NOTES,
    )
    index = page.text(
        "index.md.j2",
        studies=made,
        source=SOURCES[params.profile],
        chapters={study.key for study in made if study.chapter},
        claims=claims,
        counted=counted(claims),
        lead=[
            (one.figure(one.caption, f"first-{one.name}"), study)
            for study in made
            for one in map(study.outputs.get, HEADLINES.get(study.key, ()))
            if study.chapter and one and "svg" in one.formats
        ],
        compared=_compared(made),
        testbed=(paths.root() / TESTBED).is_dir(),
        rules=rules,
        params=params,
        datasets=_sources(params),
        versions=_versions(models=bool(params.models)),
    )
    pages = {"index": index, "judges": text, "outputs": page.text("outputs.md.j2", studies=made)}
    if rules:
        pages["rules"] = (paths.root() / RULES).read_text(encoding="utf-8").replace(BESIDE, "")
    return pages


def build(params: Params) -> Path:
    """Write the judges' page and the book, and return its first page.

    Without figures the first page says how to get them.

    Raises:
        SelfprefError: Sphinx had something to complain about, such as a dead link.
    """
    made = studies(params)
    pages = _pages(params, made)
    folder = paths.report_dir(params.profile)
    write_text(folder / JUDGES, pages["judges"])
    with (
        atomic_folder(folder / BOOK) as scratch,
        tempfile.TemporaryDirectory(prefix="selfpref-") as temporary,
    ):
        # Sphinx and its extensions leave files beside the book, too.
        sources, trees, book = (Path(temporary, name) for name in ("sources", "trees", "book"))
        sources.mkdir()
        _lay_out(params.profile, made, pages, sources)
        said = io.StringIO()
        settings = Path(__file__).parent
        with docutils_namespace(), patch_docutils():
            Sphinx(sources, settings, book, trees, "html", status=None, warning=said).build()
        if complaints := COLOURS.sub("", said.getvalue()).splitlines():
            first = complaints[0].replace(f"{sources}/", "")
            raise SelfprefError(f"the book, {len(complaints)} complaints of Sphinx: {first}")
        # Of use to a second build from the same sources alone.
        (book / ".buildinfo").unlink()
        for one in book.rglob("*.html"):
            one.write_text(visible(one.read_text(encoding="utf-8")), encoding="utf-8")
        shutil.copytree(book, scratch)
    return folder / BOOK / "index.html"
