"""Reader of battles as Chatbot Arena releases them, and MT-Bench's votes and merged verdicts.

One row a comparison: `question_id`, `model_a`, `model_b`, `winner` (`model_a`, `model_b`, `tie` or
`tie (...)`), and `judge`, who said so. People are those whom the releases name as people:
`human`, `arena_user_<n>`, `expert_<n>`, `author_<n>`, and everyone in a file of votes; all others
are judges. Which response was read first is not told. An item is `<question_id>/<turn>` where there
are turns, a cluster the question. Every row of a person is a vote of its own.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from selfpref.errors import SelfprefError
from selfpref.formats.fastchat import item_of, judge_of
from selfpref.formats.rows import HUMAN, Read
from selfpref.tables.schemas import TIE

FIELDS = ("question_id", "model_a", "model_b", "winner")
PERSON = re.compile(r"human|(arena_user|expert|author)_\w+")
WINNERS = {"model_a": "a", "model_b": "b"}


def rows(records: Read, votes: bool = False) -> Iterator[tuple[Path, int, dict[str, Any]]]:
    """A row a comparison; a vote where a person made it, or where all are `votes`.

    Raises:
        SelfprefError: An unknown winner, or no judge; names file, line and field.
    """
    for path, number, record in records:
        pair = {"responder_a": record["model_a"], "responder_b": record["model_b"]}
        row: dict[str, Any] = {**item_of(dict(record)), **pair}
        by, winner = judge_of(record.get("judge") or ""), record["winner"]
        choice = WINNERS.get(str(winner))
        if str(winner).startswith(TIE):
            choice = TIE
        elif choice is None and winner not in ("error", None, ""):
            raise SelfprefError(
                f"{path}, line {number}: winner {winner!r}; give model_a, model_b, tie or error"
            )
        if votes or PERSON.fullmatch(by):
            yield path, number, {**row, "annotator": by or HUMAN, "label": choice}
        elif not by:
            raise SelfprefError(
                f"{path}, line {number}: no judge; name the judge, or give votes as --votes"
            )
        else:
            status = "failed" if winner == "error" else None
            yield path, number, {**row, "judge": by, "verdict": choice, "status": status}
