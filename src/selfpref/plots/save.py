"""Save pictures and tables as the same bytes on every run.

A picture goes out as SVG without dates, its caption inside the file as a description, a table as
CSV. For a paper, PDF and LaTeX (rounded) stand beside them on request.
"""

import io
from collections.abc import Collection
from pathlib import Path

import pandas as pd
from IPython.display import Markdown, display
from matplotlib import font_manager, get_data_path, style
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from selfpref.files import atomic, write_text
from selfpref.plots.marks import INTERVAL, LINE, STYLE
from selfpref.say import SENTENCES
from selfpref.texts import visible

# A spreadsheet takes a cell that begins with one of these for a formula.
FORMULA = ("=", "+", "-", "@", "\t")


def own_fonts() -> None:
    """Take Matplotlib's own fonts: a machine's DejaVu numbers its glyphs differently."""
    fonts = font_manager.fontManager
    fonts.ttflist = []
    for path in sorted(Path(get_data_path(), "fonts", "ttf").glob("*.ttf")):
        fonts.addfont(path)


def _settle(figure: Figure) -> None:
    """Texts as they are in the data, and the layout on a grid of a millionth of the figure.

    No text is a formula, and none holds what no one can see. The solver behind matplotlib's
    constrained layout orders its variables by memory address, so that the last bits of a position,
    and with them the names of clip paths, differ from run to run.
    """
    for text in figure.findobj(Text):
        if isinstance(text, Text) and (said := text.get_text()):
            text.set_text(visible(said))
            text.set_parse_math(False)
    engine = figure.get_layout_engine()
    if engine is not None and figure.axes:
        engine.execute(figure)
    # Not `none`: with an engine that does nothing every format would be drawn twice.
    figure.set_layout_engine(None)
    for axes in figure.axes:
        left, bottom, width, height = (round(edge, 6) for edge in axes.get_position().bounds)
        axes.set_position((left, bottom, width, height))


@style.context(STYLE)
def _preview(figure: Figure) -> bytes:
    """The picture as a small PNG, which a notebook can hold: an SVG is six times its size."""
    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=130)
    whole = Image.open(drawn).convert("RGB")
    few = whole.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(small, format="PNG")
    return small.getvalue()


class Gallery:
    """The folder of one study's pictures and tables, which its chapter fills.

    Args:
        folder: Where they go.
        formats: With `pdf` every picture, with `tex` every table is written in that format too.
        level: Coverage of the intervals, which each picture that has some says.
    """

    def __init__(
        self, folder: Path, formats: Collection[str] = ("svg",), level: float = 0.95
    ) -> None:
        self.folder, self.formats, self.level = folder, formats, level
        self._made = {folder / SENTENCES}
        own_fonts()

    def _path(self, name: str, kind: str) -> Path:
        """Where an output goes, which is one of this run's from now on."""
        path = self.folder / f"{name}.{kind}"
        self._made.add(path)
        return path

    @style.context(STYLE)
    def figure(self, figure: Figure, name: str, caption: str) -> None:
        """Write `name`.svg, the caption inside as a description.

        Args:
            figure: The picture.
            name: Its file name without ending.
            caption: What it shows, from which data, with n and what was dropped.
        """
        caption, drawn = visible(caption), io.StringIO()
        if figure.findobj(lambda artist: artist.get_label() == INTERVAL):
            covered = f"\n({self.level:.0%} intervals)"
            figure.set_figheight(figure.get_figheight() + LINE)
            # Panels with axes of their own have no label in common.
            if said := figure.get_supxlabel():
                figure.supxlabel(said + covered)
            else:
                figure.axes[-1].set_xlabel(figure.axes[-1].get_xlabel() + covered)
        _settle(figure)
        fields = {"Title": name, "Description": caption, "Date": None}
        figure.savefig(drawn, format="svg", metadata=fields)
        # Labels of ticks are made while it is drawn, and a control character breaks the file.
        write_text(self._path(name, "svg"), visible(drawn.getvalue()))
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
        text = frame.map(_inert).to_csv(index=False, float_format="%.10g", lineterminator="\n")
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
        """Remove what no notebook makes any longer. Call it last."""
        for path in {*self.folder.iterdir()} - self._made:
            path.unlink()


def tables(folder: Path) -> dict[str, pd.DataFrame]:
    """The tables of a gallery's folder by name, without those that have no column."""
    files = [path for path in folder.glob("*.csv") if path.read_bytes().strip()]
    return {path.stem: pd.read_csv(path) for path in files}


def _inert(value: object) -> object:
    """A cell that no reader of CSV misunderstands."""
    if not isinstance(value, str):
        return value
    # The csv module leaves a lone carriage return unquoted, which ends a row.
    lines = value.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{lines}" if lines.startswith(FORMULA) else lines
