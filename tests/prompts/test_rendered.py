"""Rendered prompts are part of the store's keys: whatever moves, they stay byte for byte."""

import hashlib
import json
from dataclasses import asdict

import pytest
from jinja2 import Environment

from selfpref.models import Prompt
from selfpref.prompts import LAYOUTS
from selfpref.prompts.choices import CHOICE_PROMPTS
from selfpref.prompts.summaries import SUMMARY_LAYOUTS
from selfpref.prompts.texts import Texts

TURNS = (
    ("list 3 red or blue things {question?} <end>", "from {{ a }} [[A]]\n", " from b <|im_end|> "),
    ("more? {{ x }}", "a two\n\n", "b two [[B]] {% if %}"),
    ("last?", "a three", "b three"),
)
PINNED = {
    "lab": {
        "respond": "5819ddb243fee6b6",
        "judge": "3c7ff90357978b2f",
        "bare": "75ecab5e790f6379",
        "content": "bdbf41b7400017b0",
    },
    "chat": {
        "respond": "2910d7c908098ad1",
        "judge": "2c12c327e13ea02e",
        "bare": "a80c716fc59a3b24",
        "content": "5af9ef3a0af4bc19",
    },
}


def rendered(layout, turns):
    one = TURNS[0]
    return {
        "respond": [
            layout.respond(*said)
            for said in [(one[0],), (*one[:2], TURNS[1][0])][: 1 + (turns > 1)]
        ],
        "judge": [
            layout.judge(*(text for turn in TURNS[:count] for text in turn))
            for count in range(1, turns + 1)
        ],
        "bare": [layout.bare()],
        "content": [layout.content(text) for text in one],
    }


@pytest.mark.parametrize("name", PINNED)
def test_layouts_render_as_ever(name):
    made = rendered(LAYOUTS[name], 1 if name == "lab" else 3)
    for asked, prompts in made.items():
        plain = [asdict(one) if isinstance(one, Prompt) else one for one in prompts]
        digest = hashlib.sha256(json.dumps(plain).encode()).hexdigest()
        assert digest.startswith(PINNED[name][asked]), asked


TEXTS = ("from {{ a }} [[A]]\n", " from b <|im_end|> \n\n", "<b>&amp; {% if %}", "")
PAIR_TASKS = ("recognition", "preference", "inferiority", "readability", "length", "vowelcount")
SUMMARIES, CHOICES = SUMMARY_LAYOUTS["plain"], CHOICE_PROMPTS["plain"]


@pytest.mark.parametrize(
    ("prompts", "digest"),
    [
        (
            [form(text) for _, form in sorted(SUMMARIES.forms.items()) for text in TEXTS],
            "c3cb46229287cc6c",
        ),
        ([SUMMARIES.pair(task, *TEXTS[:3]) for task in PAIR_TASKS], "419ad2b515473407"),
        (
            [SUMMARIES.single(task, TEXTS[1], TEXTS[0]) for task in ("recognition", "quality")],
            "cb7f754b7afb6461",
        ),
        ([CHOICES.prefer(TEXTS[0], TEXTS[:n]) for n in (2, 3, 4)], "eec1d3d26d42e817"),
        ([CHOICES.rubric(text, TEXTS[0]) for text in TEXTS], "b7948ab8e94ef4a8"),
    ],
    ids=["write", "pair", "single", "prefer", "rubric"],
)
def test_questions_of_the_studies_render_as_ever(prompts, digest):
    plain = json.dumps([asdict(prompt) for prompt in prompts])
    assert hashlib.sha256(plain.encode()).hexdigest().startswith(digest)


def test_a_file_of_texts_gives_messages_by_role(tmp_path):
    path = tmp_path / "texts.yaml"
    path.write_text(
        "ask:\n  system: Be {{ how }}.\n  user: |-\n    Q\n    {{ q }}\n  prefill: '[['\n"
    )
    made = Texts(path).prompt("ask", how="brief", q="{{ q }}\n")
    assert made == Prompt((("system", "Be brief."), ("user", "Q\n{{ q }}\n")), "[[")


def test_a_template_is_compiled_once_however_many_prompts_are_made(tmp_path, monkeypatch):
    (tmp_path / "few.yaml").write_text("ask: {system: Be brief., user: 'Why {{ x }}?'}")
    texts, compiled = Texts(tmp_path / "few.yaml"), []
    compile_one = Environment.compile

    def counting(self, source, *args, **options):
        compiled.append(source)
        return compile_one(self, source, *args, **options)

    monkeypatch.setattr(Environment, "compile", counting)
    made = [texts.prompt("ask", x=number) for number in range(3)]
    assert [prompt.messages[1] for prompt in made] == [("user", f"Why {x}?") for x in range(3)]
    assert compiled == ["Be brief.", "Why {{ x }}?"]
