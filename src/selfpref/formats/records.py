"""Records of files: JSON Lines, a JSON list, CSV, TSV or parquet, with errors that name the line.

What a file holds is told by how it begins, whatever its name; texts may be packed by gzip.
"""

import csv
import gzip
import json
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
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
# A place, `f.jsonl, line 3`, and what stands there.
Records = Iterator[tuple[str, Record]]
# A response may be longer than the 128 KB at which the csv module gives up.
csv.field_size_limit(2**31 - 1)
PARQUET, GZIP = b"PAR1", b"\x1f\x8b"
# What is wrong with a file that is cut off, of another kind, or no UTF-8.
WRONG = (EOFError, zlib.error, ValueError, RecursionError, OSError, csv.Error)
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


def _decoded(text: str) -> Any:
    """What a JSON text says, without lone surrogates, which no file of text can hold."""
    found = json.loads(text)
    if "\\u" in text and "\\ud" in text.lower():
        return json.loads(texts.whole(json.dumps(found, ensure_ascii=False)))
    return found


def _table(lines: Iterator[str], header: str) -> Iterator[Record]:
    delimiter = max(",\t;", key=header.count)
    for row in csv.DictReader(lines, strict=True, delimiter=delimiter):
        if None in row or None in row.values():
            raise ValueError("not as many cells as columns (quote cells with commas)")
        yield row


def _parsed(path: Path, lines: Lines) -> Iterator[tuple[str, Any]]:
    """Whatever stands in each place, and the place."""
    with path.open("rb") as handle:
        if handle.read(4) == PARQUET:
            batches = parquet.ParquetFile(path).iter_batches()
            rows = (row for batch in batches for row in batch.to_pylist())
            yield from ((f"row {number}", row) for number, row in enumerate(rows, start=1))
            return
    left = iter(lines)
    first = next((line for line in left if line.strip()), "")
    text = chain([first], left)
    if first.lstrip().startswith("["):
        entries = enumerate(_decoded("".join(Lines(path))), start=1)
        yield from ((f"entry {number}", entry) for number, entry in entries)
    elif first.lstrip().startswith("{"):
        yield from ((f"line {lines.number}", _decoded(line)) for line in text if line.strip())
    elif first:
        yield from ((f"line {lines.number}", row) for row in _table(text, first))


def records(path: Path, columns: Mapping[str, str] = NO_NAMES) -> Records:
    """Place and record of each line of a text, entry of a JSON list, or row of parquet.

    Args:
        path: The file.
        columns: What the file calls a field, by its name.

    Raises:
        SelfprefError: It is none of them, or cut off; names file and line.
    """
    called = {there: name for name, there in columns.items()}
    lines = Lines(path)
    try:
        for place, found in _parsed(path, lines):
            if not isinstance(found, dict):
                told = f"{str(found)[:20]} is not a JSON object"
                raise SelfprefError(f"{path}, {place}: {told}; {REMEDY}")
            yield f"{path}, {place}", {called.get(key, key): found[key] for key in found}
    except (*WRONG, pyarrow.ArrowException) as error:
        if strerror := getattr(error, "strerror", None):
            raise SelfprefError(f"{path}: {strerror}; correct the path or `source`") from error
        line = max(lines.number, getattr(error, "lineno", 0))
        reason = str(getattr(error, "msg", error)).partition("\n")[0]
        where = f"{path}, line {line}" if line else path
        raise SelfprefError(f"{where}: {reason}; {REMEDY}") from error


# What studies call it that read files of lines alone.
json_lines = records


def frames(found: Records) -> Iterator[pd.DataFrame]:
    """Records, some at a time, as columns of Python's values, and their `place`."""
    while chunk := list(islice(found, CHUNK)):
        places, rows = zip(*chunk, strict=True)
        yield pd.DataFrame(list(rows), dtype=object).assign(place=places)
