"""Tables: checked against their schema whenever they are written or read.

A table is one parquet file per data set or model, sorted by its key; see `selfpref.tables.schemas`.
"""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pandera.pandas as pa
import pyarrow
import pyarrow.parquet
from pyarrow import compute

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.files import atomic
from selfpref.tables.schemas import TABLES, TIE, Table

# Keys are ranked as one number a row; above this the number is ranked anew to stay in 64 bits.
LARGEST = 2**62


def _contradictions(table: pyarrow.Table) -> npt.NDArray[np.bool_]:
    """Verdicts whose choice is nobody's, whose lists differ in length, or whose status lies."""
    candidates, choice = _column(table, "candidates"), _column(table, "choice")
    row = candidates.value_parent_indices()
    chosen = compute.equal(candidates.flatten(), choice.take(row)).fill_null(False)
    named = np.bincount(row.filter(chosen).to_numpy(), minlength=len(table)) > 0
    missing = choice.is_null().to_numpy(zero_copy_only=False)
    tied = compute.equal(choice, TIE).fill_null(False).to_numpy(zero_copy_only=False)
    ok = compute.equal(table["status"], "ok").to_numpy()
    lengths = compute.list_value_length(_column(table, "probabilities"))
    same = compute.equal(lengths, candidates.value_lengths()).fill_null(True)
    fits = same.to_numpy(zero_copy_only=False)
    wrong: npt.NDArray[np.bool_] = (ok == missing) | ~(missing | tied | named) | ~fits
    return wrong


def _column(table: pyarrow.Table, name: str) -> pyarrow.Array:
    """A column in one piece."""
    return table[name].combine_chunks()


def _typed(frame: pd.DataFrame | pyarrow.Table, table: Table, source: str) -> pyarrow.Table:
    """The rows under the table's arrow schema, which checks presence and types."""
    names = frame.column_names if isinstance(frame, pyarrow.Table) else list(frame)
    if missing := [name for name in table.columns if name not in names]:
        raise SelfprefError(f"{source}: no column {missing[0]!r}; the table {table.name} needs it")
    if extra := [name for name in names if name not in table.columns]:
        raise SelfprefError(f"{source}: unknown column {extra[0]!r} in {table.name}; remove it")
    columns = []
    for name, kind in table.columns.items():
        try:
            columns.append(
                frame[name].cast(kind)
                if isinstance(frame, pyarrow.Table)
                else pyarrow.Array.from_pandas(frame[name], type=kind)
            )
        except pyarrow.ArrowException as error:
            reason = str(error).splitlines()[0]
            raise SelfprefError(f"{source}: column {name!r} is not {kind}: {reason}") from error
    return pyarrow.Table.from_arrays(columns, schema=table.arrow)


def _lists(table: pyarrow.Table, name: str) -> list[list[Any] | None]:
    """Python lists of a column; equal lists of texts are one object."""
    array = _column(table, name)
    if pyarrow.types.is_string(array.type.value_type):
        number = _numbered(_ranks(table, name), len(table))
        _, first, which = np.unique(number, return_index=True, return_inverse=True)
        different = pd.Series(array.take(first).to_pylist(), dtype=object)
        shared: list[list[Any] | None] = different.take(which).tolist()
        return shared
    flat = array.flatten()
    number_like = pyarrow.types.is_floating(flat.type)
    values = flat.to_numpy(zero_copy_only=False).tolist() if number_like else flat.to_pylist()
    ends = np.cumsum(array.value_lengths().fill_null(0).to_numpy()).tolist()
    # The collector would walk the lists made so far again and again.
    collected = gc.isenabled()
    gc.disable()
    lists: list[list[Any] | None] = [
        values[start:end] for start, end in zip([0, *ends], ends, strict=False)
    ]
    if collected:
        gc.enable()
    for row in np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False)):
        lists[row] = None
    return lists


def _to_pandas(table: pyarrow.Table) -> pd.DataFrame:
    frame = _lean(table)
    for name in table.column_names:
        if _is_list(table, name):
            # Plain lists compare and print as a reader expects.
            frame[name] = pd.Series(_lists(table, name), dtype=object, index=frame.index)
    return frame


