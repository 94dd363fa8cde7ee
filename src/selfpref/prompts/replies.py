"""Read a judge's verdict from its reply: a preference, the total of a rubric, the rubric's marks.

- The *last* verdict counts, since judges think aloud. What is stated as a verdict (alone on its
  line, in brackets or bold, "best: 2", "2 is better") comes before what is merely mentioned.
- A number that counts the candidates ("of the 3 responses"), with which another is compared
  ("better than 1"), or that numbers a list, is no verdict.
- What is out of range is no verdict, 0 included: it is never wrapped round to a candidate.
- A total may be in bold, out of eleven, or the result of a sum ("1 + 1 + 0 + ... = 7").

A reply without a verdict has the status `unparsable` and no value; it is never a tie or a zero.
"""

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass

from selfpref.tables.schemas import TIE

# The rubric: one mark of 0 or 1 for each of eleven criteria; the total is their sum.
CRITERIA = (
    "instruction following",
    "relevance",
    "helpfulness",
    "accuracy of claims",
    "no misleading information",
    "no hallucinations",
    "numbers and calculations",
    "readability",
    "language mechanics",
    "outline and coherence",
    "concision",
)
TOP = len(CRITERIA)

NOUN = r"(?:\b(?:response|answer|candidate|option|assistant)\s+)?"
COUNTED = r"(?!\s+(?:responses|answers|candidates|options|assistants|models)\b)"
# How a label stands: digits that are no part of another number, or a single capital.
NUMBER = rf"(?<![\w./-])(?P<label>\d+{{tie}})(?![\w/]|\.\d){COUNTED}"
LETTER = r"(?<![\w'’-])(?P<label>(?-i:[A-Z]){tie})(?![\w'’-])"
STATED = (
    rf"^\W*{NOUN}{{label}}\W*$",
    rf"(?:\[\[?|\*\*|\{{{{)\s*{NOUN}{{label}}\s*(?:\]|\*\*|\}}}})",
    r"\b(?:best|better|winner|verdict|choice|choose|chose|pick|select|prefer|preferred|final)\b"
    rf"(?:\s+(?:one|response|answer|verdict))?(?:\s+is)?\W+{NOUN}{{label}}",
    r"{label}\W+(?:is|was)\s+(?:(?:the|clearly|much|slightly)\s+)*"
    r"(?:best|better|stronger|strongest|superior|preferred|preferable|most)\b",
    r"\A\W*{label}(?=\s*(?:[,;:–—\n]|(?:because|since|as)\b))",
)
COMPARED = r"(?P<compared>\b(?:than|over|versus|vs\.?|beats|against)\s+)?"
LISTED = r"(?P<listed>^\s*(?=\d+[.)]\s+\S))?"
MENTIONED_NUMBER = rf"{LISTED}{COMPARED}{NOUN}{{label}}"
# A capital in running text is a label behind its noun or at the end of a line ("A" is an article).
MENTIONED_LETTER = (
    rf"{COMPARED}\b(?:response|answer|candidate|option|assistant)\s+{{label}}",
    rf"{COMPARED}{{label}}(?=\W*$)",
)

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


@dataclass(frozen=True)
class Reading:
    """What a reply says.

    Attributes:
        value: A candidate's label or `tie`; or a total of 0..11. None unless the status is ok.
        status: `ok` or `unparsable`.
    """

    value: str | int | None
    status: str


UNPARSABLE = Reading(None, "unparsable")


def labels(number: int, *, letters: bool) -> list[str]:
    """The names of candidates in a prompt, in presented order: A, B, ... or 1, 2, ..."""
    return list(string.ascii_uppercase[:number]) if letters else [str(n + 1) for n in range(number)]


def _last(patterns: Sequence[str], reply: str) -> str | None:
    """The label of the last match that no comparison and no list disqualifies."""
    found = [
        (match.start("label"), match["label"])
        for pattern in patterns
        for match in re.finditer(pattern, reply, re.IGNORECASE | re.MULTILINE)
        if not any(match.groupdict().get(name) is not None for name in ("compared", "listed"))
    ]
    return max(found)[1] if found else None


def read_preference(reply: str, names: Sequence[str], *, ties: bool = False) -> Reading:
    """The candidate that a judge prefers.

    Args:
        reply: The judge's own words.
        names: The labels of the candidates in the prompt, as `labels` gives them.
        ties: Whether the judge was allowed to answer "tie".

    Returns:
        The label of the last verdict.
    """
    numbers = names[0].isdigit()
    label = (NUMBER if numbers else LETTER).format(tie=f"|{TIE}" if ties else "")
    mentioned = (MENTIONED_NUMBER,) if numbers else MENTIONED_LETTER
    stated, named = (
        _last([pattern.format(label=label) for pattern in patterns], reply)
        for patterns in (STATED, mentioned)
    )
    verdict = stated or named
    if verdict is not None and ties and verdict.lower() == TIE:
        return Reading(TIE, "ok")
    return Reading(verdict, "ok") if verdict in names else UNPARSABLE


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


def read_total(reply: str) -> Reading:
    """The total of the rubric, as the reply states it last.

    Args:
        reply: The judge's own words.

    Returns:
        A whole number of 0..11, or unparsable.
    """
    stated = [total for rest in SCORE.findall(reply) if (total := _total(rest)) is not None]
    return Reading(stated[-1], "ok") if stated else UNPARSABLE


def read_marks(reply: str) -> list[int] | None:
    """The eleven marks of the rubric, from a numbered list or a sum; None where one is missing.

    Their sum is the total that the program computes; the total that a reply states may differ.
    """
    marks: dict[int, int | None] = {}
    for match in CRITERION.finditer(reply):
        mark = match["mark"]
        marks.setdefault(int(match["number"]), None if mark is None else int(mark))
    listed = [marks.get(number + 1) for number in range(TOP)]
    read = [mark for mark in listed if mark is not None]
    if len(read) == TOP:
        return read
    for terms in SUM.finditer(reply):
        summed = [int(term) for term in re.findall(r"\d+", terms[0])]
        if len(summed) == TOP and set(summed) <= {0, 1}:
            return summed
    return None
