"""What a judge's reply says of one text: a score where it says one, and a status where it does not.

| task | score | standing: what the accept rule compares |
|---|---|---|
| mqm | max(-25, -(minor + 5 major + 5 critical)) | the same without its floor |
| coverage | 1 if nothing is missing, else 0 | minus the number of concepts called missing |
| correctness | 1 if called correct, else 0 | score - 1 |

A standing of 0 means that nothing is left to improve. Feedback is in one of three states (the
release's own parsers know only one, which reads whatever they do not find as perfect):

- *annotated*: it names errors, or concepts that are missing;
- *explicitly without error*: it says that there are none, or that all concepts are covered;
- *unusable*: empty, blocked, a refusal, prose that says neither, an error whose severity is not
  known. It has a status, and neither score nor standing.

The weights are those of Xu et al. (arXiv 2402.11436, after MQM). An error is a severity in the
place of the annotation's grammar, `<span> is a <severity> <category>/<kind> error`; a severity
inside a quoted span is none. Xu et al. compared the score without its floor, too; their standing of
coverage was minus the *length in characters* of the reply, which is not repeated here.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from selfpref.models import Choice, Text
from selfpref.studies.xu.items import Task

SEVERITIES = {
    "critical": 5.0,
    "major": 5.0,
    "minor": 1.0,
}
FLOOR = -25.0
BLOCKED = "[BLOCKED]"
# What a judge of correctness writes after the marker.
VERDICTS: Final = ("yes", "no")

_SEVERITY = "|".join(SEVERITIES)
# A category, or the beginning of one where the reply was cut off at its limit.
_CATEGORY = r"(?:accuracy|flu|locale|style|termin|non-translation|other|error\b)"
_ERROR = re.compile(rf"(?i)\bis an? ({_SEVERITY})\b|\b({_SEVERITY})[\s/]+(?={_CATEGORY})")
# An error whose severity is left out or is none of the three.
_UNKNOWN = re.compile(
    rf"(?i)\b(?:is|are) (?:an? )?(?!{_SEVERITY}|no\b)(?:[\w-]+ )?"
    r"(?:accuracy|fluency|locale convention|style|terminology|non-translation)\b"
    rf"(?![^\n]*\b(?:{_SEVERITY})\b)"
)
_NONE = re.compile(
    r"(?i)^\W*none\b|\bno[- ](?:\w+ )?(?:errors?|issues?|mistakes?)\b"
    r"|\b(?:not|n't) contain any errors?\b|\bwithout (?:any )?errors?\b"
)
# There was nothing to judge, whatever else the reply says.
_NOTHING_JUDGED = re.compile(
    r"(?i)block|\b(?:cannot|can't|could not|unable to|no errors (?:can|could))\b(?! be done)"
    r"|not (?:been )?(?:provided|translated|present)|un-?translatable|non-?sens|not understandable"
)
# One line of the annotation's grammar, and a whole reply that names no error.
_LINE = re.compile(
    rf"""(?i)\s*['"“‘].+['"”’]\s+is an? (?:{_SEVERITY}) """
    r"[\w-]+(?: [\w-]+)*(?:\s?/\s?[\w-]+(?: [\w-]+)*)? error\.?\s*"
)
_NO_ERROR = re.compile(
    r"""(?i)[\s'"*`]*(?:none(?: (?:are )?(?:found|detected))?|"""
    r"""(?:there (?:are|is|were) |this is an? )?no[- ]errors?"""
    r"""(?: (?:were |are )?(?:found|identified|detected))?"""
    r"""(?: in (?:the|this) (?:translation|segment))?)[\s'".*`]*"""
)
_SPAN = re.compile(r"""(?m)^\W*['"“‘](.{4,}?)['"”’] (?:is|are)\b""")

# The end of an instruction that the reply repeats; what follows it is the answer.
ECHO = re.compile(r"(?is)^.*?\boutput\s+['\"]all covered['\"]")
# An answer ends where the reply goes on with an invented example.
_ANSWER_END = re.compile(r"\n\s*\n|\t\s*\t")
_COVERED = re.compile(r"(?i)\ball(?: [a-z]+){0,3} covered\b")
_MISSING = re.compile(r"(?i)\[|\bmissing\b|\bnot (?:\w+ )?(?:cover|provided|included)")
# A verdict, and one as the authors' prompt asks for it.
_VERDICT = re.compile(r"\[\[\s*(\w+)\s*\]\]")
_CALLED = re.compile(r"(?i)\banswer is (not )?(in)?correct\b")


