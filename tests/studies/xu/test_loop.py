"""The loop: what is accepted, what is asked, and what goes on after a kill."""

import random
import re

import pandas as pd
import pytest
from author_programs import programs  # noqa: F401
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_refiner import CONCEPTS, PROBLEM, TRANSLATION, ScriptedEngine, model, plan

from selfpref import tables
from selfpref.models import Text
from selfpref.store import Store
from selfpref.studies.xu import refine
from selfpref.studies.xu.feedback import Feedback
from selfpref.studies.xu.items import Item
from selfpref.studies.xu.prompts import AUTHORS, PLAIN
from selfpref.studies.xu.refine.loop import ARMS, accepts

KEY = ["item_id", "step"]
REPLIES = (
    "no error",
    "'x' is a minor style error",
    "'x' is a major accuracy error",
    "'x' is a major accuracy error\n'y' is a critical accuracy error",
    "\n".join(["'x' is a major accuracy error"] * 9),
    "[BLOCKED]",
    "",
    "Fine, I think.",
)


def items(count):
    return [
        Item(f"yor-en/{n}", "mqm", f"gbolohun {n}", f"sentence {n}", "Yoruba", "English")
        for n in range(1, count + 1)
    ]


def at_random(seed):
    """Feedback of any kind, revisions that change, stay or fail."""

    def say(kind, text, draw):
        rng = random.Random(f"{seed}/{kind}/{text}/{draw}")
        if kind == "feedback":
            return rng.choice(REPLIES)
        return rng.choice(["one", "two", "three", "", Text("", "refused")])

    return say


def run(tmp_path, engine, asked, use, other=None):
    with Store(tmp_path / "store.sqlite") as store:
        external = other and model(store, other, use, "other")
        found, missing = refine.run("xu", asked, model(store, engine, use), external)
    return {name: tables.validate(table, name, name) for name, table in found.items()}, missing


def standings(found, variant, prefix):
    rows = found["ratings"]
    rows = rows[rows["variant"].eq(variant) & rows["item_id"].str.startswith(prefix)]
    lost = [
        None if marks is None else -(5 * marks[0] + 5 * marks[1] + marks[2])
        for marks in rows["marks"]
    ]
    return rows.assign(standing=lost).groupby("item_id")["standing"].agg(list)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_no_sample_loses_by_the_papers_rule(tmp_path_factory, seed):
    arms = ("external", "noise", "accept-all")
    engines = ScriptedEngine(at_random(seed), "me"), ScriptedEngine(at_random(-seed), "other")
    found, _ = run(tmp_path_factory.mktemp("x"), engines[0], items(4), plan(4, arms), engines[1])
    for variant, prefix in (("plain", "yor"), ("external", "external"), ("noise", "noise")):
        for path in standings(found, variant, prefix):
            known = [value for value in path if value is not None]
            # All or nothing: unusable feedback is never replaced, and never accepted.
            assert len(known) in (0, len(path))
            assert known == sorted(known)


@given(
    old=st.one_of(st.none(), st.integers(-40, 0)),
    new=st.one_of(st.none(), st.integers(-40, 0)),
    draw=st.floats(0, 1, exclude_max=True),
)
def test_unusable_feedback_is_accepted_by_no_rule(old, new, draw):
    readings = [Feedback("ok" if s is not None else "refused", s, s) for s in (old, new)]
    for arm in ARMS:
        kept = accepts(arm, *readings, draw)
        if old is None or new is None:
            assert not kept
    assert accepts("plain", *readings, draw) == (old is not None and new is not None and new > old)


def test_without_anything_to_mend_nothing_more_is_asked(tmp_path):
    engine = ScriptedEngine(lambda kind, *_: "no error" if kind == "feedback" else "a text")
    found, _ = run(tmp_path, engine, items(1), plan(5))
    # A text, its feedback, and the fresh reading of it at the end.
    assert [kind for kind, *_ in engine.asked] == ["write", "feedback", "feedback"]
    assert len(found["responses"]) == 6
    assert set(found["responses"]["text"]) == {"a text"}


def test_every_revision_is_kept_only_where_the_rule_says_so(tmp_path):
    worse = iter("bcdefghij")

    def say(kind, text, seed):
        if kind == "feedback":
            return "'x' is a major accuracy error"
        return "a" if kind == "write" else next(worse)

    found, _ = run(tmp_path, ScriptedEngine(say), items(1), plan(2, ("accept-all",)))
    texts = found["responses"].set_index(KEY)["text"]
    assert texts["yor-en/1"].tolist() == ["a", "a", "a"]
    accepted = texts["accept-all/yor-en/1"].tolist()
    assert accepted[0] == "a"
    assert len(set(accepted)) == 3


