"""The questions of LiveBench with their answer keys (White et al., arXiv 2406.19314).

`livebench/<category>`, one data set a category. A question is the first of its turns; models that
run here answer it in a contest. Where a question has no key in the set (instruction following,
coding) or its task has no rule, its responses have no objective score.
"""

import json
from collections import Counter
from pathlib import Path

import pandas as pd

from selfpref import tables
from selfpref.download.hub import load
from selfpref.formats.datasets import audited
from selfpref.params import Dataset
from selfpref.seeds import sampled

COLUMNS = ("question_id", "category", "task", "turns")


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The items of one category.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<category>/<task>/<question_id>`.
        entry: Which questions to read.
        source: The file that pins the set.

    Returns:
        items and audit.

    Raises:
        SelfprefError: As `selfpref.download.hub.load`.
    """
    rows = load(source, COLUMNS)
    wanted = set(sampled({str(row["question_id"]) for row in rows}, entry.sample))
    found, items = Counter[str](), {}
    for row in rows:
        question = str(row["question_id"])
        item_id = f"{dataset}/{row['category']}/{row['task']}/{question}"
        if question not in wanted:
            found["left out by `sample`"] += 1
        elif not row["turns"] or not row["turns"][0].strip():
            found["left out: no question"] += 1
        elif item_id in items:
            found["left out: a question that was there"] += 1
        else:
            found["ok"] += 1
            items[item_id] = {
                "study": entry.study,
                "item_id": item_id,
                "category": row["category"],
                "cluster": item_id,
                "messages": [{"role": "user", "content": row["turns"][0]}],
                "reference": row.get("ground_truth") or None,
                "metadata": json.dumps({"task": row["task"]}),
            }
    audit = audited(entry.study, dataset, len(rows), found)
    return {"items": tables.fill(items.values(), "items"), "audit": audit}
