"""Tables as readers see them: intervals in one cell, names in words."""

import re
from collections.abc import Sequence

import pandas as pd
from IPython.display import HTML, display

from selfpref.plots.captions import signed
from selfpref.texts import visible

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
    after = order[order.index(name) + 1 :][:2] if name in order else []
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
    bounds = {name: _bounds(name, frame, order) for name in names}
    inside = {edge for pair in bounds.values() for edge in pair}
    made, kinds = {}, pd.api.types
    for name in [name for name in names if name not in inside]:
        values, texts = frame[name], frame[name].map(_text)
        if kinds.is_numeric_dtype(values) and not kinds.is_bool_dtype(values):
            whole = values.dropna().mod(1).eq(0).all()
            cells = frame[[name, *bounds[name]]].itertuples(index=False, name=None)
            texts = pd.Series([_number(*cell, whole=whole) for cell in cells], frame.index)
            few = f"{name}_few" if f"{name}_few" in frame else "few" if bounds[name] else ""
            if few in frame:
                texts = texts.mask(frame[few].eq(True) & texts.ne(""), FEW)
        made[WORDS.get(name, name.replace("_", " "))] = texts
    return pd.DataFrame(made, dtype="str")


def html(made: pd.DataFrame) -> str:
    """What `table` made as HTML: texts on the left, an interval in one line."""
    with pd.option_context("display.max_colwidth", None):
        page = visible(made.to_html(index=False, border=0, justify="left"))
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
