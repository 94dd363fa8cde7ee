"""Readers of data sets with pairs and votes; the profiles name one for each data set.

| reader | votes and verdicts of | files |
|---|---|---|
| `releases.mt_bench` | people and GPT-4 | `mt-bench.csv` |
| `releases.vicuna80` | people and five judges | `vicuna80.csv` |
| `releases.elobench` | people and, on the first 2,008 battles, GPT-4 | `elobench.csv` |
| `releases.llm_sp` | answer keys, and eleven judges' probabilities | `llm-sp.csv` |
| `releases.hub` | people alone, with all texts, for models that judge here | `mt-bench-hub.csv` |
| `releases.hub` | the same of Chatbot Arena | `chatbot-arena.csv` |

A reader makes plain rows of its files; `tables_of` makes the tables of them. A pinned file is what
its checksum says: no reader looks for keys that are missing or values that are not in it.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from selfpref import tables
from selfpref.formats.datasets import written
from selfpref.formats.records import json_lines
from selfpref.tables.schemas import TIE

Rows = Iterable[Any]
STUDY = "wataoka"
SIDES = ["responder_a", "responder_b"]
WHO = ["item_id", *SIDES, "who"]
# How the releases spell what came of a pair.
WINNERS = {"model_a": "a", "model_b": "b"} | dict.fromkeys(
    ("tie", "tie (bothbad)", "tie(all bad)", "tie (inconsistent)"), TIE
)


def values(path: Path, *keys: str) -> Iterator[tuple[Any, ...]]:
    """The values of two keys or more in each record of a JSON Lines file."""
    return (itemgetter(*keys)(record) for _, record in json_lines(path))


def hashed(prompt: str) -> str:
    """The name of a cluster of what was asked in the same words."""
    return sha256(prompt.encode()).hexdigest()[:16]


def item(
    item_id: str,
    cluster: str,
    asked: Sequence[str],
    turn: int = 1,
    *,
    category: str | None = None,
    references: Sequence[str] = (),
    **metadata: Any,
) -> dict[str, Any]:
    """An item: one turn of a dialogue.

    Args:
        item_id: Its name.
        cluster: What a bootstrap resamples.
        asked: What the user says, turn by turn. The answers to earlier turns differ by responder:
            they are responses to the earlier items.
        turn: Which turn, from 1.
        category: Of the dialogue.
        references: A reference answer a turn, where judges read one.
        metadata: Beside `turn` and `turns`, or in their place.
    """
    return {
        "item_id": item_id,
        "category": category,
        "cluster": cluster,
        "reference": json.dumps(references[:turn]) if len(references) >= turn else None,
        "messages": [{"role": "user", "content": text} for text in asked[:turn]],
        "metadata": json.dumps({"turn": turn, "turns": len(asked)} | metadata),
    }


def tables_of(
    items: Rows, responses: Rows, votes: Rows, verdicts: Rows = (), order_known: bool = True
) -> dict[str, pd.DataFrame]:
    """The tables of one data set, from tuples, or frames with columns of these names.

    Args:
        items: As `item` makes them.
        responses: `item_id, responder, text`.
        votes: `item_id, responder_a, responder_b, who, winner`, the winner `a`, `b` or `tie`. Votes
            of one name on one pair are told apart by number.
        verdicts: The same of judges; the winner is missing where a verdict cannot be read.
        order_known: Whether a judge read the first responder's response first.

    Returns:
        items, responses, labels and verdicts.
    """
    voted = pd.DataFrame(votes, columns=[*WHO, "winner"])
    voted["repeat"] = voted.groupby(WHO, sort=False).cumcount()
    judged = pd.DataFrame(verdicts, columns=[*WHO, "winner"])
    for side, name in zip("ab", SIDES, strict=True):
        judged["winner"] = judged["winner"].mask(judged["winner"].eq(side), judged[name])
    judged["candidates"] = judged[SIDES].to_numpy().tolist()
    judged["status"] = np.where(judged["winner"].isna(), "unparsable", "ok")
    labels = voted.rename(columns={"who": "annotator", "winner": "label"})
    given = judged.rename(columns={"who": "judge", "winner": "choice"}).drop(columns=SIDES)
    return {
        "items": tables.fill(items, "items", study=STUDY),
        "responses": written(responses, STUDY),
        "labels": tables.fill(labels, "labels", study=STUDY),
        "verdicts": tables.fill(given, "verdicts", study=STUDY, order_known=order_known),
    }
