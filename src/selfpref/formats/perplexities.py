"""Reader of perplexities that were computed elsewhere: one JSONL or CSV file, one row a text.

| column | value |
|---|---|
| item | the item_id as in the table of responses, data set included |
| responder | whose text |
| reader | which model read it |
| given_prompt | true: given its prompt; false: without it |
| nats | sum of the negative log-likelihoods of its tokens |
| tokens, bytes | their number, and that of the text's bytes in UTF-8 |

Numbers alone: the texts come with their own data set. So a model that runs on another machine
enters the study by its numbers; a text that it could not read has no row.
"""

from pathlib import Path

import pandas as pd

from selfpref import tables
from selfpref.formats.datasets import finite, judges_of, whole
from selfpref.formats.rows import refuse
from selfpref.params import Dataset

NUMBERS = {"nats": "sum_nll", "tokens": "n_tokens", "bytes": "n_bytes"}
NAMES = {"item": "item_id", "responder": "responder", "reader": "judge"}
GIVEN = {"true": True, "false": False}


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The perplexities of a file.

    Args:
        dataset: Its key in the parameters, for errors.
        entry: Of the study whose texts were read; its `judges` are the readers to take.
        source: The .jsonl or .csv file.

    Returns:
        perplexities.

    Raises:
        SelfprefError: A column is missing or unknown, a value is no number, or a reader has two
            rows of one text; names file, line and column.
    """
    raw = whole(source, (*NAMES, "given_prompt", *NUMBERS))
    given = raw["given_prompt"].astype("str").str.lower().map(GIVEN)
    refuse(raw, given.isna(), "given_prompt {given_prompt} is neither true nor false")
    key = raw[list(NAMES)].astype("str").assign(conditional=given.astype(bool))
    refuse(raw, key.duplicated(), "a second row of item {item}; keep one")
    values = pd.DataFrame({name: finite(raw, name) for name in NUMBERS})
    refuse(raw, values.lt(0).any(axis=1), "nats, tokens and bytes are numbers from 0")
    found = key.join(values.astype({"tokens": "int64", "bytes": "int64"}))
    found = found.rename(columns=NAMES | NUMBERS)
    kept = found[found["judge"].isin(judges_of(dataset, entry, found["judge"]))]
    filled = tables.fill(kept, "perplexities", study=entry.study, status="ok")
    return {"perplexities": filled}
