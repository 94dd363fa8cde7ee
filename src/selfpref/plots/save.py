"""Save pictures and tables as the same bytes on every run.

A picture goes out as SVG without dates, its caption inside the file as a description, a table as
CSV. For a paper, PDF and LaTeX (rounded) stand beside them on request.
"""

import io
import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import Markdown, display
from matplotlib import font_manager, get_data_path, style
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from selfpref.files import atomic, write_text
from selfpref.plots.frame import STYLE
from selfpref.say import SENTENCES
from selfpref.texts import visible

# Dots an inch of the pictures that executed notebooks hold.
PREVIEW = 130
# What a notebook made: its outputs in their order.
MANIFEST = "gallery.json"
# A spreadsheet takes a cell that begins with one of these for a formula.
FORMULA = ("=", "+", "-", "@", "\t")


@contextmanager
def drawing() -> Iterator[None]:
    """The project's style, and Matplotlib's own fonts instead of the machine's.

    A machine's DejaVu numbers its glyphs differently, and the list of fonts in the user's cache may
    lead to it.
    """
    fonts, own = font_manager.fontManager, _own_fonts()
    theirs = fonts.ttflist
    # `addfont` forgets which files were found for which names.
    fonts.ttflist = list(own)
    fonts.addfont(own[0].fname)
    try:
        with style.context(STYLE):
            yield
    finally:
        fonts.addfont(own[0].fname)
        fonts.ttflist = theirs


@cache
def _own_fonts() -> tuple[font_manager.FontEntry, ...]:
    """The fonts that come with Matplotlib."""
    fonts = font_manager.fontManager
    theirs, fonts.ttflist = fonts.ttflist, []
    for path in sorted(Path(get_data_path(), "fonts", "ttf").glob("*.ttf")):
        fonts.addfont(path)
    own, fonts.ttflist = tuple(fonts.ttflist), theirs
    return own


def _show_literally(figure: Figure) -> None:
    """Texts that come from data are shown as they are: no formulas, nothing that no one can see."""
    for text in figure.findobj(Text):
        if isinstance(text, Text) and (said := text.get_text()):
            text.set_text(visible(said))
            text.set_parse_math(False)


def _settle(figure: Figure) -> None:
    """Fix the layout on a grid of a millionth of the figure.

    The solver behind matplotlib's constrained layout orders its variables by memory address, so
    that the last bits of a position, and with them the names of clip paths, differ from run to run.
    """
    engine = figure.get_layout_engine()
    if engine is not None and figure.axes:
        engine.execute(figure)
    # Not `none`: with an engine that does nothing every format would be drawn twice.
    figure.set_layout_engine(None)
    for axes in figure.axes:
        left, bottom, width, height = (round(edge, 6) for edge in axes.get_position().bounds)
        axes.set_position((left, bottom, width, height))


def _preview(figure: Figure) -> bytes:
    """The picture as a small PNG, which a notebook can hold: an SVG is six times its size."""
    drawn, small = io.BytesIO(), io.BytesIO()
    with drawing():
        figure.savefig(drawn, format="rgba", dpi=PREVIEW)
    width, height = (int(edge * PREVIEW) for edge in figure.get_size_inches())
    whole = Image.frombytes("RGBA", (width, height), drawn.getvalue())
    coverage, none = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
    colours = whole.convert("RGB").quantize(256, method=coverage, dither=none)
    colours.save(small, format="PNG")
    return small.getvalue()


