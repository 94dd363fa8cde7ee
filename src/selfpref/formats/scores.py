"""Reader of a user's own true scores: one JSONL or CSV file, one row a text.

| column | value |
|---|---|
| item | the item_id as in the table of responses, condition included |
| responder, step | whose text, and after how many refinements |
| metric | a name for the metric; `xu.truth` in params.yaml says which one enters the bias |
| score | a number; for translations on the scale of MQM, -25 to 0 |

The texts to be scored stand in data/<profile>/responses. So any neural metric enters the study
without its weights: score the texts where you like, and name the file under `datasets`.
"""

from pathlib import Path
from typing import Any

import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.formats.records import finite, whole_rows
from selfpref.params import Dataset

COLUMNS = ("item", "responder", "step", "metric", "score")


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The truths of a user's file.

    Args:
        dataset: Its key in the parameters, for errors.
        entry: The study whose texts were scored; it names no judges, which a truth has not.
        source: The .jsonl or .csv file.

    Returns:
        truths.

    Raises:
        SelfprefError: A column is missing or unknown, a value is no number, or a text has two
            scores by one metric; names file, line and column.
    """
    if entry.judges is not None:
        raise SelfprefError(
            f"{entry.study}.datasets.{dataset}.judges: true scores have no judge; remove the key"
        )
    found: dict[tuple[str, str, int, str], dict[str, Any]] = {}
    for where, row in whole_rows(source, COLUMNS):
        step = finite(row, "step", where)
        key = (row["item"], row["responder"], int(step), row["metric"])
        if step != key[2] or step < 0:
            raise SelfprefError(f"{where}: step {row['step']!r} is not a number from 0")
        if key in found:
            raise SelfprefError(f"{where}: a second {key[3]!r} of item {key[0]!r}; keep one row")
        names = dict(zip(("item_id", "responder", "step", "metric"), key, strict=True))
        found[key] = {"study": entry.study, **names, "score": finite(row, "score", where)}
    return {
        "truths": pd.DataFrame(
            found.values(), columns=["study", "item_id", "responder", "step", "metric", "score"]
        )
    }
