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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from selfpref.errors import SelfprefError
from selfpref.formats.rows import HUMAN, Read
from selfpref.tables.schemas import TIE

FIELDS = ("question_id or message_id", "score")
VERSUS = re.compile(r"(?:answer[_-])?(.+?)-vs-(?:answer[_-])?(.+)-reviewer.*")
CALIBRATED = re.compile(r"review_([^_]+)_([^_]+)(?:_([^_]+)_mec\d+_bpc([01]))?")
FOLDER = "ratings-"
# What one number says; a negative one, that nothing could be read.
CLASSES = {1: "a", 2: "b", 3: TIE}


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


def _choice(score: Any, where: str) -> str | None:
    """`a`, `b`, `tie`, or None where nothing could be read."""
    pair = score if isinstance(score, list) else None
    numbers = [score] if pair is None else pair
    if score is None or any(number is None for number in numbers):
        return None
    known = all(isinstance(number, int | float) for number in numbers)
    if known and min(numbers, default=0) < 0:
        return None
    if known and pair is not None and len(pair) == 2:
        one, two = pair
        return TIE if one == two else ("a" if one > two else "b")
    if known and pair is None and score in CLASSES:
        return CLASSES[score]
    raise SelfprefError(f"{where}: score {score!r}; give 1, 2, 3, two scores, -1 or null")


def rows(records: Read, judges: Sequence[str] = ()) -> Iterator[tuple[Path, int, dict[str, Any]]]:
    """A row a review.

    Args:
        records: Of files whose names are as above.
        judges: Names that a judge may have.

    Raises:
        SelfprefError: A name or a score that cannot be read; names file, line and field.
    """
    names: dict[Path, tuple[str, str, str, bool]] = {}
    for path, number, record in records:
        if path not in names:
            names[path] = _named(path, judges)
        first, second, judge, known = names[path]
        item = record.get("question_id", record.get("message_id"))
        if item is None:
            raise SelfprefError(f"{path}, line {number}: no field question_id or message_id")
        choice = _choice(record["score"], f"{path}, line {number}")
        row: dict[str, Any] = {"item": item, "responder_a": first, "responder_b": second}
        if judge == HUMAN:
            yield path, number, {**row, "annotator": HUMAN, "label": choice}
        else:
            order = "ab" if known else None
            yield path, number, {**row, "judge": judge, "order": order, "verdict": choice}