@dataclass(frozen=True)
class Feedback:
    """One reply, read.

    Attributes:
        status: `ok`, or why it has no score.
        score: As the task defines it; NaN unless ok.
        standing: What the accept rule compares, at most 0; None unless ok.
        marks: Translation: number of critical, major and minor errors; coverage: of missing
            concepts. None unless ok.
        reply: The judge's text; None where it wrote none.
        choice: Probabilities of `VERDICTS` after the marker, where the engine tells them.
    """

    status: str
    score: float = np.nan
    standing: float | None = None
    marks: tuple[float, ...] | None = None
    reply: str | None = None
    choice: Choice | None = None


def read(task: Task, reply: str) -> Feedback:
    """Read a complete reply."""
    readers = {"mqm": mqm, "coverage": coverage, "correctness": correctness}
    unusable = Feedback("refused" if BLOCKED in reply else "unparsable")
    return replace(readers[task](reply) or unusable, reply=reply)


def read_generation(task: Task, made: Text, reply: str) -> Feedback:
    """Read what a model wrote; a reply that was cut off says nothing.

    Args:
        task: Which task.
        made: The engine's answer.
        reply: Its text, as the prompt template hands it to the parser.
    """
    if made.status != "ok":
        return Feedback("truncated" if made.status == "cut" else made.status, reply=reply or None)
    return replace(read(task, reply), choice=made.choice)


def mqm(reply: str) -> Feedback | None:
    """Feedback on a translation, -25..0; None if it is unusable.

    Args:
        reply: The judge's text.
    """
    found = [(said or named).lower() for said, named in _ERROR.findall(reply)]
    flawless = _NONE.search(reply) and not _NOTHING_JUDGED.search(reply)
    if _UNKNOWN.search(reply) or not (found or flawless):
        return None
    marks = tuple(float(found.count(severity)) for severity in SEVERITIES)
    points = sum(-lost * count for lost, count in zip(SEVERITIES.values(), marks, strict=True))
    return Feedback("ok", max(FLOOR, points), points, marks)


def coverage(reply: str) -> Feedback | None:
    """Feedback on a sentence that must hold given concepts: 1 if it says that all are there.

    None if it is unusable.

    Args:
        reply: The judge's text; an instruction that it repeats is left out.
    """
    answer = _ANSWER_END.split(ECHO.sub("", reply).strip(), maxsplit=1)[0]
    if BLOCKED in answer or answer.lower().startswith("concepts:"):
        return None
    covered = _COVERED.search(answer)
    missing = _MISSING.search(answer)
    if covered and not (missing and missing.start() < covered.start()):
        return Feedback("ok", 1.0, 0.0, (0.0,))
    if not missing:
        return None
    listed = ["", *re.findall(r"\[([^\[\]]*)\]", reply)][-1]
    named = {name.strip(" '\"").lower() for name in listed.split(",")}
    # Something is missing, even where the reply names nothing.
    count = float(max(1, len(named - {""})))
    return Feedback("ok", 0.0, -count, (count,))


def correctness(reply: str) -> Feedback | None:
    """Feedback on a solution: 1 if its last verdict is yes, 0 if it is no, None if there is none.

    A verdict is `[[yes]]` or `[[no]]`; without either, `the answer is correct` or `incorrect`.

    Args:
        reply: The judge's text.
    """
    found = [word.lower() for word in _VERDICT.findall(reply)]
    if not found:
        # Called correct, or not incorrect.
        called = _CALLED.findall(reply)
        found = [VERDICTS[bool(denied) != bool(wrong)] for denied, wrong in called]
    if not found or found[-1] not in VERDICTS:
        return None
    score = float(found[-1] == VERDICTS[0])
    return Feedback("ok", score, score - 1)


def released(task: Task, reply: str) -> float:
    """The score by the release's own rule.

    Of concepts 1 if `all covered` stands anywhere, in a repeated instruction too; of a translation
    -25..0: lower-case substrings are counted, and any other text is perfect.
    """
    if task == "coverage":
        return float("all covered" in reply)
    return max(FLOOR, -sum(weight * reply.count(word) for word, weight in SEVERITIES.items()))


def well_formed(reply: str) -> bool:
    """Whether feedback on a translation keeps to the declared grammar.

    Every line is `'<span>' is a <severity> <category>[/<kind>] error`, or the whole reply says that
    there is no error. A last line that was cut off at the limit breaks the grammar.

    Args:
        reply: The judge's text.
    """
    lines = [line for line in reply.splitlines() if line.strip()]
    annotated = bool(lines) and all(_LINE.fullmatch(line) for line in lines)
    return annotated or _NO_ERROR.fullmatch(reply) is not None


def quoted(reply: str, *texts: str) -> tuple[int, int]:
    """How many of the spans that feedback quotes stand in the texts that it read.

    Args:
        reply: The judge's text.
        texts: The judged text, and its source.

    Returns:
        Spans found, and spans in all; of four characters or more, case left aside.
    """
    spans = [span.strip(".").lower() for span in _SPAN.findall(reply)]
    read = [text.lower() for text in texts]
    return sum(any(span in text for text in read) for span in spans), len(spans)
