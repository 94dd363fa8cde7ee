"""The layouts: FastChat's texts, of which none is stored, and this project's own."""

import hashlib
import json
from dataclasses import asdict
from itertools import product

import pytest
from conftest import REPOSITORY, pin, refused
from dialogues import PROMPTS_FILE

from selfpref import paths
from selfpref.models import Prompt
from selfpref.prompts import LAYOUTS, downloaded
from selfpref.prompts.choices import CHOICE_PROMPTS
from selfpref.prompts.summaries import SUMMARY_LAYOUTS

TASKS = ("recognition", "preference", "inferiority", "readability", "length", "vowelcount")
SINGLE = ("ask {question?}", "from {a}", "from b")
SECOND = ("more?", "a two", "b two")
THIRD = ("last?", "a three", "b three")


@pytest.fixture
def layout(tmp_path, monkeypatch):
    """`pair-v2` with judge prompts of FastChat's form, in words of these tests."""
    source = pin(tmp_path / "mirror", "owner/name", PROMPTS_FILE, tmp_path / "source.csv")
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))
    monkeypatch.setattr(paths, "judge_prompts_file", lambda: source)
    monkeypatch.setattr(downloaded, "_judge_prompts", downloaded._judge_prompts.__wrapped__)
    return LAYOUTS["pair-v2"]


def test_pair_v2_fills_the_downloaded_templates(layout):
    alone = "ask {question?} from {a} from b"
    turns = "ask {question?} from {a} more? a two / ask {question?} from b more? b two"
    for said, references, name, text in (
        (SINGLE, (), "pair-v2", alone),
        # More turns go on as the template does.
        ((*SINGLE, *SECOND, *THIRD), (), "pair-v2-multi-turn",
         f"{turns.replace(' /', ' last? a three /')} last? b three"),
        (SINGLE, ["{42}"], "pair-math-v1", alone.replace("from {a}", "{42} from {a}")),
        ((*SINGLE, *SECOND), ["42", "43"], "pair-math-v1-multi-turn", f"42 43 / {turns}"),
    ):  # fmt: skip
        # The explanation comes first, and a tie is a verdict.
        wanted = Prompt((("system", name), ("user", text)))
        assert layout.judge(*said, references=references) == wanted
    assert layout.labels == ("A", "B", "C")
    for references, said in ((["42"], SECOND), (["1", "2", "3"], (*SECOND, *THIRD))):
        with refused(match=r"reference answers for \d turns"):
            layout.judge(*SINGLE, *said, references=references)


def test_no_text_of_fastchat_is_stored():
    words = "Please act as an impartial judge"
    for folder in ("src", "tests", "notebooks", "profiles", "docs"):
        for path in (REPOSITORY / folder).rglob("*"):
            if path.is_file() and path.suffix != ".pyc" and path.name != "test_layouts.py":
                assert words not in path.read_text(encoding="utf-8", errors="ignore"), path


# --- rendered prompts are part of the store's keys ------------------------------------------------


DIALOGUE = (
    ("list 3 red or blue things {question?} <end>", "from {{ a }} [[A]]\n", " from b <|im_end|> "),
    ("more? {{ x }}", "a two\n\n", "b two [[B]] {% if %}"),
    ("last?", "a three", "b three"),
)
ONE, TWO, THREE = (tuple(text for turn in DIALOGUE[:n] for text in turn) for n in (1, 2, 3))
TEXTS = ("from {{ a }} [[A]]\n", " from b <|im_end|> \n\n", "<b>&amp; {% if %}", "")
LAB, CHAT = LAYOUTS["lab"], LAYOUTS["chat"]
SUMMARIES, CHOICES = SUMMARY_LAYOUTS["plain"], CHOICE_PROMPTS["plain"]
CASES = {
    "cfbf0e01035594b5": lambda: [LAB.respond(ONE[0]), LAB.judge(*ONE), *map(LAB.content, ONE)],
    "2910d7c908098ad1": lambda: [CHAT.respond(ONE[0]), CHAT.respond(*ONE[:2], TWO[3])],
    "2c12c327e13ea02e": lambda: [CHAT.judge(*said) for said in (ONE, TWO, THREE)],
    "c3cb46229287cc6c": lambda: [
        SUMMARIES.ask(*both) for both in product(("cnn-dailymail", "xsum"), TEXTS)
    ],
    "419ad2b515473407": lambda: [SUMMARIES.ask(task, *TEXTS[:3]) for task in TASKS],
    "cb7f754b7afb6461": lambda: [
        SUMMARIES.ask(task, *TEXTS[1::-1]) for task in ("recognition", "quality")
    ],
    "eec1d3d26d42e817": lambda: [CHOICES.prefer(TEXTS[0], TEXTS[:n]) for n in (2, 3, 4)],
    "b7948ab8e94ef4a8": lambda: [CHOICES.rubric(text, TEXTS[0]) for text in TEXTS],
}


@pytest.mark.parametrize("digest", CASES)
def test_prompts_render_as_ever(digest):
    made = [asdict(one) if isinstance(one, Prompt) else one for one in CASES[digest]()]
    assert hashlib.sha256(json.dumps(made).encode()).hexdigest().startswith(digest)
