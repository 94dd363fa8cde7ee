"""Readers of data sets with pairs and votes; the profiles name one for each data set.

| reader | votes and verdicts of | files |
|---|---|---|
| `mt_bench` | people and GPT-4 | `mt-bench.csv` |
| `vicuna80` | people and five judges | `vicuna80.csv` |
| `elobench` | people and, on the first 2,008 battles, GPT-4 | `elobench.csv` |
| `llm_sp` | answer keys, and eleven judges' probabilities | `llm-sp.csv` |
| `hub` | people alone, with all texts, for models that judge here | `mt-bench-hub.csv` |
| `hub` | the same of Chatbot Arena | `chatbot-arena.csv` |

A reader makes plain rows of its files; `tables_of` makes the tables of them. A pinned file is what
its checksum says: no reader looks for keys that are missing or values that are not in it.

MT-Bench: human votes and GPT-4's pair verdicts (Zheng et al., arXiv 2306.05685).

Released: 3,355 votes of experts and authors and 2,400 verdicts of GPT-4 (labels only, CC-BY-4.0),
the 80 questions, and the answers of most models. What matters in reading them:

- The two label files orient a pair differently; rows meet on the unordered pair.
- The verdicts are already merged over both orders: which answer stood first is unknown, and a
  disagreement between the orders is stored as "tie (inconsistent)", here a tie that the audit
  counts.
- Each turn of a dialogue is an item of its own; both turns of a question share a cluster.
- Answers of vicuna-13b-v1.2, one of the six judged models, are in no public file; those of v1.3
  stay under their own name.

Vicuna-80 as judged in PRD (Li, Patel & Du, arXiv 2307.02762).

Five responders, whose families are also the five judges, in both orders, with human votes: 80
questions x 10 pairs x 2 orders x 5 judges = 8,000 verdicts, three votes a pair (one for the pairs
with Claude). What matters in reading them:

- The file name gives the order: `answer_<first>-vs-answer_<second>-<judge>-reviewer…`.
- Two files of the GPT-3.5 judge spell their names with hyphens (`answer-gpt35-vs-…`): an earlier
  run of pairs that are there with underscores. They are left out.
- The judge of the Bard family is text-bison@001, the responder is Bard: one family, two systems.
- The human votes also cover four Guanaco models, whose answers and verdicts are not released.
- Who voted is not told: the votes of a pair are told apart by number.

Chatbot Arena's battles as EloBench judged them (`v-xchen-v/EloBench`).

The people's side of 25,938 English battles of one turn between twenty models, in the order of time
(Zheng et al., arXiv 2306.05685), and GPT-4's verdicts on the first 2,008 that were judged, with
question and both responses. No licence is named there; of the set itself, prompts are CC-BY-4.0 and
the models' texts CC-BY-NC-4.0. What matters in reading them:

- Battles have no id, and pairs of models repeat. The verdicts follow the battles in order and leave
  out three of the first 2,011: row i of the verdicts is battle i up to 1,116, i + 2 up to 1,532 and
  i + 3 after it. The audit counts the rows in which the models' names agree: all. Where a pair
  repeats in a run of battles, which of them was left out cannot be told.
- GPT-4 read each pair once, the response of `model_a` first, under a prompt of EloBench's own that
  asks for a score of each. It wrote none of the responses that it read here.
- Responses were kept by question and model: where a question was asked again, the text may be that
  of another battle; a cluster is the question.
- A verdict is `model_a`, `model_b`, `tie`, `tie(all bad)` (both are ties), or nothing that can be
  read: an empty cell, mostly beside a reply that states scores, or `invalid`. What cannot be read
  is missing, as the release has it.
- The question of a battle that was not judged is not known; it is a cluster of its own.

LLM-SP: eleven judges' probabilities on answers known to be right or wrong.

Data of W.-L. Chen et al. (arXiv 2504.03846, `wlchen0206/llm-sp`, no licence): each judge on its own
answers beside those of seven other models, in both orders. MATH500, MBPP+ and 1,000 questions of
MMLU become data sets of their own, `<key>-math`, `<key>-mbpp` and `<key>-mmlu`: accuracy, and with
it everything else, differs between them. A file is a judge and an opponent, a row a question. What
matters in reading them:

- `assistent_1_answer` is always the judge's. `game_1_spb_score` is [A, tie, B] with it as A,
  `game_2_spb_score` the same with the texts swapped, so that B is the judge's own.
- The three sum to 1: they are shares of each other. How much probability the judge left for other
  words is not told, so no verdict is `low-mass`.
- Beside them stands the judge's first word (`game_1_output`), `T` for a tie, but not in most files
  of MATH500. It can be none of the labels, or not the likeliest of the three: the probabilities are
  the verdict.
- A tie can hold all of the probability; Eq. 3 is then a ratio of two numbers next to 0.
- Two texts can be the same to the letter. More often, since the judges' logits are coarse, both
  orders cancel, and rounding decides on which side of 1/2 the mean score lies (of MATH500 in 55 to
  183 of a judge's 3,500 pairs).
- Which option of a question of MMLU is right is told nowhere. It is the one that all of its right
  answers name, if they agree (metadata `key`).
- Nobody voted. The annotator `key` prefers the right answer; two right or two wrong ones are a tie,
  which `truths` tells apart (`correct`, 1 or 0). No judge reads another's answers: no excess.

The Hub's two sets of votes on dialogues, with the texts that people judged.

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

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from selfpref import tables
from selfpref.download.fetch import fetch, open_set
from selfpref.formats.datasets import audited, judges_of, written
from selfpref.formats.records import Frames, json_lines
from selfpref.params import Dataset
from selfpref.seeds import sampled
from selfpref.tables.schemas import CORRECT, KEY, TIE
from selfpref.texts import option

Rows = Iterable[Any]
STUDY = "wataoka"
SIDES = ["responder_a", "responder_b"]
WHO = ["item_id", *SIDES, "who"]
# How the releases spell what came of a pair.
TORN = "tie (inconsistent)"
WINNERS = {"model_a": "a", "model_b": "b"} | dict.fromkeys(
    ("tie", "tie (bothbad)", "tie(all bad)", TORN), TIE
)
JUDGE = "gpt-4"
# Paths in the released repositories, as `mt-bench.csv` lists them.
MT_VOTES = "data/snapshots/mtbench/human.jsonl"
MT_VERDICTS = "data/snapshots/mtbench/gpt4_pair.jsonl"
MT_QUESTIONS = "fastchat/llm_judge/data/mt_bench/question.jsonl"
# The release's spelling of each responder; judges and responders of one family share a name.
NAMES = {"gpt4": "gpt-4", "gpt35": "gpt-3.5-turbo", "claude": "claude-1"}
NAMES |= {"vicuna-13b": "vicuna-13b", "bard": "bard"}
# In the released repository, as `vicuna80.csv` lists its files.
VICUNA = "data/vicuna80/"
RATINGS = re.compile(r"data/vicuna80/ratings-(.+)/answer_(.+)-vs-answer_(.+)-\1-reviewer.*")
# Which answer a row's score prefers.
VICUNA_WINNERS = {1: "a", 2: "b", 3: TIE}
BATTLES = "data/arena_data/chatbot_arena_conversations/battled_pairs_human_as_judger.csv"
VERDICTS = (
    "results/battle_records_arena_gpt4_as_judger_0_499.csv",
    "results/battle_records_arena_gpt4_as_judger_500_2010.csv",
)
SP_ANSWERS = ["assistent_1_answer", "assistent_2_answer"]
SP_RIGHT = ["assistent_1_is_correct", "assistent_2_is_correct"]
SP_LABELS = ["A", "T", "B"]
SP_FILES = re.compile(r"sp/(math|mbpp|mmlu)[^/]*/[^/]+/(.+)_(.+)_eval\.jsonl")
MODELS = ["model_a", "model_b"]
COLUMNS = ("question_id", *MODELS, "winner", "judge", "turn", "conversation_a", "conversation_b")
FASTCHAT = Path(__file__).with_name("mt-bench-references.csv")
REFERENCES = "fastchat/llm_judge/data/mt_bench/reference_answer/gpt-4.jsonl"


def values(path: Path, *keys: str) -> Iterator[tuple[Any, ...]]:
    """The values of two keys or more in each record of a JSON Lines file."""
    return (itemgetter(*keys)(record) for _, record in json_lines(path))


def matching(files: Mapping[str, Path], pattern: re.Pattern[str]) -> dict[tuple[str, ...], Path]:
    """The files whose paths are of a pattern, in the order of these, by what its groups hold."""
    matches = ((pattern.fullmatch(path), local) for path, local in sorted(files.items()))
    return {match.groups(): local for match, local in matches if match}


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
    items: Rows,
    responses: Rows,
    votes: Rows,
    verdicts: Rows = (),
    *,
    order_known: bool = True,
    more: Sequence[str] = (),
) -> Frames:
    """The tables of one data set, from tuples, or frames with columns of these names.

    Args:
        items: As `item` makes them.
        responses: `item_id, responder, text`.
        votes: `item_id, responder_a, responder_b, who, winner`, the winner `a`, `b` or `tie`. Votes
            of one name on one pair are told apart by number.
        verdicts: The same of judges; the winner is missing where a verdict cannot be read.
        order_known: Whether a judge read the first responder's response first.
        more: Columns of the table of verdicts that are given as well.

    Returns:
        items, responses, labels and verdicts.
    """
    voted = pd.DataFrame(votes, columns=[*WHO, "winner"])
    voted["repeat"] = voted.groupby(WHO, sort=False).cumcount()
    judged = pd.DataFrame(verdicts, columns=[*WHO, "winner", *more])
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


def mt_bench(dataset: str, entry: Dataset, source: Path) -> Frames:
    """The tables of MT-Bench.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<question>/<turn>`.
        entry: The study, and the judges to read; GPT-4 is the release's only judge.
        source: The pinned files.

    Returns:
        items, responses, labels, verdicts and audit.

    Raises:
        SelfprefError: A file cannot be had, or a judge is not in the release.
    """
    judges_of(dataset, entry, [JUDGE])
    files = fetch(source)
    items = [
        item(f"{dataset}/{number}/{turn}", f"{dataset}/{number}", asked, turn, category=category)
        for number, category, asked in values(
            files[MT_QUESTIONS], "question_id", "category", "turns"
        )
        for turn in range(1, len(asked) + 1)
    ]
    responses = [
        (f"{dataset}/{number}/{turn}", model, text)
        for path, local in files.items()
        if "/model_answer/" in path
        for number, model, choices in values(local, "question_id", "model_id", "choices")
        for turn, text in enumerate(choices[0]["turns"], start=1)
    ]
    keys = ("question_id", "turn", "model_a", "model_b", "judge", "winner")
    votes, verdicts = (
        [
            (f"{dataset}/{number}/{turn}", *pair, judge or who, WINNERS[winner])
            for number, turn, *pair, who, winner in values(files[path], *keys)
        ]
        for path, judge in ((MT_VOTES, None), (MT_VERDICTS, JUDGE))
    )
    winners = [winner for winner, _ in values(files[MT_VERDICTS], "winner", "turn")]
    found = {"ties of orders that disagree": winners.count(TORN)}
    audit = audited(entry.study, f"{dataset}/verdicts", len(winners), found)
    made = tables_of(items, responses, votes, verdicts, order_known=False)
    return made | {"audit": audit}


def vicuna80(dataset: str, entry: Dataset, source: Path) -> Frames:
    """The tables of Vicuna-80.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<question>`.
        entry: The study, and which of the five judges to read.
        source: The pinned files.

    Returns:
        items, responses, labels and verdicts.

    Raises:
        SelfprefError: A file cannot be had, or a judge is not in the release.
    """
    judges = judges_of(dataset, entry, NAMES.values())
    files = fetch(source)
    items = [
        item(f"{dataset}/{number}", f"{dataset}/{number}", [text], category=category)
        for number, category, text in values(
            files[f"{VICUNA}prompts/vicuna_questions.jsonl"], "question_id", "category", "text"
        )
    ]
    responses = [
        (f"{dataset}/{number}", name, text)
        for spelt, name in NAMES.items()
        for number, text in values(
            files[f"{VICUNA}generations/answer_{spelt}.jsonl"], "question_id", "text"
        )
    ]
    rated = [
        (f"{dataset}/{number}", *pair, judge, VICUNA_WINNERS[score])
        for (judge, *pair), local in matching(files, RATINGS).items()
        for number, score in values(local, "question_id", "score")
    ]
    every = pd.DataFrame(rated, columns=[*WHO, "winner"]).replace(NAMES)
    votes = every[every["who"].eq("human")]
    return tables_of(items, responses, votes, every[every["who"].isin(judges)])


def elobench(dataset: str, entry: Dataset, source: Path) -> Frames:
    """The tables of the battles.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<battle>`.
        entry: The study, and the judges to read; GPT-4 is the release's only judge.
        source: The pinned files.

    Returns:
        items, responses, labels, verdicts and audit.

    Raises:
        SelfprefError: A file cannot be had, or a judge is not in the release.
    """
    judges_of(dataset, entry, [JUDGE])
    files = fetch(source)
    battles = _rows("human", files[BATTLES])
    battles["item_id"] = f"{dataset}/" + battles.index.astype(str)
    judged = _rows(JUDGE, *(files[path] for path in VERDICTS))
    row = judged.index
    battle = battles.loc[row + 2 * (row >= 1117) + (row >= 1533)].set_index(row)
    judged["item_id"] = battle["item_id"]
    sides = {"responder": SIDES, "text": ["answer_a", "answer_b"]}
    texts = pd.lreshape(judged, sides, dropna=False)
    same = judged[SIDES].eq(battle[SIDES]).all(axis=1).sum()
    found = {"both models are those of the battle": same}
    asked = dict(zip(judged["item_id"], judged["question"], strict=True))
    items = [item(name, hashed(text), [text]) for name, text in asked.items()]
    items += [item(name, name, [], turns=1) for name in battles["item_id"] if name not in asked]
    audit = audited(entry.study, f"{dataset}/verdicts", len(judged), found)
    return tables_of(items, texts, battles, judged) | {"audit": audit}


def _rows(who: str, *paths: Path) -> pd.DataFrame:
    """The rows of files, with the winner missing where it cannot be read."""
    parts = [pd.read_csv(path, dtype=str, keep_default_na=False) for path in paths]
    rows = pd.concat(parts, ignore_index=True)
    rows.columns = rows.columns.str.replace("model_", "responder_")
    return rows.assign(who=who, winner=rows["winner"].map(WINNERS))


def llm_sp(dataset: str, entry: Dataset, source: Path) -> Frames:
    """The tables of the three sets of LLM-SP.

    Args:
        dataset: Prefix of the item ids, `<dataset>-<set>/<question>`.
        entry: The study, and which of the judges to read.
        source: The pinned files.

    Returns:
        items, responses, labels, truths, verdicts, and audit: what misleads in a judge's files.

    Raises:
        SelfprefError: A file cannot be had, or a judge is not in the release.
    """
    files = matching(fetch(source), SP_FILES)
    judges = judges_of(dataset, entry, (judge for _, judge, _ in files))
    parts = []
    for (of, judge, opponent), local in files.items():
        if judge in judges:
            part = pd.read_json(local, lines=True, engine="pyarrow").assign(set=f"{dataset}-{of}")
            parts.append(part.assign(responder_a=judge, responder_b=opponent))
    rows = pd.concat(parts, ignore_index=True)
    rows["item_id"] = rows["set"] + "/" + rows["unique_id"].astype(str)
    sets = rows.groupby("set")["item_id"]
    drawn = {name for _, names in sets for name in sampled(names.unique(), entry.sample)}
    rows = rows[rows["item_id"].isin(drawn)].reset_index(drop=True)
    sides = {"responder": SIDES, "text": SP_ANSWERS, "score": SP_RIGHT}
    texts = pd.lreshape(rows, sides, dropna=False)[["item_id", *sides]]
    # Each answer stands in the files of all its opponents.
    texts = texts.drop_duplicates(["item_id", "responder"])
    correct = texts[texts["score"].eq(1) & texts["item_id"].str.contains("-mmlu/")]
    named_by = correct["text"].map(option).groupby(correct["item_id"]).agg(set)
    keys = {name: next(iter(found)) for name, found in named_by.items() if len(found) == 1}
    asked = rows.drop_duplicates("item_id")[["item_id", "problem"]].to_numpy()
    items = [item(name, name, [text], key=keys.get(name)) for name, text in asked]
    mine, theirs = (rows[right] for right in SP_RIGHT)
    better = np.select([mine > theirs, mine < theirs], ["a", "b"], TIE)
    votes = rows[["item_id", *SIDES]].assign(who=KEY, winner=better)
    verdicts = _verdicts(rows)
    truths = texts.drop(columns="text").astype({"score": float})
    return tables_of(items, texts, votes, verdicts, more=("mass", "probabilities")) | {
        "truths": tables.fill(truths, "truths", study=entry.study, metric=CORRECT),
        "audit": pd.concat(_audit(entry.study, *part) for part in verdicts.groupby("file")),
    }


def _verdicts(rows: pd.DataFrame) -> pd.DataFrame:
    """The verdicts of both orders, the responses as they were read, with the shares [A, tie, B]."""
    made = rows[["item_id", *SIDES]].assign(
        who=rows["responder_a"],
        file=rows["set"] + "/" + rows["responder_a"],
        same=rows[SP_ANSWERS[0]].eq(rows[SP_ANSWERS[1]]),
    )
    parts = []
    for order, sides in ((1, SIDES), (2, SIDES[::-1])):
        part = made.assign(order=order, said=rows.get(f"game_{order}_output"))
        scores = rows[f"game_{order}_spb_score"].dropna()
        shares = pd.DataFrame([*scores], scores.index, SP_LABELS, dtype=float)
        parts.append(part.rename(columns=dict(zip(SIDES, sides, strict=True))).join(shares))
    found = pd.concat(parts, ignore_index=True)
    a, tie, b = (found[label] for label in SP_LABELS)
    likeliest = [a > np.maximum(b, tie), b > np.maximum(a, tie)]
    # Without any score nothing is chosen.
    found["winner"] = pd.Series(np.select(likeliest, ["a", "b"], TIE)).where(a.notna())
    pairs = pd.Series(found[["A", "B"]].to_numpy().tolist())
    return found.assign(mass=a + tie + b, probabilities=pairs.where(a.notna(), None))


def _audit(study: str, file: str, verdicts: pd.DataFrame) -> pd.DataFrame:
    """How many rows of a judge's files have no score, or beside it a word that it does not bear."""
    found: dict[str, pd.Series] = {}
    for order, rows in verdicts.groupby("order"):
        said, likeliest = rows["said"], rows[SP_LABELS].fillna(0).idxmax(axis=1)
        label, name = said.isin(SP_LABELS), f"order {order}"
        found |= {
            "both texts are the same": rows["same"],
            f"{name}: no score": rows["A"].isna(),
            f"{name}: no stored output": said.isna(),
            f"{name}: stored output is no label": said.notna() & ~label,
            f"{name}: stored label is not the likeliest": label & said.ne(likeliest),
        }
    return audited(study, file, len(rows), {name: at.sum() for name, at in found.items()})


def hub(dataset: str, entry: Dataset, source: Path) -> Frames:
    """The tables of one of the Hub's sets.

    Args:
        dataset: Prefix of the item ids.
        entry: Which set, and which of its dialogues to read.
        source: The file that pins the set.

    Returns:
        items, responses, labels, no verdicts, and audit.

    Raises:
        SelfprefError: As `selfpref.download.fetch.open_set`; FastChat's files cannot be had; or a
            judge is not in the set.
    """
    arena = entry.reader == "chatbot-arena"
    wanted = (*COLUMNS, "language") if arena else COLUMNS
    rows = pd.DataFrame(list(open_set(source, wanted)))
    judges = judges_of(dataset, entry, rows[MODELS].stack())
    name = rows["question_id"].astype(str)
    again = name.groupby(name).cumcount().add(1).astype(str)
    rows["dialogue"] = name.mask(arena & again.ne("1"), name + "-" + again)
    one, other = (rows[side].map(turns) for side in ("conversation_a", "conversation_b"))
    rows["asked"] = one.str[0]
    rows["said_a"] = one.str[1]
    rows["said_b"] = other.str[1]
    length = rows["asked"].str.len()
    rows["last"] = length if arena else rows["turn"]
    vote = rows["winner"].isin(WINNERS) & rows["model_a"].ne(rows["model_b"])
    vote &= rows["last"].between(1, length) & rows["asked"].eq(other.str[0])
    out = pd.DataFrame({"left out: no vote on one dialogue with two models": ~vote})
    out["left out by `judges`"] = ~rows[MODELS].isin(judges).any(axis=1)
    if entry.languages:
        out["left out by `languages`"] = ~rows["language"].isin(entry.languages)
    drawn = _dialogues(rows[~out.any(axis=1)], entry, judges)
    out["left out by `sample`"] = ~rows["dialogue"].isin(drawn)
    responses: dict[tuple[str, str], str] = {}
    items, labels = {}, []
    told = {} if arena else _fastchat()
    for row in rows[~out.any(axis=1)].itertuples():
        cluster = hashed(row.asked[0]) if arena else row.dialogue
        more = told.get(row.question_id, {}) | {"cluster": f"{dataset}/{cluster}"}
        for turn in range(1, row.last + 1):
            name = f"{dataset}/{row.dialogue}/{turn}"
            items[name] = item(name, asked=row.asked, turn=turn, **more)
            responses.setdefault((name, row.model_a), row.said_a[turn - 1])
            responses.setdefault((name, row.model_b), row.said_b[turn - 1])
        labels.append((name, row.model_a, row.model_b, row.judge, WINNERS[row.winner]))
    texts = ((*key, text) for key, text in responses.items())
    counts = out[out.any(axis=1)].idxmax(axis=1).value_counts()
    made = tables_of(items.values(), texts, labels)
    return made | {"audit": audited(entry.study, dataset, len(rows), counts.to_dict())}


def _fastchat() -> dict[int, dict[str, Any]]:
    """By question of MT-Bench its category and, where judges read them, reference answers."""
    files = fetch(FASTCHAT)
    answers = dict(values(files[REFERENCES], "question_id", "choices"))
    told = {}
    for number, category in values(files[MT_QUESTIONS], "question_id", "category"):
        read = category in ("math", "reasoning", "coding")
        turns = answers[number][0]["turns"] if read else ()
        told[number] = {"category": category, "references": turns}
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


def _dialogues(rows: pd.DataFrame, entry: Dataset, judges: set[str]) -> set[str]:
    """So many dialogues, drawn by their names; where judges are named, as many of each."""
    theirs = [rows[rows[MODELS].eq(judge).any(axis=1)] for judge in judges]
    groups = theirs if entry.judges else [rows]
    size = entry.sample and entry.sample // len(groups)
    return {name for of in groups for name in sampled(of["dialogue"].unique(), size)}
