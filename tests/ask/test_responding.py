"""What a model answers, and what is counted where it does not."""

import pandas as pd

from selfpref.ask.responding import respond, tallied
from selfpref.models import Text
from selfpref.params import Writing
from selfpref.prompts import LAYOUTS

USE = Writing(max_tokens=3, temperature=0.0)
ANSWERS = {
    "one": Text("whole", "ok"),
    "two": Text("half a sen", "cut"),
    "three": Text("", "refused"),
    "four": Text("", "truncated"),
    "five": Text("", "refused"),
}


class Scripted:
    """In the place of a `Model`: an answer for each question."""

    at_a_time = 2

    def ask(self, calls):
        return [ANSWERS[call.prompt.messages[-1][1]] for call in calls]


def asked(*questions):
    items = pd.DataFrame(
        {
            "study": "s",
            "item_id": [f"set/{question}" for question in questions],
            "messages": [[{"role": "user", "content": question}] for question in questions],
        }
    )
    return respond(items, "me", Scripted(), LAYOUTS["chat"].respond, USE, seed=1)


def test_what_is_cut_off_stays_and_what_is_missing_is_counted_by_reason():
    table, counts = asked(*ANSWERS)
    assert table[["item_id", "text", "status"]].to_numpy().tolist() == [
        ["set/one", "whole", "ok"],
        ["set/two", "half a sen", "truncated"],
    ]
    assert counts == {"cut off": 1, "refused": 2, "truncated": 1}


def test_counts_of_data_sets_have_a_column_for_every_reason():
    counts = {"all": asked(*ANSWERS)[1], "one": asked("one")[1]}
    table = tallied(counts)
    assert list(table.columns) == ["cut off", "truncated", "refused", "failed"]
    assert table.to_numpy().tolist() == [[1, 1, 2, 0], [0, 0, 0, 0]]
