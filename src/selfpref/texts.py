"""Texts that can be written anywhere: JSON can spell what UTF-8 cannot."""

import re

LONE = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """The text with U+FFFD in the place of each lone surrogate, the half of a character.

    An answer that is cut off in the middle of an emoji ends in one.
    """
    return LONE.sub("\ufffd", text)
