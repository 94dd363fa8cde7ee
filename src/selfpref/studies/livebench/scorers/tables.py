"""Rules of the data-analysis tasks: types of columns, joins, and tables in another format."""

import ast
import csv
import html
import json
import math
import re
from typing import Any

from selfpref.studies.livebench.scorers.answers import boxed, states

FENCE = re.compile(r"```[a-z]*\n?(.*?)```", re.DOTALL)
FORMATS = re.compile(r"from (\w+) format to (\w+) format")
CELLS, TAG = re.compile(r"(?is)<t[dh]\b[^>]*>(.*?)</t[dh]>"), re.compile(r"<[^>]*>")
MISSING = {"", "nan", "null", "none", "n/a", "na", "<na>"}
# Two numbers are the same cell within this.
CLOSE = 1e-6


def column_type(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """The name of a class, letters and digits compared; tolerant: wherever it is stated."""
    given, wanted = (re.sub(r"\W", "", one.lower()) for one in ([text, *boxed(text)][-1], key))
    return float(given == wanted or (tolerant and states(text, key)))


def _fenced(text: str) -> str:
    """What stands in the last code fence, or the whole text."""
    return str([text, *FENCE.findall(text)][-1]).strip()


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


def _rows(text: str, kind: str) -> list[dict[str, object]]:
    """The rows of a table, the first one its header; none where the text is no such table."""
    lines = text.splitlines(keepends=True)
    try:
        if kind == "json":
            found = json.loads(text)
            return [dict(row) for row in (found.values() if isinstance(found, dict) else found)]
        if kind == "jsonl":
            return [dict(json.loads(line)) for line in lines if line.strip()]
        if kind == "html":
            parts = [CELLS.findall(row) for row in re.split(r"(?i)<tr\b", text)[1:]]
            cells = [[html.unescape(TAG.sub("", cell)) for cell in row] for row in parts]
        elif kind == "markdown":
            cells = [re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in lines]
            cells = [row for row in cells if not re.fullmatch(r"[\s:|-]*", "|".join(row))]
        else:
            cells = list(csv.reader(lines, delimiter={"csv": ",", "tsv": "\t"}[kind]))
        head, *rows = filter(None, cells)
        return [dict(zip(head, row, strict=True)) for row in rows]
    except (ValueError, TypeError, LookupError, csv.Error):
        return []


def _cell(value: object, *, tolerant: bool) -> object:
    r"""A number, a text, or None where the cell is missing.

    Tolerant: entities and escapes (`\/`, `\u00f4`) are resolved, blanks collapsed.
    """
    text = str(value).strip()
    if value is None or text.lower() in MISSING:
        return None
    try:
        return float(text)
    except ValueError:
        if not tolerant:
            return text
    resolved = re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text)
    return " ".join(html.unescape(resolved.replace("\\/", "/")).split())


def _same(one: object, two: object) -> bool:
    if isinstance(one, float) and isinstance(two, float):
        return math.isclose(one, two, rel_tol=0, abs_tol=CLOSE)
    return one == two


def reformat(question: str, key: str, text: str, *, tolerant: bool) -> float:
    """The same columns, and cell for cell the same values, in the format asked for.

    Tolerant: columns too many, capitals and signs in their names, and escapes are set aside.
    """
    formats = FORMATS.search(question)
    kind = formats[2].lower() if formats else ""
    wanted, given = (
        [
            {
                re.sub(r"\W|_", "", name).lower() if tolerant else name.strip(): _cell(
                    cell, tolerant=tolerant
                )
                for name, cell in row.items()
            }
            for row in _rows(table, kind)
        ]
        for table in (key, _fenced(text))
    )
    if not wanted or len(wanted) != len(given):
        return 0.0
    return float(
        all(
            (one.keys() <= two.keys() if tolerant else one.keys() == two.keys())
            and all(_same(one[name], two[name]) for name in one)
            for one, two in zip(wanted, given, strict=True)
        )
    )
