"""Readers of the Hub's two sets of votes on dialogues, with the texts that people judged.

Both are of Zheng et al. (arXiv 2306.05685). Each turn is an item of its own,
`<dataset>/<dialogue>/<turn>`; a vote belongs to the turn it was given on. The sets are pinned by
revision and not by our checksum of their bytes, so rows are looked at: the audit counts those that
are no vote on one dialogue with two models (an unknown winner, one model on both sides, roles that
do not alternate, a missing text, turns of the user that differ), which are left out, and answers
that are empty or differ between rows, which are kept.

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
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref.download.fetch import fetch
from selfpref.download.hub import load
from selfpref.formats.datasets import audited, judges_of
from selfpref.params import Dataset
from selfpref.seeds import sampled
from selfpref.studies.wataoka.read import WINNERS, hashed, item, tables_of, values
from selfpref.tables.schemas import TIE

MODELS = ("model_a", "model_b")
CONVERSATIONS = ("conversation_a", "conversation_b")
COLUMNS = ("question_id", *MODELS, "winner", "judge", "turn", *CONVERSATIONS)
OF_ARENA = ("language", "openai_moderation", "toxic_chat_tag")
FASTCHAT = Path(__file__).with_name("mt-bench-references.csv")
QUESTIONS = "fastchat/llm_judge/data/mt_bench/question.jsonl"
REFERENCES = "fastchat/llm_judge/data/mt_bench/reference_answer/gpt-4.jsonl"
REFERRED = ("math", "reasoning", "coding")

Row = dict[str, Any]
# A row, the name of its dialogue, the turn voted on, and what else an item takes.
Votes = Iterable[tuple[Row, str, int, Row]]


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of one of the sets.

    Args:
        dataset: Prefix of the item ids.
        entry: Which set, and which of its dialogues, turns and votes to read.
        source: The file that pins the set.

    Returns:
        items, responses, labels, no verdicts, and audit.

    Raises:
        SelfprefError: As `selfpref.download.hub.load`; FastChat's files cannot be had; or a judge
            is not in the set.
    """
    arena = entry.reader == "chatbot-arena"
    rows = load(source, (*COLUMNS, *OF_ARENA) if arena else COLUMNS)
    judges = judges_of(dataset, entry, (row[side] for row in rows for side in MODELS))
    found: Counter[str] = Counter()
    items: dict[str, Row] = {}
    responses: dict[tuple[str, str], str] = {}
    labels = []
    for row in rows:
        row["said"] = [turns(row[side]) for side in CONVERSATIONS]
    for row, dialogue, last, more in (_arena if arena else _mt_bench)(rows, entry, judges, found):
        names = [f"{dataset}/{dialogue}/{turn}" for turn in range(1, last + 1)]
        for place, name in enumerate(names):
            cluster, asked = f"{dataset}/{more['cluster']}", row["said"][0][0]
            items[name] = item(name, asked=asked, turn=place + 1, **more | {"cluster": cluster})
            for side, (_, answers) in zip(MODELS, row["said"], strict=True):
                known = responses.setdefault((name, row[side]), answers[place])
                found["kept the first: answers differ between rows"] += known != answers[place]
        pair = (row[side] for side in MODELS)
        labels.append((names[-1], *pair, row["judge"], WINNERS[row["winner"]]))
    found["kept: empty answers"] = sum(not text.strip() for text in responses.values())
    texts = ((*key, text) for key, text in responses.items())
    made = tables_of(entry.study, items.values(), texts, labels)
    return made | {"audit": audited(entry.study, dataset, len(rows), found)}


