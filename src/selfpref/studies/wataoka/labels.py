"""Votes on responses: in a user's file, of an answer key, or of the testbed's annotator.

A file of votes has a row a vote, JSONL or CSV: `item` (the id of the prompt, without its data set),
`responder_a`, `responder_b`, `label` (`a`, `b`, `tie` or a responder's name) and, if known,
`annotator` (`selfpref.formats.judgments`); or another format that has votes.

LLM-SP's key is the letter of the option that its right answers name (`read.llm_sp`). What a
model writes here is right where the last option that it names is that one; it has no label where it
names none. The annotator `key` then prefers the right one of two answers, as it does for those
released.
"""

import json
from functools import partial

import numpy as np
import pandas as pd

from selfpref import paths, tables
from selfpref.formats import judgments
from selfpref.formats.records import Frames, refuse, renamed, tables_of
from selfpref.params import Params
from selfpref.studies.wataoka import STUDY, lab
from selfpref.tables.schemas import CORRECT, KEY, TIE
from selfpref.texts import option


def label(params: Params, dataset: str) -> Frames:
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
    read = partial(tables.read, params.profile, study=STUDY.name, parts=[dataset])
    items = read("items")
    written = STUDY.read(params.profile, "responses")
    if use.pairs is not None:
        return lab.label(use, items, written, paths.models_dir(params.profile) / dataset)
    if use.by == "key":
        return _by_key(items, written, read("truths"))
    rows = renamed(judgments.read(paths.root() / use.source, voted=True), use.aliases)
    # A file of judgments may have no texts, and still says whose they are.
    names = {*written.loc[written["item_id"].isin(items["item_id"]), "responder"]}
    names = names.union(*read("verdicts")["candidates"])
    ids = {*items["item_id"].str.removeprefix(f"{dataset}/")}
    for column, there in {"item": ids, "responder_a": names, "responder_b": names}.items():
        reason = f"{column} {{{column}}} is not in wataoka.datasets.{dataset}, which has {{some}}"
        refuse(rows, ~rows[column].isin(there), reason, some=", ".join(sorted(there)[:5]))
    made = tables_of(rows, dataset, STUDY.name)
    return {"labels": made["labels"], "truths": tables.empty("truths")}


def _by_key(items: pd.DataFrame, written: pd.DataFrame, released: pd.DataFrame) -> Frames:
    """Pairs of what is written here with each released answer, and which of them are right."""
    pair = ["item_id", "responder"]
    keys = items.set_index("item_id")["metadata"].map(lambda held: json.loads(held).get("key"))
    new = ~written.set_index(pair).index.isin(released.set_index(pair).index)
    mine = written[new].assign(option=written["text"].map(option), key=written["item_id"].map(keys))
    mine = mine.dropna(subset=["option", "key"])[[*pair, "option", "key"]]
    mine["score"] = mine["option"].eq(mine["key"]).astype(float)
    both = mine.merge(released[[*pair, "score"]], on="item_id", suffixes=("_a", "_b"))
    lead = both["score_a"] - both["score_b"]
    both["label"] = np.select([lead > 0, lead < 0], ["a", "b"], TIE)
    labels = both[["item_id", "responder_a", "responder_b", "label"]].assign(annotator=KEY)
    return {
        "labels": tables.fill(labels, "labels", study=STUDY.name),
        "truths": tables.fill(mine[[*pair, "score"]], "truths", study=STUDY.name, metric=CORRECT),
    }
