"""What a profile has made: every study's pictures, captions and tables, as its galleries list them.

Nothing here knows a study by name. A folder under figures/<profile>/ with a list of outputs
(`Gallery.prune`) is a study; its chapter is the executed notebook of the same name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat
import pandas as pd

from selfpref import paths
from selfpref.plots.save import listed
from selfpref.report.sections import source

# Pictures and tables of released texts, which git ignores: no page that is in git may need them.
RELEASED = ("fig1a_example",)
QUOTED = re.compile(r"^'(?=[=+\-@\t])")
NUMBERED = re.compile(r"(fig|table)(\d+[a-z]?)_(.+)")


def titled(name: str) -> str:
    """An output's name in words; what the paper numbers keeps its number."""
    found = NUMBERED.fullmatch(name)
    kind = {"fig": "Fig.", "table": "Table"}[found[1]] if found else ""
    rest = (found[3] if found else name).replace("_", " ")
    return f"{kind} {found[2]}: {rest}" if found else rest


@dataclass(frozen=True)
class Output:
    """One picture with its numbers, or one table.

    Attributes:
        folder: Where its files lie.
        name: File name without ending.
        page: The notebook that makes it.
        caption: Of a picture; empty for a table.
        formats: Endings of its files.
    """

    folder: Path
    name: str
    page: str
    caption: str
    formats: tuple[str, ...]

    @property
    def title(self) -> str:
        """The name in words."""
        return titled(self.name)

    def file(self, kind: str) -> Path:
        """Its file with this ending."""
        return self.folder / f"{self.name}.{kind}"

    @cached_property
    def frame(self) -> pd.DataFrame | None:
        """Its numbers, where there are some."""
        if "csv" not in self.formats:
            return None
        try:
            frame = pd.read_csv(self.file("csv"))
        except pd.errors.EmptyDataError:
            return pd.DataFrame()
        # `Gallery.table` puts an apostrophe before what a spreadsheet would take for a formula.
        texts = frame.select_dtypes("str")
        return frame.assign(**texts.apply(lambda one: one.str.replace(QUOTED, "", regex=True)))


@dataclass(frozen=True)
class Page:
    """An executed notebook of a study.

    Attributes:
        name: Its file name without ending.
        title: Its first heading.
        notebook: With outputs.
    """

    name: str
    title: str
    notebook: nbformat.NotebookNode


@dataclass(frozen=True)
class Study:
    """One study of a profile.

    Attributes:
        key: The name of its folder.
        pages: Its chapter.
        outputs: Its pictures and tables, in the order of the chapter.
    """

    key: str
    pages: list[Page]
    outputs: list[Output]

    @property
    def figures(self) -> list[Output]:
        """Its pictures."""
        return [output for output in self.outputs if "svg" in output.formats]


def heading(notebook: nbformat.NotebookNode) -> str:
    """A notebook's first heading."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("# "):
            return str(cell.source.partition("\n")[0].removeprefix("# "))
    return "Notebook"


def _study(folder: Path, profile: str) -> Study:
    hidden = () if source(profile) == "lab" else RELEASED
    outputs = [
        Output(folder, one["name"], folder.name, one["caption"] or "", tuple(one["formats"]))
        for one in listed(folder)
        if one["name"] not in hidden
    ]
    pages, path = [], paths.report_dir(profile) / f"{folder.name}.ipynb"
    if path.is_file():
        notebook = nbformat.read(path, as_version=4)
        pages = [Page(folder.name, heading(notebook), notebook)]
    return Study(folder.name, pages, outputs)


def studies(profile: str, wanted: Sequence[str]) -> list[Study]:
    """Every study of a profile that has been drawn.

    Args:
        profile: Which profile.
        wanted: The studies that the parameters name, in the order of the book; a folder of
            another name is left out.
    """
    folders = [paths.figure_dir(profile, name) for name in wanted]
    return [_study(folder, profile) for folder in folders if listed(folder)]


def frames(made: Sequence[Study]) -> dict[tuple[str, str], pd.DataFrame]:
    """Every table by study and name; what a picture draws comes after the tables on their own."""
    return {
        (study.key, one.name): one.frame
        for study in made
        for one in sorted(study.outputs, key=lambda output: "svg" in output.formats)
        if one.frame is not None
    }
