"""Where a response states its answer: bold, boxed, or at its end."""

import re
import unicodedata
from collections.abc import Sequence

from selfpref.texts import boxes

BOLD = re.compile(r"\*\*+([^*]+)\*\*+")
TRIPLE = re.compile(r"\*\*\*([^*\n]+)\*\*\*")
COMMAND = re.compile(r"\\(?:text|textbf|mathbf|mathrm|boxed)\b")
STATED = re.compile(r"(?i).*\banswer\b(?:\s+is)?\s*:?(.*)")
WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
DIGITS = {word: str(number) for number, word in enumerate(WORDS)}


def bolds(text: str) -> list[str]:
    """Everything in bold, in order."""
    return [found.strip() for found in BOLD.findall(text)]


def boxed(text: str) -> list[str]:
    """The contents of every box that closes, in order."""
    return [content for content in boxes(text) if content is not None]


def edited(wanted: Sequence[int], given: Sequence[int]) -> int:
    """The edit distance of two lists of numbers."""
    # What is measured without scoring anew needs none of it.
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415

    return Levenshtein.distance(wanted, given)


def lines(text: str) -> list[str]:
    """The lines that are not blank."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def plain(text: str) -> str:
    """Words and digits alone, in lower case, number words as digits; a hyphen parts no word."""
    bare = COMMAND.sub(" ", unicodedata.normalize("NFKC", text)).casefold()
    return " ".join(DIGITS.get(word, word) for word in re.findall(r"[\w&'-]+", bare))


def stated(text: str) -> list[str]:
    """The places in which a response may state its answer, as `plain` text.

    Returns:
        The last box, the last bold words, what follows the last word "answer", and the last line.
    """
    end = lines(text)
    after = [match[1] for line in end if (match := STATED.fullmatch(line))]
    return [plain(part[-1]) for part in (boxed(text), bolds(text), after, end) if part]


def states(text: str, key: str) -> bool:
    """Whether a response states the key in one of these places, or ends with it."""
    wanted, places = plain(key), stated(text)
    return wanted in places or (bool(places) and f" {places[-1]}".endswith(f" {wanted}"))
