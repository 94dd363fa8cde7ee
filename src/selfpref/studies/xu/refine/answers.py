r"""The final answer of a solution: what stands in its last `\boxed{...}`, braces balanced.

Two answers are equal if they are after normalisation. Spacing commands, `\left` and `\right`, math
delimiters, a trailing unit in `\text{}`, degree and percent signs and a final full stop are
dropped; `\dfrac` and `\tfrac` are `\frac`, `\frac12` is `\frac{1}{2}`, a plain a/b is
`\frac{a}{b}`; numbers lose thousands separators and trailing zeros. The rules are our own, after
those of Hendrycks et al. (arXiv 2103.03874). A solution without an answer is not correct.
"""

import re
from typing import Final

_BOXED: Final = re.compile(r"\\(?:boxed|fbox)\s*\{")
_DROPPED: Final = re.compile(r"\\(?:left|right|displaystyle)(?![a-zA-Z])|\\[,;:! ]|\\\(|\\\)|[$~]")
_UNITS: Final = re.compile(r"(?<=[\w})])\\(?:text|mbox|mathrm)\{[^{}]*\}$")
_DEGREES: Final = re.compile(r"\^\{?\\circ\}?|\\degree|\\?%")
_SHORT_FRACTION: Final = re.compile(r"\\frac(?:\{([^{}]+)\}|(\w))(?:\{([^{}]+)\}|(\w))")
_SLASH: Final = re.compile(r"(-?)(\w+)/(\w+)")
_SHORT_ROOT: Final = re.compile(r"\\sqrt(\w)")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)")


def boxed(text: str) -> str | None:
    """The content of the last box; None without one, or if its braces never close."""
    starts = [match.end() for match in _BOXED.finditer(text)]
    if not starts:
        return None
    depth = 1
    for place in range(starts[-1], len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[starts[-1] : place].strip()
    return None


def normalised(answer: str) -> str:
    """An answer in the one spelling by which answers are compared."""
    text = _DEGREES.sub("", _DROPPED.sub("", answer)).strip().removesuffix(".")
    text = re.sub(r"\s+", "", _UNITS.sub("", text.strip()))
    text = text.replace("dfrac", "frac").replace("tfrac", "frac").replace("{,}", ",")
    text = _SHORT_ROOT.sub(r"\\sqrt{\1}", text)
    text = _SHORT_FRACTION.sub(lambda m: rf"\frac{{{m[1] or m[2]}}}{{{m[3] or m[4]}}}", text)
    if slash := _SLASH.fullmatch(text):
        text = rf"{slash[1]}\frac{{{slash[2]}}}{{{slash[3]}}}"
    if plain := re.fullmatch(r"\\(?:text|mbox|mathrm|textbf)\{(.*)\}", text):
        text = plain[1]
    text = _THOUSANDS.sub("", text)
    if _NUMBER.fullmatch(text):
        sign = "-" if text.startswith("-") else ""
        whole, _, part = text.lstrip("+-").partition(".")
        part = part.rstrip("0")
        text = sign + (whole.lstrip("0") or "0") + (f".{part}" if part else "")
    return text


def answer_of(text: str) -> str | None:
    """The normalised final answer of a solution; None where it gives none."""
    found = boxed(text)
    return normalised(found) or None if found is not None else None


def correct(text: str, reference: str) -> float:
    """1 if a solution's final answer is the reference, else 0.

    Args:
        text: The solution.
        reference: The right answer, without its box.
    """
    return float(answer_of(text) == normalised(reference))
