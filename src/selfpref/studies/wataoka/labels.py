"""Votes on responses: in a user's file, of an answer key, or of the testbed's annotator.

A file of votes has a row a vote, JSONL or CSV: `item` (the id of the prompt, without its data set),
`responder_a`, `responder_b`, `label` (`a`, `b`, `tie` or a responder's name) and, if known,
`annotator` (`selfpref.formats.judgments`); or another format that has votes.

LLM-SP's key is the letter of the option that its right answers name (`read.llm_sp`). What a model
writes here is right where the last option that it names is that one; it has no label where it names
none. The annotator `key` then prefers the right one of two answers, as it does for those released.
"""

import json
from collections.abc import Collection
from itertools import chain

import numpy as np
import pandas as pd

from selfpref import paths, tables
from selfpref.formats import judgments
from selfpref.formats.rows import refuse, renamed, tables_of
from selfpref.params import Params
from selfpref.studies.wataoka import STUDY, lab
from selfpref.tables.schemas import CORRECT, KEY, TIE
from selfpref.texts import option


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
    if use.by == "key":
        return _by_key(params, dataset)
    rows = renamed(judgments.votes(paths.root() / use.source), use.aliases)
    items = tables.read(params.profile, "items", STUDY.name, [dataset], ("item_id",))["item_id"]
    written = STUDY.read(params.profile, "responses", ("item_id", "responder"))
    # A file of judgments may have no texts, and still says whose they are.
    judged = tables.read(params.profile, "verdicts", STUDY.name, [dataset])["candidates"]
    there = {*written.loc[written["item_id"].isin(items), "responder"], *chain(*judged)}
    _refuse_strangers(rows, dataset, items, there)
    return {
        "labels": tables_of(rows, dataset, STUDY.name)["labels"],
        "truths": tables.empty("truths"),
    }


def _by_key(params: Params, dataset: str) -> dict[str, pd.DataFrame]:
    """Pairs of what is written here with each released answer, and which of them are right."""
    pair, parts = ["item_id", "responder"], (params.profile, "truths", STUDY.name, [dataset])
    items = tables.read(params.profile, "items", STUDY.name, [dataset], ("item_id", "metadata"))
    keys = {item: json.loads(held).get("key") for item, held in items.to_numpy()}
    released = tables.read(*parts)[[*pair, "score"]]
    mine = STUDY.read(params.profile, "responses", (*pair, "text"))
    new = ~pd.MultiIndex.from_frame(mine[pair]).isin(pd.MultiIndex.from_frame(released[pair]))
    mine = mine[mine["item_id"].map(keys).notna() & new]
    mine = mine.assign(option=mine["text"].map(option)).dropna(subset="option")
    mine["score"] = mine["option"].eq(mine["item_id"].map(keys)).astype(float)
    both = mine.merge(released, on="item_id", suffixes=("_a", "_b"))
    lead = both["score_a"] - both["score_b"]
    both["label"] = np.select([lead > 0, lead < 0], ["a", "b"], TIE)
    labels = both[["item_id", "responder_a", "responder_b", "label"]].assign(annotator=KEY)
    truths = mine[[*pair, "score"]]
    return {
        "labels": tables.fill(labels, "labels", study=STUDY.name),
        "truths": tables.fill(truths, "truths", study=STUDY.name, metric=CORRECT),
    }


def _refuse_strangers(
    frame: pd.DataFrame, dataset: str, items: pd.Series, responders: Collection[str]
) -> None:
    """End where a vote is not on two responders to an item of a data set."""
    strange = ~(f"{dataset}/" + frame["item"]).isin(items)
    refuse(frame, strange, f"item {{item}} is none of wataoka.datasets.{dataset}")
    for side in ("responder_a", "responder_b"):
        refuse(
            frame,
            ~frame[side].isin(responders),
            f"{side} {{{side}}} wrote no response to {dataset}; there are {{there}}",
            there=", ".join(sorted(responders)),
        )
