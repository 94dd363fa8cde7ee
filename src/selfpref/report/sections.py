"""Which cells of a chapter a reader sees: those of the source of data that have something to show.

A cell tagged `lab`, `recorded` or `live` is for that source alone. A section whose code showed
nothing has nothing to say about these data.
"""

from collections.abc import Iterator

import nbformat
from nbformat import NotebookNode

SOURCES = ("lab", "recorded", "live")
# Two other profiles of models trained on the spot, and of what authors released.
SOURCE_OF = {"lab": "lab", "demo": "lab", "recorded": "recorded"}


def source(profile: str) -> str:
    """Which source fills the tables of a profile: `lab`, `recorded`, or else `live`."""
    return SOURCE_OF.get(profile, "live")


def of_source(notebook: NotebookNode, profile: str) -> NotebookNode:
    """The notebook without the cells that are tagged for other sources than the profile's."""
    others = {*SOURCES} - {source(profile)}
    notebook.cells = [
        cell for cell in notebook.cells if not others & {*cell.metadata.get("tags", [])}
    ]
    return notebook


def heading(notebook: NotebookNode) -> str:
    """A notebook's first heading."""
    titles = (_title(cell) for cell in notebook.cells if _level(cell) == 1)
    return next(titles, "Notebook")


def _level(cell: NotebookNode) -> int:
    """Of a heading how many marks stand before it; 0 of any other cell."""
    marks = str(cell.source).partition(" ")[0]
    return len(marks) if cell.cell_type == "markdown" and not marks.strip("#") else 0


def _title(cell: NotebookNode) -> str:
    return str(cell.source).partition("\n")[0].lstrip("# ")


def _shows(cell: NotebookNode) -> bool:
    """Whether code showed more than the reasons why pictures are not drawn."""
    return any(output.get("metadata", {}).get("drawn", True) for output in cell.get("outputs", []))


def _sections(cells: list[NotebookNode], level: int) -> Iterator[list[NotebookNode]]:
    """The cells from each heading of this or a higher level to the next such; what precedes all."""
    section: list[NotebookNode] = []
    for cell in cells:
        if 0 < _level(cell) <= level and section:
            yield section
            section = []
        section.append(cell)
    yield section


def without_empty(notebook: NotebookNode) -> NotebookNode:
    """The executed notebook without sections whose code showed nothing.

    A section reaches from its heading to the next one of the same or a higher level. A last cell
    names those that are left out; parts of one are not named apart.
    """
    cells, titles = notebook.cells, {}
    for level in (2, 3):
        left = []
        for section in _sections(cells, level):
            code = [cell for cell in section if cell.cell_type == "code"]
            if _level(section[0]) == level and code and not any(map(_shows, code)):
                titles[id(section[0])] = _title(section[0])
            else:
                left += section
        cells = left
    if titles:
        named = "; ".join(titles[id(cell)] for cell in notebook.cells if id(cell) in titles)
        text = f"*Left out, since these data have nothing to show there: {named}*"
        notebook.cells = [*cells, nbformat.v4.new_markdown_cell(text, id="left-out")]
    return notebook
