"""Rubric totals: their means, how many are at the top, and whether they agree with the choices."""

import numpy as np
import pandas as pd

from selfpref.prompts.rubric import TOP
from selfpref.studies.livebench.measure.panel import Panel

SCORES = ["category", "judge", "responder", "mean", "lo", "hi", "n", "saturated"]
RANKS = ["category", "judge", "n", "own_above", "own_tied", "own_below", "n_unique", "agreement"]


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


def score_ranks(panel: Panel) -> pd.DataFrame:
    """How a judge's total of itself compares with its totals of the others, on the same items.

    Returns:
        Columns `RANKS`: of n items with totals for all candidates, the share on which the judge's
        total for itself is above, equal to or below the best of the others; the number with one
        total above all others, and the share of these on which the judge also chose that response.
    """
    names = ["category", "judge", "item_id"]
    wide = rated(panel).pivot(index=names, columns="responder", values="score")
    choices = panel.choices.set_index(names)["choice"]
    rows = []
    for (category, judge), part in wide.groupby(level=["category", "judge"], sort=True):
        own = part.dropna(axis=1, how="all").dropna()
        if judge not in own or own.shape[1] < 2:
            continue
        ahead = np.sign(own[judge] - own.drop(columns=judge).max(axis=1))
        shares = [float(ahead.eq(side).mean()) for side in (1, 0, -1)]
        unique = own[own.eq(own.max(axis=1), axis=0).sum(axis=1).eq(1)]
        agreed = [row.idxmax() == choices.get(item) for item, row in unique.iterrows()]
        agreement = float(np.mean(agreed)) if agreed else np.nan
        rows.append((category, judge, len(own), *shares, len(unique), agreement))
    return pd.DataFrame(rows, columns=RANKS)


def stated_totals(panel: Panel) -> pd.DataFrame:
    """Totals that a reply states beside the sum of its own marks, where all can be read.

    Returns:
        `judge, n, stated, summed, differs`: means of both, and the share that differs.
    """
    ratings = panel.tables["ratings"]
    known = ratings[ratings["marks"].notna() & ratings["status"].eq("ok")]
    summed = known["marks"].map(sum).astype(float)
    rows = known.assign(stated=known["score"], summed=summed, differs=summed.ne(known["score"]))
    by_judge = rows.groupby("judge", sort=True)
    means = by_judge[["stated", "summed", "differs"]].mean()
    means.insert(0, "n", by_judge.size())
    return means.reset_index()
