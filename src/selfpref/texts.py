"""Texts of models: what stands in brackets; and on paper, what cannot be seen is made visible.

JSON can spell what UTF-8 cannot: a lone surrogate, the half of a character. Control characters make
an SVG invalid, and a character that turns the direction of writing disarranges what follows it.
"""

import re

BOX = re.compile(r"\\(?:f?boxed|fbox)\s*(?=\{)")
# What stands before or around the option that an answer names; the first kind goes first.
OPTIONS = (
    re.compile(r"answer is\W*([A-J])\b"),
    re.compile(r"\(([A-J])\)|^\W*([A-J])[.):]", re.MULTILINE),
)
LOST = "\N{REPLACEMENT CHARACTER}"
# Control characters but for line breaks and tabs, what turns the direction of writing, and halves.
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def whole(text: str) -> str:
    """The text with a mark in the place of each lone surrogate; it can be written then.

    An answer that is cut off in the middle of an emoji ends in one.
    """
    return re.sub("[\ud800-\udfff]", LOST, text)


def visible(text: str) -> str:
    """The text with a mark for each character that no one sees; line breaks and tabs stay."""
    return HIDDEN.sub(LOST, text)


def enclosed(text: str, start: int) -> str | None:
    """What stands in the bracket that opens at `start`, or None where it never closes."""
    opening, depth = text[start], 0
    closing = {"{": "}", "(": ")"}[opening]
    for place, one in enumerate(text[start:], start):
        depth += (one == opening) - (one == closing)
        if depth == 0:
            return text[start + 1 : place].strip()
    return None


def boxes(text: str) -> list[str | None]:
    r"""The contents of every `\boxed{...}`, in order; None where the braces never close."""
    return [enclosed(text, match.end()) for match in BOX.finditer(text)]


def option(text: str) -> str | None:
    """The last option of a multiple choice that an answer names, such as `C`; None: none."""
    for kind in OPTIONS:
        if found := kind.findall(text):
            return "".join(found[-1])
    return None
