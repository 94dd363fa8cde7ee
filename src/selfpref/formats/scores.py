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

import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.formats.datasets import finite, whole
from selfpref.formats.rows import refuse
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
    raw = whole(source, COLUMNS)
    step, score = finite(raw, "step"), finite(raw, "score")
    refuse(raw, step.lt(0) | step.mod(1).ne(0), "step {step} is not a number from 0")
    names = raw[["item", "responder", "metric"]].astype("str").rename(columns={"item": "item_id"})
    truths = names.assign(study=entry.study, step=step.astype("int64"), score=score)
    again = truths.drop(columns="score").duplicated()
    refuse(raw, again, "a second {metric} of item {item}; keep one row")
    return {"truths": truths}
