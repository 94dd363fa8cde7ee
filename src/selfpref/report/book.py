"""The book of a profile: what a reader opens. Sphinx and myst-nb build it from `conf.py`.

Its pages are the executed chapters, the judges' page, a list of all that was made, the code from
the pinned files to the numbers, and a first page which leads to them. The same inputs give the same
bytes, and no page asks a network. A text of a chapter may come from a model, so it is hostile: it
is shown as text.
"""

import io
import re
import shutil
import tempfile
from contextlib import redirect_stderr
from html import escape
from pathlib import Path

import nbformat
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from nbformat import NotebookNode
from nbformat.v4 import new_output
from sphinx.cmd.build import build_main

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.files import atomic_folder, write_text
from selfpref.params import Params
from selfpref.plots.save import tables
from selfpref.report import judges
from selfpref.report.sections import heading
from selfpref.studies.claims import counted
from selfpref.texts import visible

BOOK, JUDGES, FIGURES = "book", "judges.md", "figures"
# Ten rules from the released data, a page of their book; what its links lead to stands beside it.
RULES, BESIDE = "docs/rules.md", "../report/recorded/"
# The rule of the judges' page, in every book. Of links that lead out of the book the words stay.
MEASURE, OUTSIDE = "docs/measure.md", re.compile(r"\[([^]]*)\]\(\.\./[^)]*\)")
# Released texts, which git ignores, and sentences: no page may need them.
LEFT_OUT = shutil.ignore_patterns("fig1a_example.*", "*.json")


def picture(place: str, caption: str) -> str:
    """A picture as HTML, with its caption and links to its numbers and to what computes them.

    Args:
        place: Below figures/, without ending.
        caption: A text of any origin.
    """
    study, name = place.split("/")[1:]
    link = f'<a href="figures/{study}/{name}'
    numbers = f' {link}.csv">Numbers</a> ·' * (paths.root() / f"figures/{place}.csv").is_file()
    told = f'{escape(" ".join(caption.split()))}{numbers} <a href="{study}-code.html">Code</a>'
    image = f'<img src="figures/{study}/{name}.svg" alt="{escape(caption.partition(". ")[0])}">'
    return f'<figure id="{name}">{link}.svg">{image}</a>\n<figcaption>{told}</figcaption></figure>'


def laid_out(chapter: NotebookNode, pictures: dict[str, str]) -> NotebookNode:
    """A chapter for the book: its pictures as files, code folded unless a reader is to follow it.

    Args:
        chapter: Executed; cells that only load are left out.
        pictures: Gets every picture as HTML, by its place below figures/<profile>/.
    """
    for cell in chapter.cells:
        outputs = []
        given = iter(cell.get("outputs", []))
        for output in given:
            if place := output.get("metadata", {}).get("figure"):
                # The gallery shows the caption behind its picture.
                next(given)
                html = picture(place, output.metadata["image/png"]["alt"])
                pictures[place.partition("/")[2]] = html
                output = new_output("display_data", {"text/html": html})  # noqa: PLW2901
            outputs.append(output)
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "code":
            cell.outputs = outputs
            # So a chapter tags a cell that computes a measure by hand.
            if "show-input" not in tags:
                cell.metadata["tags"] = [*tags, "hide-input" if outputs else "remove-cell"]
    return chapter