def _lean(table: pyarrow.Table) -> pd.DataFrame:
    """A frame whose lists are Arrow's."""
    kinds = {field.type: pd.ArrowDtype(field.type) for field in table.schema}
    lists = {kind: dtype for kind, dtype in kinds.items() if pyarrow.types.is_list(kind)}
    frame: pd.DataFrame = table.to_pandas(types_mapper=lists.get)
    return frame


def _is_list(table: pyarrow.Table, name: str) -> bool:
    return bool(pyarrow.types.is_list(table.schema.field(name).type))


def _ranks(table: pyarrow.Table, name: str) -> Iterator[tuple[npt.NDArray[np.int64], int]]:
    """Ranks of a key column and their number: one a row, or one a place in its lists."""
    array = _column(table, name)
    flat = array.flatten() if _is_list(table, name) else array
    coded = flat.dictionary_encode()
    rank = np.empty(len(coded.dictionary), dtype=np.int64)
    rank[compute.sort_indices(coded.dictionary).to_numpy()] = np.arange(len(rank))
    ranks = rank[coded.indices.to_numpy()]
    if flat is array:
        yield ranks, len(rank)
        return
    lengths = array.value_lengths().to_numpy()
    starts = np.cumsum(lengths) - lengths
    for place in range(int(lengths.max(initial=0))):
        there = lengths > place
        at = np.zeros(len(table), dtype=np.int64)
        # 0 is the end of a list, so that a list sorts before those that go on.
        at[there] = ranks[starts[there] + place] + 1
        yield at, len(rank) + 1


def _numbered(
    ranks: Iterable[tuple[npt.NDArray[np.int64], int]], rows: int
) -> npt.NDArray[np.int64]:
    """One number a row that orders as its ranks do, the first ranks counting most."""
    number, size = np.zeros(rows, dtype=np.int64), 1
    for rank, count in ranks:
        if size * count > LARGEST:
            found, number = np.unique(number, return_inverse=True)
            size = len(found)
        number, size = number * count + rank, size * count
    return number


def _order(table: pyarrow.Table, key: tuple[str, ...]) -> tuple[npt.NDArray[np.int64], int | None]:
    """The rows sorted by the key, and the first row whose key another one has."""
    ranks = (rank for name in key for rank in _ranks(table, name))
    number = _numbered(ranks, len(table))
    order = np.argsort(number, kind="stable")
    doubled = np.flatnonzero(np.diff(number[order]) == 0)
    return order, int(order[doubled[0]]) if len(doubled) else None


def _valid(frame: pd.DataFrame | pyarrow.Table, table: Table, source: str) -> pyarrow.Table:
    typed = _typed(frame, table, source)
    for column in set(typed.column_names) - table.nullable:
        if compute.any(compute.is_null(typed[column], nan_is_null=True)).as_py():
            raise _refused(source, column, None, "not null")
    try:
        table.pandera.validate(typed.select(list(table.checks)).to_pandas())
    except pa.errors.SchemaError as error:
        column = getattr(error.schema, "name", None)
        cases = error.failure_cases
        first = cases["failure_case"].iloc[0] if isinstance(cases, pd.DataFrame) else cases
        want = error.check.error if isinstance(error.check, pa.Check) else "of its type"
        raise _refused(source, column, first, want) from error
    for column, check in table.lists.items():
        lists = _column(typed, column).drop_null()
        if len(wrong := np.flatnonzero(check.wrong(lists))):
            raise _refused(source, column, lists[int(wrong[0])].as_py(), check.wanted)
    if table.name == "verdicts" and len(wrong := np.flatnonzero(_contradictions(typed))):
        row = _row(typed, int(wrong[0]))
        raise SelfprefError(
            f"{source}: item {row['item_id']!r}, judge {row['judge']!r}: choice "
            f"{row['choice']!r}, candidates {row['candidates']} and status {row['status']!r} "
            "contradict each other"
        )
    order, doubled = _order(typed, table.key)
    if doubled is not None:
        values = [_row(typed, doubled)[part] for part in table.key]
        shown = tuple(tuple(value) if isinstance(value, list) else value for value in values)
        raise SelfprefError(f"{source}: duplicate key in {table.name}: {shown}; keep one row")
    # Files are sorted already; a copy of their texts would be most of what reading takes.
    return typed if (np.diff(order) > 0).all() else typed.take(order)


