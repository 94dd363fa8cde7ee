"""Tables as readers see them: intervals in one cell, names in words, numbers to sort by."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import pandas as pd
from IPython.display import HTML, display

from selfpref.texts import visible

# Columns whose short names need words; of the others `_` becomes a space.
WORDS = {
    "eo": "equal opportunity",
    "dp": "demographic parity",
    "dskew": "distance skewness",
    "dskew_change": "distance skewness change",
    "p_holm": "p (Holm)",
}

SMALL, GREAT = 0.1, 100
# What may be read in one line without making a table wide.
SHORT = 15
INTERVAL = re.compile(r"\[(\S+), (\S+)\]")


@dataclass(frozen=True)
class Table:
    """A table for readers.

    Attributes:
        heads: Column names, each with whether its cells are numbers.
        rows: Texts in the order of `heads`.
    """

    heads: list[tuple[str, bool]]
    rows: list[list[str]]


def _places(*values: float) -> int:
    """Decimals of a number and its bounds: two, of small ones three, of great ones one."""
    size = max(map(abs, values))
    return 3 if size < SMALL else 2 if size < GREAT else 1


def _rounded(value: float, places: int) -> str:
    # Without the sum a small negative number would be -0.000.
    return f"{round(value, places) + 0.0:.{places}f}".replace("-", "\N{MINUS SIGN}")


def _missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _cell(value: object, edges: Sequence[float], decimals: bool) -> str:
    """A value with its bounds; a whole number has decimals where others of its column do."""
    if _missing(value):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return str(value)
    bounds = [] if any(map(_missing, edges)) else [*edges]
    places = _places(value, *bounds)
    whole = not decimals and value % 1 == 0 and abs(value) < 1e15
    text = str(value) if isinstance(value, int) else _rounded(value, 0 if whole else places)
    return f"{text} [{', '.join(_rounded(edge, places) for edge in bounds)}]" if bounds else text


def table(frame: pd.DataFrame, columns: Sequence[str] = ()) -> Table:
    """A frame for readers: `x` with `x_lo` and `x_hi` is one column; empty columns are left out.

    What rests on too few pairs (`x_few`, or `few` of the whole row's estimates) is not quoted.

    Args:
        frame: Any table of a study.
        columns: Which columns, in this order, where they exist; none: all.
    """
    shown = frame.dropna(axis="columns", how="all")
    order = [name for name in columns if name in shown] if "lo" in columns else [*shown]
    bounds = {name: _bounds(name, shown, order) for name in columns or frame if name in shown}
    inside = {edge for pair in bounds.values() for edge in pair}
    heads, made = [], []
    for name in [name for name in bounds if name not in inside]:
        values, edges = shown[name], shown[bounds[name]].to_numpy()
        kinds = pd.api.types
        number = kinds.is_numeric_dtype(values) and not kinds.is_bool_dtype(values)
        decimals = kinds.is_float_dtype(values) and values.dropna().mod(1).ne(0).any()
        texts = [_cell(*cell, decimals) for cell in zip(values, edges, strict=True)]
        few = _few(name, shown, bounded=bool(bounds[name]))
        heads.append((WORDS.get(name, name.replace("_", " ")), number))
        made.append(
            [
                "too few" if mark and number and text else text
                for text, mark in zip(texts, few, strict=True)
            ]
        )
    return Table(heads, [list(row) for row in zip(*made, strict=True)])


def html(made: Table) -> str:
    """A table as HTML without an empty line, so that Markdown takes it whole.

    Cells of text say that they stand on the left, and long ones that lines may break; notebooks set
    all others on the right. An interval stays in one line. The class is that of pandas: themes know
    its tables in the dark.
    """

    def cell(kind: str, text: str, *, number: bool) -> str:
        style = "" if number else "text-align: left"
        style += "" if number or len(text) < SHORT else "; white-space: normal"
        told = INTERVAL.sub("[\\1,\N{NO-BREAK SPACE}\\2]", " ".join(text.split()))
        given = f' style="{style}"' if style else ""
        return f"<{kind}{given}>{escape(visible(told))}</{kind}>"

    def row(kind: str, texts: Sequence[str]) -> str:
        kinds = zip(texts, made.heads, strict=True)
        return f"<tr>{''.join(cell(kind, text, number=number) for text, (_, number) in kinds)}</tr>"

    head = row("th", [name for name, _ in made.heads])
    body = "\n".join(row("td", texts) for texts in made.rows)
    return f'<table class="dataframe">\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>'


def shown(frame: pd.DataFrame, columns: Sequence[str] = ()) -> None:
    """Display a frame in a notebook as `table` makes it; one without rows is not displayed.

    Args:
        frame: Any table of a study.
        columns: As in `table`.
    """
    if not frame.empty:
        display(HTML(html(table(frame, columns))))


def _bounds(name: str, frame: pd.DataFrame, order: list[str]) -> list[str]:
    pair = [f"{name}_lo", f"{name}_hi"]
    if {*pair} <= {*frame}:
        return pair
    # A table of one quantity calls its bounds `lo` and `hi`; they stand right behind it.
    after = order[order.index(name) + 1 : order.index(name) + 3] if name in order else []
    return after if after == ["lo", "hi"] else []


def _few(name: str, frame: pd.DataFrame, *, bounded: bool) -> list[bool]:
    """Which values rest on too few pairs: `x_few`, or `few` of the estimates of a table."""
    marks = f"{name}_few" if f"{name}_few" in frame else "few" if bounded else ""
    return [mark is True for mark in frame[marks]] if marks in frame else [False] * len(frame)
