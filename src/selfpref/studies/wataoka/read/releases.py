"""Readers of MT-Bench, Vicuna-80, Chatbot Arena's battles, LLM-SP, and the Hub's votes.

MT-Bench: human votes and GPT-4's pair verdicts (Zheng et al., arXiv 2306.05685).

Released: 3,355 votes of experts and authors and 2,400 verdicts of GPT-4 (labels only, CC-BY-4.0),
the 80 questions, and the answers of most models. What matters in reading them:

- The two label files orient a pair differently; rows meet on the unordered pair.
- The verdicts are already merged over both orders: which answer stood first is unknown, and a
  disagreement between the orders is stored as "tie (inconsistent)", here a tie.
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

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from selfpref import tables
from selfpref.download.fetch import fetch, open_set
from selfpref.formats.datasets import audited, judges_of
from selfpref.formats.records import Frames
from selfpref.params import Dataset
from selfpref.seeds import sampled
from selfpref.studies.wataoka.read import SIDES, WINNERS, hashed, item, tables_of, values
from selfpref.tables.schemas import CORRECT, KEY, TIE
from selfpref.texts import option

JUDGE = "gpt-4"
# Paths in the released repositories, as `mt-bench.csv` lists them.
MT_VOTES = "data/snapshots/mtbench/human.jsonl"
MT_VERDICTS = "data/snapshots/mtbench/gpt4_pair.jsonl"
MT_QUESTIONS = "fastchat/llm_judge/data/mt_bench/question.jsonl"
MT_ANSWERS = "fastchat/llm_judge/data/mt_bench/model_answer/"
# The release's spelling of each responder; judges and responders of one family share a name.
NAMES = {"gpt4": "gpt-4", "gpt35": "gpt-3.5-turbo", "claude": "claude-1"}
NAMES |= {name: name for name in ("vicuna-13b", "bard")}
# In the released repository, as `vicuna80.csv` lists its files.
VICUNA_QUESTIONS = "data/vicuna80/prompts/vicuna_questions.jsonl"
VICUNA_ANSWERS = "data/vicuna80/generations/answer_{}.jsonl"
RATINGS = re.compile(r"data/vicuna80/ratings-(.+)/answer_(.+)-vs-answer_(.+)-\1-reviewer.*")
# Which answer a row's score prefers.
VICUNA_WINNERS = {1: "a", 2: "b", 3: TIE}
BATTLES = "data/arena_data/chatbot_arena_conversations/battled_pairs_human_as_judger.csv"
VERDICTS = (
    "results/battle_records_arena_gpt4_as_judger_0_499.csv",
    "results/battle_records_arena_gpt4_as_judger_500_2010.csv",
)
TEXTS = ["item_id", "question", "responder", "text"]
SP_LABELS = ("A", "T", "B")
SP_FILES = re.compile(r"sp/(math|mbpp|mmlu)[^/]*/[^/]+/(.+)_(.+)_eval\.jsonl")
MODELS = ["model_a", "model_b"]
COLUMNS = ("question_id", *MODELS, "winner", "judge", "turn", "conversation_a", "conversation_b")
FASTCHAT = Path(__file__).with_name("mt-bench-references.csv")
REFERENCES = "fastchat/llm_judge/data/mt_bench/reference_answer/gpt-4.jsonl"
REFERRED = ("math", "reasoning", "coding")


def mt_bench(dataset: str, entry: Dataset, source: Path) -> Frames:
    """The tables of MT-Bench.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<question>/<turn>`.
        entry: The study, and the judges to read; GPT-4 is the release's only judge.
        source: The pinned files.

    Returns:
        items, responses, labels and verdicts.

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
        if path.startswith(MT_ANSWERS)
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
    return tables_of(items, responses, votes, verdicts, order_known=False)


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
            files[VICUNA_QUESTIONS], "question_id", "category", "text"
        )
    ]
    responses = [
        (f"{dataset}/{number}", name, text)
        for spelt, name in NAMES.items()
        for number, text in values(files[VICUNA_ANSWERS.format(spelt)], "question_id", "text")
    ]
    rated = [
        (f"{dataset}/{number}", *map(_named, pair), _named(judge), VICUNA_WINNERS[score])
        for path, local in sorted(files.items())
        if (match := RATINGS.fullmatch(path))
        for judge, *pair in [match.groups()]
        for number, score in values(local, "question_id", "score")
    ]
    votes = [row for row in rated if row[3] == "human"]
    verdicts = [row for row in rated if row[3] in judges]
    return tables_of(items, responses, votes, verdicts)


def _named(spelt: str) -> str:
    return NAMES.get(spelt, spelt)


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
    sides = [["item_id", "question", f"responder_{side}", f"answer_{side}"] for side in "ab"]
    texts = pd.concat(judged[columns].set_axis(TEXTS, axis=1) for columns in sides)
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
    named = {
        match.groups(): local
        for path, local in sorted(fetch(source).items())
        if (match := SP_FILES.fullmatch(path))
    }
    judges = judges_of(dataset, entry, (judge for _, judge, _ in named))
    parts = []
    for (of, judge, opponent), local in named.items():
        if judge in judges:
            part = pd.read_json(local, lines=True, engine="pyarrow")
            part["item_id"] = f"{dataset}-{of}/" + part["unique_id"].astype(str)
            names = {"file": f"{dataset}-{of}/{judge}", "responder_a": judge}
            parts.append(part.assign(responder_b=opponent, **names))
    rows = pd.concat(parts, ignore_index=True)
    sets = rows["item_id"].groupby(rows["item_id"].str.partition("/")[0])
    drawn = {name for _, names in sets for name in sampled(names.unique(), entry.sample)}
    rows = rows[rows["item_id"].isin(drawn)].reset_index(drop=True)
    columns = ["item_id", "responder", "text", "score"]
    both = [
        rows[["item_id", side, f"assistent_{n}_answer", f"assistent_{n}_is_correct"]]
        .set_axis(columns, axis=1)
        .astype({"score": float})
        for n, side in enumerate(SIDES, start=1)
    ]
    # Each answer stands in the files of all its opponents.
    texts = pd.concat(both).drop_duplicates(["item_id", "responder"])
    correct = texts[texts["score"].eq(1) & texts["item_id"].str.contains("-mmlu/")]
    named_by = correct["text"].map(option).groupby(correct["item_id"]).agg(set)
    keys = {name: next(iter(found)) for name, found in named_by.items() if len(found) == 1}
    asked = rows.drop_duplicates("item_id")[["item_id", "problem"]].to_numpy()
    items = [item(name, name, [text], key=keys.get(name)) for name, text in asked]
    lead = both[0]["score"] - both[1]["score"]
    votes = rows[["item_id", *SIDES]].assign(who=KEY)
    votes["winner"] = np.select([lead > 0, lead < 0], ["a", "b"], TIE)
    truths = texts.drop(columns="text")
    return tables_of(items, texts.drop(columns="score"), votes) | {
        "truths": tables.fill(truths, "truths", study=entry.study, metric=CORRECT),
        "verdicts": tables.fill(_verdicts(rows), "verdicts", study=entry.study),
        "audit": pd.concat([_audit(entry.study, *part) for part in rows.groupby("file")]),
    }


def _shares(rows: pd.DataFrame, order: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """[A, tie, B] of each row in one order; NaN without a score."""
    missing = [np.nan] * len(SP_LABELS)
    scores = rows[f"game_{order}_spb_score"]
    return np.array([missing if one is None else one for one in scores], dtype=float)


def _audit(study: str, file: str, rows: pd.DataFrame) -> pd.DataFrame:
    """How many rows of a judge's files have no score, or beside it a word that it does not bear."""
    found = {"both texts are the same": rows["assistent_1_answer"].eq(rows["assistent_2_answer"])}
    for order in (1, 2):
        shares, name = _shares(rows, order), f"order {order}"
        said = rows.get(f"game_{order}_output", pd.Series(np.nan, rows.index))
        label, best = said.isin(SP_LABELS), np.take(SP_LABELS, shares.argmax(axis=1))
        found |= {
            f"{name}: no score": pd.Series(np.isnan(shares).any(axis=1)),
            f"{name}: no stored output": said.isna(),
            f"{name}: stored output is no label": said.notna() & ~label,
            f"{name}: stored label is not the likeliest": label & said.ne(best),
        }
    return audited(study, file, len(rows), {name: int(at.sum()) for name, at in found.items()})


def _verdicts(rows: pd.DataFrame) -> pd.DataFrame:
    """The verdicts of both orders, the responses as they were read."""
    made = []
    for order, sides in ((1, SIDES), (2, SIDES[::-1])):
        shares = _shares(rows, order)
        a, tie, b = shares.T
        one, two = (rows[side].astype("str") for side in sides)
        # Without any score no comparison holds, and nothing is chosen.
        likeliest = [a > np.maximum(b, tie), b > np.maximum(a, tie), ~np.isnan(a)]
        said = pd.Series(np.select(likeliest, [one, two, TIE], ""), rows.index).replace("", None)
        found = rows[["item_id"]].assign(judge=rows["responder_a"], mass=shares.sum(axis=1))
        found["choice"], found["status"] = said, np.where(said.isna(), "unparsable", "ok")
        found["candidates"] = np.stack([one, two], axis=1).tolist()
        pairs = pd.Series(shares[:, [0, 2]].tolist(), rows.index)
        made.append(found.assign(probabilities=pairs.where(said.notna(), None)))
    return pd.concat(made, ignore_index=True)


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
    drawn = _dialogues(rows.query("reason == ''"), entry, judges)
    out = rows["reason"].eq("") & ~rows["dialogue"].isin(drawn)
    rows.loc[out, "reason"] = "left out by `sample`"
    responses: dict[tuple[str, str], str] = {}
    items, labels = {}, []
    told = {} if arena else _fastchat()
    for row in rows.query("reason == ''").itertuples():
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
    for number, category in values(files[MT_QUESTIONS], "question_id", "category"):
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


def _dialogues(rows: pd.DataFrame, entry: Dataset, judges: set[str]) -> set[str]:
    """So many dialogues, drawn by their names; where judges are named, as many of each."""
    if entry.judges is None:
        return {*sampled(rows["dialogue"].unique(), entry.sample)}
    size, drawn = entry.sample and entry.sample // len(judges), set[str]()
    for judge in judges:
        theirs = rows.loc[rows[MODELS].eq(judge).any(axis=1), "dialogue"]
        drawn.update(sampled(theirs.unique(), size))
    return drawn
