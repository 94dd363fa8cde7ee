"""The tables that all sources fill and all studies read: schema, check, read, write.

| table | key |
|---|---|
| items | study, item_id |
| responses | study, item_id, responder, step, sample |
| labels | study, item_id, responder_a, responder_b, annotator, repeat |
| truths | study, item_id, responder, step, metric |
| verdicts | study, item_id, judge, task, variant, candidates, repeat |
| perplexities | study, item_id, responder, step, judge, conditional |

A table is one parquet file per data set or model, sorted by its key. Missing values are null and
carry a status other than `ok`; they are never a tie, a zero or a perfect score.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pandera.pandas as pa
import pyarrow
import pyarrow.parquet

from selfpref import paths
from selfpref.errors import SelfprefError

STATUSES = ("ok", "unparsable", "refused", "low-mass", "truncated", "failed")
TASKS = (
    "preference",
    "recognition",
    "inferiority",
    "quality",
    "rubric",
    "mqm",
    "coverage",
    "correctness",
)
TIE = "tie"
# Probabilities of labels are read in floating point; their sum may exceed one by this much.
ROUNDING = 1e-6

_TEXT, _TEXTS = pyarrow.string(), pyarrow.list_(pyarrow.string())
_INT, _REAL, _REALS = pyarrow.int64(), pyarrow.float64(), pyarrow.list_(pyarrow.float64())
_MESSAGES = pyarrow.list_(pyarrow.struct([("role", _TEXT), ("content", _TEXT)]))


@dataclass(frozen=True)
class Table:
    """One table: its key, its columns with their types, and what must hold of the values."""

    name: str
    key: tuple[str, ...]
    columns: dict[str, pyarrow.DataType]
    nullable: frozenset[str]
    checks: dict[str, pa.Check]

    @property
    def arrow(self) -> pyarrow.Schema:
        """The schema on disk."""
        return pyarrow.schema([pyarrow.field(name, kind) for name, kind in self.columns.items()])

    @property
    def pandera(self) -> pa.DataFrameSchema:
        """Presence, nulls and values; the types are the business of `arrow`."""
        return pa.DataFrameSchema(
            {
                name: pa.Column(None, checks=self.checks.get(name), nullable=name in self.nullable)
                for name in self.columns
            },
            strict=True,
        )


def _one_of(values: Iterable[str]) -> pa.Check:
    allowed = list(values)
    return pa.Check(lambda column: column.isin(allowed), error=f"one of {', '.join(allowed)}")


def _each(condition: str, holds: Callable[[Any], bool]) -> pa.Check:
    return pa.Check(holds, element_wise=True, error=condition)


TABLES = {
    table.name: table
    for table in (
        Table(
            "items",
            ("study", "item_id"),
            {
                "study": _TEXT,
                "item_id": _TEXT,
                "category": _TEXT,
                "cluster": _TEXT,
                "messages": _MESSAGES,
                "reference": _TEXT,
                "metadata": _TEXT,
            },
            frozenset({"category", "reference"}),
            {},
        ),
        Table(
            "responses",
            ("study", "item_id", "responder", "step", "sample"),
            {
                "study": _TEXT,
                "item_id": _TEXT,
                "responder": _TEXT,
                "step": _INT,
                "sample": _INT,
                "text": _TEXT,
            },
            frozenset(),
            {},
        ),
        Table(
            "labels",
            ("study", "item_id", "responder_a", "responder_b", "annotator", "repeat"),
            {
                "study": _TEXT,
                "item_id": _TEXT,
                "responder_a": _TEXT,
                "responder_b": _TEXT,
                "annotator": _TEXT,
                "repeat": _INT,
                "label": _TEXT,
            },
            frozenset(),
            {"label": _one_of(("a", "b", TIE))},
        ),
        Table(
            "truths",
            ("study", "item_id", "responder", "step", "metric"),
            {
                "study": _TEXT,
                "item_id": _TEXT,
                "responder": _TEXT,
                "step": _INT,
                "metric": _TEXT,
                "score": _REAL,
            },
            frozenset(),
            {},
        ),
        Table(
            "perplexities",
            ("study", "item_id", "responder", "step", "judge", "conditional"),
            {
                "study": _TEXT,
                "item_id": _TEXT,
                "responder": _TEXT,
                "step": _INT,
                "judge": _TEXT,
                "conditional": pyarrow.bool_(),
                "sum_nll": _REAL,
                "n_tokens": _INT,
                "n_bytes": _INT,
                "status": _TEXT,
            },
            frozenset({"sum_nll"}),
            {
                "status": _one_of(STATUSES),
                "sum_nll": pa.Check(lambda column: column >= 0, error="at least 0, in nats"),
            },
        ),
        Table(
            "verdicts",
            ("study", "item_id", "judge", "task", "variant", "candidates", "repeat"),
            {
                "study": _TEXT,
                "item_id": _TEXT,
                "judge": _TEXT,
                "task": _TEXT,
                "variant": _TEXT,
                "candidates": _TEXTS,
                "order_known": pyarrow.bool_(),
                "repeat": _INT,
                "probabilities": _REALS,
                "mass": _REAL,
                "choice": _TEXT,
                "stored": _REAL,
                "status": _TEXT,
            },
            frozenset({"probabilities", "mass", "choice", "stored"}),
            {
                "task": _one_of(TASKS),
                "status": _one_of(STATUSES),
                "candidates": _each(
                    "at least two different responders",
                    lambda names: len(names) >= 2 and len(set(names)) == len(names),
                ),
                "probabilities": _each(
                    "each in 0..1 and a sum of at most 1",
                    lambda p: min(p) >= 0 and max(p) <= 1 and sum(p) <= 1 + ROUNDING,
                ),
                "mass": pa.Check(
                    lambda column: column.between(0, 1 + ROUNDING), error="between 0 and 1"
                ),
            },
        ),
    )
}


def _contradictions(frame: pd.DataFrame) -> list[int]:
    """Verdicts whose choice is nobody's, whose lists differ in length, or whose status lies."""
    rows = zip(frame.candidates, frame.probabilities, frame.choice, frame.status, strict=True)
    return [
        number
        for number, (candidates, probabilities, choice, status) in enumerate(rows)
        if (status == "ok") == pd.isna(choice)
        or not (pd.isna(choice) or choice == TIE or choice in candidates)
        or not (probabilities is None or len(probabilities) == len(candidates))
    ]


