"""Pictures and printed tables: same bytes every time, "no data" where nothing is left."""

import csv
import itertools
import subprocess
import sys
from functools import partial
from xml.etree import ElementTree

import pandas as pd
import pytest
from matplotlib.figure import Figure

from selfpref.plots.save import Gallery, printed
from selfpref.studies.wataoka import draw as wataoka
from selfpref.studies.wataoka.draw import by_perplexity as leaning
from selfpref.studies.wataoka.draw import captions

BIAS = pd.DataFrame(
    {
        "dataset": ["set", "set", "other"],
        "judge": ["j", "k", "j"],
        "n": [10, 0, 4],
        "tp": [4, 0, 1],
        "fn": [1, 0, 1],
        "fp": [3, 0, 1],
        "tn": [2, 0, 1],
        "eo": [0.4, None, 0.0],
        "eo_lo": [0.1, None, -0.5],
        "eo_hi": [0.6, None, 0.5],
        "dp": [0.4, None, 0.0],
        "dp_lo": [0.1, None, -0.5],
        "dp_hi": [0.6, None, 0.5],
        "excess": [0.1, None, None],
        "excess_lo": [0.0, None, None],
        "excess_hi": [0.2, None, None],
        "n_dropped": [2, 12, 0],
    }
)
PAPER = (
    BIAS.drop(columns=["excess", "excess_lo", "excess_hi", "n_dropped"])
    .iloc[[0]]
    .assign(dataset="chatbot-arena")
)
POSITION = pd.DataFrame(
    {"dataset": "set", "judge": "j", "pairs": ["all", "own"], "n_decided": 4, "n_both": 2}
).assign(
    **{
        f"{rate}{bound}": 0.5
        for rate in ("first_share", "flip_rate", "reversal_rate")
        for bound in ("", "_lo", "_hi")
    }
)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


def test_a_figure_is_the_same_bytes_every_time(tmp_path):
    for name in ("one", "two"):
        gallery = Gallery(tmp_path / name)
        gallery.figure(wataoka.bias(BIAS, PAPER), "fig", "a caption")
        gallery.figure(wataoka.confusion(BIAS, PAPER), "cells", "a caption")
        gallery.table(BIAS, "fig")
        gallery.prune()
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("one", "two"))
    assert one == two
    assert set(one) == {
        "fig.svg",
        "fig.pdf",
        "fig.csv",
        "fig.md",
        "fig.tex",
        "cells.svg",
        "cells.pdf",
    }


OTHER_FONTS = """
import shutil, sys
from pathlib import Path
from matplotlib import font_manager, get_data_path
own = Path(get_data_path(), "fonts/ttf/DejaVuSans.ttf")
font_manager.fontManager.ttflist = []
font_manager.fontManager.addfont(shutil.copy(own, sys.argv[1]))
from selfpref.plots import save
styles = ("DejaVu Sans", "DejaVu Sans:bold", "DejaVu Sans:italic", "STIXGeneral")
print(all(Path(font_manager.findfont(name)).parent == own.parent for name in styles))
"""


