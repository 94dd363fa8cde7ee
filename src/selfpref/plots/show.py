"""Words for readers: names, parts of captions, and tables with an interval in one cell.

What pictures and tables call data sets, languages and models stands in data/names.csv. A chapter
writes a caption in one f-string: what the figure shows, how many rows it draws and what was
dropped. A caption describes; what follows from a figure stands in the chapter.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape

import pandas as pd
from IPython.display import HTML, display

from selfpref import paths
from selfpref.texts import visible

COLUMNS = (
    *("dataset", "judge", "responder", "opponent", "who", "votes_of"),
    *("model", "system", "control", "language"),
)
# Longer names would leave no room for what they name.
LONGEST = 32


@cache
def _known() -> dict[str, str]:
    return dict(pd.read_csv(paths.data_file("names"), index_col="name")["shown"])


def called(names: Iterable[str]) -> list[str]:
    """Names by those that readers know; a user's own by theirs, cut if long."""
    known = [str(_known().get(name, name)) for name in names]
    return [name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…" for name in known]


def readable(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with `called` names in the columns that hold names."""
    named = {
        name: pd.Series(called(rows[name]), rows.index, "str") for name in COLUMNS if name in rows
    }
    return rows.assign(**named)


def beyond(rows: pd.DataFrame, value: str = "", at: float = 0.0) -> tuple[int, int]:
    """How many intervals lie below a value, and how many above it.

    Args:
        rows: With `lo` and `hi`, or `<value>_lo` and `<value>_hi`.
        value: The column whose bounds these are.
        at: The value.

    >>> beyond(pd.DataFrame({"lo": [0.1, -1.0], "hi": [0.2, 1.0]}))
    (0, 1)
    """
    lo, hi = (f"{value}_{end}" if value else end for end in ("lo", "hi"))
    return int(rows[hi].lt(at).sum()), int(rows[lo].gt(at).sum())


def signed(value: float, digits: int = 2) -> str:
    """A number with the sign that typography gives it; what rounds to 0 has none.

    >>> signed(-0.5), signed(-0.001)
    ('−0.50', '0.00')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def span(values: pd.Series, spec: str = "g") -> str:
    """The least and the greatest number, once where they are equal; empty without any.

    >>> span(pd.Series([50, 50])), span(pd.Series([3, 10]))
    ('50', '3 to 10')
    """
    ends = values.agg(["min", "max"]).dropna()
    return " to ".join(dict.fromkeys(f"{end:{spec}}".replace("-", "−") for end in ends))


# Columns whose short names need words; of the others `_` becomes a space.
WORDS = {"eo": "equal opportunity", "dp": "demographic parity"}
FEW = "too few"
# A number with or without its interval, or what stands in its place.
NUMBER = re.compile(rf"(\N{{MINUS SIGN}}?\d[\d.]*( \[\S+, \S+\])?|{FEW})?")
LEFT = ' style="text-align: left; white-space: normal"'


def _number(value: float, *bounds: float, whole: bool) -> str:
    """A number with its bounds: two decimals, of small ones three, of great ones one, or none."""
    if pd.isna(value):
        return ""
    edges = () if pd.isna([*bounds]).any() else bounds
    size = max(map(abs, (value, *edges)))
    places = 3 if size < 0.1 else 2 if size < 100 else 1
    told = signed(value, 0 if whole else places)
    return f"{told} [{', '.join(signed(edge, places) for edge in edges)}]" if edges else told


def _text(value: object) -> str:
    told = " ".join(str(value).split())
    return {"True": "yes", "False": "no", "nan": "", "None": "", "<NA>": ""}.get(told, told)


def _bounds(name: str, frame: pd.DataFrame, order: list[str]) -> list[str]:
    """The columns of its bounds: `x_lo` and `x_hi`, or `lo` and `hi` right behind it."""
    if f"{name}_lo" in frame:
        return [f"{name}_lo", f"{name}_hi"]
    after = order[order.index(name) + 1 :][:2]
    return after if after == ["lo", "hi"] else []


def table(frame: pd.DataFrame, columns: Sequence[str] = ()) -> pd.DataFrame:
    """A frame for readers: texts, `x` with `x_lo` and `x_hi` in one column, empty ones left out.

    What rests on too few pairs (`x_few`, or `few` of the whole row's estimates) is not quoted.

    Args:
        frame: Any table of a study.
        columns: Which columns, in this order, where they exist; none: all.
    """
    frame = frame.dropna(axis="columns", how="all").infer_objects()
    names = [name for name in columns or frame if name in frame]
    order = names if "lo" in columns else [*frame]
    made, inside = {}, set[str]()
    for name in names:
        if name in inside:
            continue
        values, texts = frame[name], frame[name].map(_text)
        bounds = _bounds(name, frame, order)
        inside |= {*bounds}
        if values.dtype.kind in "iuf":
            whole = values.dropna().mod(1).eq(0).all()
            cells = frame[[name, *bounds]].itertuples(index=False, name=None)
            texts = pd.Series([_number(*cell, whole=whole) for cell in cells], frame.index)
            few = f"{name}_few" if f"{name}_few" in frame else "few" if bounds else ""
            if few in frame:
                texts = texts.mask(frame[few].eq(True) & texts.ne(""), FEW)
        made[WORDS.get(name, name.replace("_", " "))] = texts
    return pd.DataFrame(made, dtype="str")


def html(made: pd.DataFrame) -> str:
    """What `table` made as HTML: texts on the left, an interval in one line."""
    with pd.option_context("display.max_colwidth", None):
        page = visible(made.to_html(index=False, border=0, justify="left"))
    words = [name for name in made if not made[name].str.fullmatch(NUMBER.pattern).all()]
    for name in (escape(word, quote=False) for word in words):
        page = page.replace(f"<th>{name}</th>", f"<th{LEFT}>{name}</th>")
    page = re.sub(rf"<td>(?!{NUMBER.pattern}</td>)", f"<td{LEFT}>", page)
    return re.sub(r"(\[\S+,) (\S+\]</td>)", r"\1&nbsp;\2", page)


def shown(frame: pd.DataFrame, columns: Sequence[str] = ()) -> None:
    """Display a frame in a notebook as `table` makes it; one without rows is not displayed.

    Args:
        frame: Any table of a study.
        columns: As in `table`.
    """
    if not frame.empty:
        display(HTML(html(table(frame, columns))))
