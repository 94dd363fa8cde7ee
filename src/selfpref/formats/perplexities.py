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
from typing import Any

import pandas as pd

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.formats.records import finite, judges_of, whole_rows
from selfpref.params import Dataset

COLUMNS = ("item", "responder", "reader", "given_prompt", "nats", "tokens", "bytes")
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
    found: dict[tuple[str, str, str, bool], dict[str, Any]] = {}
    for where, row in whole_rows(source, COLUMNS):
        given = GIVEN.get(str(row["given_prompt"]).lower())
        if given is None:
            raise SelfprefError(
                f"{where}: given_prompt {row['given_prompt']!r} is neither true nor false"
            )
        key = (row["item"], row["responder"], row["reader"], given)
        if key in found:
            raise SelfprefError(f"{where}: a second row of item {key[0]!r}; keep one")
        nats, tokens, size = (finite(row, name, where) for name in ("nats", "tokens", "bytes"))
        if min(nats, tokens, size) < 0:
            raise SelfprefError(f"{where}: nats, tokens and bytes are numbers from 0")
        found[key] = {"sum_nll": nats, "n_tokens": int(tokens), "n_bytes": int(size)}
    names = ("item_id", "responder", "judge", "conditional")
    rows = [dict(zip(names, key, strict=True)) | values for key, values in found.items()]
    wanted = judges_of(dataset, entry, {str(row["judge"]) for row in rows})
    return {
        "perplexities": tables.fill(
            [row for row in rows if row["judge"] in wanted],
            "perplexities",
            study=entry.study,
            status="ok",
        )
    }
