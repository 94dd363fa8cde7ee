"""Chatbot Arena: 33,000 dialogues of 20 models with one vote each (Zheng et al., arXiv 2306.05685).

`lmsys/chatbot_arena_conversations`, gated; prompts CC-BY-4.0, the models' texts CC-BY-NC-4.0. What
matters in reading it:

- The vote is on the whole dialogue: it belongs to its last turn.
- Some question ids stand in more than one row. Each row is a dialogue of its own; the second of an
  id is `<id>-2`.
- Many users send the same first prompt; a cluster, which a bootstrap resamples, is the prompt.
- A tie is `tie` or `tie (bothbad)`; both are ties.
"""

from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref.download.hub import load
from selfpref.formats.dialogues import (
    LABELS,
    VOTE,
    Collected,
    Turns,
    both,
    sampled,
    stratified,
)
from selfpref.formats.records import judges_of
from selfpref.params import Dialogues
from selfpref.tables.schemas import TIE

COLUMNS = (*VOTE, "turn", "language", "openai_moderation", "toxic_chat_tag")


def _flagged(row: dict[str, Any], classifier: str) -> bool:
    if classifier == "openai":
        return bool(row["openai_moderation"]["flagged"])
    return bool(row["toxic_chat_tag"][classifier]["flagged"])


def _unwanted(row: dict[str, Any], length: int, entry: Dialogues) -> str | None:
    """Which parameter leaves a row out."""
    if entry.languages is not None and row["language"] not in entry.languages:
        return "left out by `languages`"
    if entry.turns != "all" and (length == 1) != (entry.turns == "single"):
        return "left out by `turns`"
    if entry.ties == "drop" and LABELS[row["winner"]] == TIE:
        return "left out by `ties`"
    for classifier in entry.moderation:
        if _flagged(row, classifier):
            return f"left out by `moderation`: {classifier}"
    return None


def read(dataset: str, entry: Dialogues, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of Chatbot Arena.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<question_id>/<turn>`.
        entry: Which dialogues to read.
        source: The file that pins the set.

    Returns:
        items, responses, labels and audit.

    Raises:
        SelfprefError: As `selfpref.download.hub.load`.
    """
    made, rows = Collected(entry.study, dataset), load(source, COLUMNS)
    seen: Counter[str] = Counter()
    models = {row[side] for row in rows for side in ("model_a", "model_b")}
    judges = judges_of(dataset, entry, models)
    kept: dict[str, tuple[dict[str, Any], tuple[Turns, Turns]]] = {}
    for row in rows:
        seen[row["question_id"]] += 1
        number = seen[row["question_id"]]
        said = both(row)
        if isinstance(said, str):
            made.found[said] += 1
        elif not judges & {row["model_a"], row["model_b"]}:
            made.found["left out by `judges`"] += 1
        elif reason := _unwanted(row, len(said[0]), entry):
            made.found[reason] += 1
        else:
            made.found["kept: `turn` is not the number of turns"] += row["turn"] != len(said[0])
            made.found["kept: question_id of an earlier row"] += number > 1
            suffix = f"-{number}" if number > 1 else ""
            kept[row["question_id"] + suffix] = (row, said)
    draw = sampled(kept, entry.sample)
    if entry.judges is not None:
        held = {name: (row["model_a"], row["model_b"]) for name, (row, _) in kept.items()}
        draw = stratified(held, judges, entry.sample)
    for dialogue in draw:
        row, said = kept.pop(dialogue)
        made.add(
            row,
            said,
            len(said[0]),
            dialogue=dialogue,
            cluster=sha256(said[0][0][0].encode()).hexdigest()[:16],
            language=row["language"],
            winner=row["winner"],
        )
    made.found["left out by `sample`"] = len(kept)
    return made.tables(len(rows))
