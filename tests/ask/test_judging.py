"""Verdicts from probabilities, from repeated samples and from words."""

from dataclasses import replace

import pandas as pd
import pytest

from selfpref import tables
from selfpref.ask.judging import judge_pairs
from selfpref.models import MARKER, Choice, Choose, Prompt, Text
from selfpref.params import Judge
from selfpref.prompts import Layout
from selfpref.tables.schemas import TIE

ITEMS = pd.DataFrame(
    {
        "item_id": ["set/1"],
        "messages": [[{"role": "user", "content": "why?"}]],
        "reference": [None],
    }
)
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


def judge(answers, prefill="", labels=("A", "B"), **use):
    layout = Layout(
        None, lambda *texts: Prompt((("user", " ".join(texts)),), prefill), labels=labels
    )
    calls = Answers(answers)
    how = Judge(**({"prompts": "lab", "min_mass": 0.5} | use))
    made = judge_pairs(ITEMS, RESPONSES, LABELS, "j", calls, layout, how, seed=3)
    assert made["candidates"].tolist() == [["one", "two"], ["two", "one"]]
    made = tables.validate(made, "verdicts", "made")
    rows = made[["probabilities", "mass", "choice", "status"]].astype(object)
    return list(rows.where(rows.notna(), None).itertuples(index=False, name=None)), calls.asked


def said(text, status="ok"):
    return Text(text, status)


def test_the_next_token_is_the_verdict_where_the_prompt_ends_in_the_bracket():
    rows, asked = judge([Choice((0.6, 0.3), "ok"), Choice((0.2, 0.1), "ok")], prefill=MARKER)
    assert rows[0] == ([0.6, 0.3], pytest.approx(0.9), "one", "ok")
    assert rows[1] == ([0.2, 0.1], pytest.approx(0.3), None, "low-mass")
    assert [type(call) for call in asked] == [Choose] * 2


def test_an_explanation_comes_first_where_it_does_not():
    answers = [
        Text("first [[A]]", "ok", Choice((0.7, 0.2), "ok")),
        Text("on and on", "cut"),
    ]
    rows, asked = judge(answers, max_tokens=77, temperature=0.7)
    assert [row[2:] for row in rows] == [("one", "ok"), (None, "truncated")]
    for call in asked:
        assert (call.marker, call.labels) == (MARKER, ("A", "B"))
        assert (call.max_tokens, call.temperature) == (77, 0.7)
    assert len({call.seed for call in asked}) == 2


@pytest.mark.parametrize("status", ["truncated", "unparsable", "refused", "failed"])
def test_a_missing_verdict_keeps_its_reason(status):
    rows, _ = judge([Choice((), status), Choice((0.5, 0.5), "ok")], prefill=MARKER)
    assert rows[0] == (None, None, None, status)
    assert rows[1][2:] == (TIE, "ok")


def test_a_tie_is_called_where_its_label_is_the_likeliest():
    answers = [Choice((0.1, 0.2, 0.6), "ok"), Choice((0.0, 0.0, 0.9), "ok")]
    rows, _ = judge(answers, prefill=MARKER, labels=("A", "B", "C"))
    assert rows[0] == ([0.1, 0.2], pytest.approx(0.9), TIE, "ok")
    # Nothing is left to weigh: the choice alone is kept.
    assert rows[1] == (None, pytest.approx(0.9), TIE, "ok")


def test_labels_that_hold_nothing_are_no_verdict_whatever_the_threshold():
    rows, _ = judge([Choice((0.0, 0.0), "ok")] * 2, prefill=MARKER, min_mass=0.0)
    assert rows[0] == (None, 0.0, None, "low-mass")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[[A]]", ("one", "ok")),
        ("I thought [[A]], but no: [[ B ]].", ("two", "ok")),
        ("[[C]]", (None, "unparsable")),
        ("[[a]] A [A] [[AB]]", (None, "unparsable")),
        ("", (None, "unparsable")),
    ],
)
def test_in_words_the_last_verdict_counts(text, wanted):
    rows, asked = judge([said(text)] * 2, score_mode="text")
    assert rows[0] == (None, None, *wanted)
    assert asked[0].labels == ()


def test_a_tie_in_words_needs_a_layout_that_allows_it():
    rows, _ = judge([said("[[C]]")] * 2, score_mode="text", labels=("A", "B", "C"))
    assert rows[0] == (None, None, TIE, "ok")


