"""Reader of FastChat's pairwise judgments, such as `model_judgment/gpt-4_pair.jsonl`.

One row a question and turn: `model_1` and `model_2`, the winner of the first game, in which
`model_1` is read first (`g1_winner`), and of the second, with the order swapped (`g2_winner`). A
game is an `error` where FastChat got no answer or found no verdict in it: the verdict is missing,
`failed` or `unparsable`, and never a tie. `judge` is the judge's name, or a list of it and its
prompt. An item is `<question_id>/<turn>`, a cluster the question. The votes on the same questions
are a file of their own (`selfpref.formats.arena`).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from selfpref.errors import SelfprefError
from selfpref.formats.rows import Read
from selfpref.tables.schemas import TIE

FIELDS = ("question_id", "model_1", "model_2", "g1_winner", "g2_winner", "judge")
WINNERS = {"model_1": "a", "model_2": "b", "tie": TIE}
GAMES = (("g1_winner", "g1_judgment", "ab"), ("g2_winner", "g2_judgment", "ba"))
# What FastChat writes where a request failed.
ERROR = "$ERROR$"


def judge_of(value: Any) -> str:
    """The judge's name: itself, or the first of a list of name and prompt."""
    return str(value[0] if isinstance(value, list) and value else value)


def item_of(record: dict[str, Any]) -> dict[str, str]:
    """Item and cluster: a turn of a question, and the question."""
    question, turn = record["question_id"], record.get("turn")
    item = str(question) if turn in (None, "") else f"{question}/{turn}"
    return {"item": item, "cluster": str(question)}


def rows(records: Read) -> Iterator[tuple[Path, int, dict[str, Any]]]:
    """A row a game.

    Raises:
        SelfprefError: An unknown winner; names file, line and field.
    """
    for path, number, record in records:
        pair = {"responder_a": record["model_1"], "responder_b": record["model_2"]}
        shared = {**item_of(dict(record)), **pair, "judge": judge_of(record["judge"])}
        for field, text, order in GAMES:
            row: dict[str, Any] = {**shared, "order": order}
            winner = record[field]
            if str(winner) in WINNERS:
                row["verdict"] = WINNERS[str(winner)]
            elif winner in ("error", None, ""):
                sent = str(record.get(text) or ERROR)
                row["status"] = "failed" if ERROR in sent else "unparsable"
            else:
                raise SelfprefError(
                    f"{path}, line {number}: {field} {winner!r}; "
                    "give model_1, model_2, tie or error"
                )
            yield path, number, row
