"""Reader of Vicuna-80 as judged in PRD (Li, Patel & Du, arXiv 2307.02762).

Five responders, whose families are also the five judges, in both orders, with human votes: 80
questions x 10 pairs x 2 orders x 5 judges = 8,000 verdicts, three votes a pair (one for the pairs
with Claude). What matters in reading them:

- The file name gives the order: `answer_<first>-vs-answer_<second>-<judge>-reviewer…`.
- Two files of the GPT-3.5 judge spell their names with hyphens (`answer-gpt35-vs-…`): an earlier
  run of pairs that are there with underscores. They are left out.
- The judge of the Bard family is text-bison@001, the responder is Bard: one family, two systems.
- The human votes also cover four Guanaco models, whose answers and verdicts are not released.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref.download.fetch import fetch
from selfpref.errors import SelfprefError
from selfpref.formats.records import chosen, json_lines, judges_of, need, numbered
from selfpref.params import Dataset
from selfpref.tables.schemas import TIE

# The release's spelling of each responder; judges and responders of one family share a name.
NAMES = {
    "gpt4": "gpt-4",
    "gpt35": "gpt-3.5-turbo",
    "claude": "claude-1",
    "vicuna-13b": "vicuna-13b",
    "bard": "bard",
}
FOLDER = "data/vicuna80/"
RATINGS = re.compile(
    re.escape(FOLDER)
    + r"ratings-(?P<judge>.+)/answer_(?P<first>.+)-vs-answer_(?P<second>.+)-(?P=judge)-reviewer.*"
)
SCORES = {1: "first", 2: "second", 3: TIE}


def _ratings(files: dict[str, Path]) -> Iterator[tuple[str, str, str, int, str]]:
    """Judge, first and second responder, question and outcome of each row, in file order."""
    for path, local in sorted(files.items()):
        if (match := RATINGS.fullmatch(path)) is None:
            continue
        judge, first, second = (
            NAMES.get(name, name) for name in match.group("judge", "first", "second")
        )
        for number, record in json_lines(local):
            question, score = (need(record, key, local, number) for key in ("question_id", "score"))
            if score not in SCORES:
                raise SelfprefError(f"{local}, line {number}: score {score!r}; known are 1, 2, 3")
            yield judge, first, second, question, SCORES[score]


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of Vicuna-80.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<question>`.
        entry: The study, and which of the five judges to read.
        source: The pinned files.

    Returns:
        items, responses, labels and verdicts.

    Raises:
        SelfprefError: A file cannot be had or read, or a judge is not in the release.
    """
    judges = judges_of(dataset, entry, NAMES.values())
    files = dict(fetch(source))

    def item(question: int) -> dict[str, str]:
        return {"study": entry.study, "item_id": f"{dataset}/{question}"}

    questions = files[f"{FOLDER}prompts/vicuna_questions.jsonl"]
    items = []
    for number, record in json_lines(questions):
        identity = item(need(record, "question_id", questions, number))
        text = need(record, "text", questions, number)
        items.append(
            identity
            | {
                "category": record.get("category"),
                "cluster": identity["item_id"],
                "messages": [{"role": "user", "content": text}],
                "reference": None,
                "metadata": json.dumps({"turn": 1, "turns": 1}),
            }
        )

    responses = []
    for name, responder in NAMES.items():
        path = files[f"{FOLDER}generations/answer_{name}.jsonl"]
        for number, record in json_lines(path):
            text = need(record, "text", path, number)
            identity = item(need(record, "question_id", path, number))
            responses.append(
                identity
                | {"responder": responder, "step": 0, "sample": 0, "text": text, "status": "ok"}
            )

    labels: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    for judge, first, second, question, outcome in _ratings(files):
        if judge == "human":
            label = {"first": "a", "second": "b", TIE: TIE}[outcome]
            pair = {"responder_a": first, "responder_b": second}
            labels.append(item(question) | pair | {"annotator": "human", "label": label})
        elif judge in judges:
            choice = {"first": first, "second": second, TIE: TIE}[outcome]
            pair_order = {"candidates": [first, second], "choice": choice}
            verdicts.append(item(question) | {"judge": judge} | pair_order)

    return {
        "items": pd.DataFrame(items),
        "responses": pd.DataFrame(responses),
        # Annotators are anonymous: their votes on one pair are told apart by number.
        "labels": numbered(labels),
        "verdicts": chosen(verdicts, order_known=True),
    }
