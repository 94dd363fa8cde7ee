"""From rows to calls to answers to rows, once for every table that models fill."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

import pandas as pd

from selfpref import tables
from selfpref.models import Call
from selfpref.models.calls import Model
from selfpref.tables.schemas import TABLES

Columns = dict[str, object]


class Question(NamedTuple):
    """What one row asks of a model.

    Attributes:
        calls: One, or one a repeat.
        read: From as many answers to columns of the row.
    """

    calls: Sequence[Call]
    read: Callable[..., Columns]


def ask(
    model: Model,
    rows: pd.DataFrame,
    table: str,
    questions: Callable[[pd.DataFrame], Iterable[Question]],
    **constants: object,
) -> pd.DataFrame:
    """Ask a model about every row, and read its answers into columns.

    Args:
        model: The model behind the store.
        rows: What is asked about.
        table: The table that the rows are to become, a key of `tables.schemas.TABLES`.
        questions: From the rows to a question each.
        constants: Columns of one value; others that nobody gives take the table's defaults.

    Returns:
        The rows in their order with the table's columns, lists as Arrow's.

    Raises:
        SelfprefError: A column is missing, unknown or of another type.
    """
    if rows.empty:
        return tables.together(table, [])
    rows = rows.reset_index(drop=True)
    asked = list(questions(rows))
    answers = iter(model.ask([call for question in asked for call in question.calls]))
    read = pd.DataFrame(one.read(*islice(answers, len(one.calls))) for one in asked)
    kept = [name for name in TABLES[table].columns if name in rows and name not in read]
    whole = tables.fill(pd.concat([rows[kept], read], axis="columns"), table, **constants)
    return tables.lean(whole, table, table)
