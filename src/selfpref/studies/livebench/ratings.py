"""Rubric totals: their means, and how many are at the top."""

import pandas as pd

from selfpref.prompts.rubric import TOP
from selfpref.studies.livebench.panel import Panel

SCORES = ["category", "judge", "responder", "mean", "lo", "hi", "n", "saturated"]


def rated(panel: Panel) -> pd.DataFrame:
    """The mean total over repeats of each response: `item_id, responder, judge, score`, ..."""
    ratings = panel.tables["ratings"]
    rows = ratings[ratings["task"].eq("rubric") & ratings["status"].eq("ok")]
    key = ["item_id", "responder", "judge"]
    return rows.groupby(key, as_index=False)["score"].mean().merge(panel.items, on="item_id")


def scores(panel: Panel) -> pd.DataFrame:
    """Mean total of each judge for each responder, in the columns `SCORES`.

    `saturated` is the share of totals at the top of the rubric.
    """
    rows = []
    for names, part in rated(panel).groupby(["category", "judge", "responder"], sort=True):
        one = panel.bootstrap.mean(part["score"], part["cluster"], "score", *map(str, names))
        saturated = float(part["score"].ge(TOP).mean())
        rows.append((*names, one.value, one.lo, one.hi, len(part), saturated))
    return pd.DataFrame(rows, columns=SCORES)
