"""The book: links, pictures, no network; every text is text."""

import html
import re
import shutil

import nbformat
import pandas as pd
import pytest
from conftest import STAGED
from matplotlib.figure import Figure
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from study_frames import RECORDED

from selfpref.errors import SelfprefError
from selfpref.plots import show
from selfpref.plots.save import Gallery
from selfpref.report.book import build
from selfpref.report.sections import of_source, without_empty

# The bell has no glyph; Sphinx's theme and parser use what a later Sphinx will not have.
pytestmark = pytest.mark.filterwarnings("ignore:Glyph", "ignore:.*is deprecated. Check CHANGES")
HOSTILE = "=cmd <script>document.title='taken'</script>\x07\u202e"
# What a reader sees of it: marks for the bell and for the turn of direction.
SEEN = "=cmd <script>document.title='taken'</script>\ufffd\ufffd"
CAPTION = f"Bias of two judges. n = 7, 2 dropped; 95% intervals; source: these rows. {HOSTILE}"
BIAS = pd.DataFrame({"dataset": ["d", "e"], "judge": ["fair", HOSTILE], "n": [7, 5]})
BIAS = BIAS.assign(eo=[0.25, None], eo_lo=[0.1, None], eo_hi=[0.95, None])


def executed() -> nbformat.NotebookNode:
    """A chapter after its run: one figure, one table, one hostile text and caption."""
    told = {"figure": "recorded/wataoka/fig1b_bias", "image/png": {"alt": CAPTION}}
    outputs = [
        new_output("display_data", {"text/plain": "x"}, metadata=told),
        new_output("display_data", {"text/markdown": f"{HOSTILE} &lt;b>"}),
        new_output("display_data", {"text/html": show.html(show.table(BIAS))}),
        new_output("stream", text=HOSTILE),
    ]
    cells = [
        new_markdown_cell("# Whom do they favour?\n\n> **They say.** Yes.", id="0"),
        new_code_cell("load()", id="1"),
        new_code_cell("show()", outputs=outputs, id="2"),
        new_code_cell("assert 1 == 1", id="3", metadata={"tags": ["show-input"]}),
    ]
    return new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})


def known(root, patch, rules):
    """Make a repository that has nothing but what git holds of every book."""
    (root / "dvc.yaml").touch()
    for name in ("data", "docs"):
        shutil.copytree(STAGED / name, root / name)
    (root / "docs/rules.md").write_text(f"# Rules\n\n{rules}\n")
    (root / "report/recorded").mkdir(parents=True)
    patch.chdir(root)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A repository with small outputs of one study, and its report."""
    root = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        # Rules link to every chapter; one is not in this book.
        links = "[One](../report/recorded/wataoka.ipynb) [two](../report/recorded/xu.ipynb)"
        known(root, patch, links)
        figure = Figure()
        figure.subplots().set_xticks([0, 1], [HOSTILE, "-->"])
        asked = {"judge": ["fair", "fair", HOSTILE, "human"], "table": "verdicts"}
        asked |= {"task": "preference", "status": ["ok", "refused", "ok", "ok"], "n": [2, 1, 1, 1]}
        gallery = Gallery(root / "figures/recorded/wataoka")
        gallery.add("fig1b_bias", figure, BIAS, CAPTION)
        gallery.table(pd.DataFrame({"secret": ["a released text"]}), "fig1a_example")
        gallery.table(pd.DataFrame(asked), "asked")
        for name in ("wataoka", "livebench"):
            nbformat.write(executed(), root / f"report/recorded/{name}.ipynb")
        shutil.copytree(STAGED / "figures/recorded/livebench", root / "figures/recorded/livebench")
        (root / "notebooks").mkdir()
        computed = new_notebook(cells=[new_code_cell("frames = {'bias': pairs.bias(rows)}")])
        nbformat.write(computed, root / "notebooks/wataoka_metrics.ipynb")
        (root / "src/selfpref/studies/wataoka").mkdir(parents=True)
        code = '"""Pairs."""\n\n\ndef bias(rows):\n    return rows\n'
        (root / "src/selfpref/studies/wataoka/pairs.py").write_text(code)
        build(RECORDED)
        yield root


def told(page):
    """What a page says, without its markup."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_headings_stand_above_their_columns():
    heads = re.findall("<th([^>]*)>(.*?)</th>", show.html(show.table(BIAS.assign(judge="fair"))))
    assert [name for left, name in heads if left] == ["dataset", "judge"]


