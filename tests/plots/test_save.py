"""The gallery: the same bytes every time, whatever fonts and texts a machine and the data bring."""

import csv
import subprocess
import sys
from xml.etree import ElementTree

import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from selfpref.plots.forest import forest
from selfpref.plots.heatmap import heatmap

from selfpref.plots import save
from selfpref.plots.frame import Look
from selfpref.plots.save import Gallery

TABLE = pd.DataFrame({"judge": ["j", "k", "j"], "eo": [0.4, None, 0.0]})
CELLS = pd.DataFrame(
    {"panel": "j", "human": ["own", "own"], "judge": ["own", "other"], "value": [0.2, 0.8]}
).assign(text="n")


def rows_with_intervals():
    rows = TABLE.assign(value=TABLE["eo"], lo=-0.1, hi=0.5)
    return forest(rows, row="judge", label="bias", looks={"bias": Look("#0072B2")})


def matrix():
    where = {"row": "human", "column": "judge", "panel": "panel", "text": "text"}
    return heatmap(CELLS, **where, limits=(0, 1), label=("judge", "human"))


PICTURES = {"fig.svg", "cells.svg"}
PRINTED = {"fig.pdf", "cells.pdf", "fig.tex"}


@pytest.mark.parametrize(
    ("formats", "beside"), [(["svg"], PICTURES), (["svg", "pdf", "tex"], PICTURES | PRINTED)]
)
def test_the_formats_asked_for_are_the_same_bytes_every_time(tmp_path, formats, beside):
    for name in ("one", "two"):
        gallery = Gallery(tmp_path / name, formats)
        gallery.figure(rows_with_intervals(), "fig", "a caption")
        gallery.figure(matrix(), "cells", "a caption")
        gallery.table(TABLE, "fig")
        gallery.prune()
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("one", "two"))
    assert one == two
    assert set(one) == {"fig.csv", "gallery.json"} | beside


OTHER_FONTS = """
import shutil, sys
from pathlib import Path
from matplotlib import font_manager, get_data_path
own = Path(get_data_path(), "fonts/ttf/DejaVuSans.ttf")
theirs = Path(shutil.copy(own, sys.argv[1]))
font_manager.fontManager.ttflist = []
font_manager.fontManager.addfont(theirs)
from selfpref.plots.save import drawing
found = lambda name: Path(font_manager.findfont(name))
before = found("DejaVu Sans")
with drawing():
    styles = ("DejaVu Sans", "DejaVu Sans:bold", "DejaVu Sans:italic", "STIXGeneral")
    print(all(found(name).parent == own.parent for name in styles))
print(before == found("DejaVu Sans") == theirs)
"""


def test_pictures_do_not_depend_on_the_fonts_of_the_machine_and_leave_them_alone(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", OTHER_FONTS, str(tmp_path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "True\nTrue\n"


def test_prune_removes_what_this_run_did_not_write(tmp_path):
    (tmp_path / "former.svg").touch()
    for formats in (["svg", "pdf", "tex"], ["svg"]):
        gallery = Gallery(tmp_path, formats)
        gallery.table(TABLE, "fig")
        gallery.figure(rows_with_intervals(), "fig", "a caption")
        gallery.prune()
    left = ["fig.csv", "fig.svg", "gallery.json"]
    assert sorted(p.name for p in tmp_path.iterdir()) == left


def test_a_picture_of_another_outputs_numbers_has_no_table(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(save, "display", lambda shown, **_: told.append(shown))
    gallery = Gallery(tmp_path)
    gallery.add("tasks", rows_with_intervals(), None, "a caption")
    gallery.add("empty", None, None, "no rows.")
    gallery.prune()
    assert {path.name for path in tmp_path.iterdir()} == {"tasks.svg", "gallery.json"}
    assert told[-1].data == "Not drawn: no rows."


def test_missing_values_are_empty_cells_and_a_carriage_return_ends_no_row(tmp_path):
    gallery = Gallery(tmp_path, ["svg", "tex"])
    gallery.table(TABLE, "fig")
    gallery.table(pd.DataFrame({"text": ["a\rb\r\nc"], "n": [1]}), "t")
    assert (tmp_path / "fig.csv").read_text() == "judge,eo\nj,0.4\nk,\nj,0\n"
    rows = r"j & 0.400 \\", r"k &  \\", r"j & 0.000 \\"
    assert "\n".join(rows) in (tmp_path / "fig.tex").read_text()
    assert (tmp_path / "t.csv").read_bytes() == b'text,n\n"a\nb\nc",1\n'


def test_texts_of_data_are_shown_literally(tmp_path):
    """Neither a formula that cannot be set, nor a character that no XML may hold."""
    said = "$x_{$ \x00\x1b[31m </text><script>alert(1)</script> --> \ufffe"
    figure = Figure()
    figure.text(0, 0.5, said)
    figure.subplots().set_yticks([0, 1], ["$\\frac{$", "$a$"])
    told = said.replace("\x00", "").replace("\x1b", "")[:-1]
    Gallery(tmp_path).figure(figure, "fig", f"n = 4 & no more {told}")
    picture = (tmp_path / "fig.svg").read_text()
    ElementTree.fromstring(picture)
    # The caption travels inside the picture.
    assert "n = 4 &amp; no more" in picture
    assert "<script>" not in picture
    assert "$a$" in [text.get_text() for text in figure.findobj(Text)]


def test_a_text_that_a_spreadsheet_would_run_is_quoted(tmp_path):
    begins = ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(1)", "\t=1"]
    frame = pd.DataFrame({"text": [*begins, None, "a=b"], "number": [-1.5, *[2.0] * 5, None]})
    Gallery(tmp_path).table(frame, "t")
    with open(tmp_path / "t.csv", newline="") as handle:
        texts, numbers = zip(*csv.reader(handle), strict=True)
    assert texts == ("text", *(f"'{begin}" for begin in begins), "", "a=b")
    assert numbers == ("number", "-1.5", *["2"] * 5, "")
