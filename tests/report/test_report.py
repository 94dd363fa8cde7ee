"""The book and a chapter on its own as a browser shows them: links, pictures, no network."""

import base64
import html
import io
import re
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import nbformat
import pandas as pd
import pytest
from browser import chromium
from conftest import REPOSITORY, STAGED
from matplotlib import pyplot as plt
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
    {"dataset": ["d", "e"], "judge": ["fair", HOSTILE], "n": [7, 5], "eo": [0.25, None]}
    | {"eo_lo": [0.1, None], "eo_hi": [0.95, None], "published": [0.25, None]}
)


def executed(place: str) -> nbformat.NotebookNode:
    """A chapter after its run: one figure, one table, one hostile text and caption."""
    picture = io.BytesIO()
    Image.new("RGB", (4, 4)).save(picture, "PNG")
    data = {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": "x"}
    told = {"figure": place, "image/png": {"alt": CAPTION}}
    outputs = [
        nbformat.v4.new_output("display_data", data, metadata=told),
        nbformat.v4.new_output("display_data", {"text/markdown": f"Caption {HOSTILE} &lt;b>"}),
        nbformat.v4.new_output("display_data", {"text/html": show.html(show.table(BIAS))}),
        nbformat.v4.new_output("stream", text=HOSTILE),
    ]
    lead = "# Whom do they favour?\n\nThe question.\n\n> **The paper says.** They do."
    cells = [
        nbformat.v4.new_markdown_cell(lead, id="0"),
        nbformat.v4.new_code_cell("load()", id="1"),
        nbformat.v4.new_code_cell("show()", outputs=outputs, id="2"),
        nbformat.v4.new_code_cell("assert 1 == 1", id="3", metadata={"tags": ["show-input"]}),
    ]
    return nbformat.v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})


def known(root, patch):
    """Make a repository that has nothing but the names and the claims."""
    (root / "dvc.yaml").touch()
    (root / "data").mkdir()
    for name in ("names.csv", "claims.yaml"):
        shutil.copy(REPOSITORY / "data" / name, root / "data")
    patch.chdir(root)


# A study is among them that the report knows nothing of.
PARAMS = load(STAGED / "profiles/recorded.yaml")
TWO = PARAMS.model_copy(update={"studies": ["wataoka", "novel"]})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A repository with small outputs of one known and one unknown study, and its report."""
    root = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        known(root, patch)
        figure, axes = plt.subplots()
        axes.set_title(HOSTILE)
        axes.set_xticks([0, 1], [HOSTILE, "-->"])
        more = ("n_human_own", "n_human_other", "eo_no_preference", "eo_others", "excess")
        asked = {"judge": ["fair", "fair", HOSTILE, "human"], "table": "verdicts"}
        asked |= {"task": "preference", "status": ["ok", "refused", "ok", "ok"], "n": [2, 1, 1, 1]}
        wataoka = Gallery(root / "figures/recorded/wataoka")
        whole = BIAS.reindex(columns=[*BIAS, *more])
        wataoka.add("fig1b_bias", figure, whole, CAPTION + HOSTILE)
        wataoka.table(pd.DataFrame({"secret": ["a released text"]}), "fig1a_example")
        wataoka.table(pd.DataFrame(asked), "asked")
        wataoka.prune()
        new = Gallery(root / "figures/recorded/novel")
        new.add("tried", figure, BIAS[["judge", "eo"]], "A new table.")
        new.prune()
        plt.close(figure)
        (root / "report/recorded").mkdir(parents=True)
        notebook = executed("recorded/wataoka/fig1b_bias")
        nbformat.write(notebook, root / "report/recorded/wataoka.ipynb")
        chapter.write(notebook, root / "report/recorded/wataoka.html")
        build(TWO)
        yield root


@pytest.fixture(scope="module")
def pages(made):
    """The chapter on its own, and the pages of the book that a reader comes to read."""
    names = ("index", "wataoka", "judges", "outputs")
    book = [made / f"report/recorded/book/{name}.html" for name in names]
    return [made / "report/recorded/wataoka.html", *book]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("chromium")) as found:
        yield found


class Links(HTMLParser):
    """Every address on a page, every id, and every picture's text."""

    def __init__(self, page) -> None:
        super().__init__()
        self.addresses, self.ids, self.alternatives = [], set(), []
        self.feed(page.read_text())

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.addresses += [found[name] for name in ("href", "src") if found.get(name)]
        self.ids.add(found.get("id"))
        self.alternatives += [found.get("alt")] * (tag == "img")


def test_every_link_resolves_file_and_anchor_and_every_picture_has_a_text(pages):
    links = {page: Links(page) for page in pages}
    checked = 0
    for page, found in links.items():
        assert all(found.alternatives), page.name
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


