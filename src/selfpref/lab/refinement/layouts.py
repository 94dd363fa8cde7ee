"""The tokens of the refinement testbed: how prompts are laid out.

    write      <bos> <user> request <end> <assistant> | text <end>
    feedback   <bos> <user> request <end> <draft> text <end> <assistant> | feedback <end>
    revise     <bos> <user> request <end> <draft> text <end> <feedback> feedback <end>
               <assistant> | text <end>

The bar stands where the model's own tokens begin.

In tokens an error is `major | dog`, and errors are joined by `;`; as text it is a line of the
declared grammar, `'dog' is a major accuracy error`.
"""

import re
from typing import Final

from selfpref.lab.refinement import language
from selfpref.lab.refinement.tasks import ALL_COVERED, CONCEPTS, NO_ERROR, NUMBERS
from selfpref.lab.tokenizer import NO, VERDICT_CLOSE, VERDICT_OPEN, YES, Lexicon, Messages

LEXICON: Final = Lexicon(
    roles=("user", "assistant", "draft", "feedback"),
    verdict=(),
    words=(
        *("translate", "use", "add", "+", "=", "\\boxed{", "}"),
        *language.OPENERS, *language.DICTIONARY, *language.DICTIONARY.values(),
        *CONCEPTS, *NUMBERS,
        *language.SEVERITIES, *NO_ERROR.split(), *ALL_COVERED.split(), "|", ";", "[", "]", ",",
        VERDICT_OPEN, YES, NO, VERDICT_CLOSE,
    ),
)  # fmt: skip

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


def messages(**contents: str) -> Messages:
    """A prompt from the texts by role: `user`, then `draft` and `feedback` where there are any."""
    return LEXICON.messages(**{role: content(text) for role, text in contents.items()})
