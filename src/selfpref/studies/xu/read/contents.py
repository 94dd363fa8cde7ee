"""The contents of one released file: lines, feedback records, numbers; what is wrong is noted.

A file that does not hold one value a sentence (or candidate) cannot be aligned. It is left out
whole, and the audit says why; nothing is guessed from what is left of it.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from selfpref.errors import SelfprefError

# Every feedback record of the release ends with this.
TERMINATOR = "[SEP_TOKEN_WENDA]"
LOST_CHARACTER = "�"


class Ledger:
    """The audit: what was found in which file, in the order of the files.

    Args:
        study: Whose files these are.
    """

    def __init__(self, study: str) -> None:
        self._study = study
        self._rows: list[dict[str, object]] = []

    def note(
        self, path: str, finding: str, rows: int, affected: int, detail: str | None = None
    ) -> None:
        """One finding; `affected` of the file's `rows`."""
        self._rows.append(
            {
                "study": self._study,
                "file": path,
                "finding": finding,
                "rows": rows,
                "affected": affected,
                "detail": detail,
            }
        )

    def count(self, path: str, finding: str, hits: Sequence[bool]) -> None:
        """A finding that concerns some rows; none, no finding."""
        if any(hits):
            self.note(path, finding, len(hits), sum(hits))

    def duplicates(self, files: dict[str, Path]) -> None:
        """Name the files that are byte for byte an earlier one."""
        first: dict[str, str] = {}
        for path, local in sorted(files.items()):
            body = local.read_bytes()
            same = first.setdefault(hashlib.sha256(body).hexdigest(), path)
            if same != path and body:
                rows = body.count(b"\n")
                self.note(path, "duplicate", rows, rows, f"the same bytes as {same}")

    def table(self) -> pd.DataFrame:
        """The audit table."""
        return pd.DataFrame(self._rows)


def text_of(path: Path) -> str:
    """A file's text, line ends as they are.

    Raises:
        SelfprefError: It is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise SelfprefError(f"{path}: not UTF-8 ({error}); is the file damaged?") from error


def lines_of(path: Path) -> list[str]:
    """The lines of a file; a missing line end at its end makes no difference.

    Raises:
        SelfprefError: It is not UTF-8.
    """
    lines = text_of(path).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def numbers_of(path: Path) -> list[float]:
    """The numbers of a file, one a line.

    Raises:
        SelfprefError: A line is no number; names file and line.
    """
    values = []
    for number, line in enumerate(lines_of(path), start=1):
        try:
            values.append(float(line))
        except ValueError as error:
            raise SelfprefError(f"{path}, line {number}: {line!r} is no number") from error
    return values


def records_of(path: Path) -> tuple[list[str], str]:
    """The feedback records of a file, and what stands after the last terminator."""
    *records, rest = text_of(path).split(TERMINATOR)
    return records, rest.strip()


def aligned_lines(path: str, local: Path, wanted: int, ledger: Ledger) -> list[str] | None:
    """The texts of a file, or None if there is not one a sentence or candidate."""
    lines = lines_of(local)
    return lines if _fits(path, len(lines), "lines", wanted, ledger) else None


def aligned_numbers(path: str, local: Path, wanted: int, ledger: Ledger) -> list[float] | None:
    """The numbers of a file, or None if there is not one a sentence."""
    values = numbers_of(local)
    return values if _fits(path, len(values), "numbers", wanted, ledger) else None


def aligned_records(path: str, local: Path, wanted: int, ledger: Ledger) -> list[str] | None:
    """The feedback of a file, or None if there is not one record a sentence or candidate."""
    records, rest = records_of(local)
    if rest:
        ledger.note(path, "text after the last terminator", len(records), 1)
    if not _fits(path, len(records), "records", wanted, ledger):
        return None
    ledger.count(path, "lost characters", [LOST_CHARACTER in record for record in records])
    return records


def _fits(path: str, n: int, kind: str, wanted: int, ledger: Ledger) -> bool:
    """Whether there is one of a kind for each text; noted either way."""
    if n != wanted:
        reason = f"{n} {kind} for {wanted} texts"
        ledger.note(path, f"left out: {kind} are not texts", n, n, reason)
        return False
    ledger.note(path, "read", n, n)
    return True
