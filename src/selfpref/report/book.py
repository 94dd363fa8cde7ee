"""The book of a profile: what a reader opens. Sphinx and myst-nb build it from `conf.py`.

Its pages are the executed chapters, the judges' page, a list of all that was made, and a first page
which leads to them. The same inputs give the same bytes, and no page asks a network. A text of a
chapter may come from a model, so it is hostile: it is shown as text.
"""

import io
import re
import shutil
import tempfile
from html import escape
from pathlib import Path

import nbformat
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.files import atomic_folder, write_text
from selfpref.params import Params
from selfpref.plots.save import tables
from selfpref.report import judges
from selfpref.report.sections import heading
from selfpref.studies.claims import counted
from selfpref.texts import visible

BOOK, JUDGES = "book", "judges.md"
# The testbed over several seeds, a page of the book.
TESTBED = "docs/lab-reference"
# Ten rules from the released data, a page of their book; what its links lead to stands beside it.
RULES, BESIDE = "docs/rules.md", "../report/recorded/"
# Released texts, which git ignores: no page may need them.
RELEASED = "fig1a_example"
# The tag of a cell that computes a measure by hand.
SHOWN = "show-input"
COLOURS = re.compile(r"\x1b\[\d+(;\d+)*m")


def picture(place: str, caption: str) -> str:
    """A picture as HTML, with its caption and a link to its numbers.

    Args:
        place: Below figures/, without ending.
        caption: A text of any origin.
    """
    name, title = place.partition("/")[2], escape(caption.partition(". ")[0])
    numbers = (paths.root() / f"figures/{place}.csv").is_file()
    link = f' <a href="figures/{name}.csv">Numbers</a>' * numbers
    told = f"<figcaption>{escape(' '.join(caption.split()))}{link}</figcaption>"
    return f'<figure><img src="figures/{name}.svg" alt="{title}">\n{told}</figure>'


def laid_out(chapter: NotebookNode, pictures: dict[str, str]) -> NotebookNode:
    """A chapter for the book: its pictures as files, code folded unless a reader is to follow it.

    Args:
        chapter: Executed; cells that only load are left out.
        pictures: Gets every picture as HTML, by its place below figures/<profile>/.
    """
    for cell in [cell for cell in chapter.cells if cell.cell_type == "code"]:
        outputs, given = [], iter(cell.outputs)
        for output in given:
            shown = output
            if place := output.get("metadata", {}).get("figure"):
                # The gallery shows the caption behind its picture.
                next(given)
                html = picture(place, output.metadata["image/png"]["alt"])
                pictures[place.partition("/")[2]] = html
                shown = nbformat.v4.new_output("display_data", {"text/html": html})
            outputs.append(shown)
        cell.outputs, tags = outputs, cell.metadata.get("tags", [])
        if SHOWN not in tags:
            cell.metadata["tags"] = [*tags, "hide-input" if outputs else "remove-cell"]
    return chapter


def _lay_out(params: Params, folder: Path) -> None:
    """Write what Sphinx reads: the chapters, and in Markdown the pages that lead to them."""
    figures, rules = paths.figures_dir(params.profile), paths.root() / RULES
    titles: dict[str, str] = {}
    files: dict[str, list[str]] = {}
    pictures: dict[str, str] = {}
    found: dict[tuple[str, str], pd.DataFrame] = {}
    for key in [*params.studies, "beyond"]:
        path = paths.report_dir(params.profile) / f"{key}.ipynb"
        if path.is_file():
            chapter = nbformat.read(path, as_version=4)
            titles[key] = heading(chapter)
            nbformat.write(laid_out(chapter, pictures), folder / path.name)
            made = [one for one in (figures / key).glob("*.*") if one.suffix != ".json"]
            files[key] = sorted(one.name for one in made if one.stem != RELEASED)
            found |= {(key, name): frame for name, frame in tables(figures / key).items()}
    if (paths.root() / TESTBED).is_dir():
        shutil.copytree(paths.root() / TESTBED, folder / "testbed")
    claims = pd.DataFrame()
    if paths.claims_file().is_file():
        claims = pd.read_csv(shutil.copy(paths.claims_file(), folder))
    if params.profile == paths.RELEASED and rules.is_file():
        write_text(folder / "rules.md", rules.read_text(encoding="utf-8").replace(BESIDE, ""))
    values = {
        **{"params": params, "titles": titles, "files": files, "pictures": pictures},
        **{"claims": claims.to_dict("records"), "counted": counted(claims)},
        **{"first": judges.markdown(judges.first(found)), "tables": judges.tables(found)},
        **{"testbed": (folder / "testbed").is_dir(), "rules": (folder / "rules.md").is_file()},
    }
    environment = Environment(
        loader=PackageLoader("selfpref.report"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name in ("index.md", JUDGES, "outputs.md"):
        page = environment.get_template(f"{name}.j2").render(values)
        write_text(folder / name, visible(page))


def build(params: Params) -> Path:
    """Write the judges' page and the book, and return its first page.

    Without chapters the first page says how to get them.

    Raises:
        SelfprefError: Sphinx had something to complain about, such as a dead link.
    """
    folder, figures = paths.report_dir(params.profile), paths.figures_dir(params.profile)
    with (
        atomic_folder(folder / BOOK) as scratch,
        tempfile.TemporaryDirectory(prefix="selfpref-") as temporary,
    ):
        # Sphinx and its extensions leave files beside the book, too.
        sources, trees, book = (Path(temporary, name) for name in ("sources", "trees", "book"))
        sources.mkdir()
        _lay_out(params, sources)
        write_text(folder / JUDGES, (sources / JUDGES).read_text(encoding="utf-8"))
        said, settings = io.StringIO(), Path(__file__).parent
        with docutils_namespace(), patch_docutils():
            Sphinx(sources, settings, book, trees, "html", status=None, warning=said).build()
        if complaints := COLOURS.sub("", said.getvalue()).splitlines():
            first = complaints[0].replace(f"{sources}/", "")
            raise SelfprefError(f"the book, {len(complaints)} complaints of Sphinx: {first}")
        # Of use to a second build from the same sources alone.
        (book / ".buildinfo").unlink()
        for one in book.rglob("*.html"):
            one.write_text(visible(one.read_text(encoding="utf-8")), encoding="utf-8")
        if figures.is_dir():
            left_out = shutil.ignore_patterns("*.json", f"{RELEASED}.*")
            shutil.copytree(figures, book / "figures", ignore=left_out)
        shutil.copytree(book, scratch)
    return folder / BOOK / "index.html"
