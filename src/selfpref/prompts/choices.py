"""Prompts of k-way choices: which of several responses is best, and eleven marks for one response.

The testbed's are roles instead of words. `plain` is worded by this project, for any model: the
responses carry letters and not numbers, so that no number in the text can be taken for a verdict,
and the judge gives the marks alone, which the program adds up.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from selfpref.lab import choice, prompts
from selfpref.lab.tokenizer import VERDICT_OPEN
from selfpref.models import Prompt
from selfpref.prompts.rubric import CRITERIA, TOP
from selfpref.prompts.texts import Texts

_LETTERS = "ABCDEFGHIJ"
TEXTS = Texts(Path(__file__).with_name("choices.yaml"))


@dataclass(frozen=True)
class ChoicePrompts:
    """The prompts of one wording.

    Attributes:
        respond: From the item's text to the prompt that asks for a response.
        prefer: From the item's text and the responses, in presented order, to the prompt whose
            next token is the letter of the best one, or `tie`.
        letters: The labels, in presented order; as many responses at most.
        tie: The label of a tie.
        rubric: From the item's text and one response to the prompt that asks for its marks.
        marks: From the judge's reply to its marks, each 0 or 1; None where it cannot be read.
        mark_tokens: The limit of that reply.
    """

    respond: Callable[[str], Prompt]
    prefer: Callable[[str, Sequence[str]], Prompt]
    letters: tuple[str, ...]
    tie: str
    rubric: Callable[[str, str], Prompt]
    marks: Callable[[str], list[int] | None]
    mark_tokens: int


def _prompt(messages: list[prompts.Message], prefill: str = "") -> Prompt:
    return Prompt(tuple((message["role"], message["content"]) for message in messages), prefill)


def _lab_marks(reply: str) -> list[int] | None:
    words = reply.split()
    if len(words) != TOP or not set(words) <= {"0", "1"}:
        return None
    return [int(word) for word in words]


def _plain_prefer(question: str, responses: Sequence[str]) -> Prompt:
    letters = ", ".join(_LETTERS[: len(responses)])
    shown = list(zip(_LETTERS, responses, strict=False))
    return TEXTS.prompt("prefer", question=question, responses=shown, letters=letters)


def _plain_rubric(question: str, response: str) -> Prompt:
    criteria = list(CRITERIA.values())
    return TEXTS.prompt("rubric", question=question, response=response, criteria=criteria)


def _plain_marks(reply: str) -> list[int] | None:
    found = re.findall(r"\{[^{}]*\}", reply)
    if len(found) != 1:
        return None
    try:
        marks = json.loads(found[0]).get("marks")
    except json.JSONDecodeError:
        return None
    good = isinstance(marks, list) and len(marks) == TOP
    return marks if good and all(type(mark) is int and mark in (0, 1) for mark in marks) else None


CHOICE_PROMPTS = {
    "lab": ChoicePrompts(
        respond=lambda question: _prompt(prompts.chat_messages(question)),
        prefer=lambda question, responses: _prompt(
            prompts.choice_messages(question, responses), VERDICT_OPEN
        ),
        letters=choice.LETTERS,
        tie=choice.TIE,
        rubric=lambda question, response: _prompt(
            prompts.rating_messages(question, response), choice.RUBRIC_OPEN
        ),
        marks=_lab_marks,
        mark_tokens=TOP + 1,
    ),
    "plain": ChoicePrompts(
        respond=lambda question: Prompt((("user", question),)),
        prefer=_plain_prefer,
        letters=tuple(_LETTERS),
        tie="tie",
        rubric=_plain_rubric,
        marks=_plain_marks,
        mark_tokens=100,
    ),
}
