"""Reader of MT-Bench: human votes and GPT-4's pair verdicts (Zheng et al., arXiv 2306.05685).

Released: 3,355 votes of experts and authors and 2,400 verdicts of GPT-4 (labels only, CC-BY-4.0),
the 80 questions, and the answers of most models. What matters in reading them:

- The two label files orient a pair differently; rows meet on the unordered pair.
- The verdicts are already merged over both orders: which answer stood first is unknown, and a
  disagreement between the orders is stored as "tie (inconsistent)", here a tie.
- Each turn of a dialogue is an item of its own; both turns of a question share a cluster.
- Answers of vicuna-13b-v1.2, one of the six judged models, are in no public file; those of v1.3
  stay under their own name.
"""

from pathlib import Path

import pandas as pd

from selfpref.download.fetch import fetch
from selfpref.formats.datasets import judges_of
from selfpref.params import Dataset
from selfpref.studies.wataoka.read import WINNERS, item, tables_of, values

JUDGE = "gpt-4"
# Paths in the released repositories, as `mt-bench.csv` beside this module lists them.
VOTES = "data/snapshots/mtbench/human.jsonl"
VERDICTS = "data/snapshots/mtbench/gpt4_pair.jsonl"
QUESTIONS = "fastchat/llm_judge/data/mt_bench/question.jsonl"
ANSWERS = "fastchat/llm_judge/data/mt_bench/model_answer/"


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
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
        for number, category, asked in values(files[QUESTIONS], "question_id", "category", "turns")
        for turn in range(1, len(asked) + 1)
    ]
    responses = [
        (f"{dataset}/{number}/{turn}", model, text)
        for path, local in files.items()
        if path.startswith(ANSWERS)
        for number, model, choices in values(local, "question_id", "model_id", "choices")
        for turn, text in enumerate(choices[0]["turns"], start=1)
    ]
    keys = ("question_id", "turn", "model_a", "model_b", "judge", "winner")
    votes, verdicts = (
        [
            (f"{dataset}/{number}/{turn}", *pair, judge or who, WINNERS[winner])
            for number, turn, *pair, who, winner in values(files[path], *keys)
        ]
        for path, judge in ((VOTES, None), (VERDICTS, JUDGE))
    )
    return tables_of(items, responses, votes, verdicts, order_known=False)
