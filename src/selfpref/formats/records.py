"""What the readers share: JSON Lines and CSV, errors that name the line, choices as verdicts."""

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref import tables, texts
from selfpref.errors import SelfprefError
from selfpref.params import Dataset, Dialogues

# A response may be longer than the 128 KB at which the csv module gives up.
csv.field_size_limit(2**31 - 1)


def judges_of(dataset: str, entry: Dataset | Dialogues, known: Iterable[str]) -> set[str]:
    """The judges to read of a source: those that its entry names, or all.

    Args:
        dataset: The entry's key, for errors.
        entry: The entry.
        known: The judges that the source has.

    Raises:
        SelfprefError: The entry names a judge that is not among them.
    """
    there = set(known)
    if unknown := sorted(set(entry.judges or ()) - there):
        raise SelfprefError(
            f"{entry.study}.datasets.{dataset}.judges: {unknown[0]!r} is unknown; choose of "
            f"{', '.join(sorted(there))}"
        )
    return set(entry.judges or there)


def _unreadable(path: Path, error: OSError) -> SelfprefError:
    return SelfprefError(f"{path}: {error.strerror}; correct the path or `source`")


def _not_utf8(path: Path) -> SelfprefError:
    """Names the line; what reads in blocks does not know it."""
    try:
        path.read_bytes().decode("utf-8-sig")
        number = 0
    except UnicodeDecodeError as error:
        number = error.object.count(b"\n", 0, error.start) + 1
    return SelfprefError(f"{path}, line {number}: not UTF-8; save the file as UTF-8")


def _not_json(path: Path, error: ValueError | RecursionError, line: int) -> SelfprefError:
    """What the decoder says: of its syntax, of a number too long, of lists nested too deep."""
    told = str(error) or "nested too deep"
    if isinstance(error, json.JSONDecodeError):
        told, line = f"{error.msg}, column {error.colno}", line or error.lineno
    place = f"{path}, line {line}" if line else str(path)
    return SelfprefError(f"{place}: not JSON ({told}); is the file cut off?")


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and record of each non-empty line, without lone surrogates.

    Raises:
        SelfprefError: A line is not a JSON object (a truncated file ends in one) or not UTF-8.
    """
    number, read = 0, json.JSONDecoder().raw_decode
    try:
        with open(path, encoding="utf-8-sig") as handle:
            for number, line in enumerate(handle, start=1):
                text = line.strip()
                if not text:
                    continue
                record, end = read(text)
                if end != len(text):
                    raise json.JSONDecodeError("something after the object", text, end)
                if "\\u" in text and "\\ud" in text.lower():
                    record = json.loads(texts.whole(json.dumps(record, ensure_ascii=False)))
                if not isinstance(record, dict):
                    raise SelfprefError(
                        f"{path}, line {number}: not a JSON object; give one a line, or a list as "
                        ".json"
                    )
                yield number, record
    except OSError as error:
        raise _unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error
    except (ValueError, RecursionError) as error:
        raise _not_json(path, error, number) from error


def entries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number, from 1, and record of each entry of a JSON list; of JSON Lines their lines.

    Raises:
        SelfprefError: It is neither; names file and entry.
    """
    try:
        with open(path, encoding="utf-8-sig") as handle:
            listed = handle.read(64).lstrip().startswith("[")
            handle.seek(0)
            text = handle.read() if listed else ""
        found = json.loads(text) if listed else None
        if "\\ud" in text.lower():
            found = json.loads(texts.whole(json.dumps(found, ensure_ascii=False)))
    except OSError as error:
        raise _unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error
    except (ValueError, RecursionError) as error:
        raise _not_json(path, error, 0) from error
    if found is None:
        yield from json_lines(path)
        return
    for number, record in enumerate(found, start=1):
        if not isinstance(record, dict):
            raise SelfprefError(f"{path}, entry {number}: not a JSON object; remove it")
        yield number, record


def rows_of(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and row of a user's own file, JSON Lines or CSV by its ending.

    Raises:
        SelfprefError: It is neither, or not readable as such; names file and line.
    """
    if path.suffix == ".jsonl":
        yield from json_lines(path)
        return
    if path.suffix != ".csv":
        raise SelfprefError(f"{path}: give a .jsonl or a .csv file as `source`")
    number = 0
    try:
        with open(path, newline="", encoding="utf-8-sig") as handle:
            reader = csv.DictReader(handle, strict=True)
            for row in reader:
                number = reader.line_num
                if None in row or None in row.values():
                    raise SelfprefError(
                        f"{path}, line {number}: not as many cells as columns; quote cells with "
                        "commas"
                    )
                yield number, row
    except OSError as error:
        raise _unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error
    except csv.Error as error:
        raise SelfprefError(
            f"{path}, line {number + 1}: not CSV ({error}); mend the quotes"
        ) from error


def need(record: dict[str, Any], key: str, path: Path, number: int) -> Any:
    """The value of a key that must be there.

    Raises:
        SelfprefError: It is not; names file, line and key.
    """
    if key not in record:
        raise SelfprefError(f"{path}, line {number}: no key {key!r}; not a file of this release")
    return record[key]


def written(rows: Iterable[tuple[str, str, str]], study: str) -> pd.DataFrame:
    """The responses table of a source with one text a responder: item_id, responder and text."""
    columns = ["item_id", "responder", "text"]
    return tables.fill(pd.DataFrame(rows, columns=columns), "responses", study=study)


def audited(study: str, file: str, rows: int, found: Mapping[str, int]) -> pd.DataFrame:
    """The audit table of one file of so many rows: how many of them each finding concerns."""
    made = [{"finding": finding, "affected": count} for finding, count in found.items() if count]
    return tables.fill(made, "audit", study=study, file=file, rows=rows)


def whole_rows(path: Path, columns: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place (file and line) and row of a JSONL or CSV file of these columns, each with a value.

    Raises:
        SelfprefError: A column is missing, empty or unknown; names file, line and column.
    """
    wanted = list(columns)
    for number, row in rows_of(path):
        where = f"{path}, line {number}"
        if missing := [name for name in wanted if row.get(name) in (None, "")]:
            raise SelfprefError(f"{where}: no {missing[0]!r}; it needs {', '.join(wanted)}")
        if unknown := sorted(set(row) - set(wanted)):
            raise SelfprefError(f"{where}: unknown column {unknown[0]!r}; remove it")
        yield where, row


def finite(row: Mapping[str, Any], name: str, where: str) -> float:
    """The number in a column of a row.

    Raises:
        SelfprefError: It is no number; names the place.
    """
    try:
        number = float(row[name])
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise SelfprefError(f"{where}: {name} {row[name]!r} is no number")
    return number
