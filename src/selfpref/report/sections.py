"""Which cells of a chapter a reader sees: those of the source of data that have something to show.

A cell tagged `lab`, `recorded` or `live` is for that source alone. A section whose code showed
nothing has nothing to say about these data.
"""

import re

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

# The source of two profiles, of models trained on the spot and of what authors released; of others
# it is `live`.
SOURCE_OF = {"lab": "lab", "demo": "lab", "recorded": "recorded"}


def of_source(notebook: NotebookNode, profile: str) -> NotebookNode:
    """The notebook without the cells that are tagged for other sources than the profile's."""
    others = {"lab", "recorded", "live"} - {SOURCE_OF.get(profile, "live")}
    kept = (cell for cell in notebook.cells if others.isdisjoint(cell.metadata.get("tags", ())))
    notebook.cells = [*kept]
    return notebook


def heading(cell: NotebookNode) -> tuple[int, str]:
    """How many marks stand before a cell's heading, and its text; 0 of a cell without one."""
    found = re.match("(#+) (.*)", cell.source) if cell.cell_type == "markdown" else None
    return (len(found[1]), found[2]) if found else (0, "")


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
    cells = notebook.cells
    last = len(notebook.cells)
    names = list[str]()
    kept = dict(enumerate(cells))
    levels = [heading(cell)[0] for cell in cells]
    for start, level in enumerate(levels):
        end = next((n for n in range(start + 1, last) if 0 < levels[n] <= level), last)
        if level in (2, 3) and start in kept and not _shows(cells[start:end]):
            names.append(heading(cells[start])[1])
            kept = {n: cell for n, cell in kept.items() if not start <= n < end}
    if names:
        text = f"*Left out, since these data have nothing to show there: {'; '.join(names)}*"
        notebook.cells = [*kept.values(), new_markdown_cell(text, id="left-out")]
    return notebook
