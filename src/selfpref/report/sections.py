"""Which cells of a chapter a reader sees: those of the source of data that have something to show.

A cell tagged `lab`, `recorded` or `live` is for that source alone. A section whose code showed
nothing has nothing to say about these data.
"""

from itertools import pairwise

import nbformat

SOURCES = ("lab", "recorded", "live")
# Two other profiles of models trained on the spot, and of what authors released.
SOURCE_OF = {"lab": "lab", "demo": "lab", "recorded": "recorded"}


def source(profile: str) -> str:
    """Which source fills the tables of a profile: `lab`, `recorded`, or else `live`."""
    return SOURCE_OF.get(profile, "live")


def of_source(notebook: nbformat.NotebookNode, profile: str) -> nbformat.NotebookNode:
    """The notebook without the cells that are tagged for other sources than the profile's."""
    others = {*SOURCES} - {source(profile)}
    notebook.cells = [
        cell for cell in notebook.cells if not others & {*cell.metadata.get("tags", [])}
    ]
    return notebook


def _heading(cell: nbformat.NotebookNode) -> str:
    """A Markdown cell's first line if it is a heading, else nothing."""
    line = str(cell.source).partition("\n")[0]
    return line if cell.cell_type == "markdown" and line.startswith("#") else ""


def _level(heading: str) -> int:
    return len(heading) - len(heading.lstrip("#"))


def _shows(cell: nbformat.NotebookNode) -> bool:
    """Whether code showed more than the reasons why pictures are not drawn."""
    return any(output.get("metadata", {}).get("drawn", True) for output in cell.get("outputs", []))


def _sections(cells: list[nbformat.NotebookNode], level: int) -> list[range]:
    """From each heading of a level to the next one of the same or a higher level."""
    levels = [_level(_heading(cell)) for cell in cells]
    starts = [at for at, found in enumerate(levels) if 0 < found <= level]
    both = pairwise([*starts, len(cells)])
    return [range(start, end) for start, end in both if levels[start] == level]


def without_empty(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The executed notebook without sections whose code showed nothing.

    A section reaches from its heading to the next one of the same or a higher level. A last cell
    names those that are left out; parts of one are not named apart.
    """
    cells = notebook.cells
    gone: set[int] = set()
    titles: dict[int, str] = {}
    for level in (2, 3):
        for section in _sections(cells, level):
            code = [cells[at] for at in section if cells[at].cell_type == "code"]
            if code and not any(map(_shows, code)) and section[0] not in gone:
                gone |= {*section}
                titles[section[0]] = _heading(cells[section[0]]).lstrip("# ")
    if titles:
        named = "; ".join(titles[at] for at in sorted(titles))
        text = f"*Left out, since these data have nothing to show there: {named}*"
        left = [cell for at, cell in enumerate(cells) if at not in gone]
        notebook.cells = [*left, nbformat.v4.new_markdown_cell(text, id="left-out")]
    return notebook
