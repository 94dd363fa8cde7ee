"""Rules of the data-analysis tasks: types of columns, joins, and tables in another format."""

import ast
import csv
import html
import io
import json
import math
import re
from collections.abc import Callable
from typing import Any

from selfpref.studies.livebench.scorers.answers import boxed, states

FENCE = re.compile(r"```[a-z]*\n?(.*?)```", re.DOTALL)
FORMATS = re.compile(r"from (\w+) format to (\w+) format")
CELLS, TAG = re.compile(r"(?is)<t[dh]\b[^>]*>(.*?)</t[dh]>"), re.compile(r"<[^>]*>")
MISSING = {"", "nan", "null", "none", "n/a", "na", "<na>"}
# Two numbers are the same cell within this.
CLOSE = 1e-6

Row = dict[str, object]


def column_type(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """The name of a class, letters and digits compared; tolerant: wherever it is stated."""
    answer = boxed(text)[-1] if boxed(text) else text
    same = re.sub(r"\W", "", answer.lower()) == re.sub(r"\W", "", key.lower())
    return float(same or (tolerant and states(text, key)))


def _fenced(text: str) -> str:
    """What stands in the last code fence, or the whole text."""
    found = FENCE.findall(text)
    return str(found[-1] if found else text).strip()


def _mapping(text: str) -> dict[Any, Any]:
    start, end = text.find("{"), text.rfind("}")
    try:
        found = ast.literal_eval(re.sub(r"\bnull\b", "None", text[start : end + 1]))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def join(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """F1 over the pairs of columns; a pair without a target is wrong, tolerant: left out."""
    wanted, given = _mapping(key), _mapping(_fenced(text))
    if tolerant:
        given = {column: target for column, target in given.items() if target}
    hits = sum(wanted.get(column) == target for column, target in given.items() if target)
    return 2 * hits / (len(wanted) + len(given)) if given else 0.0


def _headed(rows: list[list[str]]) -> list[Row]:
    """Rows of cells under their header; the first row names the columns."""
    filled = [row for row in rows if row]
    return [dict(zip(filled[0], row, strict=True)) for row in filled[1:]]


def _html(text: str) -> list[Row]:
    rows = (CELLS.findall(row) for row in re.split(r"(?i)<tr\b", text)[1:])
    return _headed([[html.unescape(TAG.sub("", cell)) for cell in row] for row in rows])


def _separated(separator: str) -> Callable[[str], list[Row]]:
    def read(text: str) -> list[Row]:
        return _headed(list(csv.reader(io.StringIO(text), delimiter=separator)))

    return read


def _markdown(text: str) -> list[Row]:
    rows = [re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in text.splitlines()]
    return _headed([row for row in rows if not re.fullmatch(r"[\s:|-]*", "|".join(row))])


def _json(text: str) -> list[Row]:
    found = json.loads(text)
    return list(found.values()) if isinstance(found, dict) else list(found)


def _json_lines(text: str) -> list[Row]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


READ = {
    "json": _json,
    "jsonl": _json_lines,
    "html": _html,
    "csv": _separated(","),
    "tsv": _separated("\t"),
    "markdown": _markdown,
}


def _rows(text: str, kind: str) -> list[Row] | None:
    """The rows of a table, or None where the text is no table of this kind."""
    try:
        rows = READ[kind](text)
    except (ValueError, csv.Error, IndexError):
        return None
    return rows if rows and all(isinstance(row, dict) for row in rows) else None


def _cell(value: object) -> object:
    """A number, a text, or None where the cell is missing."""
    text = str(value).strip()
    if value is None or text.lower() in MISSING:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _same(one: object, two: object, *, tolerant: bool) -> bool:
    one, two = _cell(one), _cell(two)
    if isinstance(one, float) and isinstance(two, float):
        return math.isclose(one, two, rel_tol=0, abs_tol=CLOSE)
    if tolerant and isinstance(one, str) and isinstance(two, str):
        return _written(one) == _written(two)
    return one == two


def _written(text: str) -> str:
    r"""A text as read: entities and escapes (`\/`, `\u00f4`) resolved, blanks collapsed."""
    resolved = re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text)
    return " ".join(html.unescape(resolved.replace("\\/", "/")).split())


def _name(column: str, *, tolerant: bool) -> str:
    return re.sub(r"\W|_", "", column).lower() if tolerant else column.strip()


def reformat(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """The same columns, and cell for cell the same values, in the format asked for.

    Tolerant: columns too many, capitals and signs in their names, and escapes are set aside.
    """
    formats = FORMATS.search(question)
    kind = formats[2].lower() if formats else ""
    if kind not in READ:
        return 0.0
    wanted, given = _rows(key, kind), _rows(_fenced(text), kind)
    if wanted is None or given is None or len(wanted) != len(given):
        return 0.0
    return float(all(_agree(*rows, tolerant=tolerant) for rows in zip(wanted, given, strict=True)))


def _agree(wanted: Row, given: Row, *, tolerant: bool) -> bool:
    one, two = (
        {_name(column, tolerant=tolerant): value for column, value in row.items()}
        for row in (wanted, given)
    )
    columns = set(one) <= set(two) if tolerant else set(one) == set(two)
    return columns and all(_same(one[name], two[name], tolerant=tolerant) for name in one)
