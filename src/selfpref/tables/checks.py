"""What must hold of the values of each table, of columns and across them, as pandera checks it."""

from collections.abc import Iterable

import pandas as pd
import pandera.pandas as pa

from selfpref.errors import SelfprefError
from selfpref.tables.schemas import ROUNDING, STATUSES, TASKS, TIE, Table


def _one_of(values: Iterable[str]) -> pa.Check:
    allowed = list(values)
    return pa.Check.isin(allowed, error=f"one of {', '.join(allowed)}")


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


STATUS, TASK = {"status": _one_of(STATUSES)}, {"task": _one_of(TASKS)}
COLUMNS: dict[str, dict[str, pa.Check]] = {
    "responses": {"status": _one_of(("ok", "truncated"))},
    "labels": {"label": _one_of(("a", "b", TIE))},
    "ratings": TASK | STATUS,
    "perplexities": STATUS | {"sum_nll": pa.Check.ge(0, error="at least 0, in nats")},
    "verdicts": TASK
    | STATUS
    | {
        "mass": pa.Check.in_range(0, 1 + ROUNDING, error="between 0 and 1"),
        "candidates": pa.Check(_different, error="at least two different responders"),
        "probabilities": pa.Check(_shares, error="each in 0..1 and a sum of at most 1"),
    },
}


def check(rows: pd.DataFrame, table: Table, source: str) -> None:
    """Check columns and, of verdicts, whether they agree.

    Args:
        rows: With the types of the table's arrow schema.
        table: Whose rows.
        source: What to name in an error.

    Raises:
        SelfprefError: A null or value that the table forbids.
    """
    checks = COLUMNS.get(table.name, {})
    columns = {
        name: pa.Column(None, checks.get(name), nullable=name in table.nullable)
        for name in table.columns
    }
    try:
        pa.DataFrameSchema(columns).validate(rows, inplace=True)
    except pa.errors.SchemaError as error:
        column, value, wanted = error.schema.name, None, "not null"
        if isinstance(error.check, pa.Check):
            value, wanted = error.failure_cases["failure_case"].iloc[0], str(error.check.error)
        raise SelfprefError(
            f"{source}: column {column!r} holds {value!r}; wanted {wanted}"
        ) from error
    if table.name == "verdicts" and len(wrong := rows[~_consistent(rows)]):
        row = wrong.head(1).to_dict("records")[0]
        raise SelfprefError(
            f"{source}: item {row['item_id']!r}, judge {row['judge']!r}: choice "
            f"{row['choice']!r}, candidates {row['candidates']} and status {row['status']!r} "
            "contradict each other"
        )


def _consistent(verdicts: pd.DataFrame) -> pd.Series:
    """Whether choices are a candidate's or a tie, and there where ok; lists are of one length."""
    candidates, choice = verdicts["candidates"], verdicts["choice"]
    names = candidates.list.flatten().astype("str")
    chosen = names.eq(choice.reindex(names.index)).groupby(level=0).any()
    named = chosen.reindex(verdicts.index, fill_value=False) | choice.eq(TIE) | choice.isna()
    lengths = verdicts["probabilities"].list.len().fillna(candidates.list.len())
    same = lengths.eq(candidates.list.len()).astype(bool)
    return named & same & verdicts["status"].eq("ok").eq(choice.notna())