def test_pictures_do_not_depend_on_the_fonts_of_the_machine(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", OTHER_FONTS, str(tmp_path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "True\n"


def test_the_caption_travels_inside_the_picture(tmp_path):
    Gallery(tmp_path).figure(wataoka.position(POSITION), "position", "n = 4 & no more")
    assert "n = 4 &amp; no more" in (tmp_path / "position.svg").read_text()


def test_prune_removes_what_this_run_did_not_write(tmp_path):
    (tmp_path / "former.svg").touch()
    gallery = Gallery(tmp_path)
    gallery.table(BIAS, "fig")
    gallery.prune()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fig.csv", "fig.md", "fig.tex"]


def test_missing_values_are_empty_cells(tmp_path):
    Gallery(tmp_path).table(BIAS[["judge", "eo"]], "fig")
    assert (tmp_path / "fig.csv").read_text() == "judge,eo\nj,0.4\nk,\nj,0\n"
    assert printed(BIAS)["eo"].tolist() == ["0.400", "", "0.000"]


def test_a_bar_and_a_line_break_do_not_end_a_markdown_cell(tmp_path):
    Gallery(tmp_path).table(pd.DataFrame({"text": ["a|b\nc"]}), "t")
    assert (tmp_path / "t.md").read_text().splitlines()[-1].count(" | ") == 0
    assert "a\\|b c" in (tmp_path / "t.md").read_text()


def test_texts_of_data_are_shown_literally(tmp_path):
    """Neither a formula that cannot be set, nor a character that no XML may hold."""
    said = "$x_{$ \x00\x1b[31m </text><script>alert(1)</script> --> \ufffe"
    figure = Figure()
    figure.text(0, 0.5, said)
    figure.subplots().set_yticks([0, 1], ["$\\frac{$", "$a$"])
    Gallery(tmp_path).figure(figure, "fig", said.replace("\x00", "").replace("\x1b", "")[:-1])
    picture = (tmp_path / "fig.svg").read_text()
    ElementTree.fromstring(picture)
    assert "<script>" not in picture
    assert "$a$" in texts(figure)


@pytest.mark.parametrize("begin", ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(1)", "\t=1"])
def test_a_text_that_a_spreadsheet_would_run_is_quoted(tmp_path, begin):
    frame = pd.DataFrame({"text": [begin, None, "a=b"], "number": [-1.5, 2.0, None]})
    Gallery(tmp_path).table(frame, "t")
    with open(tmp_path / "t.csv", newline="") as handle:
        rows = list(csv.reader(handle))
    assert rows == [["text", "number"], [f"'{begin}", "-1.5"], ["", "2"], ["a=b", ""]]


def test_a_carriage_return_ends_no_row(tmp_path):
    Gallery(tmp_path).table(pd.DataFrame({"text": ["a\rb\r\nc"], "n": [1]}), "t")
    assert (tmp_path / "t.csv").read_bytes() == b'text,n\n"a\nb\nc",1\n'


def test_markdown_holds_no_html(tmp_path):
    Gallery(tmp_path).table(pd.DataFrame({"text": ["<script>alert(1)</script> & more"]}), "t")
    assert "| &lt;script&gt;alert(1)&lt;/script&gt; &amp; more |" in (tmp_path / "t.md").read_text()


@pytest.mark.parametrize("draw", [wataoka.bias, wataoka.confusion])
def test_no_pairs_left_says_no_data_with_the_counts(draw):
    empty = BIAS.assign(n=0, tp=0, fn=0, fp=0, tn=0, eo=None, n_dropped=[5, 6, 7])
    shown = texts(draw(empty, PAPER))
    assert "no data" in shown
    assert any("18 labelled own pairs" in text for text in shown)


@pytest.mark.parametrize(
    "draw",
    [
        *(wataoka.by_opponent, wataoka.position, wataoka.example, wataoka.demographic_parity),
        *(leaning.slopes, leaning.log_perplexity, leaning.planted_vs_measured),
        partial(leaning.perplexity_vs_human, scale="perplexity"),
        partial(leaning.own_vs_other, scale="perplexity"),
    ],
)
def test_an_empty_frame_says_no_data(draw):
    assert "no data" in texts(draw(pd.DataFrame()))


def test_judges_without_a_measured_bias_say_no_data():
    marks = ("planted", "measured", "measured_lo", "measured_hi", "oracle_rule")
    assert "no data" in texts(leaning.planted_vs_measured(pd.DataFrame(float("nan"), [0], marks)))


@pytest.mark.parametrize(
    "tell",
    [
        *(captions.example, captions.excess_signs, captions.by_opponent, captions.position),
        *(captions.demographic_parity, partial(captions.perplexity, params=None)),
    ],
)
def test_an_empty_frame_has_a_caption(tell):
    assert tell(pd.DataFrame()).endswith(".")


def test_captions_count_what_they_show():
    told = captions.confusion(BIAS)
    assert "set: 10 pairs of 2 judges, 14 dropped" in told
    assert "other: 4 pairs of j, 0 dropped" in told


def test_no_labels_overlap():
    """Row labels of a figure with many judges stay apart."""
    many = pd.concat(
        [BIAS.iloc[[0]].assign(judge=f"a-judge-with-a-long-name-{n}") for n in range(20)]
    )
    figure = wataoka.bias(many, PAPER)
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for axes in figure.axes for label in axes.get_yticklabels()]
    for upper, lower in itertools.pairwise(boxes):
        assert upper.y0 >= lower.y1 or lower.y0 >= upper.y1
