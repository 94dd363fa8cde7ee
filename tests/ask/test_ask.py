"""Rows become calls, and answers become columns of their own rows."""

import pandas as pd
import pytest

from selfpref.ask import Question, ask
from selfpref.errors import SelfprefError
from selfpref.models import Likelihood, Prompt, Score

ITEMS = [f"set/{n}" for n in range(5)]
ROWS = pd.DataFrame({"study": "s", "item_id": ITEMS, "responder": "me", "text": list("abcde")})
GIVEN = {"conditional": True, "n_tokens": 1, "n_bytes": 7}


class Lengths:
    """In the place of a `Model`: the likelihood of a text is its code."""

    at_a_time = 2

    def __init__(self):
        self.sizes = []

    def ask(self, calls):
        self.sizes.append(len(calls))
        return [Likelihood(float(ord(call.continuation)), 1, "ok") for call in calls]


def questions(some):
    """The texts of a row twice: what is read is the second answer."""
    for text in some["text"]:
        calls = [Score(Prompt(()), "z"), Score(Prompt(()), text)]
        yield Question(calls, lambda _, own: {"sum_nll": own.sum_nll, "status": own.status})


def test_every_row_reads_its_own_answers_part_by_part():
    model = Lengths()
    table = ask(model, ROWS, "perplexities", questions, judge="j", **GIVEN)
    columns = ["item_id", "responder", "judge", "step", "sum_nll", "n_bytes", "status"]
    assert table[columns].to_numpy().tolist() == [
        [item, "me", "j", 0, float(ord(text)), 7, "ok"]
        for item, text in zip(ITEMS, "abcde", strict=True)
    ]
    assert "text" not in table
    assert model.sizes == [4, 4, 2]


def test_without_rows_nothing_is_asked_and_a_column_that_nobody_gives_is_named():
    model = Lengths()
    table = ask(model, ROWS.iloc[:0], "perplexities", questions)
    assert (len(table), model.sizes) == (0, [])
    assert "sum_nll" in table
    with pytest.raises(SelfprefError, match="no column 'judge'"):
        ask(model, ROWS, "perplexities", questions, **GIVEN)
