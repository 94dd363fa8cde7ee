"""Reader of Chatbot Arena's battles as EloBench judged them (`v-xchen-v/EloBench`).

The people's side of 25,938 English battles of one turn between twenty models, in the order of time
(Zheng et al., arXiv 2306.05685), and GPT-4's verdicts on the first 2,008 that were judged, with
question and both responses. No licence is named there; of the set itself, prompts are CC-BY-4.0 and
the models' texts CC-BY-NC-4.0. What matters in reading them:

- Battles have no id, and pairs of models repeat. The verdicts follow the battles in order and leave
  out three of the first 2,011: row i of the verdicts is battle i up to 1,116, i + 2 up to 1,532 and
  i + 3 after it. The models' names have to agree in every row. Where a pair repeats in a run of
  battles, which of them was left out cannot be told.
- GPT-4 read each pair once, the response of `model_a` first, under a prompt of EloBench's own that
  asks for a score of each. It wrote none of the responses that it read here.
- Responses were kept by question and model: where a question was asked again, the text may be that
  of another battle. Such rows are counted, and a cluster is the question.
- A verdict is `model_a`, `model_b`, `tie`, `tie(all bad)` (both are ties), or nothing that can be
  read: an empty cell, mostly beside a reply that states scores, or `invalid`. What cannot be read
  is missing, as the release has it.
- The question of a battle that was not judged is not known; it is a cluster of its own.
"""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pandas as pd

from selfpref import tables
from selfpref.download.fetch import fetch
from selfpref.errors import SelfprefError
from selfpref.formats.records import audited, judges_of, need, numbered, rows_of, written
from selfpref.params import Dataset
from selfpref.tables.schemas import TIE

JUDGE = "gpt-4"
BATTLES = "data/arena_data/chatbot_arena_conversations/battled_pairs_human_as_judger.csv"
VERDICTS = (
    "results/battle_records_arena_gpt4_as_judger_0_499.csv",
    "results/battle_records_arena_gpt4_as_judger_500_2010.csv",
)
VOTES = {"model_a": "a", "model_b": "b", "tie": TIE, "tie (bothbad)": TIE}
CHOICES = {"model_a": "a", "model_b": "b", "tie": TIE, "tie(all bad)": TIE}
UNREADABLE = ("", "invalid")
# From which row of the verdicts on how many battles were left out before it.
SKIPPED = ((1533, 3), (1117, 2), (0, 0))


def _rows(path: Path, *keys: str) -> Iterator[tuple[str, ...]]:
    """File and line of each row, and its cells of these columns."""
    for number, row in rows_of(path):
        yield f"{path}, line {number}", *(need(row, key, path, number) for key in keys)


def _known(where: str, winner: str, outcomes: dict[str, str]) -> str:
    if winner not in outcomes:
        raise SelfprefError(f"{where}: unknown winner {winner!r}; known are {', '.join(outcomes)}")
    return outcomes[winner]


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of the battles.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<battle>`.
        entry: The study, and the judges to read; GPT-4 is the release's only judge.
        source: The pinned files.

    Returns:
        items, responses, labels, verdicts and audit.

    Raises:
        SelfprefError: A file cannot be had or read, a judge is not in the release, or the models of
            a verdict are not those of its battle.
    """
    judges_of(dataset, entry, [JUDGE])
    files = fetch(source)
    battles = list(_rows(files[BATTLES], "model_a", "model_b", "winner"))
    labels = [
        {
            "study": entry.study,
            "item_id": f"{dataset}/{battle}",
            "responder_a": first,
            "responder_b": second,
            "annotator": "human",
            "label": _known(where, winner, VOTES),
        }
        for battle, (where, first, second, winner) in enumerate(battles)
    ]
    keys = ("model_a", "model_b", "winner", "question", "answer_a", "answer_b")
    judged = [row for path in VERDICTS for row in _rows(files[path], *keys)]
    asked: dict[int, str] = {}
    responses, verdicts = [], []
    for row, (where, first, second, winner, question, *answers) in enumerate(judged):
        battle = row + next(skipped for start, skipped in SKIPPED if row >= start)
        if battle >= len(battles) or (first, second) != battles[battle][1:3]:
            raise SelfprefError(f"{where}: {first} and {second} are not the models of its battle")
        item, asked[battle] = f"{dataset}/{battle}", question
        responses += [(item, first, answers[0]), (item, second, answers[1])]
        read_as = None if winner in UNREADABLE else _known(where, winner, CHOICES)
        verdicts.append(
            {
                "item_id": item,
                "candidates": [first, second],
                "choice": {"a": first, "b": second}.get(read_as or "", read_as),
                "status": "unparsable" if read_as is None else "ok",
            }
        )
    said = pd.DataFrame(responses, columns=["item_id", "responder", "text"])
    said["question"] = said["item_id"].map({f"{dataset}/{key}": asked[key] for key in asked})
    again = said[said.duplicated(["question", "responder"], keep=False)]
    found = {
        "both models are those of the battle": len(judged),
        "verdict that cannot be read": sum(row["status"] != "ok" for row in verdicts),
        "question of an earlier battle": pd.Series(list(asked.values())).duplicated().sum(),
        "a response of this question and model stands in several battles": again[
            "item_id"
        ].nunique(),
    }
    items = [
        {
            "study": entry.study,
            "item_id": f"{dataset}/{battle}",
            "cluster": _cluster(asked[battle]) if battle in asked else f"{dataset}/{battle}",
            "messages": [{"role": "user", "content": asked[battle]}] if battle in asked else [],
            "metadata": json.dumps({"turn": 1, "turns": 1}),
        }
        for battle in range(len(battles))
    ]
    return {
        "items": tables.fill(items, "items"),
        "responses": written(responses, entry.study),
        "labels": numbered(labels),
        "verdicts": tables.fill(verdicts, "verdicts", study=entry.study, judge=JUDGE),
        "audit": audited(entry.study, f"{dataset}/verdicts", len(judged), found),
    }


def _cluster(question: str) -> str:
    return sha256(question.encode()).hexdigest()[:16]
