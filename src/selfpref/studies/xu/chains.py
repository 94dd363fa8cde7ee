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

_BOILERPLATE = (
    r"^\W*(?:sure|certainly|of course|okay|here(?:'s|’s| is| are))\b"
    r"|\b(?:here(?:'s|’s| is)|improved)\b.{0,60}\b(?:translation|sentence)\b.{0,20}:"
)


def cells(rows: pd.DataFrame) -> pd.DataFrame:
    """What the checks find in each cell, and whether it is mismatched.

    Args:
        rows: One row an item, responder and step, with `condition, language`: `text, reply, status,
            score` (the own score, NaN where missing), `truth` (NaN where missing) and `fine`
            (whether two texts hardly ever have the same truth, as with an unrounded neural metric).

    Returns:
        The cell, `n`, and how many rows have: `boilerplate` (the text opens with, or announces, a
        translation in the model's own words), `blocked_texts, empty_texts, unusable` (feedback);
        and since the step before `text_changed, rescored` (the same text, other feedback),
        `self_decreased`, `text_without_truth` and `truth_without_text` (only one of both changed),
        none of which is at a step whose predecessor is not there; `contaminated`.
    """
    rows = rows.sort_values(["item_id", "responder", "step"], ignore_index=True)
    chain = rows.groupby(["item_id", "responder"], sort=False)
    before = chain[["step", "text", "reply", "score", "truth"]].shift()
    linked = before["step"].eq(rows["step"] - 1)
    # A source that kept scores only says nothing about changes of the text.
    known = linked & rows["text"].notna() & before["text"].notna()
    changed = known & rows["text"].ne(before["text"])
    moved = (rows["truth"] - before["truth"]).abs()
    text = rows["text"].fillna("")
    found = {
        "n": rows["item_id"].notna(),
        "boilerplate": text.str.contains(_BOILERPLATE, flags=re.IGNORECASE),
        "blocked_texts": text.str.contains(BLOCKED, regex=False),
        "empty_texts": rows["text"].notna() & text.str.strip().eq(""),
        "unusable": rows["status"].ne("ok"),
        "text_changed": changed,
        "rescored": known & ~changed & rows["reply"].ne(before["reply"]),
        "self_decreased": linked & rows["score"].lt(before["score"]),
        "text_without_truth": changed & rows["fine"] & moved.le(ROUNDING),
        "truth_without_text": known & ~changed & moved.gt(ROUNDING),
    }
    counts = pd.DataFrame(found).groupby([rows[name] for name in CELL]).sum().astype("int64")
    moved = counts["truth_without_text"].groupby(CELL[:3]).cumsum() > 0
    spoilt = counts["boilerplate"] >= BOILERPLATE * counts["n"]
    return counts.assign(contaminated=moved | spoilt).reset_index()
