"""What must hold of the values of each table, of columns and across them, as pandera checks it."""

import pandas as pd
import pandera.pandas as pa

from selfpref.errors import SelfprefError
from selfpref.tables.schemas import ROUNDING, STATUSES, TABLES, TASKS, TIE


def _different(lists: pd.Series) -> pd.Series:
    """Lists of two names or more, none of them missing or twice."""
    names = lists.list.flatten()
    count = names.groupby(level=0).nunique().reindex(lists.index, fill_value=0)
    return count.ge(lists.list.len().clip(lower=2))


def _shares(lists: pd.Series) -> pd.Series:
    """Lists of values in 0..1 whose sum is at most 1."""
    values = lists.list.flatten().astype(float)
    row = values.index
    good = values.between(0, 1).groupby(row).all() & values.groupby(row).sum().le(1 + ROUNDING)
    return good.reindex(lists.index, fill_value=True)


def _consistent(verdicts: pd.DataFrame) -> pd.Series:
    """Whether choices are a candidate's or a tie, and there where ok; lists are of one length."""
    candidates, choice = verdicts["candidates"], verdicts["choice"]
    names = candidates.list.flatten().astype("str")
    chosen = names.eq(choice.reindex(names.index)).groupby(level=0).any()
    named = chosen.reindex(verdicts.index, fill_value=False) | choice.eq(TIE) | choice.isna()
    lengths = verdicts["probabilities"].list.len().fillna(candidates.list.len())
    same = lengths.eq(candidates.list.len()).astype(bool)
    return named & same & verdicts["status"].eq("ok").eq(choice.notna())


# By column; a name means the same in every table.
CHECKS = {
    "status": pa.Check.isin(STATUSES),
    "task": pa.Check.isin(TASKS),
    "label": pa.Check.isin(("a", "b", TIE)),
    "mass": pa.Check.in_range(0, 1 + ROUNDING),
    "sum_nll": pa.Check.ge(0),
    "candidates": pa.Check(_different, error="two or more responders, each once"),
    "probabilities": pa.Check(_shares, error="each in 0..1 and a sum of at most 1"),
}
VERDICTS = pa.Check(_consistent, error="choice, candidates, probabilities and status agree")


def check(rows: pd.DataFrame, table: str, source: str) -> None:
    """Check columns and, of verdicts, whether they agree.

    Args:
        rows: With the types of the table's arrow schema.
        table: Whose rows.
        source: What to name in an error.

    Raises:
        SelfprefError: A null or value that the table forbids.
    """
    key, nullable = TABLES[table].key, TABLES[table].nullable
    columns = {name: pa.Column(None, CHECKS.get(name), nullable=name in nullable) for name in rows}
    whole = VERDICTS if table == "verdicts" else None
    try:
        pa.DataFrameSchema(columns, whole, name=table).validate(rows, inplace=True)
    except pa.errors.SchemaError as error:
        wanted = getattr(error.check, "error", error.check)
        row = rows.loc[error.failure_cases["index"].iloc[0]].dropna().to_dict()
        shown = {name: row.get(name) for name in (*key, error.schema.name) if name in rows}
        told = f"{source}: {error.schema.name} breaks `{wanted}` in {shown}"
        raise SelfprefError(told) from error
