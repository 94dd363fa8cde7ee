"""The questions of LiveBench with their answer keys (White et al., arXiv 2406.19314).

`livebench/<category>`, one data set a category. A question is the first of its turns; models that
run here answer it in a contest. Where a question has no key in the set (instruction following,
coding) or its task has no rule, its responses have no objective score.
"""

import json
from pathlib import Path

import numpy as np
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
    rows = pd.DataFrame(load(source, COLUMNS)).reindex(columns=[*COLUMNS, "ground_truth"])
    names = rows["question_id"].astype(str)
    asked = rows["turns"].map(lambda turns: turns[0] if len(turns) else "")
    item_id = f"{dataset}/" + rows["category"] + "/" + rows["task"] + "/" + names
    wanted, blank = names.isin(sampled({*names}, entry.sample)), asked.str.strip().eq("")
    reasons = {"left out by `sample`": ~wanted, "left out: no question": blank}
    reasons["left out: a question that was there"] = item_id.duplicated()
    found = pd.Series(np.select([*reasons.values()], [*reasons], "ok"))
    made = pd.DataFrame(
        {
            "item_id": item_id,
            "category": rows["category"],
            "cluster": item_id,
            "messages": [[{"role": "user", "content": question}] for question in asked],
            "reference": rows["ground_truth"].replace("", None),
            "metadata": [json.dumps({"task": task}) for task in rows["task"]],
        }
    )
    return {
        "items": tables.fill(made[found.eq("ok")], "items", study=entry.study),
        "audit": audited(entry.study, dataset, len(rows), found.value_counts().to_dict()),
    }
