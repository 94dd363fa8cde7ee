"""Readers of the Hub's two sets of votes on dialogues, with the texts that people judged.

Both are of Zheng et al. (arXiv 2306.05685). Each turn is an item of its own,
`<dataset>/<dialogue>/<turn>`; a vote belongs to the turn it was given on. The sets are pinned by
revision and not by our checksum of their bytes, so rows are looked at: the audit counts those that
are no vote on one dialogue with two models (an unknown winner, one model on both sides, roles that
do not alternate, a missing text or turn, turns of the user that differ), which are left out. Of
answers that differ between rows the first is kept.

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

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from selfpref.download.fetch import fetch
from selfpref.download.hub import load
from selfpref.formats.datasets import audited, judges_of
from selfpref.params import Dataset
from selfpref.seeds import sampled
from selfpref.studies.wataoka.read import WINNERS, hashed, item, tables_of, values

MODELS = ["model_a", "model_b"]
COLUMNS = ("question_id", *MODELS, "winner", "judge", "turn", "conversation_a", "conversation_b")
FASTCHAT = Path(__file__).with_name("mt-bench-references.csv")
QUESTIONS = "fastchat/llm_judge/data/mt_bench/question.jsonl"
REFERENCES = "fastchat/llm_judge/data/mt_bench/reference_answer/gpt-4.jsonl"
REFERRED = ("math", "reasoning", "coding")


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
    rows = pd.DataFrame(load(source, (*COLUMNS, "language") if arena else COLUMNS))
    judges = judges_of(dataset, entry, rows[MODELS].stack())
    name = rows["question_id"].astype(str)
    again = name.groupby(name).cumcount() * arena
    rows["dialogue"] = name.where(again == 0, name + "-" + (again + 1).astype(str))
    one, other = (rows[side].map(turns) for side in ("conversation_a", "conversation_b"))
    rows["asked"], rows["said_a"], rows["said_b"] = one.str[0], one.str[1], other.str[1]
    length = rows["asked"].str.len()
    rows["last"] = length if arena else rows["turn"]
    vote = rows["winner"].isin(WINNERS) & rows["model_a"].ne(rows["model_b"])
    vote &= rows["last"].between(1, length) & rows["asked"].eq(other.str[0])
    left_out = {
        "left out: no vote on one dialogue with two models": ~vote,
        "left out by `judges`": ~rows[MODELS].isin(judges).any(axis=1),
    }
    if entry.languages:
        left_out["left out by `languages`"] = ~rows["language"].isin(entry.languages)
    rows["reason"] = np.select([*left_out.values()], [*left_out], "")
    drawn = _drawn(rows[rows["reason"].eq("")], entry, judges)
    out = rows["reason"].eq("") & ~rows["dialogue"].isin(drawn)
    rows.loc[out, "reason"] = "left out by `sample`"
    responses: dict[tuple[str, str], str] = {}
    items, labels = {}, []
    told = {} if arena else _fastchat()
    for row in rows[rows["reason"].eq("")].itertuples():
        cluster = hashed(row.asked[0]) if arena else row.dialogue
        more = told.get(row.question_id, {}) | {"cluster": f"{dataset}/{cluster}"}
        for turn in range(1, row.last + 1):
            name = f"{dataset}/{row.dialogue}/{turn}"
            items[name] = item(name, asked=row.asked, turn=turn, **more)
            responses.setdefault((name, row.model_a), row.said_a[turn - 1])
            responses.setdefault((name, row.model_b), row.said_b[turn - 1])
        labels.append((name, row.model_a, row.model_b, row.judge, WINNERS[row.winner]))
    texts = ((*key, text) for key, text in responses.items())
    counts = rows["reason"].value_counts().drop("", errors="ignore")
    made = tables_of(items.values(), texts, labels)
    return made | {"audit": audited(entry.study, dataset, len(rows), counts.to_dict())}


def _fastchat() -> dict[int, dict[str, Any]]:
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


def _drawn(rows: pd.DataFrame, entry: Dataset, judges: set[str]) -> set[str]:
    """So many dialogues, drawn by their names; where judges are named, as many of each."""
    if entry.judges is None:
        return {*sampled(rows["dialogue"].unique(), entry.sample)}
    size, drawn = entry.sample and entry.sample // len(judges), set[str]()
    for judge in judges:
        theirs = rows.loc[rows[MODELS].eq(judge).any(axis=1), "dialogue"]
        drawn.update(sampled(theirs.unique(), size))
    return drawn
