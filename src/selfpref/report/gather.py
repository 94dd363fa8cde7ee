"""What a profile has made: every study folder's pictures, captions, tables and chapter.

Nothing here knows a study by name. A folder under figures/<profile>/ with pictures is a study; its
chapter is the notebook of the same name, whose first heading and paragraphs introduce it, whose
order is the order of the figures, and whose last section says what is not reproduced.
"""

import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from selfpref import paths

DESCRIPTION = re.compile(r"<dc:description>(.*?)</dc:description>", re.DOTALL)
# Pictures and tables of released texts, which git ignores: no page that is in git may need them.
RELEASED = ("fig1a_example",)
MISSING = "## What is not reproduced"
# Tables with at most so many cells stand on the page itself.
SMALL = 700
# A string that is no key of a mapping.
LITERAL = re.compile(r'(?:\["[^"\n]*")|"([^"\n]*)"')
QUOTED = re.compile(r"^'(?=[=+\-@\t])")
NUMBERED = re.compile(r"(fig|table)(\d+[a-z]?)_(.+)")
SHOWN = re.compile(r'\.add\(\s*f?"([^"\n]*)"')


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
        name: File name without ending.
        place: The same with its folder, as seen from the report.
        caption: Of a picture; empty for a table.
        formats: Endings of its files.
        frame: Its numbers, where there are some.
        shown: Whether the chapter shows the picture, under an anchor of its name.
    """

    name: str
    place: str
    caption: str
    formats: tuple[str, ...]
    frame: pd.DataFrame | None
    shown: bool

    @property
    def title(self) -> str:
        """The name in words."""
        return titled(self.name)

    @property
    def alternative(self) -> str:
        """What the picture shows, for those who do not see it: the caption's first sentence."""
        return re.split(r"(?<=[.:]) ", self.caption, maxsplit=1)[0] or self.title

    @property
    def columns(self) -> list[str]:
        """Of its numbers."""
        return [] if self.frame is None else list(map(str, self.frame))

    @property
    def difference(self) -> str:
        """How many numbers are compared, and how far they are apart at most."""
        if self.frame is None or "difference" not in self.frame:
            return ""
        apart = self.frame["difference"].abs()
        return f"{apart.count()} numbers, at most {apart.max():.3f} apart"

    @property
    def small(self) -> bool:
        """Whether the table can stand on the page."""
        return self.frame is not None and 0 < self.frame.size <= SMALL


@dataclass(frozen=True)
class Study:
    """One study of a profile.

    Attributes:
        key: The name of its folder.
        title: Of its chapter.
        lead: The chapter's first paragraphs, Markdown.
        missing: What is not reproduced, and why, Markdown; empty where the chapter does not say.
        chapter: File name of the chapter's page; empty where there is none.
        figures: Its pictures, in the chapter's order.
        tables: Tables without a picture.
    """

    key: str
    title: str
    lead: str
    missing: str
    chapter: str
    figures: list[Output]
    tables: list[Output]

    @property
    def compared(self) -> list[Output]:
        """Tables that set published numbers beside recomputed ones.

        Where a study has lists of them, these; else every table with a column of published numbers.
        """
        found = [
            output
            for output in (*self.tables, *self.figures)
            if output.frame is not None
            and len(output.frame.filter(regex="published$").dropna(how="all"))
        ]
        return [one for one in found if "recomputed" in one.columns] or found


def frames(studies: Sequence[Study]) -> dict[tuple[str, str], pd.DataFrame]:
    """Every table by study and name; what a picture draws comes after the tables on their own."""
    return {
        (study.key, output.name): output.frame
        for study in studies
        for output in (*study.tables, *study.figures)
        if output.frame is not None
    }


def _caption(picture: Path) -> str:
    """What `Gallery.figure` wrote into the picture."""
    found = DESCRIPTION.search(picture.read_text(encoding="utf-8"))
    return html.unescape(found[1]) if found else ""


def _read(path: Path) -> pd.DataFrame | None:
    try:
        frame = pd.read_csv(path)
    except pd.errors.EmptyDataError:
        return pd.DataFrame()
    except OSError:
        return None
    # `Gallery.table` puts an apostrophe before what a spreadsheet would take for a formula.
    texts = frame.select_dtypes("str")
    return frame.assign(**texts.apply(lambda one: one.str.replace(QUOTED, "", regex=True)))


def _cells(notebook: Path) -> list[tuple[str, str]]:
    """Kind and source of every cell; none where there is no such notebook."""
    if not notebook.is_file():
        return []
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def _order(code: str, name: str) -> tuple[int, str]:
    """Where a notebook shows an output, or else first names it; last where it does neither."""
    for found in (*SHOWN.finditer(code), *LITERAL.finditer(code)):
        if found[1] and _is(name, found[1]):
            return found.start(), name
    return len(code), name


def _is(name: str, literal: str) -> bool:
    """Whether a literal of the code, or of an f-string, stands for this name."""
    parts = re.split(r"\{[^}]*\}", literal)
    return bool("".join(parts)) and bool(re.fullmatch(".+".join(map(re.escape, parts)), name))


def _study(folder: Path, profile: str) -> Study:
    notebook = paths.notebook_file(folder.name)
    cells = _cells(notebook)
    text = [source for kind, source in cells if kind == "markdown"]
    code = "\n".join(source for kind, source in cells if kind == "code")
    heading, _, lead = (text[0] if text else f"# {folder.name}").partition("\n")
    left_out = [source for source in text if source.startswith(MISSING)]
    added = SHOWN.findall(code)
    outputs = []
    hidden = RELEASED if profile not in ("lab", "demo") else ()
    for name in sorted({path.stem for path in folder.iterdir()} - {*hidden}):
        formats = sorted(path.suffix[1:] for path in folder.glob(f"{name}.*"))
        picture = folder / f"{name}.svg"
        output = Output(
            name,
            f"../../figures/{profile}/{folder.name}/{name}",
            _caption(picture) if picture.is_file() else "",
            tuple(formats),
            _read(folder / f"{name}.csv"),
            any(_is(name, literal) for literal in added),
        )
        outputs.append(output)
    outputs.sort(key=lambda output: _order(code, output.name))
    return Study(
        folder.name,
        heading.removeprefix("# "),
        lead.strip(),
        left_out[-1].partition("\n")[2].strip() if left_out else "",
        f"{folder.name}.html" if cells else "",
        [output for output in outputs if "svg" in output.formats],
        [output for output in outputs if "svg" not in output.formats and "csv" in output.formats],
    )


def studies(profile: str, wanted: Sequence[str]) -> list[Study]:
    """Every study of a profile that has pictures.

    Args:
        profile: Which profile.
        wanted: The studies that the parameters name, in the order of the report; a folder of
            another name is left out.
    """
    folders = [paths.figure_dir(profile, name) for name in wanted]
    return [_study(folder, profile) for folder in folders if any(folder.glob("*.svg"))]