def test_in_words_the_prefill_belongs_to_the_verdict():
    rows, _ = judge([said("B]]"), said("[[A]]")], prefill=MARKER, score_mode="text")
    # In the second order the response read first is that of `two`.
    assert [row[2] for row in rows] == ["two", "two"]


def test_frequencies_of_samples_are_probabilities():
    first = [said("[[A]]"), said("[[A]]"), said("[[B]]"), said("no idea")]
    rows, asked = judge(
        [*first, *[said("[[B]]")] * 4], score_mode="sampled", samples=4, temperature=1.0
    )
    assert rows == [([0.5, 0.25], 0.75, "one", "ok"), ([0.0, 1.0], 1.0, "one", "ok")]
    assert {call.prompt for call in asked[:4]} == {asked[0].prompt}
    assert len({call.seed for call in asked}) == 8


@pytest.mark.parametrize(
    ("drawn", "wanted"),
    [
        ([said("[[A]]"), said("", "failed")], "failed"),
        ([said("", "refused"), said("hm")], "refused"),
        ([said("hm"), said("so", "cut")], "truncated"),
        ([said("[[A]]"), said("hm"), said("hm")], "low-mass"),
    ],
)
def test_samples_without_a_verdict_count_as_missing(drawn, wanted):
    rows, _ = judge(drawn * 2, score_mode="sampled", samples=len(drawn), temperature=1.0)
    assert rows[0][2:] == (None, wanted)


class Lengths:
    """In the place of a `Model`: the longer prompt is the likelier to be answered with A."""

    def __init__(self, at_a_time):
        self.at_a_time = at_a_time

    def ask(self, calls):
        sizes = [len(call.prompt.messages[-1][1]) / 100 for call in calls]
        return [Choice((size, 1 - size), "ok") for size in sizes]


def test_verdicts_do_not_depend_on_how_many_are_asked_at_a_time():
    told = {"set/q/1": ["hm?"], "set/q/2": ["hm?", "well?"], "set/r": ["or?"]}
    items = pd.DataFrame(
        {"item_id": item, "messages": [{"role": "user", "content": text} for text in texts]}
        for item, texts in told.items()
    ).assign(reference=None)
    responses = pd.DataFrame(
        {"item_id": item, "responder": name, "text": f"{name} on {item} {'.' * number}"}
        for number, item in enumerate(told)
        for name in ("one", "two", "three")
    )
    labels = pd.DataFrame(
        {"study": "wataoka", "item_id": item, "responder_a": a, "responder_b": b}
        for item in reversed(told)
        # The second is the first one labelled in the other order.
        for a, b in (("two", "one"), ("one", "two"), ("three", "one"))
    )
    layout = Layout(None, lambda *texts: Prompt((("user", " ".join(texts)),), MARKER), None, None)
    use = Judge(prompts="lab", min_mass=0.5)
    whole, single = (
        tables.validate(
            judge_pairs(items, responses, labels, "j", Lengths(part), layout, use, seed=3),
            "verdicts",
            "made",
        )
        for part in (100, 1)
    )
    pd.testing.assert_frame_equal(whole, single)
    assert len(whole) == 12
    first = whole.query("item_id == 'set/q/2'").iloc[0]
    assert first["candidates"] == ["one", "three"]
    said = "hm? one on set/q/1  three on set/q/1  well? one on set/q/2 . three on set/q/2 ."
    assert first["probabilities"] == pytest.approx([len(said) / 100, 1 - len(said) / 100])


def test_a_reference_answer_is_shown_where_the_layout_has_words_for_it():
    items = ITEMS.assign(reference='["since"]')
    shown = Layout(
        None,
        lambda *texts: Prompt((("user", " ".join(texts)),)),
        lambda references, *texts: Prompt((("user", " ".join([*references, *texts])),)),
    )
    how = Judge(prompts="pair-v2", min_mass=0.5, score_mode="text")
    for layout, given, wanted in (
        (shown, items, "since why? because so"),
        (shown, ITEMS, "why? because so"),
        (replace(shown, informed=None), items, "why? because so"),
    ):
        calls = Answers([Text("[[A]]", "ok")] * 2)
        judge_pairs(given, RESPONSES, LABELS, "j", calls, layout, how, seed=3)
        assert calls.asked[0].prompt.messages == (("user", wanted),)
