"""The live layouts: single- and multi-turn, and FastChat's texts, of which none is stored."""

import pytest
from conftest import REPOSITORY, lines, pin

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.models import Prompt
from selfpref.prompts import LAYOUTS, fastchat

SINGLE = ("ask {question?}", "from {a}", "from b")
SECOND = ("more?", "a two", "b two")
THIRD = ("last?", "a three", "b three")
TURNS = "U: {{question_1}}\n{0}: {{answer_{1}_1}}\nU: {{question_2}}\n{0}: {{answer_{1}_2}}"
BOTH = f"{TURNS.format('A', 'a')}\n--\n{TURNS.format('B', 'b')}"
ASKED = "U: {question_1}\nR: {ref_answer_1}\nU: {question_2}\nR: {ref_answer_2}\n--\n"
TEMPLATES = {
    "pair-v2": "Q {question} A {answer_a} B {answer_b}",
    "pair-v2-multi-turn": BOTH,
    "pair-math-v1": "Q {question} R {ref_answer_1} A {answer_a} B {answer_b}",
    "pair-math-v1-multi-turn": ASKED + BOTH,
}


@pytest.fixture
def layout(tmp_path, monkeypatch):
    """`pair-v2` with judge prompts of FastChat's form, in words of this test."""
    records = (
        {"name": name, "system_prompt": f"system of {name}", "prompt_template": template}
        for name, template in TEMPLATES.items()
    )
    files = {fastchat.FILE: lines(*records)}
    source = pin(tmp_path / "mirror", "owner/name", files, tmp_path / "source.csv")
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))
    monkeypatch.setattr(paths, "judge_prompts_file", lambda: source)
    fastchat._texts.cache_clear()
    yield LAYOUTS["pair-v2"]
    fastchat._texts.cache_clear()


def test_pair_v2_fills_the_downloaded_templates(layout):
    for made, name, text in (
        (layout.judge(*SINGLE), "pair-v2", "Q ask {question?} A from {a} B from b"),
        # More turns go on as the template does.
        (
            layout.judge(*SINGLE, *SECOND, *THIRD),
            "pair-v2-multi-turn",
            "U: ask {question?}\nA: from {a}\nU: more?\nA: a two\nU: last?\nA: a three\n--\n"
            "U: ask {question?}\nB: from b\nU: more?\nB: b two\nU: last?\nB: b three",
        ),
        (
            layout.informed(["{42}"], *SINGLE),
            "pair-math-v1",
            "Q ask {question?} R {42} A from {a} B from b",
        ),
        (
            layout.informed(["42", "43"], "why?", "a", "b", *SECOND),
            "pair-math-v1-multi-turn",
            "U: why?\nR: 42\nU: more?\nR: 43\n--\n"
            "U: why?\nA: a\nU: more?\nA: a two\n--\nU: why?\nB: b\nU: more?\nB: b two",
        ),
    ):
        # The explanation comes first, and a tie is a verdict.
        assert made == Prompt((("system", f"system of {name}"), ("user", text)))
    assert layout.labels == ("A", "B", "C")
    told = [(["42"], (*SINGLE, *SECOND)), (["1", "2", "3"], (*SINGLE, *SECOND, *THIRD))]
    for references, said in told:
        with pytest.raises(SelfprefError, match="reference answers for a dialogue of"):
            layout.informed(references, *said)


def test_a_file_without_the_prompt_is_not_the_pinned_one(monkeypatch, request):
    monkeypatch.setitem(TEMPLATES, "pair-v2-multi-turn", "{question_1}")
    monkeypatch.delitem(TEMPLATES, "pair-v2")
    layout = request.getfixturevalue("layout")
    with pytest.raises(SelfprefError, match="no prompt 'pair-v2'; is this the pinned file"):
        layout.judge(*SINGLE)
    with pytest.raises(SelfprefError, match="no template of two turns; is this the pinned file"):
        layout.judge(*SINGLE, *SECOND)


def test_no_text_of_fastchat_is_stored():
    words = "Please act as an impartial judge"
    for folder in ("src", "tests", "notebooks", "profiles", "docs"):
        for path in (REPOSITORY / folder).rglob("*"):
            if path.is_file() and path.suffix != ".pyc" and path.name != "test_layouts.py":
                assert words not in path.read_text(encoding="utf-8", errors="ignore"), path


def test_chat_asks_for_the_verdict_at_once_and_goes_on_with_a_dialogue():
    layout = LAYOUTS["chat"]
    prompt = layout.judge(*SINGLE, *SECOND)
    assert (prompt.prefill, layout.labels) == ("[[", ("A", "B"))
    ((role, text),) = prompt.messages
    assert role == "user"
    said = text[text.index("<<<") :]
    parts = [part for part in said.split("\n") if part and not part.startswith("<<<")]
    # Two transcripts: the user's turns stand in both.
    assert parts == [
        *("User: ask {question?}", "Assistant A: from {a}", "User: more?", "Assistant A: a two"),
        *("User: ask {question?}", "Assistant B: from b", "User: more?", "Assistant B: b two"),
    ]
    prompt = layout.respond("ask", "said", "more?")
    assert prompt.messages == (("user", "ask"), ("assistant", "said"), ("user", "more?"))
    assert layout.bare().messages == ()
