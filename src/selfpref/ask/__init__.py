"""From rows to calls to rows, once for every table that models fill.

    rows ── a question each: calls ──> model ──> answers ── columns ──> rows of the table

Rows are asked part by part: a part's prompts and calls would be most of a stage's memory, were they
all made at once.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

import pandas as pd

from selfpref import tables
from selfpref.models import Call, Choice, Choose, Likelihood, Score, Text
from selfpref.models.calls import Model
from selfpref.tables.schemas import TABLES

Columns = dict[str, object]
# Rows to be asked about at a time.
PART = 10_000
# What `example` returns where nothing was asked.
NO_EXAMPLE = pd.DataFrame(columns=["role", "text"])


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
        questions: From some of the rows to a question each.
        constants: Columns of one value; others that nobody gives take the table's defaults.

    Returns:
        The rows in their order with the table's columns, lists as Arrow's.

    Raises:
        SelfprefError: A column is missing, unknown or of another type.
    """
    made = []
    for start in range(0, len(rows), PART):
        some = rows.iloc[start : start + PART].reset_index(drop=True)
        asked = list(questions(some))
        answers = iter(model.ask([call for question in asked for call in question.calls]))
        read = pd.DataFrame(one.read(*islice(answers, len(one.calls))) for one in asked)
        kept = [name for name in TABLES[table].columns if name in some and name not in read]
        whole = tables.fill(pd.concat([some[kept], read], axis="columns"), table, **constants)
        made.append(tables.lean(whole, table, table))
    return tables.together(table, made)


def example(model: Model) -> pd.DataFrame:
    """The first question that a model was asked, in full, with its answer.

    Returns:
        `role, text`: the messages, then what the model answered; empty where nothing was asked.
    """
    match model.first:
        case None:
            return NO_EXAMPLE
        case call, Text(text=text):
            told = call.prompt.prefill + text
        case Choose(labels=labels) as call, Choice(probabilities=found):
            shares = zip(labels, found, strict=False)
            listed = " | ".join(f"{label}: {share:.3f}" for label, share in shares)
            told = call.prompt.prefill + listed
        case Score(continuation=text) as call, Likelihood(sum_nll=nats, n_tokens=count):
            told = f"{text}\n({nats:.2f} nats, {count} tokens)"
    said = [*call.prompt.messages, ("the model's reply", told)]
    return pd.DataFrame(said, columns=["role", "text"])


def printed(example: pd.DataFrame) -> str:
    """An example as text, a message a paragraph."""
    return "\n\n".join("[" + example["role"] + "]\n" + example["text"])
