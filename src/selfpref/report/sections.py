"""Which cells of a chapter a reader sees: those of the source of data that have something to show.

A cell tagged `lab`, `recorded` or `live` is for that source alone. A section whose code showed
nothing has nothing to say about these data.
"""

from itertools import pairwise

import nbformat
from nbformat import NotebookNode

# The source of two profiles, of models trained on the spot and of what authors released; of others
# it is `live`.
SOURCE_OF = {"lab": "lab", "demo": "lab", "recorded": "recorded"}


def of_source(notebook: NotebookNode, profile: str) -> NotebookNode:
    """The notebook without the cells that are tagged for other sources than the profile's."""
    others = {"lab", "recorded", "live"} - {SOURCE_OF.get(profile, "live")}
    if any(others & {*cell.metadata.get("tags", [])} for cell in notebook.cells):
        # It takes a second to import, which only a chapter has to pay.
        from nbconvert.preprocessors import TagRemovePreprocessor  # noqa: PLC0415

        TagRemovePreprocessor(remove_cell_tags=others).preprocess(notebook, {})
    return notebook


def heading(notebook: NotebookNode) -> str:
    """A notebook's first heading."""
    return next((_title(cell) for cell in notebook.cells if _level(cell) == 1), "Notebook")


def _level(cell: NotebookNode) -> int:
    """Of a heading how many marks stand before it; 0 of any other cell."""
    marks = str(cell.source).partition(" ")[0]
    return len(marks) if cell.cell_type == "markdown" and not marks.strip("#") else 0


def _title(cell: NotebookNode) -> str:
    return str(cell.source).partition("\n")[0].lstrip("# ")


def _empty(section: list[NotebookNode], level: int) -> bool:
    """Whether a section of a level has code, and none that showed more than `Not drawn`."""
    code = [cell for cell in section if cell.cell_type == "code"]
    outputs = [one for cell in code for one in cell.get("outputs", [])]
    shown = any(one.get("metadata", {}).get("drawn", True) for one in outputs)
    return _level(section[0]) == level and bool(code) and not shown


def without_empty(notebook: NotebookNode) -> NotebookNode:
    """The executed notebook without sections whose code showed nothing.

    A section reaches from its heading to the next one of the same or a higher level. A last cell
    names those that are left out; parts of one are not named apart.
    """
    cells, gone = notebook.cells, []
    for level in (2, 3):
        starts = [n for n, cell in enumerate(cells) if n and 0 < _level(cell) <= level]
        sections = [cells[start:end] for start, end in pairwise([0, *starts, len(cells)])]
        gone += [section[0] for section in sections if _empty(section, level)]
        cells = [cell for section in sections if not _empty(section, level) for cell in section]
    if gone:
        named = "; ".join(_title(cell) for cell in notebook.cells if cell in gone)
        text = f"*Left out, since these data have nothing to show there: {named}*"
        notebook.cells = [*cells, nbformat.v4.new_markdown_cell(text, id="left-out")]
    return notebook
