"""Save pictures and tables as the same bytes on every run.

A picture goes out as SVG and PDF without dates, its caption inside the file as a description; a
table as CSV (full precision for programs) and, where a reader would read it, as Markdown and LaTeX
(rounded).
"""

import gc
import html
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from IPython.display import Markdown, display
from matplotlib import font_manager, get_data_path, style
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from selfpref.files import atomic
from selfpref.plots.frame import STYLE
from selfpref.texts import visible

# Dots an inch of the pictures that executed notebooks hold.
PREVIEW = 130
# What a folder's notebooks made, for the book.
# What a notebook made: its outputs in their order.
MANIFEST = "gallery-{}.json"
# Rows of the longest table that a page or a paper would print.
PRINTED = 100
# A spreadsheet takes a cell that begins with one of these for a formula.
FORMULA = ("=", "+", "-", "@", "\t")


@contextmanager
def drawing() -> Iterator[None]:
    """The project's style, and Matplotlib's own fonts instead of the machine's.

    A machine's DejaVu numbers its glyphs differently, and the list of fonts in the user's cache may
    lead to it. Garbage is collected afterwards: cutting a font down for a PDF makes hundreds of
    thousands of objects, and to go through them again and again takes 7 % of a chapter's time.
    """
    fonts, own = font_manager.fontManager, _own_fonts()
    theirs, collecting = fonts.ttflist, gc.isenabled()
    gc.disable()
    # `addfont` forgets which files were found for which names.
    fonts.ttflist = list(own)
    fonts.addfont(own[0].fname)
    try:
        with style.context(STYLE):
            yield
    finally:
        fonts.addfont(own[0].fname)
        fonts.ttflist = theirs
        if collecting:
            gc.enable()


@cache
def _own_fonts() -> tuple[font_manager.FontEntry, ...]:
    """The fonts that come with Matplotlib."""
    fonts = font_manager.fontManager
    theirs, fonts.ttflist = fonts.ttflist, []
    for path in sorted(Path(get_data_path(), "fonts", "ttf").glob("*.ttf")):
        fonts.addfont(path)
    own, fonts.ttflist = tuple(fonts.ttflist), theirs
    return own


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


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


class Plate(NamedTuple):
    """A picture, the numbers that it draws, and its caption; `Gallery.add(name, *plate)`.

    Attributes:
        figure: The picture; None where there is nothing to draw.
        table: The plotted numbers.
        caption: What it shows, from which data, with n and what was dropped; or why there is none.
    """

    figure: Figure | None
    table: pd.DataFrame
    caption: str


def nothing(reason: str, table: pd.DataFrame) -> Plate:
    """A plate without a picture, which says what is missing.

    Args:
        reason: What was there and what dropped out, with counts.
        table: What is left.
    """
    return Plate(None, table, f"Not drawn: {reason}.")


