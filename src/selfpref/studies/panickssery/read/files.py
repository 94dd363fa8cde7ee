"""The files of the release: what their paths say, and their rows as columns.

A file is a JSON list of objects, where a bare `NaN` stands for a missing number. A file that is cut
off, or whose rows lack a field of its kind altogether, is refused by name; a value that is missing
in a single row is read as missing.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow

from selfpref.errors import SelfprefError
from selfpref.studies.panickssery.read.audit import Audit, Bools, Floats
from selfpref.tables.schemas import ROUNDING

Texts = npt.NDArray[np.object_]
LABELS = ("1", "2")

_SET, _EVALUATOR = r"(?P<dataset>xsum|cnn)", r"(?P<evaluator>\w+)"
# What each path holds. The wordings that name the others were tried on XSum alone.
PATTERNS = {
    "summaries": re.compile(rf"summaries/{_SET}/\w+?_train_(?P<evaluator>\w+)_responses\.json"),
    "pairwise": re.compile(rf"results/{_SET}/{_EVALUATOR}_results\.json"),
    "worse": re.compile(rf"results_with_worse/{_SET}/{_EVALUATOR}_results\.json"),
    "named": re.compile(rf"results_vs_(?P<named>human|model)/{_EVALUATOR}_results\.json"),
    "recognition": re.compile(
        rf"individual_setting_results/recognition_results/{_SET}/{_EVALUATOR}_results\.json"
    ),
    "quality": re.compile(
        rf"individual_setting_results/score_results/{_SET}/{_EVALUATOR}_results\.json"
    ),
    "labels": re.compile(
        rf"label_results/(?P<labels>correct|wrong|random)_label_results/{_SET}/"
        rf"{_EVALUATOR}_results\.json"
    ),
    "raw-labels": re.compile(
        rf"label_results/raw_llama_label_results/{_SET}_label_(?P<evaluator>\w+)_raw\.json"
    ),
    "generations": re.compile(rf"comparisons/{_SET}/{_EVALUATOR}_comparisons\.json"),
}


def lists(values: Floats, kept: npt.NDArray[np.bool_]) -> pd.Series:
    """A column of lists from `[rows, values]`, missing where not kept.

    A million Python lists would take ten times the memory.
    """
    rows, each = values.shape
    ends = pyarrow.array(np.arange(rows + 1, dtype=np.int32) * each)
    array = pyarrow.ListArray.from_arrays(ends, values.ravel(), mask=pyarrow.array(~kept))
    return pd.Series(pd.arrays.ArrowExtensionArray(array))


@dataclass(frozen=True)
class Released:
    """One file and what its path says.

    Attributes:
        path: In the repository.
        local: On this machine.
        kind: A key of `PATTERNS`.
        dataset: `xsum` or `cnn`.
        evaluator: Who judged; of summaries, who wrote.
        condition: Of labels and wordings, which.
    """

    path: str
    local: Path
    kind: str
    dataset: str
    evaluator: str
    condition: str


def released_file(path: str, local: Path) -> Released | None:
    """What a path says; None for a file that no study reads."""
    for kind, pattern in PATTERNS.items():
        if match := pattern.fullmatch(path):
            found = match.groupdict()
            condition = found.get("labels") or found.get("named") or ""
            dataset = found.get("dataset") or "xsum"
            return Released(path, local, kind, dataset, found["evaluator"], condition)
    return None


@dataclass(frozen=True)
class Rows:
    """The rows of one file, read by column.

    Attributes:
        file: Where they are from.
        rows: The JSON objects.
        audit: Takes what is found.
    """

    file: Released
    rows: list[dict[str, Any]]
    audit: Audit

    def __len__(self) -> int:
        return len(self.rows)

    def error(self, number: int, reason: str) -> SelfprefError:
        """Another schema: names file and row, counted from 0."""
        return SelfprefError(
            f"{self.file.local}, row {number}: {reason}; not a file of this release"
        )

    def note(self, finding: str, mask: Bools | None = None, detail: str = "") -> None:
        """Note in the audit which rows a finding affects; all of them without a mask."""
        affected = np.ones(len(self), dtype=bool) if mask is None else mask
        self.audit.note(self.file.path, finding, affected, detail)

    def count(self, finding: str, affected: int, detail: str = "") -> None:
        """Note in the audit a number of other things than rows."""
        self.audit.count(self.file.path, len(self), finding, affected, detail)

    def column(self, name: str) -> list[Any]:
        """The values of a field, None where a row lacks it."""
        return [row.get(name) for row in self.rows]

    def has(self, *names: str) -> bool:
        """Whether some row holds each of these fields."""
        return all(any(name in row for row in self.rows) for name in names)

    def need(self, *names: str) -> None:
        """Refuse a file none of whose rows holds a field.

        Raises:
            SelfprefError: Names file and field.
        """
        for name in names:
            if not self.has(name):
                raise SelfprefError(
                    f"{self.file.local}: no row has {name!r}; not a file of this release"
                )

    def names(self, name: str) -> Texts:
        """A text that every row must have."""
        return self._texts(name, str)

    def tokens(self, name: str) -> Texts:
        """A text that a row may lack: None there."""
        return self._texts(name, str | None)

    def _texts(self, name: str, kind: type | UnionType) -> Texts:
        values = self.column(name)
        for number, value in enumerate(values):
            if not isinstance(value, kind):
                raise self.error(number, f"{name!r} is {value!r}, not a text")
        return np.array(values, dtype=object)

    def numbers(self, name: str, most: float = 1.0) -> Floats:
        """A number in 0..`most` that a row may lack: NaN there, as where the release has NaN."""
        return self._checked(name, self.column(name), most)

    def labels(self, name: str, keys: Sequence[str] = LABELS) -> Floats:
        """Probabilities `[rows, keys]` of a field that maps labels to them; NaN where missing."""
        values = self.column(name)
        for number, value in enumerate(values):
            if not isinstance(value, dict | None):
                raise self.error(number, f"{name!r} is {value!r}, not a mapping of labels")
        none: Mapping[str, float] = {}
        return np.column_stack(
            [self._checked(name, [(value or none).get(key) for value in values]) for key in keys]
        )

    def _checked(self, name: str, values: list[Any], most: float = 1.0) -> Floats:
        try:
            found = np.array(values, dtype=float)
        except (TypeError, ValueError):
            found = np.array([], dtype=float)
        if found.shape != (len(values),):
            wrong = (not isinstance(value, int | float | None) for value in values)
            number = list(wrong).index(True)
            raise self.error(number, f"{name!r} is {values[number]!r}, not a number")
        if (outside := (found < 0) | (found > most + ROUNDING)).any():
            number = int(np.argmax(outside))
            raise self.error(number, f"{name!r} is {values[number]!r}, not in 0..{most:g}")
        return found


def _load(file: Released) -> Any:
    """What a JSON file holds, bare NaN among it."""
    try:
        return json.loads(file.local.read_bytes())
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise SelfprefError(f"{file.local}: not JSON ({error}); is the file cut off?") from error


def load_rows(file: Released, audit: Audit) -> Rows:
    """The rows of a file, to be noted in the audit.

    Raises:
        SelfprefError: Not JSON (a truncated file), or no list of objects.
    """
    found = _load(file)
    if not isinstance(found, list) or not found:
        raise SelfprefError(f"{file.local}: not a list of rows; not a file of this release")
    rows = Rows(file, found, audit)
    for number, row in enumerate(found):
        if not isinstance(row, dict):
            raise rows.error(number, "not an object")
    return rows


def load_summaries(file: Released) -> dict[str, str]:
    """Summaries by article, in the release's order.

    Raises:
        SelfprefError: Not JSON, or no mapping of keys to texts.
    """
    found = _load(file)
    if not isinstance(found, dict) or not found:
        raise SelfprefError(f"{file.local}: not a mapping of articles; not a file of this release")
    for key, text in found.items():
        if not isinstance(text, str):
            raise SelfprefError(
                f"{file.local}: the summary of {key!r} is no text; not a file of this release"
            )
    return found
