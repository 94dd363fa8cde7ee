"""Prompts of k-way choices: which of several responses is best, and eleven marks for one response.

`authors` are the study's own, downloaded at a pinned commit: the responses carry numbers, a judge
answers with one of them and cannot call a tie, and it states the total of its marks in prose.
`plain` is worded by this project, for any model: the responses carry letters, so that no number in
the text can be taken for a verdict, and the judge gives the marks alone, which the program adds up.
The testbed's are roles instead of words.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from selfpref.lab import dialogues, tokenizer
from selfpref.models import MARKER, Prompt
from selfpref.prompts import LAYOUTS, Texts, dialogue
from selfpref.prompts.downloaded import text
from selfpref.prompts.rubric import CRITERIA, TOP, eleven, read_marks, read_total

LETTERS = "ABCDEFGHIJ"
TEXTS = Texts(Path(__file__).with_name("choices.yaml"))
# The total of the rubric, and its marks.
Marked = tuple[int | None, list[int] | None]


class ChoicePrompts(NamedTuple):
    """The prompts of one wording.

    Attributes:
        respond: From the item's text to the prompt that asks for a response.
        prefer: From the item's text and the responses, in presented order, to the prompt whose
            next token is the letter of the best one, or `tie`.
        letters: The labels, in presented order; as many responses at most.
        tie: The labels of a tie; none where no tie can be called.
        rubric: From the item's text and one response to the prompt that asks for its marks.
        marks: From the judge's reply to the total and the marks, each 0 or 1; no total where it
            cannot be read, and no marks where not all of them can.
        mark_tokens: The limit of that reply.
        marker: What stands before a label; empty where the answer is the label alone.
    """

    respond: Callable[[str], Prompt]
    prefer: Callable[[str, Sequence[str]], Prompt]
    letters: tuple[str, ...]
    tie: tuple[str, ...]
    rubric: Callable[[str, str], Prompt]
    marks: Callable[[str], Marked]
    mark_tokens: int
    marker: str = MARKER


def _added(marks: Sequence[str]) -> Marked:
    """Eleven marks and their sum; nothing of what is anything else."""
    read = eleven(marks)
    return (sum(read) if read else None), read


def _plain_prefer(question: str, responses: Sequence[str]) -> Prompt:
    letters = ", ".join(LETTERS[: len(responses)])
    shown = list(zip(LETTERS, responses, strict=False))
    return TEXTS.prompt("prefer", question=question, responses=shown, letters=letters)


def _plain_marks(reply: str) -> Marked:
    objects = re.findall(r"\{[^{}]*\}", reply)
    listed = re.findall(r'"marks"\s*:\s*\[(.*?)\]', objects[0], re.DOTALL) if objects else []
    return _added(re.findall(r"[^,\s]+", listed[0] if listed and len(objects) == 1 else ""))


_program = partial(text, "livebench", "agents.py")


def _authors_prefer(question: str, responses: Sequence[str]) -> Prompt:
    own = _words("PREFERENCE_PROMPT")
    name = "get_preference.original_prompt"
    said = _program(name, values={"self.PREFERENCE_PROMPT": own, "question": question})
    for place, response in enumerate(responses, start=1):
        said = _program(name, 1, {"original_prompt": said, "idx + 1": place, "ans": response})
    return dialogue(said)


def _authors_rubric(question: str, response: str) -> Prompt:
    said = {"self.SCORING_PROMPT": _words("SCORING_PROMPT"), "question": question}
    asked = _program("get_score.original_prompt", values=said | {"response": response})
    return dialogue(asked)


def _words(name: str) -> str:
    """The authors' words of this name, which hold their rubric."""
    rubric = _program("__init__.self.RUBRIC")
    return _program(f"__init__.self.{name}", values={"self.RUBRIC": rubric})


CHOICE_PROMPTS = {
    "lab": ChoicePrompts(
        respond=LAYOUTS["lab"].respond,
        prefer=lambda *asked: Prompt(tokenizer.judge_messages(*asked), MARKER),
        letters=dialogues.LETTERS,
        tie=(dialogues.TIE,),
        rubric=lambda question, response: Prompt(
            tokenizer.judge_messages(question, [response]), dialogues.RUBRIC_OPEN
        ),
        marks=lambda reply: _added(reply.split()),
        mark_tokens=TOP + 1,
    ),
    "authors": ChoicePrompts(
        respond=lambda question: Prompt(
            (("system", _program("get_response.llm_output.content")), ("user", question))
        ),
        prefer=_authors_prefer,
        letters=tuple("123456789"),
        tie=(),
        rubric=_authors_rubric,
        marks=lambda reply: (read_total(reply), read_marks(reply)),
        # A justification of every mark stands beside the total.
        mark_tokens=1024,
        marker="",
    ),
    "plain": ChoicePrompts(
        respond=dialogue,
        prefer=_plain_prefer,
        letters=tuple(LETTERS),
        tie=("tie",),
        rubric=lambda question, response: TEXTS.prompt(
            "rubric", question=question, response=response, criteria=CRITERIA
        ),
        marks=_plain_marks,
        mark_tokens=100,
    ),
}
