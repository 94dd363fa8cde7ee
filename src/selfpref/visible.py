"""Texts of models on paper: characters that no one can see are made visible.

Control characters would make an SVG invalid, a lone surrogate cannot be written at all, and a
character that turns the direction of writing disarranges whatever follows it.
"""

LOST = "\N{REPLACEMENT CHARACTER}"
# C0 as their pictures; C1, lone surrogates, noncharacters and turns of direction as lost.
_VISIBLE = (
    {number: chr(0x2400 + number) for number in range(32) if chr(number) not in "\n\t"}
    | {0x7F: "\N{SYMBOL FOR DELETE}"}
    | dict.fromkeys((*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF), LOST)
    | dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), LOST)
)


def visible(text: str) -> str:
    """The text with every control character shown; line breaks and tabs stay."""
    return text.translate(_VISIBLE)
