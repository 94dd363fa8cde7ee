"""An executed chapter as a page of the book: its pictures become numbered figures.

A picture that `Gallery.add` showed, and the caption behind it, are one `figure` of MyST, drawn from
the SVG under figures/ and with links to its numbers; the rest of the notebook stays as it is.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy

import nbformat
from nbformat import NotebookNode

from selfpref.report.gather import Output

# What MyST and HTML read as more than text; captions hold names that came with the data.
INERT = str.maketrans({"{": "&#123;", "<": "&lt;", "`": "&#96;", "\n": " "})

# The tag of a cell that computes a measure by hand.
SHOWN = "show-input"


def label(study: str, name: str) -> str:
    """The anchor of a figure in the book."""
    return f"{study}-{name}".replace("_", "-")


def figure(output: Output, study: str, caption: str, *, name: str = "") -> str:
    """The directive that shows a picture.

    Args:
        output: The picture.
        study: Whose folder below `figures/` of the book holds its files.
        caption: What stands below it.
        name: Its anchor; none: the `label` of the place where a chapter shows it.
    """
    place = f"figures/{study}/{output.name}"
    said = caption.translate(INERT)
    files = " · ".join(
        f"{{download}}`{kind} <{place}.{kind}>`" for kind in output.formats if kind != "svg"
    )
    alternative = said.partition(". ")[0]
    lines = [
        f"``````{{figure}} {place}.svg",
        f":name: {name or label(study, output.name)}",
        f":alt: {alternative}",
        "",
        f"{said} {files}".rstrip(),
        "``````",
    ]
    return "\n".join(lines)


def shown(output: NotebookNode) -> str:
    """The name of the gallery's picture that an output shows; empty where it shows none."""
    return str(output.get("metadata", {}).get("figure", "")).rpartition("/")[2]


def _parts(cell: NotebookNode, study: str, outputs: Mapping[str, Output]) -> Iterator[NotebookNode]:
    """A cell of code with its outputs, its pictures between them as cells of Markdown."""
    part = deepcopy(cell)
    part.outputs = []
    rest = list(cell.outputs)
    number = 0
    while rest:
        first = rest.pop(0)
        name = shown(first)
        if name not in outputs:
            part.outputs.append(first)
            continue
        caption = rest.pop(0)["data"]["text/markdown"] if rest else ""
        yield part
        number += 1
        made = figure(outputs[name], study, caption.replace("&lt;", "<"))
        yield nbformat.v4.new_markdown_cell(made, id=f"{cell.id}-figure-{number}")
        part = deepcopy(cell)
        part.id, part.outputs = f"{cell.id}-{number}", []
        part.metadata["tags"] = ["remove-input"]
    if part.outputs or not number:
        yield part


def chapter(notebook: NotebookNode, study: str, outputs: Mapping[str, Output]) -> NotebookNode:
    """The notebook as a page of the book.

    Args:
        notebook: Executed.
        study: Whose it is.
        outputs: Its pictures by name.
    """
    made = deepcopy(notebook)
    made.cells = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            made.cells.append(cell)
            continue
        # Code that a reader is to follow is shown; what draws is folded, what only loads left out.
        tags = cell.metadata.get("tags", [])
        if SHOWN in tags or cell.outputs:
            part = deepcopy(cell)
            part.metadata["tags"] = tags if SHOWN in tags else [*tags, "hide-input"]
            made.cells += _parts(part, study, outputs)
    return made