def test_the_same_text_is_kept_with_a_kinder_second_score(tmp_path):
    said = iter(["'x' is a major accuracy error", "'x' is a minor style error"])

    def say(kind, text, seed):
        return next(said, "no error") if kind == "feedback" else "the same"

    found, _ = run(tmp_path, ScriptedEngine(say), items(1), plan(1))
    own = found["ratings"][found["ratings"]["variant"].eq("plain")]
    assert own["score"].tolist() == [-5.0, -1.0]
    assert set(found["responses"]["text"]) == {"the same"}


def test_a_refinement_that_dies_at_step_seven_goes_on_there(tmp_path):
    def say(kind, text, seed):
        # Each step one error fewer, so that every revision is accepted.
        if kind == "write":
            return "version 0"
        version = int(re.search(r"version (\d+)", text)[1])
        if kind == "feedback":
            return "\n".join(["'x' is a major accuracy error"] * (12 - version))
        return f"version {version + 1}"

    whole = ScriptedEngine(say)
    expected, _ = run(tmp_path / "whole", whole, items(3), plan(10))
    # Three items: 3 texts, 3 readings, and 3 + 3 a step; it dies within the seventh.
    dead = ScriptedEngine(say, dies_at=6 + 6 * 6 + 2)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "killed", dead, items(3), plan(10))
    second = ScriptedEngine(say)
    found, _ = run(tmp_path / "killed", second, items(3), plan(10))
    assert not set(dead.asked) & set(second.asked)
    assert sorted(dead.asked + second.asked) == sorted(whole.asked)
    for name, table in expected.items():
        pd.testing.assert_frame_equal(table, found[name])


def test_prompts_are_the_same_at_every_step_and_name_the_language(tmp_path):
    def say(kind, text, seed):
        return "'x' is a major accuracy error" if kind == "feedback" else f"text {seed}"

    engine = ScriptedEngine(say)
    run(tmp_path, engine, items(1), plan(4, ("accept-all",)))
    for kind in ("feedback", "revise"):
        prompts = [text for asked, text, _ in engine.asked if asked == kind]
        assert len(prompts) >= 4
        # With the text itself taken out, one wording is left.
        assert len({re.sub(r"text \d+", "TEXT", text) for text in prompts}) == 1
        assert all("Yoruba" in text and "English" in text for text in prompts)


def test_the_plain_prompts_hold_what_is_asked():
    for item in (TRANSLATION, CONCEPTS, PROBLEM):
        (message,) = PLAIN.revise(item, "the text", "the feedback").messages
        assert item.request in message[1]
        assert "the text" in message[1]
        assert "the feedback" in message[1]
    assert r"\boxed{}" in PLAIN.write(PROBLEM).messages[0][1]


WRITING = {
    TRANSLATION: ["Yoruba to English. ", "Yoruba: {request} English:"],
    CONCEPTS: ["use the words", "words {concepts}"],
    PROBLEM: [r"end with \boxed", "a shot P {request} S:"],
}
JUDGING = {
    TRANSLATION: ["find errors", "shots of errors S {request} T a text E:"],
    CONCEPTS: ["find words", "shots of words C {concepts} T a text F:"],
    PROBLEM: ["find faults", "Q {request} A a text F:"],
}
REVISING = {
    TRANSLATION: "shots of errors S {request} T a text F said\n better Yoruba-to-English:",
    CONCEPTS: "shots of words C {concepts} T a text lacks said better:",
    PROBLEM: "Q {request} A a text F said better:",
}


@pytest.mark.parametrize("item", WRITING, ids=lambda item: item.task)
def test_the_authors_prompts_are_those_of_their_programs(programs, item):  # noqa: F811
    named = {"request": item.request, "concepts": list(item.concepts)}

    def said(prompt):
        return [text for _, text in prompt.messages]

    assert said(AUTHORS.write(item)) == [text.format(**named) for text in WRITING[item]]
    assert said(AUTHORS.feedback(item, "a text")) == [
        text.format(**named) for text in JUDGING[item]
    ]
    assert said(AUTHORS.revise(item, "a text", "said")) == [REVISING[item].format(**named)]


def test_texts_that_were_never_written_are_counted(tmp_path):
    def say(kind, text, seed):
        if kind == "write" and "gbolohun 2" in text:
            return Text("", "refused")
        return "no error" if kind == "feedback" else Text("half a te", "cut")

    found, missing = run(tmp_path, ScriptedEngine(say), items(3), plan(1))
    assert missing == {"refused": 1}
    assert set(found["responses"]["item_id"]) == {"yor-en/1", "yor-en/3"}
    assert set(found["responses"]["status"]) == {"truncated"}


def test_an_empty_revision_is_not_judged(tmp_path):
    def say(kind, text, seed):
        if kind == "revise":
            return ""
        return "a text" if kind == "write" else "'x' is a minor style error"

    engine = ScriptedEngine(say)
    found, _ = run(tmp_path, engine, items(1), plan(2, ("accept-all",)))
    assert set(found["responses"]["text"]) == {"a text"}
    # The first reading and the fresh one.
    assert sum(kind == "feedback" for kind, *_ in engine.asked) == 2
