"""What a model answers, what is counted where it does not, and what is said before a response."""

from io import StringIO

import pandas as pd
import pytest
from conftest import refused

from selfpref.ask import compared, dialogues, printed, respond, score_responses, tallied
from selfpref.models import Likelihood, Text
from selfpref.params import Writing
from selfpref.prompts import LAYOUTS
from selfpref.seeds import seed_of

USE = Writing(max_tokens=3, temperature=0.5)
STATUS = {"half": "cut", "no": "refused", "long": "truncated", "fail": "failed"}


class Echo:
    """In the place of a `Model`: says what it was asked last, and keeps what it was asked."""

    def __init__(self):
        self.calls = {}

    def ask(self, calls):
        last = [call.prompt.messages[-1][1] for call in calls]
        self.calls |= dict(zip(last, calls, strict=True))
        return [Text(f"re {said}", STATUS.get(said, "ok")) for said in last]

    def told(self, last):
        return [said for _, said in self.calls[last].prompt.messages]


def of(dialogues):
    """The items table of dialogues whose odd places are the assistant's, marked by `>`."""
    roles = {True: "assistant", False: "user"}
    messages = [
        [{"role": roles[said[0] == ">"], "content": said.strip("> ")} for said in texts]
        for texts in dialogues.values()
    ]
    return pd.DataFrame({"study": "s", "item_id": list(dialogues), "messages": messages})


def answered(dialogues, **options):
    model = Echo()
    made = respond(of(dialogues), "me", model, LAYOUTS["chat"].respond, USE, seed=1, **options)
    return model, *made


def test_what_is_cut_off_stays_and_what_is_missing_is_counted_by_reason():
    asked = {f"set/{n}": [said] for n, said in enumerate(["one", *STATUS, "no"])}
    model, table, counts = answered(asked)
    assert table[["item_id", "responder", "text", "status"]].to_numpy().tolist() == [
        ["set/0", "me", "re one", "ok"],
        ["set/1", "me", "re half", "truncated"],
    ]
    assert counts == {"cut off": 1, "failed": 1, "refused": 2, "truncated": 1}
    call = model.calls["one"]
    assert (call.max_tokens, call.temperature) == (3, 0.5)
    assert call.seed == seed_of(1, "me", "set/0")
    told = tallied({"all": counts, "none": {"cut off": 2}}).to_dict("list")
    assert told == {"cut off": [1, 2], "truncated": [1, 0], "refused": [2, 0], "failed": [1, 0]}


def test_a_later_turn_is_asked_with_ones_own_answers_to_the_earlier_ones():
    asked = {"d/2": ["first", "second"], "d/1": ["first"], "f/2": ["kept", "now"], "untold": []}
    asked |= {"e/1": ["fail"], "e/2": ["fail", "then"], "whole": ["one", "> given", "two"]}
    model, table, counts = answered(asked, answered={"f/1": "as before"})
    assert model.told("second") == ["first", "re first", "second"]
    assert model.told("now") == ["kept", "as before", "now"]
    assert model.told("two") == ["one", "given", "two"]
    assert set(table["item_id"]) == {"d/1", "d/2", "f/2", "whole"}
    assert counts == {"cut off": 0, "failed": 1, "no earlier turn": 1, "no prompt": 1}
    assert list(tallied({"d": counts}).columns)[-2:] == ["no earlier turn", "no prompt"]


DIALOGUES = {"d/1": ["ask"], "d/2": ["ask", "more?"], "whole": ["one", "> given", "two"]}
TEXTS = """item_id,responder,text
d/1,x,x one\nd/2,x,x two\nd/1,y,y one\nd/2,y,y two
d/2,late,came late\nwhole,x,dé\nother/1,x,of another set"""
RESPONSES = pd.read_csv(StringIO(TEXTS))


def test_a_response_is_read_after_what_was_said_before_it():
    said = dialogues(of(DIALOGUES), RESPONSES, ["d/2", "whole"])
    assert said == {
        ("d/2", "x"): ["ask", "x one", "more?", "x two"],
        ("d/2", "y"): ["ask", "y one", "more?", "y two"],
        ("whole", "x"): ["one", "given", "two", "dé"],
    }
    turns = ["ask", "y one", "x one", "more?", "y two", "x two"]
    assert compared(said, "d/2", ("y", "x")) == turns
    with refused(match="d/2: no response of 'late'"):
        compared(said, "d/2", ("x", "late"))


class Reader:
    """In the place of a `Model`: as many nats as turns were read, as many tokens as words."""

    def ask(self, calls):
        sizes = [(len(call.prompt.messages), len(call.continuation.split())) for call in calls]
        return [Likelihood(float(turns), words, "ok") for turns, words in sizes]


@pytest.mark.parametrize("alone", [True, False])
def test_a_response_is_scored_after_its_dialogue_and_where_wanted_on_its_own(alone):
    some = RESPONSES[RESPONSES["responder"].eq("x")][:3].assign(study="s", status="truncated")
    made = score_responses(of(DIALOGUES), some, "me", Reader(), LAYOUTS["chat"], alone=alone)
    wanted = [("d/1", 1, 2, 5), ("d/2", 3, 2, 5), ("whole", 3, 1, 3)]
    rows = made[["item_id", "sum_nll", "n_tokens", "n_bytes"]].itertuples(index=False, name=None)
    bare = [(item, 0, *sizes) for item, _, *sizes in wanted] * alone
    assert list(rows) == [*wanted, *bare]
    assert made["conditional"].tolist() == [True] * 3 + [False] * len(bare)
    assert set(made["judge"]) == {"me"}
    assert set(made["status"]) == {"ok"}


def test_an_example_is_told_message_by_message():
    example = pd.DataFrame({"role": ["user", "the model's reply"], "text": ["Who?", "I."]})
    assert printed(example) == "[user]\nWho?\n\n[the model's reply]\nI."
