"""Tables: checked against their schema whenever they are written.

A table is one parquet file per data set or model, sorted by its key; see `selfpref.tables.schemas`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow
import pyarrow.parquet

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.files import atomic
from selfpref.tables.schemas import DEFAULTS, OWN_DEFAULTS, TABLES


def _lean(rows: pyarrow.Table) -> pd.DataFrame:
    """A frame whose lists are Arrow's."""
    kinds = filter(pyarrow.types.is_list, rows.schema.types)
    frame: pd.DataFrame = rows.to_pandas(types_mapper={k: pd.ArrowDtype(k) for k in kinds}.get)
    return frame


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with Python's lists, which compare and print as a reader expects."""
    lists = {
        name: pd.Series(pyarrow.array(column).to_pylist(), frame.index, dtype=object)
        for name, column in frame.items()
        if isinstance(column.dtype, pd.ArrowDtype)
    }
    return frame.assign(**lists)


def lean(frame: pd.DataFrame, name: str, source: str) -> pd.DataFrame:
    """Rows of a table with the types of its schema, lists as Arrow's: a fifth of the memory.

    Args:
        frame: The rows.
        name: Which table, a key of `TABLES`.
        source: What to name in an error.

    Raises:
        SelfprefError: A missing or unknown column, or a wrong type.
    """
    schema = TABLES[name].arrow
    if odd := {*frame} ^ {*schema.names}:
        raise SelfprefError(f"{source}: column {min(odd)!r} is missing, or unknown in {name}")
    try:
        rows = pyarrow.Table.from_pandas(frame, schema, preserve_index=False)
    except pyarrow.ArrowException as error:
        raise SelfprefError(f"{source}: {'; '.join(map(str, error.args))}") from error
    return _lean(rows.replace_schema_metadata())


def _valid(frame: pd.DataFrame, name: str, source: str) -> pd.DataFrame:
    """The rows as the schema wants them, sorted by key; see `validate`."""
    # It imports pandera, which `selfpref measure` need not wait for.
    from selfpref.tables.checks import check  # noqa: PLC0415

    rows, table = lean(frame, name, source), TABLES[name]
    check(rows, name, source)
    keys = rows[table.key]
    if "candidates" in keys:
        keys = keys.assign(candidates=["\0".join(names) for names in rows["candidates"]])
    if (doubled := keys.duplicated()).any():
        shown = tuple(keys[doubled].iloc[0])
        raise SelfprefError(f"{source}: duplicate key in {name}: {shown}; keep one row")
    return rows.loc[keys.sort_values(table.key).index].reset_index(drop=True)


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
    return _plain(_valid(frame, name, source))


def write(frame: pd.DataFrame, name: str, path: Path) -> None:
    """Validate and write one file of a table, under its name only once it is complete."""
    valid = _valid(frame, name, path.name)
    rows = pyarrow.Table.from_pandas(valid, TABLES[name].arrow).replace_schema_metadata()
    with atomic(path) as scratch:
        pyarrow.parquet.write_table(rows, scratch, compression="zstd")


def empty(name: str) -> pd.DataFrame:
    """A table without rows."""
    return _plain(together(name, ()))


def fill(
    rows: pd.DataFrame | Iterable[Mapping[str, object]], name: str, /, **constants: object
) -> pd.DataFrame:
    """Rows with every column of a table.

    Args:
        rows: What differs from row to row.
        name: Which table, a key of `TABLES`.
        constants: Columns of one value; those that nobody gives take the table's defaults.
    """
    frame = pd.DataFrame(rows)
    if frame.empty:
        return empty(name)
    table = TABLES[name]
    defaults = DEFAULTS | OWN_DEFAULTS.get(name, {})
    left = {key: defaults[key] for key in table.columns if key in defaults and key not in frame}
    return frame.assign(**left | constants)


def together(name: str, parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Parts of a table, each as `lean` returns it, as one; without any, no rows."""
    return pd.concat([_lean(TABLES[name].arrow.empty_table()), *parts], ignore_index=True)


def read(
    profile: str,
    name: str,
    study: str,
    parts: Iterable[str],
    columns: Sequence[str] | None = None,
    folder: str | None = None,
) -> pd.DataFrame:
    """Read the named parts of a table; files of others in the folder are ignored.

    Args:
        profile: Whose data.
        name: Which table, a key of `TABLES`.
        study: Which study.
        parts: The data sets or models to read.
        columns: Those that are wanted, lists among them as Arrow's; texts that are not wanted never
            reach the memory. Left out: all, with lists as Python's.
        folder: Where its files lie; left out: in the folder of the table's name.

    Returns:
        All rows, part by part, each sorted by key, as they were checked when they were written.

    Raises:
        SelfprefError: A file is missing or damaged, or has columns of another type.
    """
    kinds = TABLES[name].columns.items()
    schema = pyarrow.schema([one for one in kinds if columns is None or one[0] in columns])
    found = [schema.empty_table()]
    for part in sorted(parts):
        path = paths.table_dir(profile, folder or name, study) / f"{part}.parquet"
        try:
            found.append(pyarrow.parquet.read_table(path, schema=schema, partitioning=None))
        except (OSError, pyarrow.ArrowException) as error:
            shown = path.relative_to(paths.root())
            raise SelfprefError(f"{shown}: not readable ({error}); run `dvc repro`") from error
    rows = _lean(pyarrow.concat_tables(found))
    return _plain(rows) if columns is None else rows
