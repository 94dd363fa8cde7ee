"""Reader of Chatbot Arena's battles as EloBench judged them (`v-xchen-v/EloBench`).

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
  of another battle. Such rows are counted, and a cluster is the question.
- A verdict is `model_a`, `model_b`, `tie`, `tie(all bad)` (both are ties), or nothing that can be
  read: an empty cell, mostly beside a reply that states scores, or `invalid`. What cannot be read
  is missing, as the release has it.
- The question of a battle that was not judged is not known; it is a cluster of its own.
"""

from pathlib import Path

import pandas as pd

from selfpref.download.fetch import fetch
from selfpref.formats.datasets import audited, judges_of
from selfpref.params import Dataset
from selfpref.studies.wataoka.read import SIDES, WINNERS, hashed, item, tables_of

JUDGE = "gpt-4"
BATTLES = "data/arena_data/chatbot_arena_conversations/battled_pairs_human_as_judger.csv"
VERDICTS = (
    "results/battle_records_arena_gpt4_as_judger_0_499.csv",
    "results/battle_records_arena_gpt4_as_judger_500_2010.csv",
)
TEXTS = ["item_id", "question", "responder", "text"]


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
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
    again = texts.loc[texts.duplicated(["question", "responder"], keep=False), "item_id"]
    found = {
        "both models are those of the battle": judged[SIDES].eq(battle[SIDES]).all(axis=1).sum(),
        "verdict that cannot be read": judged["winner"].isna().sum(),
        "question of an earlier battle": judged["question"].duplicated().sum(),
        "a response of this question and model stands in several battles": again.nunique(),
    }
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