def _lay_out(params: Params, folder: Path) -> None:
    """Write what Sphinx reads: the chapters, and in Markdown the pages that lead to them."""
    source = paths.figure_dir(params.profile)
    figures = folder / FIGURES
    root = paths.root()
    source.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source, figures, ignore=LEFT_OUT)
    # The testbed over several seeds, a page of the book.
    shutil.copytree(root / "docs/lab-reference", folder / "testbed")
    titles = dict[str, str]()
    pictures = dict[str, str]()
    found = dict[tuple[str, str], pd.DataFrame]()
    for key in [*params.studies, "beyond"]:
        if (path := paths.report_dir(params.profile) / f"{key}.ipynb").is_file():
            chapter = laid_out(nbformat.read(path, 4), pictures)
            nbformat.write(chapter, folder / f"{key}.ipynb")
            titles[key] = next(title for level, title in map(heading, chapter.cells) if level)
            found |= {(key, name): one for name, one in tables(figures / key).items()}
    pairs, marked, others = judges.first(found)
    verdicts = [frame[judges.FIRST[2]] for frame in (pairs, marked)]
    both, first = pd.concat([pairs, marked]), pd.concat(verdicts).str.split().str[0]
    more = both[judges.FIRST[2]].str.extract(r"at most ([\d.]+)|up[,;] (.*)").bfill(axis=1)[0]
    whose = zip(both["judge"], both["data"], more.fillna(""), strict=True)
    inert = ([*map(judges.inert, (judge, data, f"; {of}" * bool(of)))] for judge, data, of in whose)
    named = [f"{judge} ({data}{of})" for judge, data, of in inert]
    claims = pd.read_csv(shutil.copy(paths.data_file("claims"), folder)).fillna({"part": ""})
    rules = params.profile == paths.RELEASED
    values = {
        "params": params,
        "titles": titles,
        "figures": figures,
        "pictures": pictures,
        "root": root,
        "read": nbformat.read,
        "rules": rules,
        "claims": claims.to_dict("records"),
        "counted": counted(claims),
        "said": pd.Series(named).groupby(first.tolist()).agg(", ".join).to_dict(),
        "pairs": pairs,
        "marked": marked,
        "others": others,
        "table": judges.markdown,
        "marks": verdicts[1].str.startswith("marks").tolist(),
    }
    for page in (MEASURE, *[RULES] * rules):
        text = (root / page).read_text(encoding="utf-8")
        for key in titles:
            text = text.replace(f"({BESIDE}{key}.ipynb)", f"({key}.ipynb)")
        write_text(folder / Path(page).name, OUTSIDE.sub(r"\1", text))
    loader = PackageLoader("selfpref.report")
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True)
    code = (f"{room}-code.md" for room in [*titles, "statistics"])
    for name in ("index.md", JUDGES, "outputs.md", *code):
        page = environment.select_template([f"{name}.j2", "code.md.j2"]).render(values, page=name)
        write_text(folder / name, f"{visible(page)}\n")


def build(params: Params) -> Path:
    """Write the judges' page and the book, and return its first page.

    Without chapters the first page says how to get them.

    Raises:
        SelfprefError: Sphinx had something to complain about, such as a dead link.
    """
    folder = paths.report_dir(params.profile)
    said = io.StringIO()
    with (
        atomic_folder(folder / BOOK) as scratch,
        tempfile.TemporaryDirectory(prefix="selfpref-") as temporary,
    ):
        # Sphinx and its extensions leave files beside the book, too.
        sources, trees, book = (Path(temporary, name) for name in ("sources", "trees", "book"))
        sources.mkdir()
        _lay_out(params, sources)
        page = (sources / JUDGES).read_text(encoding="utf-8")
        page = re.sub(r"\]\((measure|rules)\.md\)", r"](../../docs/\1.md)", page)
        write_text(folder / JUDGES, page)
        with redirect_stderr(said):
            where = "-c", Path(__file__).parent, "-d", trees, sources, book
            build_main(["--quiet", "--no-color", *map(str, where)])
        if complaints := said.getvalue().splitlines():
            first = complaints[0].replace(f"{sources}/", "")
            raise SelfprefError(f"the book, {len(complaints)} complaints of Sphinx: {first}")
        # Of use to a second build from the same sources alone.
        (book / ".buildinfo").unlink()
        for one in book.rglob("*.html"):
            one.write_text(visible(one.read_text(encoding="utf-8")), encoding="utf-8")
        shutil.copytree(sources / FIGURES, book / FIGURES)
        shutil.copytree(book, scratch)
    return folder / BOOK / "index.html"
