"""Readers of the Hub's two sets of votes on dialogues, with the texts that people judged.

Both are of Zheng et al. (arXiv 2306.05685). Each turn is an item of its own,
`<dataset>/<dialogue>/<turn>`; a vote belongs to the turn it was given on. The sets are pinned by
revision and not by our checksum of their bytes, so rows are looked at: the audit counts those that
are no vote on one dialogue with two models (an unknown winner, one model on both sides, roles that
do not alternate, a missing text or turn, turns of the user that differ), which are left out, and
answers that are empty or differ between rows, which are kept.

Chatbot Arena: 33,000 dialogues of 20 models with one vote each (gated; prompts CC-BY-4.0, the
models' texts CC-BY-NC-4.0), `lmsys/chatbot_arena_conversations`. What matters in reading it:

- The vote is on the whole dialogue: it belongs to its last turn.
- Some question ids stand in more than one row. Each row is a dialogue of its own; the second of an
  id is `<id>-2`.
- Many users send the same first prompt; a cluster, which a bootstrap resamples, is the prompt.
- A tie is `tie` or `tie (bothbad)`; both are ties.

MT-Bench: 3,355 votes of experts and authors on 80 questions and six models,
`lmsys/mt_bench_human_judgments`, CC-BY-4.0:

- Every row holds both turns, whichever of them was voted on.
- The answers are those that were judged, vicuna-13b-v1.2 included, which no other public file has.
- Categories and GPT-4's reference answers are FastChat's, of files pinned beside this one. A judge
  reads a reference to questions of `math`, `reasoning` and `coding` alone, in FastChat's prompt
  `pair-math-v1` and its form for two turns; others that have one in the file go without.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref.download.fetch import fetch
from selfpref.download.hub import load
from selfpref.formats.datasets import audited, judges_of
from selfpref.params import Dataset
from selfpref.seeds import sampled
from selfpref.studies.wataoka.read import WINNERS, hashed, item, tables_of, values

MODELS = ("model_a", "model_b")
CONVERSATIONS = ("conversation_a", "conversation_b")
COLUMNS = ("question_id", *MODELS, "winner", "judge", "turn", *CONVERSATIONS)
FASTCHAT = Path(__file__).with_name("mt-bench-references.csv")
QUESTIONS = "fastchat/llm_judge/data/mt_bench/question.jsonl"
REFERENCES = "fastchat/llm_judge/data/mt_bench/reference_answer/gpt-4.jsonl"
REFERRED = ("math", "reasoning", "coding")

Row = dict[str, Any]


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of one of the sets.

    Args:
        dataset: Prefix of the item ids.
        entry: Which set, and which of its dialogues to read.
        source: The file that pins the set.

    Returns:
        items, responses, labels, no verdicts, and audit.

    Raises:
        SelfprefError: As `selfpref.download.hub.load`; FastChat's files cannot be had; or a judge
            is not in the set.
    """
    arena = entry.reader == "chatbot-arena"
    rows = load(source, (*COLUMNS, "language") if arena else COLUMNS)
    judges = judges_of(dataset, entry, (row[side] for row in rows for side in MODELS))
    found, seen = Counter[str](), Counter[str]()
    kept: list[Row] = []
    for row in rows:
        row["said"] = [turns(row[side]) for side in CONVERSATIONS]
        name = str(row["question_id"])
        seen[name] += 1
        row["dialogue"] = f"{name}-{seen[name]}" if arena and seen[name] > 1 else name
        row["last"] = len(row["said"][0][0]) if arena else row["turn"]
        if reason := _left_out(row, entry, judges):
            found[reason] += 1
        else:
            kept.append(row)
    drawn = _drawn(kept, entry, judges)
    found["left out by `sample`"] = sum(row["dialogue"] not in drawn for row in kept)
    items: dict[str, Row] = {}
    responses: dict[tuple[str, str], str] = {}
    labels, told = [], {} if arena else _fastchat()
    for row in (row for row in kept if row["dialogue"] in drawn):
        asked, dialogue = row["said"][0][0], row["dialogue"]
        more = told.get(row["question_id"], {}) | {"cluster": f"{dataset}/{dialogue}"}
        if arena:
            more = {key: row[key] for key in ("language", "winner")}
            more["cluster"] = f"{dataset}/{hashed(asked[0])}"
        names = [f"{dataset}/{dialogue}/{turn}" for turn in range(1, row["last"] + 1)]
        for turn, name in enumerate(names, start=1):
            items[name] = item(name, asked=asked, turn=turn, **more)
            for side, (_, answers) in zip(MODELS, row["said"], strict=True):
                known = responses.setdefault((name, row[side]), answers[turn - 1])
                found["kept the first: answers differ between rows"] += known != answers[turn - 1]
        pair = (row[side] for side in MODELS)
        labels.append((names[-1], *pair, row["judge"], WINNERS[row["winner"]]))
    found["kept: empty answers"] = sum(not text.strip() for text in responses.values())
    texts = ((*key, text) for key, text in responses.items())
    made = tables_of(items.values(), texts, labels)
    return made | {"audit": audited(entry.study, dataset, len(rows), found)}


def _fastchat() -> dict[int, Row]:
    """By question of MT-Bench its category and, where judges read them, reference answers."""
    files = fetch(FASTCHAT)
    references = dict(values(files[REFERENCES], "question_id", "choices"))
    told = {}
    for number, category in values(files[QUESTIONS], "question_id", "category"):
        told[number] = {"category": category}
        if category in REFERRED and number in references:
            told[number]["references"] = references[number][0]["turns"]
    return told


def turns(conversation: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """What the user asks and what the model says, turn by turn; nothing where one is missing.

    >>> turns([{"role": "user", "content": "1 + 1?"}, {"role": "assistant", "content": "2"}])
    (['1 + 1?'], ['2'])
    """
    roles = [message["role"] for message in conversation]
    texts = [message["content"] for message in conversation]
    if None in texts or roles != ["user", "assistant"] * (len(texts) // 2):
        return [], []
    return texts[::2], texts[1::2]


def _left_out(row: Row, entry: Dataset, judges: set[str]) -> str | None:
    """Why a row is no vote, or which parameter leaves it out: the first reason."""
    (asked, _), (also_asked, _) = row["said"]
    vote = row["winner"] in WINNERS and row["model_a"] != row["model_b"]
    if not vote or asked != also_asked or not 1 <= row["last"] <= len(asked):
        return "left out: no vote on one dialogue with two models"
    if judges.isdisjoint(row[side] for side in MODELS):
        return "left out by `judges`"
    wrong = entry.languages and row["language"] not in entry.languages
    return "left out by `languages`" if wrong else None


def _drawn(rows: Sequence[Row], entry: Dataset, judges: set[str]) -> set[str]:
    """So many dialogues, drawn by their names; where judges are named, as many of each."""
    if entry.judges is None:
        return {*sampled({row["dialogue"] for row in rows}, entry.sample)}
    size, drawn = entry.sample and entry.sample // len(judges), set[str]()
    for judge in judges:
        theirs = {row["dialogue"] for row in rows if judge in (row["model_a"], row["model_b"])}
        drawn.update(sampled(theirs, size))
    return drawn