def _arena(rows: list[Row], entry: Dataset, judges: set[str], found: Counter[str]) -> Votes:
    seen: Counter[str] = Counter()
    kept: dict[str, Row] = {}
    for row in rows:
        name, length = row["question_id"], len(row["said"][0][0])
        seen[name] += 1
        if reason := _left_out(row, length, entry, judges):
            found[reason] += 1
            continue
        found["kept: `turn` is not the number of turns"] += row["turn"] != length
        found["kept: question_id of an earlier row"] += seen[name] > 1
        kept[f"{name}-{seen[name]}" if seen[name] > 1 else name] = row
    drawn = sampled(kept, entry.sample)
    if entry.judges is not None:
        held = {name: [row[side] for side in MODELS] for name, row in kept.items()}
        drawn = stratified(held, judges, entry.sample)
    found["left out by `sample`"] = len(kept) - len(drawn)
    for name in drawn:
        row = kept[name]
        asked, metadata = row["said"][0][0], {key: row[key] for key in ("language", "winner")}
        yield row, name, len(asked), {"cluster": hashed(asked[0])} | metadata


def _mt_bench(rows: list[Row], entry: Dataset, judges: set[str], found: Counter[str]) -> Votes:
    files = fetch(FASTCHAT)
    category = dict(values(files[QUESTIONS], "question_id", "category"))
    references = dict(values(files[REFERENCES], "question_id", "choices"))
    drawn = sampled({str(row["question_id"]) for row in rows}, entry.sample)
    for row in rows:
        question, turn = row["question_id"], row["turn"]
        if reason := _left_out(row, turn, entry, judges, drawn=str(question) in drawn):
            found[reason] += 1
            continue
        more = {"cluster": question, "category": category.get(question)}
        if more["category"] in REFERRED and question in references:
            more["references"] = references[question][0]["turns"]
        yield row, str(question), turn, more


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


def _left_out(
    row: Row, turn: int, entry: Dataset, judges: set[str], *, drawn: bool = True
) -> str | None:
    """Why a row is no vote, or which parameter leaves it out: the first reason."""
    (asked, _), (also_asked, _) = row["said"]
    wrong = {
        ": unknown winner": row["winner"] not in WINNERS,
        ": both responses of one model": row["model_a"] == row["model_b"],
        ": roles do not alternate, or a text is missing": not asked or not also_asked,
        ": the user's turns differ between the models": asked != also_asked,
        ": a vote on a turn that is not there": not 1 <= turn <= len(asked),
        " by `sample`": not drawn,
        " by `judges`": judges.isdisjoint(row[side] for side in MODELS),
        " by `languages`": entry.languages and row["language"] not in entry.languages,
        " by `turns`": entry.turns != "all" and (turn == 1) != (entry.turns == "single"),
        " by `ties`": entry.ties == "drop" and WINNERS.get(row["winner"]) == TIE,
    }
    for name in entry.moderation:
        tag = row["openai_moderation"] if name == "openai" else row["toxic_chat_tag"][name]
        wrong[f" by `moderation`: {name}"] = tag["flagged"]
    return next((f"left out{reason}" for reason, found in wrong.items() if found), None)


def stratified(
    models: Mapping[str, Collection[str]], wanted: Collection[str], size: int | None
) -> list[str]:
    """Some dialogues, drawn by their hash, with as many of each wanted model as of the others.

    Args:
        models: By dialogue, whose responses it holds.
        wanted: The models.
        size: How many dialogues; a larger draw holds a smaller one.

    >>> held = {"1": "ab", "2": "ab", "3": "ab", "4": "bc", "5": "cd"}
    >>> sorted(stratified(held, "cd", 2)), len(stratified(held, "ac", None))
    (['4', '5'], 5)
    """
    left = {name: [key for key in sampled(models, None) if name in models[key]] for name in wanted}
    drawn: dict[str, None] = {}
    counts = dict.fromkeys(wanted, 0)
    while any(left.values()) and (size is None or len(drawn) < size):
        # Whoever has the fewest so far; names decide between equals.
        name = min((name for name in left if left[name]), key=lambda name: (counts[name], name))
        if (key := left[name].pop(0)) not in drawn:
            drawn[key] = None
            for other in {*models[key]} & counts.keys():
                counts[other] += 1
    return list(drawn)
