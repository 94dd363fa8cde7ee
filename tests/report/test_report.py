"""The book and a chapter on its own as a browser shows them: links, pictures, no network."""

import base64
import html
import io
import re
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import nbformat
import numpy as np
import pandas as pd
import pytest
from browser import chromium
from conftest import REPOSITORY, STAGED
from matplotlib import pyplot as plt
from matplotlib.image import imread
from PIL import Image

from selfpref.errors import SelfprefError
from selfpref.params import load
from selfpref.plots import show
from selfpref.plots.save import Gallery
from selfpref.report import chapter
from selfpref.report.book import build

# The bell has no glyph; Sphinx's theme and parser use what a later Sphinx will not have.
pytestmark = pytest.mark.filterwarnings("ignore:Glyph", "ignore:.*is deprecated. Check CHANGES")
HOSTILE = "=cmd <script>document.title='taken'</script>\x07\u202e"
# What a reader sees of it: marks for the bell and for the turn of direction.
SEEN = "=cmd <script>document.title='taken'</script>\ufffd\ufffd"
CAPTION = "Bias of two judges. n = 7, 2 dropped; 95% intervals; source: these rows."
BIAS = pd.DataFrame(
    {
        "dataset": ["d"] * 9 + ["e"],
        "judge": ["fair", HOSTILE, *(f"j{number}" for number in range(8))],
        "n": [7, 5, 9, 10, 11, 12, 13, 14, 15, 16],
        "eo": [0.25, -0.5, 0.1, 0.9, 0.3, None, 0.4, 0.6, 0.7, 0.8],
        "eo_lo": [0.1] * 10,
        "eo_hi": [0.95] * 10,
        "published": [0.25] + [None] * 9,
    }
)


def executed(place: str, preview: str) -> nbformat.NotebookNode:
    """A chapter after its run: one figure, one table, one hostile text and caption."""
    shown = nbformat.v4.output_from_msg(
        {
            "header": {"msg_type": "display_data"},
            "content": {
                "data": {"image/png": preview, "text/plain": "x"},
                "metadata": {"figure": place, "image/png": {"alt": CAPTION}},
            },
        }
    )
    outputs = [
        shown,
        nbformat.v4.new_output("display_data", {"text/markdown": f"Caption {HOSTILE} &lt;b>"}),
        nbformat.v4.new_output("display_data", {"text/html": show.html(show.table(BIAS))}),
        nbformat.v4.new_output("stream", text=HOSTILE),
    ]
    lead = "# Whom do they favour?\n\nThe question.\n\n> **Claim.** They do."
    cells = [
        nbformat.v4.new_markdown_cell(lead, id="0"),
        nbformat.v4.new_code_cell("load()", id="1"),
        nbformat.v4.new_code_cell("show()", outputs=outputs, id="2"),
        nbformat.v4.new_code_cell("assert 1 == 1", id="3", metadata={"tags": ["show-input"]}),
    ]
    return nbformat.v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})


def known(root):
    """Make a repository that has nothing but the names and the claims."""
    (root / "dvc.yaml").touch()
    (root / "data").mkdir()
    for name in ("names.csv", "claims.yaml"):
        shutil.copy(REPOSITORY / "data" / name, root / "data")


def params_of(root):
    """The parameters with a study that the report knows nothing of."""
    return load(root / "params.yaml").model_copy(update={"studies": ["wataoka", "novel"]})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A repository with small outputs of one known and one unknown study, and its report."""
    root = tmp_path_factory.mktemp("made")
    shutil.copy(STAGED / "profiles/recorded.yaml", root / "params.yaml")
    known(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        wataoka = Gallery(root / "figures/recorded/wataoka")
        figure, axes = plt.subplots()
        axes.plot([0, 1], [1, 0])
        axes.set_title(HOSTILE)
        axes.set_xticks([0, 1], [HOSTILE, "-->"])
        more = ("n_human_own", "n_human_other", "eo_no_preference", "eo_others", "excess")
        whole = BIAS.reindex(columns=[*BIAS, *more])
        wataoka.add("fig1b_bias", figure, whole, CAPTION + HOSTILE)
        wataoka.table(BIAS.head(0), "empty")
        wataoka.table(pd.DataFrame({"secret": ["a released text"]}), "fig1a_example")
        new = Gallery(root / "figures/recorded/novel")
        tried = BIAS.rename(columns={"eo": "weight"})
        new.add("tried", figure, tried[["judge", "weight"]], "A new table.")
        new.table(tried, "weights")
        plt.close(figure)
        asked = {"judge": ["fair", "fair", HOSTILE, "human"], "table": "verdicts"}
        asked |= {"task": "preference", "status": ["ok", "refused", "ok", "ok"], "n": [2, 1, 1, 1]}
        wataoka.table(pd.DataFrame(asked), "asked")
        wataoka.prune()
        new.prune()
        report = root / "report/recorded"
        report.mkdir(parents=True)
        picture = io.BytesIO()
        Image.new("RGB", (4, 4)).save(picture, "PNG")
        preview = base64.b64encode(picture.getvalue()).decode()
        notebook = executed("recorded/wataoka/fig1b_bias", preview)
        nbformat.write(notebook, report / "wataoka.ipynb")
        chapter.write(notebook, report / "wataoka.html")
        build(params_of(root))
        yield root


@pytest.fixture(scope="module")
def pages(made):
    """The chapter on its own, and the pages of the book that a reader comes to read."""
    names = ("index", "wataoka", "judges", "outputs")
    return [
        made / "report/recorded/wataoka.html",
        *(made / f"report/recorded/book/{name}.html" for name in names),
    ]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("chromium")) as found:
        yield found


class Links(HTMLParser):
    """Every address on a page, every id, and every picture's text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses, self.ids, self.alternatives = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.addresses += [found[name] for name in ("href", "src") if found.get(name)]
        self.ids |= {found["id"]} if "id" in found else set()
        if tag == "img":
            self.alternatives.append(found.get("alt"))


