"""The report as a reader's browser sees it: every link, every picture, no network, no script."""

import base64
import io
import json
import re
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import nbformat
import numpy as np
import pandas as pd
import pytest
from browser import chromium
from conftest import REPOSITORY
from matplotlib import pyplot as plt
from matplotlib.image import imread
from PIL import Image

from selfpref.params import load
from selfpref.plots import show
from selfpref.plots.save import Gallery
from selfpref.report import chapter, gather
from selfpref.report.build import build

# The bell has no glyph.
pytestmark = pytest.mark.filterwarnings("ignore:Glyph")
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
NOTEBOOK = [
    ("markdown", "# Whom do they favour?\n\nA chapter on *a paper*.\n\nThe question."),
    ("code", 'data["bias_by"]\ngallery.table(x, "checks")\ngallery.add("fig1b_bias", a, b, c)'),
    ("markdown", "## What is not reproduced, and why\n\n- **Everything** else."),
]


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
        nbformat.v4.new_output("display_data", {"text/html": BIAS.to_html()}),
        nbformat.v4.new_output("stream", text=HOSTILE),
    ]
    cells = [nbformat.v4.new_markdown_cell(NOTEBOOK[0][1], id="0")]
    cells.append(nbformat.v4.new_code_cell("show()", outputs=outputs, id="1"))
    return nbformat.v4.new_notebook(cells=cells)


