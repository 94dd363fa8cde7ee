"""Reader of MT-Bench: human votes and GPT-4's pair verdicts (Zheng et al., arXiv 2306.05685).

Released: 3,355 votes of experts and authors and 2,400 verdicts of GPT-4 (labels only, CC-BY-4.0),
the 80 questions, and the answers of most models. What matters in reading them:

- The two label files orient a pair differently; rows meet on the unordered pair.
- The verdicts are already merged over both orders: which answer stood first is unknown, and a
  disagreement between the orders is stored as "tie (inconsistent)", here a tie.
- Each turn of a dialogue is an item of its own; both turns of a question share a cluster.
- Answers of vicuna-13b-v1.2, one of the six judged models, are in no public file; those of v1.3
  stay under their own name.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref import tables
from selfpref.download.fetch import fetch
from selfpref.errors import SelfprefError
from selfpref.formats.records import judges_of, needed, numbered, written
from selfpref.params import Dataset
from selfpref.tables.schemas import TIE

JUDGE = "gpt-4"
# Paths in the released repositories, as `mt-bench.csv` beside this module lists them.
SNAPSHOTS = "data/snapshots/mtbench"
QUESTIONS = "fastchat/llm_judge/data/mt_bench/question.jsonl"
ANSWERS = "fastchat/llm_judge/data/mt_bench/model_answer/"
WINNERS = {"model_a": "a", "model_b": "b", "tie": TIE, "tie (inconsistent)": TIE}


def _votes(path: Path) -> Iterator[dict[str, Any]]:
    """Each row with its `label`."""
    keys = ("question_id", "turn", "model_a", "model_b", "winner", "judge")
    for where, *values in needed(path, *keys):
        vote = dict(zip(keys, values, strict=True))
        if vote["winner"] not in WINNERS:
            raise SelfprefError(f"{where}: unknown winner {vote['winner']!r}")
        yield vote | {"label": WINNERS[vote["winner"]]}


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of MT-Bench.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<question>/<turn>`.
        entry: The study, and the judges to read; GPT-4 is the release's only judge.
        source: The pinned files.

    Returns:
        items, responses, labels and verdicts.

    Raises:
        SelfprefError: A file cannot be had or read, or a judge is not in the release.
    """
    judges_of(dataset, entry, [JUDGE])
    files = fetch(source)
    items = [
        {
            "study": entry.study,
            "item_id": f"{dataset}/{question}/{turn}",
            "category": category,
            "cluster": f"{dataset}/{question}",
            # The answers to earlier turns differ by responder; they are responses.
            "messages": [{"role": "user", "content": text} for text in turns[:turn]],
            "metadata": json.dumps({"turn": turn, "turns": len(turns)}),
        }
        for _, question, category, turns in needed(
            files[QUESTIONS], "question_id", "category", "turns"
        )
        for turn in range(1, len(turns) + 1)
    ]
    responses = [
        (f"{dataset}/{question}/{turn}", model, text)
        for path, local in files.items()
        if path.startswith(ANSWERS)
        for _, question, model, choices in needed(local, "question_id", "model_id", "choices")
        for turn, text in enumerate(choices[0]["turns"], start=1)
    ]
    labels = [
        {
            "study": entry.study,
            "item_id": f"{dataset}/{vote['question_id']}/{vote['turn']}",
            "responder_a": vote["model_a"],
            "responder_b": vote["model_b"],
            "annotator": vote["judge"],
            "label": vote["label"],
        }
        for vote in _votes(files[f"{SNAPSHOTS}/human.jsonl"])
    ]
    verdicts = [
        {
            "study": entry.study,
            "item_id": f"{dataset}/{vote['question_id']}/{vote['turn']}",
            "judge": JUDGE,
            "candidates": [vote["model_a"], vote["model_b"]],
            "choice": {"a": vote["model_a"], "b": vote["model_b"], TIE: TIE}[vote["label"]],
        }
        for vote in _votes(files[f"{SNAPSHOTS}/gpt4_pair.jsonl"])
    ]
    return {
        "items": tables.fill(items, "items"),
        "responses": written(responses, entry.study),
        "labels": numbered(labels),
        "verdicts": tables.fill(verdicts, "verdicts", status="ok", order_known=False),
    }
