"""Rubric totals: their means, how many are at the top, and those of a judge's own responses.

Each response is marked alone, so that no place in a prompt plays a part.
"""

import pandas as pd

from selfpref.prompts.rubric import TOP
from selfpref.statistics import third
from selfpref.studies.livebench.excess import objective_scores
from selfpref.studies.livebench.panel import Panel, with_all

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


def third_judge(panel: Panel) -> pd.DataFrame:
    """Own responses that the key calls wrong, marked by their judge and by a third one.

    Returns:
        `category` (pooled: `all`), `scoring` (the reading of the key) and the columns `third.THIRD`
        (`selfpref.statistics.third`), in points of the rubric.
    """
    found = [pd.DataFrame(columns=["category", "scoring", *third.THIRD])]
    marks = with_all(rated(panel), "category")
    for scoring, key in objective_scores(panel).groupby("scoring"):
        keyed = marks[marks["item_id"].isin(key["item_id"])]
        for category, rows in keyed.groupby("category"):
            boot = panel.bootstrap.within(str(scoring), str(category))
            told = third.third_judge(rows, key, panel.judges, boot, margin=panel.margin)
            found.append(told.assign(category=category, scoring=scoring))
    return pd.concat(found, ignore_index=True)[[*found[0]]]
