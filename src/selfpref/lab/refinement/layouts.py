"""The tokens of the refinement testbed, and how requests, texts and feedback are laid out.

    write      <bos> <user> request <end> <assistant> | text <end>
    feedback   <bos> <user> request <end> <draft> text <end> <assistant> | feedback <end>
    revise     <bos> <user> request <end> <draft> text <end> <feedback> feedback <end>
               <assistant> | text <end>

The bar stands where the model's own tokens begin. In tokens an error is `major | dog`, and errors
are joined by `;`; as text it is a line of the declared grammar, `'dog' is a major accuracy error`.
"""

from __future__ import annotations

import re
from typing import Final

from selfpref.lab.refinement import language
from selfpref.lab.refinement.tasks import ALL_COVERED, CONCEPTS, NO_ERROR, NUMBERS
from selfpref.lab.tokenizer import BOS, END, VERDICT_CLOSE, VERDICT_OPEN, Lexicon

VERDICTS: Final = ("yes", "no")
LEXICON: Final = Lexicon(
    roles=("user", "assistant", "draft", "feedback"),
    verdict=(),
    words=(
        *("translate", "use", "add", "+", "=", "\\boxed{", "}"),
        *language.OPENERS, *language.DICTIONARY, *language.DICTIONARY.values(),
        *CONCEPTS, *NUMBERS,
        *language.SEVERITIES, *NO_ERROR.split(), *ALL_COVERED.split(), "|", ";", "[", "]", ",",
        VERDICT_OPEN, *VERDICTS, VERDICT_CLOSE,
    ),
)  # fmt: skip

Messages = list[tuple[str, str]]
"""(role, content) pairs."""


_ERROR = re.compile(rf"^({'|'.join(language.SEVERITIES)}) \| (\w+)$")
_LINE = re.compile(rf"'(\w+)' is a ({'|'.join(language.SEVERITIES)}) accuracy error")


def content(text: str) -> str:
    """A text or feedback as words of the testbed; nothing in it acts as a control token."""
    short = _LINE.sub(r"\2 | \1", text).replace("\n", " ; ")
    for bracket in (VERDICT_OPEN, VERDICT_CLOSE):
        short = short.replace(bracket, f" {bracket} ")
    return LEXICON.plain(short)


def lines(reply: str) -> str:
    """A model's feedback as text; what is no error in tokens stays as it is."""
    parts = reply.split(" ; ")
    return "\n".join(_ERROR.sub(r"'\2' is a \1 accuracy error", part) for part in parts)


def write_messages(request: str) -> Messages:
    """Ask for a text."""
    return [("user", content(request))]


def feedback_messages(request: str, text: str) -> Messages:
    """Ask what is wrong with a text."""
    return [*write_messages(request), ("draft", content(text))]


def revise_messages(request: str, text: str, feedback: str) -> Messages:
    """Ask for a better text."""
    return [*feedback_messages(request, text), ("feedback", content(feedback))]


def encode(messages: Messages) -> list[int]:
    """Token ids up to where the model's own tokens begin, shape (n,), with one ``<bos>``."""
    ids = [LEXICON.token_id(BOS)]
    for role, text in messages:
        ids += [LEXICON.token_id(f"<{role}>"), *LEXICON.encode_content(text), LEXICON.token_id(END)]
    return [*ids, LEXICON.token_id("<assistant>")]


def encode_reply(text: str) -> list[int]:
    """Token ids of a model's reply, ``<end>`` included."""
    return [*LEXICON.encode_content(content(text)), LEXICON.token_id(END)]