class Gallery:
    """The folder of one study's pictures and tables, which its chapter and its appendix fill.

    Args:
        folder: Where they go.
        page: The name of the notebook that fills it; none: that of the folder.
    """

    def __init__(self, folder: Path, page: str = "") -> None:
        self.folder, self.page = folder, page or folder.name
        self._captions: dict[str, str | None] = {}
        self._formats: dict[str, list[str]] = {}

    def _save(self, name: str, kind: str, write: Callable[[Path], object]) -> None:
        with atomic(self.folder / f"{name}.{kind}") as scratch:
            write(scratch)
        self._formats.setdefault(name, []).append(kind)

    def figure(self, figure: Figure, name: str, caption: str) -> None:
        """Write `name`.svg and `name`.pdf, the caption inside as a description.

        Args:
            figure: The picture.
            name: Its file name without ending.
            caption: What it shows, from which data, with n and what was dropped.
        """
        caption = visible(caption)
        self._captions[name] = caption
        _show_literally(figure)
        fields = {"Title": name, "Description": caption, "Date": None}
        drawn = io.StringIO()
        with drawing():
            _settle(figure)
            figure.savefig(drawn, format="svg", metadata=fields)
            # Labels of ticks are made while it is drawn, and a control character breaks the file.
            self._save(name, "svg", partial(_text, text=visible(drawn.getvalue())))
            fields = {"Title": name, "Subject": caption, "CreationDate": None, "ModDate": None}
            self._save(name, "pdf", partial(figure.savefig, format="pdf", metadata=fields))

    def table(self, frame: pd.DataFrame, name: str) -> None:
        """Write `name`.csv, and .md and .tex of at most `PRINTED` rows; missing is an empty cell.

        In the CSV an apostrophe stands before a text that a spreadsheet would take for a formula,
        and lines end in one way.

        Args:
            frame: The table.
            name: Its file name without ending.
        """
        self._captions.setdefault(name, None)
        inert = frame.apply(_inert)
        texts = {"csv": inert.to_csv(index=False, float_format="%.10g", lineterminator="\n")}
        if len(frame) <= PRINTED:
            shown = printed(frame)
            escaped = shown.map(partial(html.escape, quote=False))
            texts["md"] = escaped.to_markdown(index=False, disable_numparse=True) + "\n"
            texts["tex"] = shown.to_latex(index=False, escape=True)
        for kind, text in texts.items():
            self._save(name, kind, partial(_text, text=text))

    def add(self, name: str, figure: Figure | None, table: pd.DataFrame, caption: str) -> None:
        """Write a picture and the numbers it draws, and show both picture and caption.

        Args:
            name: Their file name without ending.
            figure: The picture; where there is none, its table is written and the caption shown.
            table: The plotted numbers.
            caption: As in `figure`.
        """
        self.table(table, name)
        if figure is None:
            # A section that shows nothing else is left out (`selfpref.report.sections`).
            display(Markdown(caption), metadata={"drawn": False})
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

        `gallery-<page>.json` holds the notebook's outputs in their order: name, caption (null where
        there is no picture) and the endings of its files.
        """
        made = [
            {"name": name, "caption": caption, "formats": sorted({*self._formats[name]})}
            for name, caption in self._captions.items()
        ]
        text = json.dumps(made, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        with atomic(self.folder / MANIFEST.format(self.page)) as scratch:
            _text(scratch, text)
        pages = manifests(self.folder)
        kept = {MANIFEST.format(page) for page in pages}
        for one in (output for page in pages.values() for output in page):
            kept |= {f"{one['name']}.{kind}" for kind in one["formats"]}
        for path in self.folder.iterdir():
            if path.name not in kept:
                path.unlink()


def manifests(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """What each notebook made in a folder, by the notebook's name; as `Gallery.prune` lists it."""
    before, after = MANIFEST.split("{}")
    return {
        path.name.removeprefix(before).removesuffix(after): json.loads(
            path.read_text(encoding="utf-8")
        )
        for path in sorted(folder.glob(MANIFEST.format("*")))
    }


def _inert(column: pd.Series) -> pd.Series:
    """Texts of a column as cells that no reader of CSV misunderstands."""

    def cell(value: object) -> object:
        if not isinstance(value, str):
            return value
        # The csv module leaves a lone carriage return unquoted, which ends a row.
        lines = value.replace("\r\n", "\n").replace("\r", "\n")
        return f"'{lines}" if lines.startswith(FORMULA) else lines

    return column.map(cell) if column.dtype.kind == "O" else column


def printed(frame: pd.DataFrame) -> pd.DataFrame:
    """The table as text for readers: three decimals, empty cells for what is missing."""

    def cell(value: object) -> str:
        if isinstance(value, float):
            return "" if pd.isna(value) else f"{value:.3f}"
        # A line break or a bar would end the cell in Markdown.
        return "" if pd.isna(value) else str(value).replace("\n", " ").replace("|", "\\|")

    return frame.map(cell)
