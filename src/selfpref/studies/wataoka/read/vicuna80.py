"""Reader of Vicuna-80 as judged in PRD (Li, Patel & Du, arXiv 2307.02762).

Five responders, whose families are also the five judges, in both orders, with human votes: 80
questions x 10 pairs x 2 orders x 5 judges = 8,000 verdicts, three votes a pair (one for the pairs
with Claude). What matters in reading them:

- The file name gives the order: `answer_<first>-vs-answer_<second>-<judge>-reviewer…`.
- Two files of the GPT-3.5 judge spell their names with hyphens (`answer-gpt35-vs-…`): an earlier
  run of pairs that are there with underscores. They are left out.
- The judge of the Bard family is text-bison@001, the responder is Bard: one family, two systems.
- The human votes also cover four Guanaco models, whose answers and verdicts are not released.
- Who voted is not told: the votes of a pair are told apart by number.
"""

import re
from pathlib import Path

import pandas as pd

from selfpref.download.fetch import fetch
from selfpref.formats.datasets import judges_of
from selfpref.params import Dataset
from selfpref.studies.wataoka.read import item, tables_of, values
from selfpref.tables.schemas import TIE

# The release's spelling of each responder; judges and responders of one family share a name.
NAMES = {"gpt4": "gpt-4", "gpt35": "gpt-3.5-turbo", "claude": "claude-1"}
NAMES |= {name: name for name in ("vicuna-13b", "bard")}
# In the released repository, as `vicuna80.csv` beside this module lists its files.
QUESTIONS = "data/vicuna80/prompts/vicuna_questions.jsonl"
ANSWERS = "data/vicuna80/generations/answer_{}.jsonl"
RATINGS = re.compile(r"data/vicuna80/ratings-(.+)/answer_(.+)-vs-answer_(.+)-\1-reviewer.*")
# Which answer a row's score prefers.
WINNERS = {1: "a", 2: "b", 3: TIE}


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
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
        for number, category, text in values(files[QUESTIONS], "question_id", "category", "text")
    ]
    responses = [
        (f"{dataset}/{number}", name, text)
        for spelt, name in NAMES.items()
        for number, text in values(files[ANSWERS.format(spelt)], "question_id", "text")
    ]
    rated = [
        (f"{dataset}/{number}", *map(_named, pair), _named(judge), WINNERS[score])
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
