"""What a model answers, and what is counted where it does not."""

import pandas as pd

from selfpref.ask.responding import dialogues, respond, tallied
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


class Echo:
    """In the place of a `Model`: says what it was asked last, and keeps what it was asked."""

    at_a_time = 10

    def __init__(self):
        self.prompts = {}

    def ask(self, calls):
        said = [[text for _, text in call.prompt.messages] for call in calls]
        self.prompts |= {words[-1]: words for words in said}
        return [
            Text("", "failed") if "fail" in words[-1] else Text(f"re {words[-1]}", "ok")
            for words in said
        ]


def of(**dialogues):
    items = pd.DataFrame(
        {
            "study": "s",
            "item_id": list(dialogues),
            "messages": [
                [{"role": role, "content": text} for role, text in said]
                for said in dialogues.values()
            ],
        }
    )
    return items.assign(item_id=items["item_id"].str.replace("_", "/"))


def test_a_later_turn_is_asked_with_ones_own_answers_to_the_earlier_ones():
    items = of(
        d_2=[("user", "first"), ("user", "second")],
        d_1=[("user", "first")],
        e_1=[("user", "fail")],
        e_2=[("user", "fail"), ("user", "then")],
        f_3=[("user", "kept"), ("user", "now")],
        whole=[("user", "one"), ("assistant", "given"), ("user", "two")],
        untold=[],
    )
    items.loc[items["item_id"].eq("f/3"), "item_id"] = "f/2"
    model, answered = Echo(), {"f/1": "as before"}
    layout = LAYOUTS["chat"].respond
    table, counts = respond(items, "me", model, layout, USE, seed=1, answered=answered)
    assert model.prompts["second"] == ["first", "re first", "second"]
    assert model.prompts["now"] == ["kept", "as before", "now"]
    assert model.prompts["two"] == ["one", "given", "two"]
    assert set(table["item_id"]) == {"d/1", "d/2", "f/2", "whole"}
    assert counts == {"cut off": 0, "failed": 1, "no earlier turn": 1, "no prompt": 1}


def test_a_response_is_read_after_what_was_said_before_it():
    items = of(
        d_1=[("user", "first")],
        d_2=[("user", "first"), ("user", "second")],
        whole=[("user", "one"), ("assistant", "given"), ("user", "two")],
    )
    texts = [("d/1", "me", "a"), ("d/2", "me", "b"), ("d/2", "you", "c"), ("whole", "you", "d")]
    responses = pd.DataFrame(texts, columns=["item_id", "responder", "text"])
    assert dialogues(items, responses, ["d/2", "whole"]) == {
        ("d/2", "me"): ["first", "a", "second", "b"],
        ("whole", "you"): ["one", "given", "two", "d"],
    }
