"""Verdicts from probabilities, from repeated samples and from words."""

from dataclasses import replace

import pandas as pd
import pytest

from selfpref import tables
from selfpref.ask.judging import judge_pairs
from selfpref.models import MARKER, Choice, Choose, Prompt, Text
from selfpref.params import Judge
from selfpref.prompts import Layout
from selfpref.seeds import seed_of
from selfpref.tables.schemas import TIE

WHY = [{"role": "user", "content": "why?"}]
ITEMS = pd.DataFrame({"item_id": ["set/1"], "messages": [WHY], "reference": [None]})
RESPONSES = pd.DataFrame(
    {"item_id": ["set/1"] * 2, "responder": ["one", "two"], "text": ["because", "so"]}
)
LABELS = pd.DataFrame(
    {"study": ["wataoka"], "item_id": ["set/1"], "responder_a": ["one"], "responder_b": ["two"]}
)


class Answers:
    """In the place of a `Model`: answers given in advance, in the order of the calls."""

    at_a_time = 10

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def ask(self, calls):
        self.asked += calls
        return self.answers


def layout(prefill="", labels=("A", "B")):
    return Layout(None, lambda *said: Prompt((("user", " ".join(said)),), prefill), labels=labels)


def judge(answers, how, **use):
    """The rows of both orders, and what was asked."""
    model, use = Answers(answers), Judge(**({"prompts": "lab", "min_mass": 0.5} | use))
    made = judge_pairs(ITEMS, RESPONSES, LABELS, "j", model, how, use, seed=3)
    assert made["candidates"].tolist() == [["one", "two"], ["two", "one"]]
    made = tables.validate(made, "verdicts", "made").assign(mass=lambda made: made["mass"].round(9))
    rows = made[["probabilities", "mass", "choice", "status"]].astype(object)
    return list(rows.where(rows.notna(), None).itertuples(index=False, name=None)), model.asked


def weighed(*shares):
    return [Choice(each, "ok") if isinstance(each, tuple) else Choice((), each) for each in shares]


@pytest.mark.parametrize(
    ("answers", "labels", "least", "rows"),
    [
        (weighed((0.6, 0.3), (0.2, 0.1)), "AB", 0.5,
         [([0.6, 0.3], 0.9, "one", "ok"), ([0.2, 0.1], 0.3, None, "low-mass")]),
        (weighed((0.1, 0.4), (0.25, 0.25)), "AB", 0.5,
         [([0.1, 0.4], 0.5, "two", "ok"), ([0.25, 0.25], 0.5, TIE, "ok")]),
        (weighed("truncated", "unparsable"), "AB", 0.5,
         [(None, None, None, "truncated"), (None, None, None, "unparsable")]),
        # A tie is called where its label is the likeliest; nothing else may be left to weigh.
        (weighed((0.1, 0.2, 0.6), (0.0, 0.0, 0.9)), "ABC", 0.5,
         [([0.1, 0.2], 0.9, TIE, "ok"), (None, 0.9, TIE, "ok")]),
        (weighed((0.1, 0.5, 0.3), (0.4, 0.1, 0.4)), "ABC", 0.5,
         [([0.1, 0.5], 0.9, "two", "ok"), ([0.4, 0.1], 0.9, TIE, "ok")]),
        # Labels that hold nothing are no verdict whatever the threshold.
        (weighed((0.0, 0.0), "failed"), "AB", 0.0,
         [(None, 0.0, None, "low-mass"), (None, None, None, "failed")]),
    ],
)  # fmt: skip
def test_the_next_token_is_the_verdict_where_the_prompt_ends_in_the_bracket(
    answers, labels, least, rows
):
    found, asked = judge(answers, layout(MARKER, tuple(labels)), min_mass=least)
    assert found == rows
    assert [type(call) for call in asked] == [Choose] * 2


def test_an_explanation_comes_first_where_it_does_not():
    answers = [Text("first [[A]]", "ok", Choice((0.7, 0.2), "ok")), Text("on and on", "cut")]
    rows, asked = judge(answers, layout(), max_tokens=77, temperature=0.7)
    assert rows == [([0.7, 0.2], 0.9, "one", "ok"), (None, None, None, "truncated")]
    for call, names in zip(asked, (("one", "two"), ("two", "one")), strict=True):
        assert (call.marker, call.labels) == (MARKER, ("A", "B"))
        assert (call.max_tokens, call.temperature) == (77, 0.7)
        assert call.seed == seed_of(3, "j", "set/1", *names, 0)


