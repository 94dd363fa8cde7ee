"""Verdicts from probabilities, from repeated samples and from words."""

import pandas as pd
import pytest

from selfpref import ask, tables
from selfpref.ask import judge_pairs
from selfpref.models import MARKER, Choice, Choose, Generate, Prompt, Text
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

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def ask(self, calls):
        self.asked += calls
        return self.answers


def layout(prefill="", labels=("A", "B")):
    def asked(*said, references=()):
        return Prompt((("user", " ".join([*references, *said])),), prefill)

    return Layout(None, asked, labels=labels)


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


def words(*said):
    known = ("failed", "refused", "cut")
    return [Text("" if text in known else text, text if text in known else "ok") for text in said]


NEXT, THEN, THREE = layout(MARKER), layout(), layout(MARKER, ("A", "B", "C"))
SAY, DRAW = {"score_mode": "text"}, {"score_mode": "sampled", "samples": 4, "temperature": 1.0}
CASES = [
    (NEXT, {}, weighed((0.6, 0.3), (0.2, 0.1)),
     [([0.6, 0.3], 0.9, "one", "ok"), ([0.2, 0.1], 0.3, None, "low-mass")]),
    (NEXT, {}, weighed((0.1, 0.4), (0.25, 0.25)),
     [([0.1, 0.4], 0.5, "two", "ok"), ([0.25, 0.25], 0.5, TIE, "ok")]),
    # A tie is called where its label is the likeliest; nothing else may be left to weigh.
    (THREE, {}, weighed((0.4, 0.1, 0.4), (0.0, 0.0, 0.9)),
     [([0.4, 0.1], 0.9, TIE, "ok"), (None, 0.9, TIE, "ok")]),
    (THREE, {}, weighed((0.1, 0.5, 0.3), (0.1, 0.2, 0.3)),
     [([0.1, 0.5], 0.9, "two", "ok"), ([0.1, 0.2], 0.6, TIE, "ok")]),
    # Labels that hold nothing are no verdict whatever the threshold.
    (NEXT, {"min_mass": 0.0}, weighed((0.0, 0.0), "failed"),
     [(None, 0.0, None, "low-mass"), (None, None, None, "failed")]),
    # An explanation comes first where the prompt does not end in the bracket.
    (THEN, {}, [Text("so [[A]]", "ok", Choice((0.7, 0.2), "ok")), Text("on and on", "cut")],
     [([0.7, 0.2], 0.9, "one", "ok"), (None, None, None, "truncated")]),
    # In words the last verdict counts, and the prefill belongs to it.
    (THEN, SAY, words("[[A]]", "I thought [[A]]. No: [[ B ]]."), [(None, None, "one", "ok")] * 2),
    (THEN, SAY, words("[[C]]", "[[a]] A [A] [[AB]]"), [(None, None, None, "unparsable")] * 2),
    (THREE, SAY, words("C]]", ""), [(None, None, TIE, "ok"), (None, None, None, "unparsable")]),
    # Frequencies of samples are probabilities.
    (THEN, DRAW, words("[[A]]", "[[A]]", "[[B]]", "no idea", "[[A]]", "hm", "hm", "hm"),
     [([0.5, 0.25], 0.75, "one", "ok"), ([0.25, 0.0], 0.25, None, "low-mass")]),
    # One that failed is asked again by the next run; until then the verdict is not whole.
    (THEN, DRAW, words("[[A]]", "failed", "[[A]]", "hm", "refused", "hm", "cut", "hm"),
     [(None, None, None, "failed"), (None, None, None, "refused")]),
]  # fmt: skip


@pytest.mark.parametrize(("how", "use", "answers", "rows"), CASES)
def test_a_verdict_is_the_likeliest_label_or_why_there_is_none(how, use, answers, rows):
    found, asked = judge(answers, how, max_tokens=77, **use)
    assert found == rows
    said, repeats = {"one": "because", "two": "so"}, len(asked) // 2
    for number, call in enumerate(asked):
        names = ["one", "two"] if number < repeats else ["two", "one"]
        prompt = how.judge("why?", *map(said.get, names))
        if isinstance(answers[0], Choice):
            assert call == Choose(prompt, how.labels)
            continue
        # Weighed, the label comes after an explanation.
        labels, heat = () if use else how.labels, use.get("temperature", 0.0)
        seed = seed_of(3, "j", "set/1", *names, number % repeats)
        assert call == Generate(prompt, 77, heat, seed, MARKER, labels)


def test_every_labelled_pair_is_judged_once_in_either_order_turn_by_turn(monkeypatch):
    turns = [WHY, [*WHY, {"role": "user", "content": "well?"}]]
    items = pd.DataFrame({"item_id": ["q/1", "q/2"], "messages": turns})
    items["reference"] = [None, '["since", "soon"]']
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
    use, model = Judge(prompts="lab", min_mass=0.5), Answers([Choice((0.5, 0.4), "ok")])
    monkeypatch.setattr(ask, "PART", 1)
    made = judge_pairs(items, responses, labels, "j", model, layout(MARKER), use, seed=3)
    wanted = [("q/1", ["one", "three"]), ("q/1", ["three", "one"])]
    wanted += [("q/2", ["one", "two"]), ("q/2", ["two", "one"])]
    assert list(zip(made["item_id"], made["candidates"], strict=True)) == wanted
    said = "since soon why? one on q/1 two on q/1 well? one on q/2 two on q/2"
    assert model.asked[2].prompt.messages == (("user", said),)