def test_the_book_leads_to_figures_captions_and_judges_and_hostile_text_is_text(made):
    folder = made / "report/recorded"
    pages = {path.stem: path.read_text() for path in (folder / "book").glob("*.html")}
    (shown,) = re.findall(r"<figure.*?</figure>", pages["wataoka"], re.DOTALL)
    parts = ["figures/wataoka/fig1b_bias.svg", "=cmd &lt;script&gt;", "fig1b_bias.csv"]
    parts += ['<figure id="fig1b_bias">', 'alt="Bias of two judges"', 'href="wataoka-code.html"']
    assert [part for part in parts if part not in shown] == []
    assert 'href="wataoka.html"' in pages["rules"]
    assert "xu.html" not in pages["rules"]
    assert "2 of 3 judges mark their own up" in told(pages["index"])
    assert "up : Claude 3.7 (LiveBench; of equally wrong ones: cannot tell), o3-" in told(
        pages["judges"]
    )
    # From a picture to its cell, from there to the functions.
    assert 'href="wataoka.html#fig1b_bias"' in pages["index"]
    assert 'href="wataoka-code.html#pairs.bias"' in pages["wataoka-code"]
    assert 'id="pairs.bias"' in pages["wataoka-code"]
    # The code that computes is shown; what only loads is not in the book.
    assert "assert" in told(pages["wataoka"])
    assert "load()" not in told(pages["wataoka"])
    assert (folder / "book/figures/wataoka/fig1b_bias.svg").is_file()
    assert [*(folder / "book").rglob("fig1a*")] == []
    row = ", fair | [wataoka](wataoka.ipynb) | order not known | people's votes on its own"
    assert row in (folder / "judges.md").read_text()
    # In no page is it more than text; a long name is cut.
    assert all(SEEN[:30] in told(pages[name]) for name in ("index", "wataoka", "judges"))
    never = re.compile(r'src="https?:|<script>document.title|a released text|fig1a')
    for name, page in pages.items():
        assert not never.search(page), name
        # What is missing is no word of a page.
        assert not re.search(r"\bnan\b", told(page)), name


def test_the_same_inputs_give_the_same_bytes_and_nothing_beside_the_book(made, monkeypatch):
    def written():
        return {path: path.read_bytes() for path in (made / "report").rglob("*") if path.is_file()}

    monkeypatch.chdir(made)
    before = written()
    build(RECORDED)
    assert written() == before
    assert len([*(made / "report/recorded").iterdir()]) == 4


def test_without_figures_the_remedy_is_named_and_a_dead_link_is_fatal(tmp_path, monkeypatch):
    """A pipeline whose studies are all left out ends well."""
    known(tmp_path, monkeypatch, "None.")
    assert "make repro PROFILE=recorded" in told(build(RECORDED).read_text())
    notebook = new_notebook(cells=[new_markdown_cell("# Title\n\n[gone](gone.ipynb)")])
    nbformat.write(notebook, tmp_path / "report/recorded/wataoka.ipynb")
    (tmp_path / "figures/recorded/wataoka").mkdir(parents=True)
    with pytest.raises(SelfprefError, match=r"wataoka\.ipynb.*gone\.ipynb"):
        build(RECORDED)


def test_a_table_of_a_page_has_intervals_gaps_and_decimals():
    minus = "\N{MINUS SIGN}"
    # Bounds are those of the column before them; a value of too few pairs is not quoted.
    values = {"r": [-0.5, 0.0251, 1.0], "lo": [-1.5, -0.01, None], "hi": [0.2, 0.0631, None]}
    values |= {"eo": [0.1, None, -0.0001], "eo_lo": [0.0, None, -1.0], "eo_hi": [1.0, None, 1.0]}
    values |= {"eo_few": [True, None, False], "n": [40.0, 6.0, None], "none": [None] * 3}
    frame = pd.DataFrame(values).assign(sure=[True, False, True])
    table = show.table(frame, ["r", "lo", "hi", "n", "eo", "none", "sure"])
    r = [f"{minus}0.50 [{minus}1.50, 0.20]", f"0.025 [{minus}0.010, 0.063]", "1.00"]
    wanted = {"r": r, "n": ["40", "6", ""], "sure": ["yes", "no", "yes"]}
    wanted["equal opportunity"] = ["too few", "", f"0.00 [{minus}1.00, 1.00]"]
    assert table.to_dict("list") == wanted
    few = frame.assign(few=[False, True, False])
    assert show.table(few, ["r", "lo", "hi"])["r"].tolist() == [r[0], "too few", r[2]]


def test_a_section_whose_code_showed_nothing_is_left_out_and_named():
    texts = ["# Title", "import x", "## A finding", "show()", "### Nothing of it in these data"]
    texts += ["show()", "# Part", "## Nothing at all", "show()", "### nor here", "show()", "## End"]
    outputs = {1: [], 5: [], 8: [], 3: [new_output("stream", text="shown")]}
    outputs[10] = [new_output("display_data", metadata={"drawn": False})]
    cells = [
        new_code_cell(text, outputs=outputs[n]) if n in outputs else new_markdown_cell(text)
        for n, text in enumerate(texts)
    ]
    *left, named = [cell.source for cell in without_empty(new_notebook(cells=cells)).cells]
    assert left == [*texts[:4], "# Part", "## End"]
    assert named.endswith("there: Nothing of it in these data; Nothing at all*")
    assert without_empty(new_notebook(cells=cells[:4])).cells == cells[:4]


def test_a_reader_sees_what_is_for_all_and_for_the_source_of_the_profile():
    for profile, seen in {"demo": "lab", "recorded": "recorded", "xu": "live"}.items():
        tags = ("all", "lab", "recorded", "live")
        cells = [new_code_cell(name, metadata={"tags": [name]}) for name in tags]
        shown = of_source(new_notebook(cells=cells), profile).cells
        assert [cell.source for cell in shown] == ["all", seen]
