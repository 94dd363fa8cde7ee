"""The live layouts: single- and multi-turn, and FastChat's texts, of which none is stored."""

import pandas as pd
import pytest
from conftest import REPOSITORY, lines, pin

from selfpref import paths
from selfpref.ask.responding import compared, dialogues
from selfpref.errors import SelfprefError
from selfpref.prompts import LAYOUTS, fastchat

SINGLE = ("ask {question?}", "from {a}", "from b")
SECOND = ("more?", "a two", "b two")
THIRD = ("last?", "a three", "b three")


@pytest.fixture
def downloaded(tmp_path, monkeypatch):
    """Judge prompts of FastChat's form, in words of this test."""
    turns = "U: {{question_1}}\n{0}: {{answer_{1}_1}}\nU: {{question_2}}\n{0}: {{answer_{1}_2}}"
    prompts = [
        {
            "name": "pair-v2",
            "system_prompt": "compare",
            "prompt_template": "Q {question} A {answer_a} B {answer_b}",
        },
        {
            "name": "pair-v2-multi-turn",
            "system_prompt": "compare the second",
            "prompt_template": f"{turns.format('A', 'a')}\n--\n{turns.format('B', 'b')}",
        },
        {
            "name": "pair-math-v1",
            "system_prompt": "compare with the reference",
            "prompt_template": "Q {question} R {ref_answer_1} A {answer_a} B {answer_b}",
        },
        {
            "name": "pair-math-v1-multi-turn",
            "system_prompt": "compare the second with the reference",
            "prompt_template": "U: {question_1}\nR: {ref_answer_1}\nU: {question_2}\n"
            f"R: {{ref_answer_2}}\n--\n{turns.format('A', 'a')}\n--\n{turns.format('B', 'b')}",
        },
    ]
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))

    def given(records):
        files = {fastchat.FILE: lines(*records)}
        source = pin(tmp_path / "mirror", "owner/name", files, tmp_path / "source.csv")
        monkeypatch.setattr(paths, "judge_prompts_file", lambda: source)
        fastchat._texts.cache_clear()
        return prompts

    given(prompts)
    yield given
    fastchat._texts.cache_clear()


def test_pair_v2_fills_the_downloaded_template(downloaded):
    layout = LAYOUTS["pair-v2"]
    prompt = layout.judge(*SINGLE)
    assert prompt.messages == (
        ("system", "compare"),
        ("user", "Q ask {question?} A from {a} B from b"),
    )
    # The explanation comes first, and a tie is a verdict.
    assert prompt.prefill == ""
    assert layout.labels == ("A", "B", "C")


def test_pair_v2_of_two_turns_is_the_multi_turn_prompt(downloaded):
    prompt = LAYOUTS["pair-v2"].judge(*SINGLE, *SECOND)
    assert prompt.messages[0] == ("system", "compare the second")
    assert prompt.messages[1][1] == (
        "U: ask {question?}\nA: from {a}\nU: more?\nA: a two\n--\n"
        "U: ask {question?}\nB: from b\nU: more?\nB: b two"
    )


def test_more_turns_go_on_as_the_template_does(downloaded):
    (_, (_, text)) = LAYOUTS["pair-v2"].judge(*SINGLE, *SECOND, *THIRD).messages
    first, _, second = text.partition("\n--\n")
    assert first == ("U: ask {question?}\nA: from {a}\nU: more?\nA: a two\nU: last?\nA: a three")
    assert second == first.replace("from {a}", "from b").replace("A: ", "B: ").replace("a t", "b t")


def test_a_reference_answer_stands_in_the_prompt_made_for_it(downloaded):
    layout = LAYOUTS["pair-v2"]
    assert layout.informed(["{42}"], *SINGLE).messages == (
        ("system", "compare with the reference"),
        ("user", "Q ask {question?} R {42} A from {a} B from b"),
    )
    system, (_, text) = layout.informed(["42", "43"], *SINGLE, *SECOND).messages
    assert system[1] == "compare the second with the reference"
    assert text.startswith("U: ask {question?}\nR: 42\nU: more?\nR: 43\n--\n")
    with pytest.raises(SelfprefError, match="1 reference answers for a dialogue of 2 turns"):
        layout.informed(["42"], *SINGLE, *SECOND)


def test_a_file_without_the_prompt_is_not_the_pinned_one(downloaded):
    downloaded([{"name": "other", "system_prompt": "", "prompt_template": ""}])
    with pytest.raises(SelfprefError, match="no prompt 'pair-v2'"):
        LAYOUTS["pair-v2"].judge(*SINGLE)


def test_no_text_of_fastchat_is_stored():
    words = "Please act as an impartial judge"
    for folder in ("src", "tests", "notebooks", "profiles", "docs"):
        for path in (REPOSITORY / folder).rglob("*"):
            if path.is_file() and path.suffix != ".pyc" and path.name != "test_layouts.py":
                assert words not in path.read_text(encoding="utf-8", errors="ignore"), path


def test_chat_asks_for_the_verdict_at_once():
    layout = LAYOUTS["chat"]
    prompt = layout.judge(*SINGLE)
    assert prompt.prefill == "[["
    assert layout.labels == ("A", "B")
    ((role, text),) = prompt.messages
    assert role == "user"
    assert text.index("ask {question?}") < text.index("from {a}") < text.index("from b")
    assert text.count("ask {question?}") == 1
    ((_, text),) = layout.judge(*SINGLE, *SECOND).messages
    # Two transcripts: the user's turns stand in both.
    assert text.count("ask {question?}") == text.count("more?") == 2
    assert text.index("a two") < text.index("from b") < text.index("b two")


def test_chat_goes_on_with_a_dialogue():
    prompt = LAYOUTS["chat"].respond("ask", "said", "more?")
    assert prompt.messages == (("user", "ask"), ("assistant", "said"), ("user", "more?"))
    assert LAYOUTS["chat"].bare().messages == ()


@pytest.fixture
def tables():
    messages = [{"role": "user", "content": text} for text in ("ask", "more?")]
    items = pd.DataFrame({"item_id": ["set/q/1", "set/q/2"], "messages": [messages[:1], messages]})
    responses = pd.DataFrame(
        [
            ("set/q/1", "x", "x one"),
            ("set/q/2", "x", "x two"),
            ("set/q/1", "y", "y one"),
            ("set/q/2", "y", "y two"),
            ("set/q/2", "late", "came late"),
            ("other/q/1", "x", "of another set"),
        ],
        columns=["item_id", "responder", "text"],
    )
    return items, responses


def test_a_later_turn_holds_its_own_earlier_answers(tables):
    said = dialogues(*tables, tables[0]["item_id"])
    assert said["set/q/1", "y"] == ["ask", "y one"]
    assert said["set/q/2", "x"] == ["ask", "x one", "more?", "x two"]
    assert compared(said, "set/q/2", ("y", "x")) == [
        *("ask", "y one", "x one"),
        *("more?", "y two", "x two"),
    ]


def test_a_missing_response_is_named(tables):
    said = dialogues(*tables, tables[0]["item_id"])
    assert ("set/q/2", "late") not in said
    with pytest.raises(SelfprefError, match="set/q/2: no response of 'late'"):
        compared(said, "set/q/2", ("x", "late"))
