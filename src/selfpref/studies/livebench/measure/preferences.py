"""How often each judge chose each responder, and what became of the other rows.

    share(judge, responder) = rows on which the judge chose the responder / rows with a verdict

A tie is a verdict, so shares may sum to less than one; a verdict that failed is none.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import cluster_sums
from selfpref.studies.livebench.measure.panel import Panel, scopes, shares

SHARES = ["category", "task", "judge", "responder", "share", "lo", "hi", "n"]


def preference_shares(panel: Panel) -> pd.DataFrame:
    """The shares of every judge, by category and task, in the columns `SHARES`."""
    rows = []
    for category, task, part in scopes(panel.choices):
        for judge, own in part.groupby("judge", sort=True):
            names = sorted({name for candidates in own["candidates"] for name in candidates})
            valid = own[own["choice"].notna()]
            chosen = [valid["choice"].eq(name).to_numpy(dtype=float) for name in names]
            sums = cluster_sums(np.column_stack([*chosen, np.ones(len(valid))]), valid["cluster"])
            found = panel.intervals(sums, shares, "share", category, task, str(judge))
            rows += [
                (category, task, judge, name, one.value, one.lo, one.hi, len(valid))
                for name, one in zip(names, found, strict=True)
            ]
    return pd.DataFrame(rows, columns=SHARES)


def outcomes(panel: Panel) -> pd.DataFrame:
    """What every row of every judge came to: `category, task, judge, outcome, n`."""
    rows = [
        part.groupby(["judge", "outcome"])
        .size()
        .rename("n")
        .reset_index()
        .assign(category=category, task=task)
        for category, task, part in scopes(panel.choices)
    ]
    columns = ["category", "task", "judge", "outcome", "n"]
    return pd.concat([pd.DataFrame(columns=columns), *rows], ignore_index=True)[columns]
