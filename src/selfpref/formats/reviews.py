"""Reader of review files as QLoRA, PRD and FairEval released them: a text and a verdict or scores.

A row is a question (`question_id` or `message_id`) and its `score`: 1, 2 or 3 (a tie), or two
scores of which the higher one wins and equal ones tie. -1, a negative score and null say that
nothing could be read: the verdict is missing. Everything else stands in the file's name:

    [answer_]<first>-vs-[answer_]<second>-<judge>-reviewer....jsonl      (QLoRA, PRD)
    review_<first>_<second>_<judge>_mec<k>_bpc<0 or 1>.json              (FairEval)

The first response is the one read first; where FairEval has averaged both orders (`bpc1`), the
order is not known. Where a hyphenated name ends and the judge begins cannot be told from the first
form: the judge is the one that is given, or the one of the folder, `ratings-<judge>`. The judge
`human` is people, and each of their rows a vote.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.formats.rows import HUMAN, refuse
from selfpref.tables.schemas import TIE

FIELDS = ("question_id or message_id", "score")
VERSUS = re.compile(r"(?:answer[_-])?(.+?)-vs-(?:answer[_-])?(.+)-reviewer.*")
CALIBRATED = re.compile(r"review_([^_]+)_([^_]+)(?:_([^_]+)_mec\d+_bpc([01]))?")
FOLDER = "ratings-"
# What one number says; a negative one, that nothing could be read.
CLASSES = {1: "a", 2: "b", 3: TIE}
UNKNOWN = "unknown"


def is_review(path: Path) -> bool:
    """Whether a file's name is one of the two forms."""
    return bool(VERSUS.fullmatch(path.stem) or CALIBRATED.fullmatch(path.stem))


def _named(path: Path, judges: Sequence[str]) -> tuple[str, str, str, bool]:
    """The first response, the second, the judge, and whether the order is known."""
    if match := VERSUS.fullmatch(path.stem):
        first, rest = match.groups()
        folders = [name.removeprefix(FOLDER) for name in (part.name for part in path.parents)]
        for judge in (*judges, *folders):
            if judge and rest.endswith(f"-{judge}"):
                return first, rest.removesuffix(f"-{judge}"), judge, True
        raise SelfprefError(
            f"{path}: the name does not tell where {rest!r} turns from response to judge; "
            "give --judge NAME"
        )
    if match := CALIBRATED.fullmatch(path.stem):
        first, second, judge, both = match.groups()
        if judge := judge or next(iter(judges), ""):
            return first, second, judge, both != "1"
        raise SelfprefError(f"{path}: the name has no judge; give --judge NAME")
    raise SelfprefError(
        f"{path}: the names of responses and judge are looked for in the file's name, "
        "<first>-vs-<second>-<judge>-reviewer.jsonl; rename it"
    )


def _choice(score: Any) -> str | None:
    """`a`, `b`, `tie`, None where nothing could be read, or `UNKNOWN`."""
    numbers = score if isinstance(score, list) else [score]
    if any(number is None for number in numbers):
        return None
    if not all(isinstance(number, int | float) for number in numbers):
        return UNKNOWN
    if min(numbers, default=0) < 0:
        return None
    if not isinstance(score, list):
        return CLASSES.get(score, UNKNOWN)
    if len(score) != 2:
        return UNKNOWN
    one, two = score
    return TIE if one == two else ("a" if one > two else "b")


def rows(raw: pd.DataFrame, judges: Sequence[str] = ()) -> pd.DataFrame:
    """A row a review.

    Args:
        raw: Of files whose names are as above.
        judges: Names that a judge may have.

    Raises:
        SelfprefError: A name or a score that cannot be read; names file, line and field.
    """
    item = raw.reindex(columns=["question_id", "message_id"]).bfill(axis=1).iloc[:, 0]
    refuse(raw, item.isna(), "no field question_id or message_id")
    choice = raw["score"].map(_choice)
    wanted = "give 1, 2, 3, two scores, -1 or null; a score of a single text compares nothing"
    refuse(raw, choice.eq(UNKNOWN), f"score {{score}}; {wanted}")
    found = []
    for file, part in raw.groupby("file", sort=False):
        first, second, judge, known = _named(Path(str(file).rpartition(",")[0]), judges)
        named = part[["file", "line"]].assign(item=item, responder_a=first, responder_b=second)
        if judge == HUMAN:
            found.append(named.assign(annotator=HUMAN, label=choice))
        else:
            order = "ab" if known else None
            found.append(named.assign(judge=judge, order=order, verdict=choice))
    return pd.concat(found)
