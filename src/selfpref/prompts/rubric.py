"""The rubric: eleven criteria, and a judge's total and marks as its reply states them in prose.

- The *last* total counts, since judges think aloud.
- It may be in bold, out of eleven, or the result of a sum ("1 + 1 + 0 + ... = 7").
- What is out of range is no total.

A reply without a total has none; it is never a zero.
"""

import re
from collections.abc import Sequence

# What earns one mark each, as the prompt words it.
CRITERIA = (
    "It does what the request asks, in the form that was asked for.",
    "It stays on the subject.",
    "It helps the person who asked.",
    "What it states as fact is true.",
    "Nothing in it misleads.",
    "Nothing in it is made up.",
    "Its numbers and calculations are right.",
    "It is easy to read.",
    "Its spelling, grammar and notation are sound.",
    "It is well ordered and hangs together.",
    "It is no longer than it has to be.",
)
# The highest total: the sum of all marks.
TOP = len(CRITERIA)

SCORE = re.compile(r"\b(?:overall|total|final)\s+score\b(?:\s*\([^)\n]*\))?(.*)", re.IGNORECASE)
SUM = re.compile(r"\d+(?:\s*(?:\+\s*(?:\d+|…|\.\.\.)|…|\.\.\.))+")
WHOLE = re.compile(r"(\d+)(?:\.0+)?(?!\.?\d)")
# A criterion's number at the start of a line, its name, and its mark.
CRITERION = re.compile(
    r"^[ \t]*(?:[-*•#]+[ \t]+)?\**[ \t]*(?P<number>\d{1,2})[ \t]*[.)]\**[ \t]*\**"
    r"(?:[A-Za-z ]{3,40}?[^\w\n]*?(?<![\d.])(?P<mark>[01])(?:\s*/\s*1\b)?(?:\s*points?\b)?"
    r"(?=[\s)*:–—.,(-]|$))?",
    re.MULTILINE,
)


def _total(stated: str) -> int | None:
    """The total in what follows its label on the same line."""
    rest = re.sub(r"^[\s*_:=–—]*(?:is\b)?[\s*_:=]*(?:-\s+)?", "", stated)
    if terms := SUM.match(rest):
        marks = re.findall(r"\d+", terms[0])
        rest = rest[terms.end() :].lstrip()
        if not rest.startswith("="):
            return sum(map(int, marks)) if len(marks) == TOP else None
        rest = rest.lstrip("=* ")
    whole = WHOLE.match(rest)
    return int(whole[1]) if whole and int(whole[1]) <= TOP else None


def read_total(reply: str) -> int | None:
    """The total of the rubric, 0..11, as the reply states it last; None where it states none."""
    stated = [total for rest in SCORE.findall(reply) if (total := _total(rest)) is not None]
    return stated[-1] if stated else None


def eleven(marks: Sequence[str | None]) -> list[int] | None:
    """The marks of the rubric, each 0 or 1; None where one is missing or anything else."""
    if len(marks) != TOP or not {*marks} <= {"0", "1"}:
        return None
    return [int(mark == "1") for mark in marks]


def read_marks(reply: str) -> list[int] | None:
    """The eleven marks of the rubric, from a numbered list or a sum; None where one is missing.

    Their sum is the total that the program computes; the total that a reply states may differ.
    """
    # Of several marks of a criterion the first.
    found = reversed([*CRITERION.finditer(reply)])
    listed = {int(match["number"]): match["mark"] for match in found}
    sums = (re.findall(r"\d+", terms[0]) for terms in SUM.finditer(reply))
    read = map(eleven, ([listed.get(number + 1) for number in range(TOP)], *sums))
    return next(filter(None, read), None)
