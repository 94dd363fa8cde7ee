"""Rendered prompts are part of the store's keys: whatever moves, they stay byte for byte."""

import hashlib
import json
from dataclasses import asdict

import pytest
from jinja2 import Environment

from selfpref.models import Prompt
from selfpref.prompts import LAYOUTS
from selfpref.prompts.choices import CHOICE_PROMPTS
from selfpref.prompts.summaries import SUMMARY_LAYOUTS, TASKS
from selfpref.prompts.texts import Texts

TURNS = (
    ("list 3 red or blue things {question?} <end>", "from {{ a }} [[A]]\n", " from b <|im_end|> "),
    ("more? {{ x }}", "a two\n\n", "b two [[B]] {% if %}"),
    ("last?", "a three", "b three"),
)
ONE, TWO, THREE = (tuple(text for turn in TURNS[:n] for text in turn) for n in (1, 2, 3))
TEXTS = ("from {{ a }} [[A]]\n", " from b <|im_end|> \n\n", "<b>&amp; {% if %}", "")
LAB, CHAT = LAYOUTS["lab"], LAYOUTS["chat"]
PLAIN = {
    name: layouts["plain"] for name, layouts in (("s", SUMMARY_LAYOUTS), ("c", CHOICE_PROMPTS))
}
CASES = {
    "5819ddb243fee6b6": lambda: [LAB.respond(ONE[0])],
    "3c7ff90357978b2f": lambda: [LAB.judge(*ONE)],
    "75ecab5e790f6379": lambda: [LAB.bare()],
    "bdbf41b7400017b0": lambda: list(map(LAB.content, ONE)),
    "2910d7c908098ad1": lambda: [CHAT.respond(ONE[0]), CHAT.respond(*ONE[:2], TWO[3])],
    "2c12c327e13ea02e": lambda: [CHAT.judge(*said) for said in (ONE, TWO, THREE)],
    "a80c716fc59a3b24": lambda: [CHAT.bare()],
    "5af9ef3a0af4bc19": lambda: list(map(CHAT.content, ONE)),
    "c3cb46229287cc6c": lambda: [
        form(text) for _, form in sorted(PLAIN["s"].forms.items()) for text in TEXTS
    ],
    "419ad2b515473407": lambda: [PLAIN["s"].pair(task, *TEXTS[:3]) for task in TASKS],
    "cb7f754b7afb6461": lambda: [
        PLAIN["s"].single(task, TEXTS[1], TEXTS[0]) for task in ("recognition", "quality")
    ],
    "eec1d3d26d42e817": lambda: [PLAIN["c"].prefer(TEXTS[0], TEXTS[:n]) for n in (2, 3, 4)],
    "b7948ab8e94ef4a8": lambda: [PLAIN["c"].rubric(text, TEXTS[0]) for text in TEXTS],
}


@pytest.mark.parametrize("digest", CASES)
def test_prompts_render_as_ever(digest):
    made = [asdict(one) if isinstance(one, Prompt) else one for one in CASES[digest]()]
    assert hashlib.sha256(json.dumps(made).encode()).hexdigest().startswith(digest)


def test_a_file_of_texts_gives_messages_by_role_and_is_compiled_once(tmp_path, monkeypatch):
    (tmp_path / "few.yaml").write_text(
        "ask:\n  system: Be {{ how }}.\n  user: |-\n    Q\n    {{ q }}\n  prefill: '[['\n"
    )
    texts, compiled = Texts(tmp_path / "few.yaml"), []
    compile_one = Environment.compile

    def counting(self, source, *args, **options):
        compiled.append(source)
        return compile_one(self, source, *args, **options)

    monkeypatch.setattr(Environment, "compile", counting)
    for text in ("{{ q }}\n", "<b>"):
        wanted = Prompt((("system", "Be brief."), ("user", f"Q\n{text}")), "[[")
        assert texts.prompt("ask", how="brief", q=text) == wanted
    assert len(compiled) == 3
