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
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref import tables
from selfpref.download.fetch import fetch
from selfpref.errors import SelfprefError
from selfpref.formats.records import judges_of, needed, numbered, written
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
# In the released repository, as `vicuna80.csv` beside this module lists its files.
FOLDER = "data/vicuna80/"
RATINGS = re.compile(
    re.escape(FOLDER)
    + r"ratings-(?P<judge>.+)/answer_(?P<first>.+)-vs-answer_(?P<second>.+)-(?P=judge)-reviewer.*"
)
# Of the first and the second answer, by what a row scores: the human's label, and whose place wins.
OUTCOMES = {1: ("a", 0), 2: ("b", 1), 3: (TIE, None)}


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
    files = fetch(source)
    questions = files[f"{FOLDER}prompts/vicuna_questions.jsonl"]
    items = [
        {
            "study": entry.study,
            "item_id": f"{dataset}/{question}",
            "category": category,
            "cluster": f"{dataset}/{question}",
            "messages": [{"role": "user", "content": text}],
            "metadata": json.dumps({"turn": 1, "turns": 1}),
        }
        for _, question, category, text in needed(questions, "question_id", "category", "text")
    ]
    responses = [
        (f"{dataset}/{question}", responder, text)
        for name, responder in NAMES.items()
        for _, question, text in needed(
            files[f"{FOLDER}generations/answer_{name}.jsonl"], "question_id", "text"
        )
    ]
    labels: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    for path, local in sorted(files.items()):
        if (match := RATINGS.fullmatch(path)) is None:
            continue
        judge, *pair = (NAMES.get(name, name) for name in match.group("judge", "first", "second"))
        for where, question, score in needed(local, "question_id", "score"):
            if score not in OUTCOMES:
                raise SelfprefError(f"{where}: score {score!r}; known are 1, 2, 3")
            label, place = OUTCOMES[score]
            item = {"study": entry.study, "item_id": f"{dataset}/{question}"}
            if judge == "human":
                sides = {"responder_a": pair[0], "responder_b": pair[1]}
                labels.append(item | sides | {"annotator": "human", "label": label})
            elif judge in judges:
                choice = TIE if place is None else pair[place]
                verdicts.append(item | {"judge": judge, "candidates": pair, "choice": choice})
    return {
        "items": tables.fill(items, "items"),
        "responses": written(responses, entry.study),
        # Annotators are anonymous: their votes on one pair are told apart by number.
        "labels": numbered(labels),
        "verdicts": tables.fill(verdicts, "verdicts", status="ok"),
    }