@pytest.mark.parametrize(
    ("texts", "how", "wanted"),
    [
        (["[[A]]", "I thought [[A]], but no: [[ B ]]."], layout(), [("one", "ok"), ("one", "ok")]),
        (["[[C]]", "[[a]] A [A] [[AB]]"], layout(), [(None, "unparsable")] * 2),
        (["[[C]]", ""], layout(labels=("A", "B", "C")), [(TIE, "ok"), (None, "unparsable")]),
        # The prefill belongs to the verdict.
        (["B]]", "A]]"], layout(MARKER), [("two", "ok"), ("two", "ok")]),
    ],
)
def test_in_words_the_last_verdict_counts(texts, how, wanted):
    rows, asked = judge([Text(text, "ok") for text in texts], how, score_mode="text")
    assert rows == [(None, None, *found) for found in wanted]
    assert asked[0].labels == ()


@pytest.mark.parametrize(
    ("drawn", "row"),
    [
        (["[[A]]", "[[A]]", "[[B]]", "no idea"], ([0.5, 0.25], 0.75, "one", "ok")),
        (["[[A]]", "hm", "hm", "hm"], ([0.25, 0.0], 0.25, None, "low-mass")),
        # One that failed is asked again by the next run; until then the verdict is not whole.
        (["[[A]]", "failed", "[[A]]", "hm"], (None, None, None, "failed")),
        (["refused", "hm", "cut", "hm"], (None, None, None, "refused")),
        (["hm", "cut", "so", "hm"], (None, None, None, "truncated")),
    ],
)
def test_frequencies_of_samples_are_probabilities(drawn, row):
    made = [Text(said, said if said in ("failed", "refused", "cut") else "ok") for said in drawn]
    how = {"score_mode": "sampled", "samples": 4, "temperature": 1.0}
    rows, asked = judge(made * 2, layout(), **how)
    assert rows[0] == row
    assert len({call.seed for call in asked}) == 8
    assert [call.prompt for call in asked[:4]] == [asked[0].prompt] * 4


class Lengths:
    """In the place of a `Model`: the longer prompt is the likelier to be answered with A."""

    at_a_time = 1

    def ask(self, calls):
        sizes = [len(call.prompt.messages[-1][1]) / 100 for call in calls]
        return [Choice((size, 1 - size), "ok") for size in sizes]


def test_every_labelled_pair_is_judged_once_in_either_order_turn_by_turn():
    turns = [WHY, [*WHY, {"role": "user", "content": "well?"}]]
    items = pd.DataFrame({"item_id": ["q/1", "q/2"], "messages": turns, "reference": None})
    responses = pd.DataFrame(
        {"item_id": item, "responder": name, "text": f"{name} on {item}"}
        for item in items["item_id"]
        for name in ("one", "two", "three")
    )
    labels = pd.DataFrame(
        {"study": "wataoka", "item_id": item, "responder_a": a, "responder_b": b}
        # The second is the first one labelled in the other order.
        for item, a, b in (("q/2", "two", "one"), ("q/2", "one", "two"), ("q/1", "three", "one"))
    )
    use = Judge(prompts="lab", min_mass=0.5)
    made = judge_pairs(items, responses, labels, "j", Lengths(), layout(MARKER), use, seed=3)
    wanted = [("q/1", ["one", "three"]), ("q/1", ["three", "one"])]
    wanted += [("q/2", ["one", "two"]), ("q/2", ["two", "one"])]
    assert list(zip(made["item_id"], made["candidates"], strict=True)) == wanted
    said = "why? one on q/1 two on q/1 well? one on q/2 two on q/2"
    assert made["probabilities"][2] == pytest.approx([len(said) / 100, 1 - len(said) / 100])


def test_a_reference_answer_is_shown_where_the_layout_has_words_for_it():
    items, plain = ITEMS.assign(reference='["since"]'), layout()
    shown = replace(plain, informed=lambda references, *said: plain.judge(*references, *said))
    how = Judge(prompts="pair-v2", min_mass=0.5, score_mode="text")
    for given, table, wanted in (
        (shown, items, "since why? because so"),
        (shown, ITEMS, "why? because so"),
        (plain, items, "why? because so"),
    ):
        model = Answers([Text("[[A]]", "ok")] * 2)
        judge_pairs(table, RESPONSES, LABELS, "j", model, given, how, seed=3)
        assert model.asked[0].prompt.messages == (("user", wanted),)
