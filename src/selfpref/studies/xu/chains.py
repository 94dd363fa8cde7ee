"""What must hold along a chain of refinement, and where a source breaks it.

A chain is one responder's texts of one item, step by step. Each step refines the one before it,
and is kept only if the responder, as its own judge, scores it higher; else text and feedback stay:

- the own score never falls;
- where the text stays, its true score stays, and where the text changes, that of a neural metric
  changes (two texts hardly ever score alike to the last digit);
- a text holds a translation, not the model's words about one (*boilerplate*).

A *cell* is one step of one responder in one language. It is mismatched (`contaminated`) if its
texts are not what was scored: boilerplate in a tenth of them or more (a parser that failed), or a
true score that moved, at this step or an earlier one, although its text had not (scores of another
run).
"""

import re

import pandas as pd

from selfpref.studies.xu.feedback import BLOCKED

CELL = ["condition", "language", "responder", "step"]
# Cells with at least this share of boilerplate are mismatched.
BOILERPLATE = 0.1
# Two runs of a metric on one text differ by rounding only.
ROUNDING = 1e-6

_BOILERPLATE = re.compile(
    r"^\W*(?:sure|certainly|of course|okay|here(?:'s|’s| is| are))\b"
    r"|\b(?:here(?:'s|’s| is)|improved)\b.{0,60}\b(?:translation|sentence)\b.{0,20}:",
    re.IGNORECASE,
)
# Conditions: the best of so many candidates, and the paraphrase of a translator's text.
BEST = "best-of-"
PARAPHRASE = "paraphrase/"
# The variant of ratings of kept texts that were read afresh, by draws that selected nothing.
RESCORED = "rescored"
COUNTS = (
    "boilerplate",
    "blocked_texts",
    "empty_texts",
    "unusable",
    "text_changed",
    "rescored",
    "self_decreased",
    "text_without_truth",
    "truth_without_text",
)


def boilerplate(text: str) -> bool:
    """Whether a text opens with, or announces, a translation in the model's own words."""
    return _BOILERPLATE.search(text) is not None


def addressed(item_ids: pd.Series) -> pd.DataFrame:
    """What an item's name holds: `<condition>/<language>/<sentence>`, the condition often empty.

    Args:
        item_ids: Such as `yor-en/12` or `best-of-8/yor-en/12`.

    Returns:
        `condition, language`; a condition may hold slashes itself.
    """
    found = item_ids.astype("str").str.extract(
        r"^(?:(?P<condition>.+)/)?(?P<language>[^/]+)/[^/]+$"
    )
    return found.fillna("")


def under_conditions(items: pd.DataFrame, item_ids: pd.Series) -> pd.DataFrame:
    """The items table with a row for every item that occurs under a condition.

    Args:
        items: The items table; a source may name items under conditions itself.
        item_ids: Those that occur in other tables, such as `accept-all/lab-en/12`.
    """
    named = pd.DataFrame({"item_id": sorted(set(item_ids) - set(items["item_id"]))}, dtype="str")
    where = addressed(named["item_id"])
    named["plain"] = where["language"] + "/" + named["item_id"].str.rsplit("/", n=1).str[-1]
    plain = items.rename(columns={"item_id": "plain"})
    added = named.merge(plain, on="plain").reindex(columns=list(items))
    return pd.concat([items, added], ignore_index=True)


def links(rows: pd.DataFrame) -> pd.DataFrame:
    """Each row beside its predecessor.

    Args:
        rows: One row an item, responder and step: `item_id, responder, step, text, reply, score`
            (the own score, NaN where missing), `truth` (NaN where missing) and `fine` (whether two
            texts hardly ever have the same truth, as with an unrounded neural metric).

    Returns:
        The rows with what happened since the step before: `text_changed`, `rescored` (the same
        text, other feedback), `self_decreased`, `text_without_truth` and `truth_without_text` (only
        one of both changed). Nothing has at a step whose predecessor is not there.
    """
    rows = rows.sort_values(["item_id", "responder", "step"], ignore_index=True)
    chain = rows.groupby(["item_id", "responder"], sort=False)
    before = chain[["step", "text", "reply", "score", "truth"]].shift()
    linked = before["step"].eq(rows["step"] - 1)
    # A source that kept scores only says nothing about changes of the text.
    known = linked & rows["text"].notna() & before["text"].notna()
    changed = known & rows["text"].ne(before["text"])
    moved = (rows["truth"] - before["truth"]).abs()
    return rows.assign(
        text_changed=changed,
        rescored=known & ~changed & rows["reply"].ne(before["reply"]),
        self_decreased=linked & rows["score"].lt(before["score"]),
        text_without_truth=changed & rows["fine"] & moved.le(ROUNDING),
        truth_without_text=known & ~changed & moved.gt(ROUNDING),
    )


def cells(rows: pd.DataFrame) -> pd.DataFrame:
    """What the checks find in each cell.

    Args:
        rows: As `links` takes them, with `condition`, `language` and `status`.

    Returns:
        The cell, `n`, a column for each of `COUNTS`, and `contaminated`.
    """
    rows = links(rows)
    text = rows["text"].fillna("")
    rows = rows.assign(
        boilerplate=text.map(boilerplate),
        blocked_texts=text.str.contains(BLOCKED, regex=False),
        empty_texts=rows["text"].notna() & text.str.strip().eq(""),
        unusable=rows["status"].ne("ok"),
    )
    grouped = rows.groupby(CELL, sort=True)
    found = grouped[list(COUNTS)].sum().astype("int64")
    found.insert(0, "n", grouped.size())
    moved = found["truth_without_text"].groupby(CELL[:3]).cumsum() > 0
    spoilt = found["boilerplate"] >= BOILERPLATE * found["n"]
    return found.assign(contaminated=moved | spoilt).reset_index()
