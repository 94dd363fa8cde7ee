"""An executed notebook as a page: the story in front, the code folded away.

A figure that `Gallery.add` showed is not embedded: the page names the file under figures/, so that
its numbers and other formats stand beside it and the page stays small.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
from nbconvert.exporters.html import HTMLExporter
from traitlets import default

from selfpref.files import write_text
from selfpref.report import page
from selfpref.report.sections import heading


class _Body(HTMLExporter):  # type: ignore[misc]
    """The notebook's cells as HTML, without a page around them."""

    @default("template_name")
    def _template_name_default(self) -> str:
        return "notebook"

    def default_filters(self) -> Iterator[tuple[str, Callable[..., str]]]:
        """HTML in Markdown may be a model's text; it is shown as text."""
        yield from super().default_filters()
        yield "markdown2html", page.markdown


def write(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write the page of an executed notebook.

    Args:
        notebook: With outputs.
        path: The page, in report/<profile>/.
    """
    exporter = _Body(extra_template_basedirs=[str(page.TEMPLATES)])
    body, _ = exporter.from_notebook_node(notebook)
    write_text(path, page.text("chapter.html.j2", title=heading(notebook), body=body))
