"""Texts of models on paper: characters that no one can see are made visible.

Control characters would make an SVG invalid, a lone surrogate cannot be written at all, and a
character that turns the direction of writing disarranges whatever follows it.
"""

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


def visible(text: str) -> str:
    """The text with a mark for each of them; line breaks and tabs stay."""
    return text.translate(_VISIBLE)
