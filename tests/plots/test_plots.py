"""Pictures: where a mark stands, what is hollow; the same bytes, whatever machine and data are."""

import csv
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
from matplotlib import font_manager, get_data_path
from matplotlib.figure import Figure
from matplotlib.text import Text

from selfpref.plots import marks, save
from selfpref.plots.marks import Look, forest, lines
from selfpref.plots.save import Gallery

LOOKS = {"a": Look("#0072B2"), "b": Look("#D55E00", "D")}
ROWS = pd.DataFrame({"judge": [*"jjkk"], "series": [*"abab"], "value": [0.1, 0.2, 0.3, None]})
ROWS = ROWS.assign(lo=ROWS["value"] - 0.1, hi=0.4, hollow=[False, True, False, False], set="s")


def test_marks_stand_side_by_side_hollow_ones_are_white_inside_and_the_legend_says_why():
    # One group alone needs no heading, a series without a value no mark.
    rows, known = pd.concat([ROWS, ROWS[3:].assign(series="c")]), LOOKS | {"c": LOOKS["a"]}
    figure = forest(rows, row="judge", group="set", label="bias", looks=known, hollow="few pairs")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "hollow: few pairs"]
    drawn = [line for line in figure.axes[0].lines if line.get_marker() in ("o", "D")]
    places = [line.get_xydata().round(2).tolist() for line in (drawn[0], drawn[2])]
    # The only mark of its row stands in the middle.
    shift = round(marks.STEP / (2 * marks.AIR + marks.STEP) / 2, 2)
    assert places == [[[0.1, -shift], [0.3, 1.0]], [[0.2, shift]]]
    # Then those of the legend.
    faces = [line.get_markerfacecolor() for line in drawn]
    assert faces == [LOOKS["a"].color, LOOKS["b"].color, "white"] * 2
    # The names of rows take of a title's width, not those of groups.
    rows = ROWS.assign(set=["s", "s", *["t" * 70] * 2], of="the title of a panel, in one line")
    figure = forest(rows, row="judge", group="set", panel="of", label="bias", looks=LOOKS)
    assert figure.axes[0].get_title(loc="left") == rows["of"][0]


def test_a_line_leaves_hollow_steps_out_and_categories_stand_at_even_distances():
    sizes = pd.Categorical(["0", "500", "2"], categories=["0", "2", "500"], ordered=True)
    rows = pd.DataFrame({"size": sizes, "series": "a", "value": [0.1, 0.3, 0.5]})
    rows["hollow"] = [False, False, True]
    figure = lines(rows, x="size", label=("examples", ""), looks=LOOKS, hollow="flawed")
    joined, _, beside = figure.axes[0].lines[:3]
    assert joined.get_xydata().tolist() == [[0, 0.1], [2, 0.3]]
    assert beside.get_xydata().tolist() == [[1, 0.5]]
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["0", "2", "500"]


def test_outputs_are_the_same_bytes_every_time_and_all_that_is_left(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(save, "display", lambda shown, **_: told.append(shown))
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "former.svg").touch()
        gallery = Gallery(tmp_path / name, ["svg", "pdf", "tex"])
        gallery.add("f", forest(ROWS, row="judge", label="bias"), ROWS, "a caption")
        gallery.add("empty", None, None, "no rows.")
        gallery.prune()
    assert told[-1].data == "Not drawn: no rows."
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("one", "two"))
    assert one == two
    assert set(one) == {"f.csv", "f.pdf", "f.svg", "f.tex"}
    # A table without a column is none.
    (tmp_path / "one/bare.csv").write_text("\n")
    assert set(save.tables(tmp_path / "one")) == {"f"}


def test_a_picture_with_intervals_says_what_they_cover(tmp_path):
    """Under the label that its panels have in common, or the last panel's; no other does."""
    gallery = Gallery(tmp_path, level=0.9)
    pictures = [
        forest(rows, row="judge", label="bias")
        for rows in (ROWS, ROWS, ROWS.drop(columns=["lo", "hi"]))
    ]
    pictures[1].supxlabel("")
    pictures[1].axes[0].set_xlabel("points")
    for picture in pictures:
        gallery.figure(picture, "f", "a caption")
    covered = "\n(90% intervals)"
    assert [one.get_supxlabel() for one in pictures] == ["bias" + covered, "", "bias"]
    assert [one.axes[0].get_xlabel() for one in pictures] == ["", "points" + covered, ""]


def test_pictures_do_not_depend_on_the_fonts_of_the_machine(tmp_path):
    own = Path(get_data_path(), "fonts/ttf/DejaVuSans.ttf")
    font_manager.fontManager.ttflist = []
    font_manager.fontManager.addfont(shutil.copy(own, tmp_path))
    Gallery(tmp_path)
    assert font_manager.findfont("DejaVu Sans") == str(own)


def test_cells_are_what_a_spreadsheet_neither_runs_nor_breaks(tmp_path):
    begins = ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(1)", "\t=1"]
    texts = [*begins, None, "a=b", "a\rb\r\nc"]
    table = pd.DataFrame({"text": texts, "number": [-1.5, *[2.0] * 6, None]})
    Gallery(tmp_path, ["tex"]).table(table, "t")
    with open(tmp_path / "t.csv", newline="") as handle:
        texts, numbers = zip(*csv.reader(handle), strict=True)
    assert texts == ("text", *(f"'{begin}" for begin in begins), "", "a=b", "a\nb\nc")
    assert numbers == ("number", "-1.5", *["2"] * 6, "")
    assert r"a=b & 2.000 \\" in (tmp_path / "t.tex").read_text()


def test_texts_of_data_are_shown_literally(tmp_path):
    """Neither a formula that cannot be set, nor a character that no XML may hold."""
    said = "$x_{$ \x00\x1b[31m </text><script>alert(1)</script> --> \ufffe"
    figure = Figure()
    figure.text(0, 0.5, said)
    figure.subplots().set_yticks([0, 1], ["$\\frac{$", "$a$"])
    Gallery(tmp_path).figure(figure, "fig", f"n = 4 & no more {said}")
    picture = (tmp_path / "fig.svg").read_text()
    ElementTree.fromstring(picture)
    # The caption travels inside the picture.
    assert "n = 4 &amp; no more" in picture
    assert "<script>" not in picture
    assert "$a$" in [text.get_text() for text in figure.findobj(Text)]
