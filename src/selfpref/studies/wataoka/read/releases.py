"""Readers of three releases: MT-Bench, Vicuna-80 and Chatbot Arena's battles.

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
"""

import re
from pathlib import Path

import pandas as pd

from selfpref.download.fetch import fetch
from selfpref.formats.datasets import audited, judges_of
from selfpref.params import Dataset
from selfpref.studies.wataoka.read import SIDES, WINNERS, hashed, item, tables_of, values
from selfpref.tables.schemas import TIE

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


def mt_bench(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
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


def vicuna80(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
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


def elobench(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
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
