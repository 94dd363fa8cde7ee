"""What must hold of the values of each table, of columns and across them, as pandera checks it."""

import pandas as pd
import pandera.pandas as pa

from selfpref.errors import SelfprefError
from selfpref.tables.schemas import ROUNDING, STATUSES, TASKS, TIE, Table


def _different(names: list[str | None]) -> bool:
    """Two names or more, none of them missing or twice."""
    return None not in names and len({*names}) == len(names) >= 2


def _shares(values: list[float]) -> bool:
    """Values in 0..1 whose sum is at most 1."""
    return all(0 <= value <= 1 for value in values) and sum(values) <= 1 + ROUNDING


def _consistent(verdicts: pd.DataFrame) -> pd.Series:
    """Whether choices are a candidate's or a tie, and there where ok; lists are of one length."""
    candidates, shares = verdicts["candidates"], verdicts["probabilities"]
    choice = verdicts["choice"].fillna(TIE)
    chosen = [one in (TIE, *names) for one, names in zip(choice, candidates, strict=True)]
    same = shares.isna() | shares.str.len().eq(candidates.str.len())
    there = verdicts["status"].eq("ok").eq(verdicts["choice"].notna())
    return pd.Series(chosen, verdicts.index, dtype=bool) & same & there


# By column; a name means the same in every table.
CHECKS = {
    "status": pa.Check.isin(STATUSES),
    "task": pa.Check.isin(TASKS),
    "label": pa.Check.isin(("a", "b", TIE)),
    "mass": pa.Check.in_range(0, 1 + ROUNDING),
    "sum_nll": pa.Check.ge(0),
    "candidates": pa.Check(
        _different, element_wise=True, error="two or more responders, each once"
    ),
    "probabilities": pa.Check(
        _shares, element_wise=True, error="each in 0..1 and a sum of at most 1"
    ),
}
VERDICTS = pa.Check(_consistent, error="choice, candidates, probabilities and status agree")


def check(rows: pd.DataFrame, table: Table, source: str) -> None:
    """Check columns and, of verdicts, whether they agree.

    Args:
        rows: With the types of the table's arrow schema.
        table: Whose rows.
        source: What to name in an error.

    Raises:
        SelfprefError: A null or value that the table forbids.
    """
    columns = {
        name: pa.Column(None, CHECKS.get(name), nullable=name in table.nullable)
        for name in table.columns
    }
    whole = VERDICTS if table.name == "verdicts" else None
    try:
        pa.DataFrameSchema(columns, whole, name=table.name).validate(rows, inplace=True)
    except pa.errors.SchemaError as error:
        wanted = getattr(error.check, "error", error.check)
        shown = rows.loc[error.failure_cases["index"].iloc[0], [*table.key]].to_dict()
        told = f"{source}: {error.schema.name} breaks `{wanted}` in {shown}"
        raise SelfprefError(told) from error