def test_every_link_resolves_file_and_anchor(pages):
    links = {page: Links(page.read_text()) for page in pages}
    checked = 0
    for page, found in links.items():
        for address in found.addresses:
            parts = urlsplit(address)
            if parts.scheme in ("http", "https", "data"):
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.is_file(), (page.name, address)
            if parts.fragment:
                assert unquote(parts.fragment) in links[target].ids, (page.name, address)
            checked += 1
    assert checked > 30


def test_every_picture_has_a_text_alternative(pages):
    for page in pages:
        assert all(Links(page.read_text()).alternatives), page.name


def text_of(page):
    """What a page says, without its markup."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.read_text())).split())


def test_the_first_page_shows_what_was_found_and_leads_to_the_chapters(made):
    page = made / "report/recorded/book/index.html"
    assert "n = 7, 2 dropped; 95% intervals; source: these rows." in text_of(page)
    assert 'href="wataoka.html"' in page.read_text()
    assert f"Seed {load(made / 'params.yaml').seed}" in text_of(page)


def test_a_picture_is_a_figure_with_a_number_its_caption_and_its_files(made):
    text = (made / "report/recorded/book/wataoka.html").read_text()
    (shown,) = re.findall(r"<figure.*?</figure>", text, re.DOTALL)
    assert 'id="wataoka-fig1b-bias"' in shown
    assert "Fig. 1.1" in shown
    assert "Caption =cmd &lt;script&gt;" in shown
    assert "fig1b_bias.csv" in shown
    # The code that computes is shown; what only loads is not in the book.
    assert "load()" not in text_of(made / "report/recorded/book/wataoka.html")
    assert "assert" in text


def test_released_texts_stand_nowhere(made):
    for page in [*(made / "report").rglob("*.html"), made / "report/recorded/judges.md"]:
        assert "a released text" not in page.read_text()
        assert "fig1a" not in page.read_text()


def test_the_judges_page_tells_of_each_judge_in_a_line_and_in_its_studys_table(made):
    text = (made / "report/recorded/judges.md").read_text()
    assert "- **fair** No answer, in wataoka: no set of pairs of its own responses" in text
    assert "0.25 [0.10,\N{NO-BREAK SPACE}0.95]" in text
    assert "**human**" not in text


def test_the_same_inputs_give_the_same_bytes(made, monkeypatch):
    def digest():
        return {path: path.read_bytes() for path in (made / "report").rglob("*") if path.is_file()}

    monkeypatch.chdir(made)
    before = digest()
    build(params_of(made))
    assert digest() == before


def test_beside_the_book_nothing_is_written(made):
    names = {path.name for path in (made / "report/recorded").iterdir()}
    assert names == {"wataoka.ipynb", "wataoka.html", "judges.md", "book"}


def test_no_request_leaves_the_machine_and_nothing_complains(browser, pages):
    for page in pages:
        browser.open(page)
        # Pictures further down load as the reader comes to them.
        browser.value("for (const one of document.images) one.loading = 'eager'")
        browser.value("Promise.all([...document.images].map((one) => one.decode())).then(() => 1)")
        addresses = browser.value("performance.getEntriesByType('resource').map((one) => one.name)")
        for address in (*browser.requests, *addresses):
            assert urlsplit(address).scheme in ("file", "data"), (page.name, address)
        # The theme says which of light and dark it shows.
        assert not [one for one in browser.complaints if "[PST]" not in one], page.name


def test_hostile_text_is_shown_as_text(browser, pages):
    for page in pages:
        browser.open(page)
        if page.name != "outputs.html":
            assert SEEN in browser.value("document.body.textContent"), page.name
        assert "&lt;" not in browser.value("document.body.textContent"), page.name
        # What the script would have changed.
        assert browser.value("document.title") != "taken"
        scripts = "[...document.scripts].map((one) => one.textContent)"
        assert not [one for one in browser.value(scripts) if "taken" in one], page.name


def test_tables_of_a_chapter_on_its_own_sort_and_filter(browser, made):
    browser.open(made / "report/recorded/wataoka.html")
    browser.value("var table = document.querySelector('table'); 0")

    def column(number):
        shown = "[...table.tBodies[0].rows].filter((row) => row.offsetHeight)"
        return browser.value(f"{shown}.map((row) => row.cells[{number}].textContent)")

    browser.value("table.tHead.rows[0].cells[2].firstElementChild.click()")
    assert column(2) == ["5", "7", *map(str, range(9, 17))]
    browser.value("table.tHead.rows[0].cells[3].firstElementChild.click()")
    means = [text.partition(" ")[0].replace("\N{MINUS SIGN}", "-") for text in column(3)]
    assert " ".join(means) == "-0.50 0.10 0.25 0.30 0.40 0.60 0.70 0.80 0.90 "
    browser.value(
        "var filter = table.parentElement.querySelector('input'); filter.value = 'J3 d';"
        "filter.dispatchEvent(new Event('input'))"
    )
    assert column(1) == ["j3"]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fill_the_window_and_do_not_scroll_sideways(browser, pages, width, dark):
    for page in pages:
        browser.open(page, width, dark=dark)
        assert browser.value("document.documentElement.scrollWidth") <= width, page.name
        seen = imread(io.BytesIO(browser.picture()))[..., :3]
        paper = np.median(seen, axis=(0, 1))
        assert (paper.max() < 0.3) if dark else (paper.min() > 0.8)
        # Ink of the other lightness covers some of the window.
        assert 0.002 < (np.abs(seen - paper).max(axis=-1) > 0.4).mean() < 0.6, page.name


def test_without_figures_the_first_page_names_the_remedy(tmp_path, monkeypatch):
    """A pipeline whose studies are all left out ends well."""
    known(tmp_path)
    monkeypatch.chdir(tmp_path)
    index = build(load(STAGED / "profiles/recorded.yaml"))
    assert "make repro PROFILE=recorded" in text_of(index)


def test_a_dead_link_in_a_chapter_ends_the_build(tmp_path, monkeypatch):
    known(tmp_path)
    monkeypatch.chdir(tmp_path)
    gallery = Gallery(tmp_path / "figures/recorded/wataoka")
    gallery.table(BIAS, "checks")
    gallery.prune()
    cells = [nbformat.v4.new_markdown_cell("# Title\n\n[gone](gone.ipynb)")]
    (tmp_path / "report/recorded").mkdir(parents=True)
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbformat.write(notebook, tmp_path / "report/recorded/wataoka.ipynb")
    with pytest.raises(SelfprefError, match=r"wataoka\.ipynb.*gone\.ipynb"):
        build(load(STAGED / "profiles/recorded.yaml"))


def test_an_interval_is_one_cell_and_a_gap_is_empty():
    frame = pd.DataFrame({"x": [0.5, None], "x_lo": [0.25, None], "x_hi": [1.0, None], "n": [3, 4]})
    table = show.table(frame)
    assert [head for head, _ in table.heads] == ["x", "n"]
    assert table.rows == [
        ["0.50 [0.25, 1.00]", "3"],
        ["", "4"],
    ]


def test_an_interval_is_that_of_the_column_before_it_in_the_order_asked_for():
    frame = pd.DataFrame({"r": [0.5], "n": [20], "lo": [0.25], "hi": [1.0]})
    columns = ["r", "lo", "hi", "n"]
    assert show.table(frame, columns).rows == [["0.50 [0.25, 1.00]", "20"]]
    assert show.table(frame.assign(lo=None, hi=None), columns).rows == [["0.50", "20"]]


def test_a_value_of_too_few_pairs_is_not_quoted():
    bounded = {"eo": [0.5, 1.0], "eo_lo": [0.2, 0.6], "eo_hi": [0.8, 1.0], "few": [False, True]}
    own = {"excess": [0.1, 0.2], "excess_few": [True, None], "n": [40, 6]}
    rows = show.table(pd.DataFrame(bounded | own), ["eo", "excess", "n"]).rows
    assert rows == [
        ["0.50 [0.20, 0.80]", "too few", "40"],
        ["too few", "0.20", "6"],
    ]


def test_a_number_has_two_decimals_and_a_small_one_three():
    frame = pd.DataFrame(
        {"x": [-0.5, 0.0251, 0.04], "x_lo": [-1.5, -0.01, -0.3], "x_hi": [0.2] * 3}
    )
    frame.loc[1, "x_hi"] = 0.0631
    told = [row[0] for row in show.table(frame.assign(n=[1, 2, 3])).rows]
    minus = "\N{MINUS SIGN}"
    assert told[0] == f"{minus}0.50 [{minus}1.50, 0.20]"
    assert told[1] == f"0.025 [{minus}0.010, 0.063]"
    assert told[2] == f"0.04 [{minus}0.30, 0.20]"


def test_a_small_negative_number_is_no_negative_zero():
    (row, _) = show.table(pd.DataFrame({"x": [-0.0001, 0.5]})).rows
    assert row == ["0.000"]