class Gallery:
    """The folder of one study's pictures and tables, which its chapter fills.

    Args:
        folder: Where they go.
        formats: With `pdf` every picture, with `tex` every table is written in that format too.
    """

    def __init__(self, folder: Path, formats: Collection[str] = ("svg",)) -> None:
        self.folder, self.formats = folder, formats
        self._made: dict[str, dict[str, Any]] = {}

    def _path(self, name: str, kind: str) -> Path:
        """Where an output goes, which is one of this run's from now on."""
        one = self._made.setdefault(name, {"name": name, "caption": None, "formats": []})
        one["formats"] = sorted({kind, *one["formats"]})
        return self.folder / f"{name}.{kind}"

    def figure(self, figure: Figure, name: str, caption: str) -> None:
        """Write `name`.svg, the caption inside as a description.

        Args:
            figure: The picture.
            name: Its file name without ending.
            caption: What it shows, from which data, with n and what was dropped.
        """
        caption = visible(caption)
        _show_literally(figure)
        fields = {"Title": name, "Description": caption, "Date": None}
        drawn = io.StringIO()
        with drawing():
            _settle(figure)
            figure.savefig(drawn, format="svg", metadata=fields)
            # Labels of ticks are made while it is drawn, and a control character breaks the file.
            write_text(self._path(name, "svg"), visible(drawn.getvalue()))
            self._made[name]["caption"] = caption
            if "pdf" in self.formats:
                fields = {"Title": name, "Subject": caption, "CreationDate": None, "ModDate": None}
                with atomic(self._path(name, "pdf")) as scratch:
                    figure.savefig(scratch, format="pdf", metadata=fields)

    def table(self, frame: pd.DataFrame, name: str) -> None:
        """Write `name`.csv; missing is an empty cell.

        In the CSV an apostrophe stands before a text that a spreadsheet would take for a formula,
        and lines end in one way.

        Args:
            frame: The table.
            name: Its file name without ending.
        """
        inert = frame.apply(_inert)
        text = inert.to_csv(index=False, float_format="%.10g", lineterminator="\n")
        write_text(self._path(name, "csv"), text)
        if "tex" in self.formats:
            text = frame.to_latex(index=False, escape=True, float_format="%.3f", na_rep="")
            write_text(self._path(name, "tex"), text)

    def add(
        self, name: str, figure: Figure | None, table: pd.DataFrame | None, caption: str
    ) -> None:
        """Write a picture and the numbers it draws, and show both picture and caption.

        Args:
            name: Their file name without ending.
            figure: The picture; where there is none, its table is written and the caption shown.
            table: The plotted numbers; None where another output holds them.
            caption: As in `figure`.
        """
        if table is not None:
            self.table(table, name)
        if figure is None:
            # A section that shows nothing else is left out (`selfpref.report.sections`).
            display(Markdown(f"Not drawn: {caption}"), metadata={"drawn": False})
            return
        self.figure(figure, name, caption)
        place = "/".join((*self.folder.parts[-2:], name))
        display(
            {"image/png": _preview(figure), "text/plain": f"figures/{place}.svg"},
            metadata={"figure": place, "image/png": {"alt": caption}},
            raw=True,
        )
        display(Markdown(caption))

    def prune(self) -> None:
        """List what was made here, and remove what no notebook makes any longer. Call it last.

        `gallery.json` holds the notebook's outputs in their order: name, caption (null where
        there is no picture) and the endings of its files.
        """
        made = [*self._made.values()]
        text = json.dumps(made, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        write_text(self.folder / MANIFEST, text)
        kept = {SENTENCES, MANIFEST}
        kept |= {f"{one['name']}.{kind}" for one in made for kind in one["formats"]}
        for path in self.folder.iterdir():
            if path.name not in kept:
                path.unlink()


def listed(folder: Path) -> list[dict[str, Any]]:
    """What the chapter made in a folder, as `Gallery.prune` lists it; nothing without a chapter."""
    path = folder / MANIFEST
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []


def _inert(column: pd.Series) -> pd.Series:
    """Texts of a column as cells that no reader of CSV misunderstands."""

    def cell(value: object) -> object:
        if not isinstance(value, str):
            return value
        # The csv module leaves a lone carriage return unquoted, which ends a row.
        lines = value.replace("\r\n", "\n").replace("\r", "\n")
        return f"'{lines}" if lines.startswith(FORMULA) else lines

    return column.map(cell) if column.dtype.kind == "O" else column
