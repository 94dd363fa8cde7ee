"""Votes on responses: in a user's file, or of the testbed's annotator.

A file of votes has a row a vote, JSONL or CSV: `item` (the id of the prompt, without its data set),
`responder_a`, `responder_b`, `label` (`a`, `b`, `tie` or a responder's name) and, if known,
`annotator` (`selfpref.formats.pairs`).
"""

import pandas as pd

from selfpref import paths, tables
from selfpref.formats.pairs import VOTED, checked
from selfpref.formats.records import rows_of
from selfpref.formats.rows import Rows, gather, places, tables_of
from selfpref.params import Params
from selfpref.studies.wataoka import STUDY, lab


def label(params: Params, dataset: str) -> dict[str, pd.DataFrame]:
    """The votes on a data set's responses.

    Args:
        params: With `wataoka.label.<dataset>`.
        dataset: The data set.

    Returns:
        labels, and truths, which only the testbed's annotator knows.

    Raises:
        SelfprefError: A row of the file is no vote on two responses to an item of the data set;
            names file and line.
    """
    use = params.wataoka.label[dataset]
    if use.pairs is not None:
        return lab.label(params, dataset)
    source = paths.root() / use.source
    rows = gather(checked(places(rows_of(source), source), VOTED), apart=True, texts=False)
    _are_known(params, dataset, rows)
    return {
        "labels": tables_of(rows, dataset, STUDY.name)["labels"],
        "truths": tables.empty("truths"),
    }


def _are_known(params: Params, dataset: str, rows: Rows) -> None:
    """Every vote is on two responders to an item of the data set."""
    frame = rows.frame
    items = tables.read(params.profile, "items", STUDY.name, [dataset], ("item_id",))["item_id"]
    strange = ~(f"{dataset}/" + frame["item"]).isin(items)
    rows.refuse(
        strange.to_numpy(dtype=bool), f"item {{item}} is none of wataoka.datasets.{dataset}"
    )
    written = STUDY.read(params.profile, "responses", ("item_id", "responder"))
    there = written.loc[written["item_id"].isin(items), "responder"].unique()
    for side in ("responder_a", "responder_b"):
        rows.refuse(
            ~frame[side].isin(there).to_numpy(dtype=bool),
            f"{side} {{{side}}} wrote no response to {dataset}; there are "
            + ", ".join(sorted(there)),
        )
