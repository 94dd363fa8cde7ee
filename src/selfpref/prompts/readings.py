"""What a judge's reply says of one text: its score, and what the accept rule compares.

| task | score | standing |
|---|---|---|
| mqm | max(-25, -(minor + 5 major + 5 critical)) | the same without its floor |
| coverage | 1 if nothing is missing, else 0 | minus the number of concepts called missing |
| correctness | 1 if called correct, else 0 | score - 1 |

A standing of 0 means that nothing is left to mend. Replies are read as
`selfpref.prompts.feedback` reads them, in three states; one that says nothing usable has neither
score nor standing, only a status. Xu et al. (arXiv 2402.11436) compared the unfloored score too;
their standing of coverage was minus the *length in characters* of the reply, a slip that is not
repeated, and whatever they could not read was perfect.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from selfpref.models import Choice, Text
from selfpref.prompts import feedback
from selfpref.prompts.feedback import SEVERITIES, Feedback
from selfpref.prompts.items import Task

MARKER: Final = "[["
VERDICTS: Final = ("yes", "no")
"""What a judge of correctness writes after the marker."""

_LIST = re.compile(r"\[([^\[\]]*)\]")
_VERDICT = re.compile(r"\[\[\s*(\w+)\s*\]\]")


@dataclass(frozen=True)
class Reading:
    """One reply, read.

    Attributes:
        status: `ok`, or why it has no score.
        score: As the task defines it; None unless ok.
        standing: What the accept rule compares, at most 0; None unless ok.
        marks: Translation: critical, major and minor errors; coverage: missing concepts.
        reply: The judge's text; None where it wrote none.
        choice: Probabilities of `VERDICTS` after the marker, where the engine tells them.
    """

    status: str
    score: float | None = None
    standing: float | None = None
    marks: tuple[float, ...] | None = None
    reply: str | None = None
    choice: Choice | None = None

    @property
    def flawless(self) -> bool:
        """Whether it says that nothing is wrong."""
        return self.standing == 0


def read(task: Task, reply: str) -> Reading:
    """Read a complete reply."""
    found, standing, marks = _READERS[task](reply)
    if found.status != "ok":
        return Reading(found.status, reply=reply)
    return Reading("ok", float(found.score), standing, marks, reply)


def read_generation(task: Task, made: Text, reply: str) -> Reading:
    """Read what an engine made; a reply that was cut off says nothing.

    Args:
        task: Which task.
        made: The engine's answer.
        reply: Its text, as the layout hands it to the parser.
    """
    if made.status != "ok":
        return Reading("truncated" if made.status == "cut" else made.status, reply=reply or None)
    found = read(task, reply)
    return Reading(found.status, found.score, found.standing, found.marks, found.reply, made.choice)


_Read = tuple[Feedback, float, tuple[float, ...] | None]


def _mqm(reply: str) -> _Read:
    found = feedback.mqm(reply)
    marks = tuple(found.marks or ())
    lost = sum(weight * count for weight, count in zip(SEVERITIES.values(), marks, strict=False))
    return found, -lost, marks


def _coverage(reply: str) -> _Read:
    found = feedback.coverage(reply)
    listed = _LIST.findall(reply)
    named = {name.strip(" '\"").lower() for name in (listed[-1] if listed else "").split(",")}
    # Something is missing, even where the reply names nothing.
    missing = 0.0 if found.score == 1 else float(max(1, len(named - {""})))
    return found, -missing, (missing,)


def _correctness(reply: str) -> _Read:
    found = _VERDICT.findall(reply)
    if not found or (verdict := found[-1].lower()) not in VERDICTS:
        return Feedback("refused" if feedback.BLOCKED in reply else "unparsable"), 0.0, None
    score = float(verdict == VERDICTS[0])
    return Feedback("ok", score), score - 1, None


_READERS: Final[dict[Task, Callable[[str], _Read]]] = {
    "mqm": _mqm,
    "coverage": _coverage,
    "correctness": _correctness,
}
