"""Records of files: JSON Lines, JSON lists and CSV, with errors that name file and line."""

import csv
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selfpref import texts
from selfpref.errors import SelfprefError

Records = Iterator[tuple[int, dict[str, Any]]]
# A response may be longer than the 128 KB at which the csv module gives up.
csv.field_size_limit(2**31 - 1)


def _not_utf8(path: Path) -> SelfprefError:
    """Names the line; what reads in blocks does not know it."""
    number = 0
    try:
        path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = error.object.count(b"\n", 0, error.start) + 1
    return SelfprefError(f"{path}, line {number}: not UTF-8; save the file as UTF-8")


@contextmanager
def _told(path: Path, at: Callable[[], int]) -> Iterator[None]:
    """What goes wrong with a file in one line; `at` is the line that is read, 0 for all of them."""
    try:
        yield
    except OSError as error:
        raise SelfprefError(f"{path}: {error.strerror}; correct the path or `source`") from error
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error
    except csv.Error as error:
        raise SelfprefError(f"{path}, line {at()}: not CSV ({error}); mend the quotes") from error
    # Of a syntax that is none, a number too long, lists nested too deep.
    except (ValueError, RecursionError) as error:
        told, line = str(error), at()
        if isinstance(error, json.JSONDecodeError):
            told, line = f"{error.msg}, column {error.colno}", line or error.lineno
        place = f"{path}, line {line}" if line else str(path)
        raise SelfprefError(f"{place}: not JSON ({told}); is the file cut off?") from error


def _decoded(text: str) -> Any:
    """What a JSON text says, without lone surrogates, which no file of text can hold."""
    found = json.loads(text)
    if "\\u" in text and "\\ud" in text.lower():
        return json.loads(texts.whole(json.dumps(found, ensure_ascii=False)))
    return found


def json_lines(path: Path) -> Records:
    """Line number and record of each non-empty line, without lone surrogates.

    Raises:
        SelfprefError: A line is not a JSON object (a truncated file ends in one) or not UTF-8.
    """
    number = 0
    with _told(path, lambda: number), open(path, encoding="utf-8-sig") as handle:
        for number, line in enumerate(handle, start=1):
            if not (text := line.strip()):
                continue
            if not isinstance(record := _decoded(text), dict):
                raise SelfprefError(
                    f"{path}, line {number}: not a JSON object; give one a line, or a list as .json"
                )
            yield number, record


def entries(path: Path) -> Records:
    """Number, from 1, and record of each entry of a JSON list; of JSON Lines their lines.

    Raises:
        SelfprefError: It is neither; names file and entry.
    """
    with _told(path, lambda: 0), open(path, encoding="utf-8-sig") as handle:
        listed = handle.read(64).lstrip().startswith("[")
        handle.seek(0)
        found = _decoded(handle.read()) if listed else []
    if not listed:
        yield from json_lines(path)
    for number, record in enumerate(found, start=1):
        if not isinstance(record, dict):
            raise SelfprefError(f"{path}, entry {number}: not a JSON object; remove it")
        yield number, record


def rows_of(path: Path) -> Records:
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
    with (
        _told(path, lambda: number + 1),
        open(path, newline="", encoding="utf-8-sig") as handle,
    ):
        reader = csv.DictReader(handle, strict=True)
        for row in reader:
            number = reader.line_num
            if None in row or None in row.values():
                raise SelfprefError(
                    f"{path}, line {number}: not as many cells as columns; quote cells with commas"
                )
            yield number, row


def need(record: dict[str, Any], key: str, path: Path, number: int) -> Any:
    """The value of a key that must be there.

    Raises:
        SelfprefError: It is not; names file, line and key.
    """
    if key not in record:
        raise SelfprefError(f"{path}, line {number}: no key {key!r}; not a file of this release")
    return record[key]