def text_of(page):
    """What a page says, without its markup."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.read_text())).split())


def test_the_book_leads_from_its_first_page_to_figures_captions_and_judges(made):
    folder = made / "report/recorded"
    first = folder / "book/index.html"
    assert "n = 7, 2 dropped; 95% intervals; source: these rows." in text_of(first)
    assert 'href="wataoka.html"' in first.read_text()
    text = (folder / "book/wataoka.html").read_text()
    (shown,) = re.findall(r"<figure.*?</figure>", text, re.DOTALL)
    for part in ('id="wataoka-fig1b-bias"', "Caption =cmd &lt;script&gt;", "fig1b_bias.csv"):
        assert part in shown
    # The code that computes is shown; what only loads is not in the book.
    assert "load()" not in text_of(folder / "book/wataoka.html")
    assert "assert" in text
    judges = (folder / "judges.md").read_text()
    assert "| fair | wataoka | cannot tell |  |  | no votes on its own responses, nor" in judges
    assert "| 0.25 [0.10, 0.95] |" in judges
    assert "| human |" not in judges
    for page in [*folder.rglob("*.html"), folder / "judges.md"]:
        assert "a released text" not in page.read_text()
        assert "fig1a" not in page.read_text()


def test_the_same_inputs_give_the_same_bytes_and_beside_the_book_nothing_is_written(
    made, monkeypatch
):
    def written():
        return {path: path.read_bytes() for path in (made / "report").rglob("*") if path.is_file()}

    monkeypatch.chdir(made)
    before = written()
    build(TWO)
    assert written() == before
    names = {path.name for path in (made / "report/recorded").iterdir()}
    assert names == {"wataoka.ipynb", "wataoka.html", "judges.md", "book"}


def test_a_browser_asks_for_nothing_complains_of_nothing_and_shows_hostile_text_as_text(
    browser, pages
):
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
        text = browser.value("document.body.textContent")
        assert SEEN in text or page.name == "outputs.html", page.name
        assert "&lt;" not in text, page.name
        # What the script would have changed.
        assert browser.value("document.title") != "taken"
        scripts = "[...document.scripts].map((one) => one.textContent)"
        assert not [one for one in browser.value(scripts) if "taken" in one], page.name


def test_without_figures_the_first_page_names_the_remedy_and_a_dead_link_ends_the_build(
    tmp_path, monkeypatch
):
    """A pipeline whose studies are all left out ends well."""
    known(tmp_path, monkeypatch)
    assert "make repro PROFILE=recorded" in text_of(build(PARAMS))
    gallery = Gallery(tmp_path / "figures/recorded/wataoka")
    gallery.table(BIAS, "checks")
    gallery.prune()
    cells = [nbformat.v4.new_markdown_cell("# Title\n\n[gone](gone.ipynb)")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbformat.write(notebook, tmp_path / "report/recorded/wataoka.ipynb")
    with pytest.raises(SelfprefError, match=r"wataoka\.ipynb.*gone\.ipynb"):
        build(PARAMS)


MINUS = "\N{MINUS SIGN}"
BOUNDED = {"a": [0.5, 1.0], "a_lo": [0.2, 0.6], "a_hi": [0.8, 1.0], "few": [False, True]}


@pytest.mark.parametrize(
    ("values", "columns", "rows"),
    [
        # An interval is that of the column before it in the order asked for; a gap is empty.
        (
            {"x": [0.5, None], "x_lo": [0.25, None], "x_hi": [1.0, None], "n": [3, 4]},
            (),
            [["0.50 [0.25, 1.00]", "3"], ["", "4"]],
        ),
        (
            {"r": [0.5, 0.25], "n": [20, 7], "lo": [0.25, None], "hi": [1.0, None]},
            ["r", "lo", "hi", "n"],
            [["0.50 [0.25, 1.00]", "20"], ["0.25", "7"]],
        ),
        # A value of too few pairs is not quoted.
        (
            BOUNDED | {"excess": [0.1, 0.2], "excess_few": [True, None], "n": [40, 6]},
            ["a", "excess", "n"],
            [["0.50 [0.20, 0.80]", "too few", "40"], ["too few", "0.20", "6"]],
        ),
        # Two decimals, a small one three, and no negative zero.
        (
            {"x": [-0.5, 0.0251, 0.04], "x_lo": [-1.5, -0.01, -0.3], "x_hi": [0.2, 0.0631, 0.2]},
            (),
            [
                [f"{MINUS}0.50 [{MINUS}1.50, 0.20]"],
                [f"0.025 [{MINUS}0.010, 0.063]"],
                [f"0.04 [{MINUS}0.30, 0.20]"],
            ],
        ),
        ({"x": [-0.0001, 0.5]}, (), [["0.000"], ["0.50"]]),
    ],
)
def test_a_table_of_a_page_has_intervals_gaps_and_decimals(values, columns, rows):
    table = show.table(pd.DataFrame(values), columns)
    assert table.rows == rows
    assert [head for head, _ in table.heads] == [
        name for name in (columns or values) if not name.endswith(("lo", "hi"))
    ]
