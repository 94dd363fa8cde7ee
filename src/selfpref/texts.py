"""Texts of models on paper: what cannot be written or seen is made visible.

JSON can spell what UTF-8 cannot: a lone surrogate, the half of a character. Control characters make
an SVG invalid, and a character that turns the direction of writing disarranges what follows it.
"""

import re

LONE = re.compile("[\ud800-\udfff]")
LOST = "\N{REPLACEMENT CHARACTER}"
_HIDDEN = (
    *(number for number in range(32) if chr(number) not in "\n\t"),
    *range(0x7F, 0xA0),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    *range(0xD800, 0xE000),
    *(0xFFFE, 0xFFFF),
)
_VISIBLE = dict.fromkeys(_HIDDEN, LOST)


def whole(text: str) -> str:
    """The text with a mark in the place of each lone surrogate; it can be written then.

    An answer that is cut off in the middle of an emoji ends in one.
    """
    return LONE.sub(LOST, text)


def visible(text: str) -> str:
    """The text with a mark for each character that no one sees; line breaks and tabs stay."""
    return text.translate(_VISIBLE)
