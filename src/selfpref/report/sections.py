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
    return next((title for level, title in map(_heading, notebook.cells) if level == 1), "Notebook")


def _heading(cell: NotebookNode) -> tuple[int, str]:
    """How many marks stand before a cell's heading, and its text; 0 of a cell without one."""
    marks, _, title = str(cell.source).partition("\n")[0].partition(" ")
    markdown = cell.cell_type == "markdown" and not marks.strip("#")
    return len(marks) * markdown, title


def _shows(section: list[NotebookNode]) -> bool:
    """Whether some code of a section showed more than `Not drawn`, or it has none."""
    code = [cell for cell in section if cell.cell_type == "code"]
    outputs = [one for cell in code for one in cell.get("outputs", [])]
    return not code or any(one.get("metadata", {}).get("drawn", True) for one in outputs)


def without_empty(notebook: NotebookNode) -> NotebookNode:
    """The executed notebook without sections whose code showed nothing.

    A section reaches from its heading to the next one of the same or a higher level. A last cell
    names those that are left out; parts of one are not named apart.
    """
    cells, gone = notebook.cells, list[NotebookNode]()
    for level in (2, 3):
        starts = [n for n, cell in enumerate(cells) if n and 0 < _heading(cell)[0] <= level]
        kept = list[NotebookNode]()
        for start, end in pairwise([0, *starts, len(cells)]):
            section = cells[start:end]
            empty = _heading(section[0])[0] == level and not _shows(section)
            (gone if empty else kept).extend(section[:1] if empty else section)
        cells = kept
    if gone:
        named = "; ".join(_heading(cell)[1] for cell in notebook.cells if cell in gone)
        text = f"*Left out, since these data have nothing to show there: {named}*"
        notebook.cells = [*cells, nbformat.v4.new_markdown_cell(text, id="left-out")]
    return notebook
