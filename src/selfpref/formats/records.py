"""Records of files: JSON Lines, JSON lists, CSV, TSV and parquet, with errors that name the line.

Texts may be compressed by gzip (`.jsonl.gz`).
"""

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from selfpref import texts
from selfpref.errors import SelfprefError

Records = Iterator[tuple[int, dict[str, Any]]]
# A response may be longer than the 128 KB at which the csv module gives up.
csv.field_size_limit(2**31 - 1)
# What parts the cells of a table.
TABLES = {".csv": ",", ".tsv": "\t"}


def kind(path: Path) -> str:
    """The end of a file's name that tells its format, in small letters, without `.gz`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as handle:
            yield from enumerate(handle, start=1)
    except (EOFError, gzip.BadGzipFile) as error:
        raise SelfprefError(f"{path}: not gzip, or cut off ({error}); pack it again") from error
    except OSError as error:
        raise SelfprefError(f"{path}: {error.strerror}; correct the path or `source`") from error
    except UnicodeDecodeError as error:
        # What reads in blocks does not know the line.
        with opened(path, "rt", encoding="utf-8", errors="surrogateescape") as handle:
            lines = handle.read().split("\n")
        number = next(at for at, line in enumerate(lines, start=1) if texts.whole(line) != line)
        told = f"{path}, line {number}: not UTF-8; save the file as UTF-8"
        raise SelfprefError(told) from error


def _decoded(text: str, path: Path, line: int = 0) -> Any:
    """What a JSON text says, without lone surrogates, which no file of text can hold."""
    try:
        found = json.loads(text)
    # A syntax that is none, a number too long, lists nested too deep.
    except (ValueError, RecursionError) as error:
        told, remedy = str(error), "is the file cut off?"
        if isinstance(error, json.JSONDecodeError):
            told, line = f"{error.msg}, column {error.colno}", line or error.lineno
            if (line, error.colno) == (1, 1):
                remedy = f"a table's name ends in {' or '.join(TABLES)}"
        place = f"{path}, line {line}" if line else str(path)
        raise SelfprefError(f"{place}: not JSON ({told}); {remedy}") from error
    if "\\u" in text and "\\ud" in text.lower():
        return json.loads(texts.whole(json.dumps(found, ensure_ascii=False)))
    return found


def json_lines(path: Path) -> Records:
    """Line number and record of each non-empty line, without lone surrogates.

    Raises:
        SelfprefError: A line is not a JSON object (a truncated file ends in one) or not UTF-8.
    """
    for number, line in _lines(path):
        if text := line.strip():
            if not isinstance(record := _decoded(text, path, number), dict):
                raise SelfprefError(
                    f"{path}, line {number}: not a JSON object; give one a line, or a list as .json"
                )
            yield number, record


def _table(path: Path) -> Records:
    parted = TABLES[kind(path)]
    reader = csv.DictReader((line for _, line in _lines(path)), strict=True, delimiter=parted)
    try:
        (*_, last) = reader.fieldnames or [""]
        if last.count(";") > 1:
            raise SelfprefError(f"{path}, line 1: cells parted by semicolons; part them by commas")
        for row in reader:
            if None in row or None in row.values():
                raise SelfprefError(
                    f"{path}, line {reader.line_num}: not as many cells as columns; quote cells "
                    "with commas"
                )
            yield reader.line_num, row
    except csv.Error as error:
        place = f"{path}, line {reader.line_num}"
        raise SelfprefError(f"{place}: not CSV ({error}); mend the quotes") from error


def _parquet(path: Path) -> Records:
    try:
        batches = parquet.ParquetFile(path).iter_batches()
        yield from enumerate((row for batch in batches for row in batch.to_pylist()), start=1)
    except (OSError, pyarrow.ArrowException) as error:
        told = str(error).partition("\n")[0]
        raise SelfprefError(f"{path}: not parquet ({told}); is the file cut off?") from error


def records(path: Path) -> Records:
    """Number, from 1, and record of each line of a text, entry of a JSON list, or row of parquet.

    Raises:
        SelfprefError: It is none of them; names file and line or entry.
    """
    if kind(path) in TABLES:
        yield from _table(path)
        return
    if kind(path) == ".parquet":
        yield from _parquet(path)
        return
    first = next((text for _, line in _lines(path) if (text := line.strip())), "")
    if kind(path) == ".jsonl" or not first.startswith("["):
        yield from json_lines(path)
        return
    whole = "".join(line for _, line in _lines(path))
    for number, record in enumerate(_decoded(whole, path), start=1):
        if not isinstance(record, dict):
            raise SelfprefError(f"{path}, entry {number}: not a JSON object; remove it")
        yield number, record


def need(record: dict[str, Any], key: str, path: Path, number: int) -> Any:
    """The value of a key that must be there.

    Raises:
        SelfprefError: It is not; names file, line and key.
    """
    if key not in record:
        raise SelfprefError(f"{path}, line {number}: no key {key!r}; not a file of this release")
    return record[key]