def _typed(frame: pd.DataFrame, table: Table, source: str) -> pyarrow.Table:
    """The frame under the table's arrow schema, which checks presence and types."""
    if missing := [name for name in table.columns if name not in frame]:
        raise SelfprefError(f"{source}: no column {missing[0]!r}; the table {table.name} needs it")
    if extra := [name for name in frame if name not in table.columns]:
        raise SelfprefError(f"{source}: unknown column {extra[0]!r} in {table.name}; remove it")
    columns = []
    for name, kind in table.columns.items():
        try:
            columns.append(pyarrow.Array.from_pandas(frame[name], type=kind))
        except pyarrow.ArrowException as error:
            reason = str(error).splitlines()[0]
            raise SelfprefError(f"{source}: column {name!r} is not {kind}: {reason}") from error
    return pyarrow.Table.from_arrays(columns, schema=table.arrow)


def _to_pandas(table: pyarrow.Table) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas()
    for field in table.schema:
        # Lists come back as arrays; plain lists compare and print as a reader expects.
        if pyarrow.types.is_list(field.type):
            frame[field.name] = pd.Series(table[field.name].to_pylist(), dtype=object)
    return frame


def _valid(frame: pd.DataFrame, name: str, source: str) -> pyarrow.Table:
    table = TABLES[name]
    typed = _typed(frame, table, source)
    plain = _to_pandas(typed)
    try:
        table.pandera.validate(plain)
    except pa.errors.SchemaError as error:
        column = getattr(error.schema, "name", None)
        cases = error.failure_cases
        first = cases["failure_case"].iloc[0] if isinstance(cases, pd.DataFrame) else cases
        want = error.check.error if isinstance(error.check, pa.Check) else "not null"
        raise SelfprefError(
            f"{source}: column {column!r} holds {first!r}; wanted {want}"
        ) from error
    if name == "verdicts" and (wrong := _contradictions(plain)):
        row = plain.iloc[wrong[0]]
        raise SelfprefError(
            f"{source}: item {row.item_id!r}, judge {row.judge!r}: choice {row.choice!r}, "
            f"candidates {row.candidates} and status {row.status!r} contradict each other"
        )
    keys = plain[list(table.key)]
    if "candidates" in keys:
        keys = keys.assign(candidates=keys["candidates"].map(tuple))
    if (doubled := keys.duplicated()).any():
        raise SelfprefError(
            f"{source}: duplicate key in {name}: {tuple(keys[doubled].iloc[0])}; keep one row"
        )
    return typed.take(keys.sort_values(list(table.key), kind="stable").index.to_numpy())


def validate(frame: pd.DataFrame, name: str, source: str) -> pd.DataFrame:
    """Check a table and return it sorted by its key, with the types of its schema.

    Args:
        frame: The rows, in any order.
        name: Which table, a key of `TABLES`.
        source: What to name in an error: a file, or a data set.

    Raises:
        SelfprefError: A missing or unknown column, a wrong type, a null or value that the schema
            forbids, a duplicate key, a choice that is no candidate.
    """
    return _to_pandas(_valid(frame, name, source))


def write(frame: pd.DataFrame, name: str, path: Path) -> None:
    """Validate and write one file of a table, under its name only once it is complete."""
    valid = _valid(frame, name, path.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".new")
    pyarrow.parquet.write_table(valid, scratch, compression="zstd")
    os.replace(scratch, path)


def empty(name: str) -> pd.DataFrame:
    """A table without rows."""
    return _to_pandas(TABLES[name].arrow.empty_table())


def read(profile: str, name: str, study: str, parts: Iterable[str]) -> pd.DataFrame:
    """Read and check the named parts of a table; files of others in the folder are ignored.

    Args:
        profile: Whose data.
        name: Which table, a key of `TABLES`.
        study: Which study.
        parts: The data sets or models to read, from the parameters.

    Returns:
        All rows, part by part, each sorted by key.

    Raises:
        SelfprefError: A file is missing, damaged or breaks the schema.
    """
    frames = [empty(name)]
    for part in sorted(parts):
        path = paths.table_dir(profile, name, study) / f"{part}.parquet"
        shown = path.relative_to(paths.root())
        try:
            frame = pyarrow.parquet.read_table(path).to_pandas()
        except (OSError, pyarrow.ArrowException) as error:
            raise SelfprefError(f"{shown}: not readable ({error}); run `dvc repro`") from error
        frames.append(validate(frame, name, str(shown)))
    return pd.concat(frames, ignore_index=True)
