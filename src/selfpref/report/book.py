"""The book of a profile: its executed chapters and the judges' page, built by Sphinx and myst-nb.

Nothing is computed here but what stands on the first page. The same inputs give the same bytes, and
no page asks a network.
"""

import io
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.files import atomic_folder
from selfpref.report import page
from selfpref.report.chapters import chapter
from selfpref.report.gather import Study
from selfpref.texts import visible

# The testbed over several seeds, a page of the book.
TESTBED = "docs/lab-reference"
CONFIGURATION: Mapping[str, Any] = {
    "project": "selfpref",
    "extensions": ["myst_nb"],
    "html_theme": "sphinx_book_theme",
    "html_title": "selfpref",
    "html_theme_options": {
        "home_page_in_toc": True,
        "show_toc_level": 2,
        "use_download_button": False,
        "use_fullscreen_button": False,
        "navbar_persistent": [],
        "footer_content_items": [],
    },
    "html_static_path": [str(page.TEMPLATES / "book")],
    "html_css_files": ["book.css"],
    "templates_path": [str(page.TEMPLATES / "book")],
    "html_context": {"default_mode": "auto"},
    "html_copy_source": False,
    "html_last_updated_fmt": None,
    "html_show_sphinx": False,
    "myst_heading_anchors": 3,
    "myst_links_external_new_tab": False,
    "nb_execution_mode": "off",
    "numfig": True,
    "numfig_secnum_depth": 1,
    "numfig_format": {"figure": "Fig. %s"},
    "smartquotes": False,
    "language": "en",
}


def _copy(studies: Sequence[Study], folder: Path) -> None:
    """The chapters, the pictures and the numbers of the studies, where the book's sources lie."""
    for study in studies:
        place = folder / "figures" / study.key
        place.mkdir(parents=True)
        drawn = {one.name: one for one in study.figures if one.file("svg").is_file()}
        for output in study.outputs:
            for kind in output.formats:
                if output.file(kind).is_file():
                    shutil.copy(output.file(kind), place)
        for made in study.pages:
            nbformat.write(chapter(made.notebook, study.key, drawn), folder / f"{made.name}.ipynb")


def build(studies: Sequence[Study], pages: Mapping[str, str], folder: Path) -> Path:
    """Write the book and return its first page.

    Args:
        studies: With their chapters.
        pages: Further pages in Markdown, by name; `index` is the first one and lists the others.
        folder: Where the book goes.

    Raises:
        SelfprefError: Sphinx had something to complain about, such as a dead link.
    """
    with (
        atomic_folder(folder) as scratch,
        tempfile.TemporaryDirectory(prefix="selfpref-") as temporary,
    ):
        # Sphinx and its extensions leave files beside the book, too.
        sources, trees, made = (Path(temporary, name) for name in ("sources", "trees", "book"))
        sources.mkdir()
        _copy(studies, sources)
        for name, text in pages.items():
            (sources / f"{name}.md").write_text(text, encoding="utf-8")
        if paths.claims_file().is_file():
            shutil.copy(paths.claims_file(), sources)
        if (testbed := paths.root() / TESTBED).is_dir():
            shutil.copytree(testbed, sources / "testbed")
        complaints = io.StringIO()
        with docutils_namespace(), patch_docutils():
            Sphinx(
                sources,
                None,
                made,
                trees,
                "html",
                confoverrides=dict(CONFIGURATION),
                status=None,
                warning=complaints,
            ).build()
        if said := re.sub(r"\x1b\[\d+(;\d+)*m", "", complaints.getvalue()).splitlines():
            first = said[0].replace(f"{sources}/", "")
            raise SelfprefError(f"the book, {len(said)} complaints of Sphinx: {first}")
        # Of use to a second build from the same sources alone.
        (made / ".buildinfo").unlink()
        for one in made.rglob("*.html"):
            one.write_text(visible(one.read_text(encoding="utf-8")), encoding="utf-8")
        shutil.copytree(made, scratch)
    return folder / "index.html"
