"""Tables: checked against their schema whenever they are written or read.

A table is one parquet file per data set or model, sorted by its key; see `selfpref.schemas`.
"""

import os
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pandera.pandas as pa
import pyarrow
import pyarrow.parquet

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.schemas import TABLES, TIE, Table


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
