"""Records of files: JSON Lines, a JSON list, CSV, TSV or parquet, with errors that name the line.

What a file holds is told by how it begins, whatever its name; texts may be packed by gzip.
"""

import csv
import gzip
import json
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd
import pyarrow
from pyarrow import parquet

from selfpref import texts
from selfpref.errors import SelfprefError

Record = dict[str, Any]
NO_NAMES: Mapping[str, str] = MappingProxyType({})
Records = Iterator[tuple[int, Record]]
# A response may be longer than the 128 KB at which the csv module gives up.
csv.field_size_limit(2**31 - 1)
PARQUET, GZIP = b"PAR1", b"\x1f\x8b"
# By how a text begins: its kind, and what a place in it is called.
KINDS = {"{": ("lines", "line"), "[": ("list", "entry")}
# What is wrong with a file that is cut off, of another kind, or no UTF-8.
PACKED = (EOFError, zlib.error)
WRONG = (*PACKED, ValueError, RecursionError, OSError, csv.Error, pyarrow.ArrowException)
REMEDY = "give a whole file of JSON lines, a JSON list, CSV, TSV or parquet, in UTF-8"
# Records are gathered so many at a time: as Python's, a million take gigabytes.
CHUNK = 50_000


class Lines:
    """The lines of a text file, packed by gzip or not, and the number of the last one."""

    def __init__(self, path: Path) -> None:
        self.path, self.number = path, 0

    def __iter__(self) -> Iterator[str]:
        with self.path.open("rb") as plain:
            packed = plain.read(2) == GZIP
        with (gzip.open if packed else open)(self.path, "rb") as handle:
            for self.number, line in enumerate(handle, start=1):
                yield line.removeprefix(BOM_UTF8).decode()


def _kind(path: Path) -> tuple[str, str]:
    with path.open("rb") as handle:
        if handle.read(4) == PARQUET:
            return "parquet", "row"
    first = next((line.lstrip() for line in Lines(path) if line.strip()), "{")
    return KINDS.get(first[0], ("table", "line"))


def place(path: Path) -> str:
    """The file, with the word for a place in it: `f.jsonl, line`."""
    return f"{path}, {_kind(path)[1]}"


def _decoded(text: str) -> Any:
    """What a JSON text says, without lone surrogates, which no file of text can hold."""
    found = json.loads(text)
    if "\\u" in text and "\\ud" in text.lower():
        return json.loads(texts.whole(json.dumps(found, ensure_ascii=False)))
    return found


def _table(lines: Lines) -> Records:
    left = iter(lines)
    header = next(left)
    delimiter = max(",\t;", key=header.count)
    for row in csv.DictReader(chain([header], left), strict=True, delimiter=delimiter):
        if None in row or None in row.values():
            raise ValueError("not as many cells as columns (quote cells with commas)")
        yield lines.number, row


def _parsed(path: Path, lines: Lines) -> Iterator[tuple[int, Any]]:
    """Whatever stands in each place."""
    match _kind(path)[0]:
        case "table":
            yield from _table(lines)
        case "parquet":
            batches = parquet.ParquetFile(path).iter_batches()
            yield from enumerate((row for batch in batches for row in batch.to_pylist()), start=1)
        case "list":
            yield from enumerate(_decoded("".join(Lines(path))), start=1)
        case _:
            yield from ((lines.number, _decoded(line)) for line in map(str.strip, lines) if line)


def records(path: Path, called: Mapping[str, str] = NO_NAMES) -> Records:
    """Number, from 1, and record of each line of a text, entry of a JSON list, or row of parquet.

    Args:
        path: The file.
        called: What fields of the file are to be called, by their names there.

    Raises:
        SelfprefError: It is none of them, or cut off; names file and line.
    """
    lines = Lines(path)
    try:
        for number, record in _parsed(path, lines):
            if not isinstance(record, dict):
                raise ValueError(f"{str(record)[:20]} is not a JSON object")
            yield (
                number,
                {called.get(key, key): record[key] for key in record} if called else record,
            )
    except WRONG as error:
        if strerror := getattr(error, "strerror", None):
            raise SelfprefError(f"{path}: {strerror}; correct the path or `source`") from error
        line = max(lines.number, getattr(error, "lineno", 0))
        reason = str(getattr(error, "msg", error)).partition("\n")[0]
        where = f"{path}, line {line}" if line else path
        raise SelfprefError(f"{where}: {reason}; {REMEDY}") from error


# What studies call it that read files of lines alone.
json_lines = records


def frames(found: Iterable[tuple[int, Record]], path: Path) -> Iterator[pd.DataFrame]:
    """Records of a file, some at a time, as columns of Python's values; `file` and `line`."""
    left = iter(found)
    while chunk := list(islice(left, CHUNK)):
        numbers, rows = zip(*chunk, strict=True)
        yield pd.DataFrame(list(rows), dtype=object).assign(file=place(path), line=numbers)