def _refused(source: str, column: object, value: object, wanted: object) -> SelfprefError:
    return SelfprefError(f"{source}: column {column!r} holds {value!r}; wanted {wanted}")


def _row(table: pyarrow.Table, number: int) -> dict[str, Any]:
    row: dict[str, Any] = table.slice(number, 1).to_pylist()[0]
    return row


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
    return _to_pandas(_valid(frame, TABLES[name], source))


def write(frame: pd.DataFrame, name: str, path: Path) -> None:
    """Validate and write one file of a table, under its name only once it is complete."""
    valid = _valid(frame, TABLES[name], path.name)
    with atomic(path) as scratch:
        pyarrow.parquet.write_table(valid, scratch, compression="zstd")
    del valid
    release()


def release() -> None:
    """Give freed memory back to the system; in pieces, it would not be used again."""
    pyarrow.default_memory_pool().release_unused()


def empty(name: str) -> pd.DataFrame:
    """A table without rows."""
    return _to_pandas(TABLES[name].arrow.empty_table())


def fill(
    rows: pd.DataFrame | Iterable[Mapping[str, object]], name: str, /, **constants: object
) -> pd.DataFrame:
    """Rows with every column of a table.

    Args:
        rows: What differs from row to row.
        name: Which table, a key of `TABLES`.
        constants: Columns of one value; those that nobody gives take the table's defaults.
    """
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))
    if frame.empty:
        return empty(name)
    defaults = TABLES[name].defaults.items()
    given = {column: value for column, value in defaults if column not in frame}
    return frame.assign(**given | constants)


def together(name: str, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Parts of a table, each as `lean` returns it, as one; without any, no rows."""
    return pd.concat([lean(empty(name), name, name), *parts], ignore_index=True)


def lean(frame: pd.DataFrame, name: str, source: str) -> pd.DataFrame:
    """Rows of a table with the types of its schema, lists as Arrow's: a fifth of the memory.

    Args:
        frame: The rows.
        name: Which table, a key of `TABLES`.
        source: What to name in an error.

    Raises:
        SelfprefError: A missing or unknown column, or a wrong type.
    """
    return _lean(_typed(frame, TABLES[name], source))


def read(
    profile: str,
    name: str,
    study: str,
    parts: Iterable[str],
    columns: Sequence[str] | None = None,
    folder: str | None = None,
) -> pd.DataFrame:
    """Read and check the named parts of a table; files of others in the folder are ignored.

    Args:
        profile: Whose data.
        name: Which table, a key of `TABLES`.
        study: Which study.
        parts: The data sets or models to read.
        columns: Those that are wanted, lists among them as Arrow's; texts that are not wanted never
            reach the memory. Left out: all, with lists as Python's.
        folder: Where its files lie; left out: in the folder of the table's name.

    Returns:
        All rows, part by part, each sorted by key.

    Raises:
        SelfprefError: A file is missing, damaged or breaks the schema.
    """
    table = TABLES[name].holding(TABLES[name].columns if columns is None else columns)
    wanted = [column for column in table.columns if columns is None or column in columns]
    framed = _to_pandas if columns is None else _lean
    frames = [framed(table.arrow.empty_table().select(wanted))]
    for part in sorted(parts):
        path = paths.table_dir(profile, folder or name, study) / f"{part}.parquet"
        shown = path.relative_to(paths.root())
        try:
            file = pyarrow.parquet.ParquetFile(path)
            unread = TABLES[name].columns.keys() - table.columns.keys()
            rows = file.read([field for field in file.schema_arrow.names if field not in unread])
        except (OSError, pyarrow.ArrowException) as error:
            raise SelfprefError(f"{shown}: not readable ({error}); run `dvc repro`") from error
        frames.append(framed(_valid(rows, table, str(shown)).select(wanted)))
        del rows
        release()
    return pd.concat(frames, ignore_index=True)