def params_of(root):
    """The parameters with a study that the report knows nothing of."""
    return load(root / "params.yaml").model_copy(update={"studies": ["wataoka", "novel"]})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A repository with small outputs of one known and one unknown study, and its report."""
    root = tmp_path_factory.mktemp("made")
    (root / "dvc.yaml").touch()
    shutil.copy(REPOSITORY / "profiles/recorded.yaml", root / "params.yaml")
    (root / "notebooks").mkdir()
    cells = [{"cell_type": kind, "source": [source]} for kind, source in NOTEBOOK]
    (root / "notebooks/wataoka.ipynb").write_text(json.dumps({"cells": cells}))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        known = Gallery(root / "figures/recorded/wataoka")
        figure, axes = plt.subplots()
        axes.plot([0, 1], [1, 0])
        axes.set_title(HOSTILE)
        axes.set_xticks([0, 1], [HOSTILE, "-->"])
        known.add("fig1b_bias", figure, BIAS, CAPTION + HOSTILE)
        known.table(BIAS.head(0), "empty")
        known.table(pd.DataFrame({"secret": ["a released text"]}), "fig1a_example")
        new = Gallery(root / "figures/recorded/novel")
        tried = BIAS.rename(columns={"eo": "weight"})
        new.add("tried", figure, tried[["judge", "weight"]], "A new table.")
        new.table(tried, "weights")
        plt.close(figure)
        asked = root / "data/recorded/metrics/wataoka/asked.parquet"
        asked.parent.mkdir(parents=True)
        pd.DataFrame(
            {
                "judge": ["fair", "fair", HOSTILE, "human"],
                "table": "verdicts",
                "task": "preference",
                "status": ["ok", "refused", "ok", "ok"],
                "n": [2, 1, 1, 1],
            }
        ).to_parquet(asked)
        page = root / "report/recorded/wataoka.html"
        page.parent.mkdir(parents=True)
        picture = io.BytesIO()
        Image.new("RGB", (4, 4)).save(picture, "PNG")
        preview = base64.b64encode(picture.getvalue()).decode()
        chapter.write(executed("recorded/wataoka/fig1b_bias", preview), page)
        build(params_of(root))
        yield root


@pytest.fixture(scope="module")
def pages(made):
    found = sorted((made / "report/recorded").rglob("*.html"))
    # The index, the chapter, and a card for each of both judges.
    assert len(found) == 4
    return found


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


def test_the_index_tells_what_each_study_found(made):
    text = (made / "report/recorded/index.html").read_text()
    assert "Whom do they favour?" in text
    assert "n = 7, 2 dropped; 95% intervals; source: these rows." in text
    assert 'href="wataoka.html#fig1b_bias"' in text
    assert re.search(r"Published beside recomputed</h2>.*0\.250 \[0\.100, 0\.950\]", text, re.S)
    assert "<strong>Everything</strong> else." in text
    assert str(load(made / "params.yaml").seed) in text
    # Released texts stay off pages that are in git.
    assert "a released text" not in text
    assert "fig1a" not in text


def test_a_study_that_the_report_does_not_know_stands_in_it(made):
    folder = made / "report/recorded"
    assert 'id="novel-tried"' in (folder / "index.html").read_text()
    card = (folder / "judges/fair.html").read_text()
    assert 'href="../index.html#novel-weights"' in card
    # What the picture draws is told already.
    assert "#novel-tried" not in card


def test_a_card_counts_what_was_asked_by_status(made):
    text = (made / "report/recorded/judges/fair.html").read_text()
    asked = text[text.index("Asked, and what came of it") :]
    assert re.search(r">ok</td><td[^>]*>2</td>", asked)
    assert re.search(r">refused</td><td[^>]*>1</td>", asked)
    assert not (made / "report/recorded/judges/human.html").exists()


def test_the_same_inputs_give_the_same_bytes(made, monkeypatch):
    def digest():
        return {path: path.read_bytes() for path in (made / "report").rglob("*.html")}

    monkeypatch.chdir(made)
    before = digest()
    build(params_of(made))
    assert digest() == before


def test_no_request_leaves_the_machine_and_nothing_complains(browser, pages):
    for page in pages:
        browser.open(page)
        # Pictures further down load as the reader comes to them.
        browser.value("for (const one of document.images) one.loading = 'eager'")
        drawn = browser.value(
            "Promise.all([...document.images].map((one) => one.decode())).then((all) => all.length)"
        )
        assert drawn == len(Links(page.read_text()).alternatives)
        addresses = browser.value("performance.getEntriesByType('resource').map((one) => one.name)")
        for address in (*browser.requests, *addresses):
            assert urlsplit(address).scheme in ("file", "data"), (page.name, address)
        assert not browser.complaints, page.name


def test_hostile_text_is_shown_as_text(browser, made):
    folder = made / "report/recorded"
    hostile = next(page for page in (folder / "judges").iterdir() if page.name != "fair.html")
    for page in (folder / "index.html", folder / "wataoka.html", hostile):
        browser.open(page)
        told = browser.value("document.body.textContent")
        assert SEEN in told, page.name
        assert "&lt;" not in told
        # The page's own, and none of a model's; title: what the script would have changed.
        assert browser.value("document.scripts.length") == 1
        assert browser.value("document.title") != "taken"
    assert browser.value("document.querySelector('h1').textContent") == SEEN
    # Its rows are found, though the table for spreadsheets quotes its name.
    assert "Bias, with its controls" in hostile.read_text()


def test_tables_sort_and_filter(browser, made):
    browser.open(made / "report/recorded/index.html")
    browser.value("for (const one of document.querySelectorAll('details')) one.open = true")
    browser.value("var table = document.querySelector('#wataoka-fig1b_bias table'); 0")

    def column(number):
        shown = "[...table.tBodies[0].rows].filter((row) => row.offsetHeight)"
        return browser.value(f"{shown}.map((row) => row.cells[{number}].textContent)")

    browser.value("table.tHead.rows[0].cells[2].firstElementChild.click()")
    assert column(2) == ["5", "7", *map(str, range(9, 17))]
    browser.value("table.tHead.rows[0].cells[3].firstElementChild.click()")
    assert [text[:6] for text in column(3)][:3] == ["-0.500", "0.100 ", "0.250 "]
    browser.value("table.tHead.rows[0].cells[3].firstElementChild.click()")
    # What is missing comes last in either direction.
    assert column(3)[0].startswith("0.900")
    assert column(3)[-1] == ""
    browser.value(
        "var filter = table.closest('.scroll').previousElementSibling; filter.value = 'J3 d';"
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


def test_without_figures_the_index_names_the_remedy(tmp_path, monkeypatch):
    """A pipeline whose studies are all left out ends well."""
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    index = build(load(REPOSITORY / "profiles/recorded.yaml"))
    assert "make repro PROFILE=recorded" in index.read_text()


def test_an_interval_is_one_cell_and_a_gap_is_empty():
    frame = pd.DataFrame({"x": [0.5, None], "x_lo": [0.25, None], "x_hi": [1.0, None], "n": [3, 4]})
    table = show.table(frame)
    assert [head for head, _ in table.heads] == ["x", "n"]
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["0.500 [0.250, 1.000]", "3"],
        ["", "4"],
    ]


def test_a_value_of_too_few_pairs_is_not_quoted():
    bounded = {"eo": [0.5, 1.0], "eo_lo": [0.2, 0.6], "eo_hi": [0.8, 1.0], "few": [False, True]}
    own = {"excess": [0.1, 0.2], "excess_few": [True, None], "n": [40, 6]}
    rows = show.table(pd.DataFrame(bounded | own), ["eo", "excess", "n"]).rows
    assert [[cell.text for cell in row] for row in rows] == [
        ["0.500 [0.200, 0.800]", "too few", "40"],
        ["too few", "0.200", "6"],
    ]


def test_a_small_negative_number_is_no_negative_zero():
    (row, _) = show.table(pd.DataFrame({"x": [-0.0001, 0.5]})).rows
    assert (row[0].text, row[0].value) == ("0.000", "-0.0001")


def test_outputs_stand_in_the_order_of_the_chapter(tmp_path, monkeypatch):
    """Names that a loop makes count by their f-string; a key of a mapping does not count."""
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    code = (
        'data["a_last"]\ngallery.figure(data["x"], "b_first")\nfor x in y:\n'
        '    gallery.add(f"by_{x}", z)\ngallery.add("a_last", z)'
    )
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/s.ipynb").write_text(
        json.dumps({"cells": [{"cell_type": "code", "source": [code]}]})
    )
    folder = tmp_path / "figures/lab/s"
    folder.mkdir(parents=True)
    for name in ("a_last", "b_first", "by_two", "by_one"):
        (folder / f"{name}.svg").write_text("<svg/>")
    (study,) = gather.studies("lab", ["s"])
    assert [output.name for output in study.figures] == ["b_first", "by_one", "by_two", "a_last"]
    assert [output.shown for output in study.figures] == [False, True, True, True]
