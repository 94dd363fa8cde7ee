"""Agreement among the judges: Fleiss' kappa and the share of unanimous rows.

For rows that all m judges of a category decided, with n_ij choices of option j on row i (the
responders, and a tie as an option of its own):

    P_i = sum_j n_ij (n_ij - 1) / (m (m - 1))        P_e = sum_j (share of option j)^2
    kappa = (mean P_i - P_e) / (1 - P_e)                               (Fleiss 1971)

Kappa is 1 for unanimity and 0 for independent judges with these shares of options.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import bounds, cluster_sums
from selfpref.statistics.scores import Floats
from selfpref.studies.livebench.measure.panel import Panel, scopes

AGREEMENT = [
    *("category", "task", "judges", "kappa", "kappa_lo", "kappa_hi"),
    *("unanimous", "unanimous_lo", "unanimous_hi", "n", "n_dropped"),
]


def kappa_and_unanimity(totals: Floats) -> Floats:
    """From sums over rows to both statistics.

    Args:
        totals: `[..., options + 3]`: choices of each option, sum of P_i, unanimous rows, rows.

    Returns:
        `[..., 2]`; kappa is NaN where all choices are of one option.
    """
    options, agreed, unanimous, rows = (
        totals[..., :-3],
        totals[..., -3],
        totals[..., -2],
        totals[..., -1],
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = options / options.sum(axis=-1, keepdims=True)
        chance = (parts**2).sum(axis=-1)
        kappa = np.where(chance < 1, (agreed / rows - chance) / (1 - chance), np.nan)
        found: Floats = np.stack([kappa, unanimous / rows], axis=-1)
    return found


def agreement(panel: Panel) -> pd.DataFrame:
    """Both statistics by category and task, in the columns `AGREEMENT`."""
    rows = []
    for category, task, part in scopes(panel.choices):
        judges = part["judge"].nunique()
        wide = part.pivot(index=["item_id", "cluster"], columns="judge", values="choice")
        complete = wide.dropna()
        if judges < 2 or complete.empty:
            continue
        options = sorted(set(complete.to_numpy().ravel()))
        counts = np.stack([complete.eq(name).sum(axis=1) for name in options], axis=-1)
        agreed = (counts * (counts - 1)).sum(axis=1) / (judges * (judges - 1))
        unanimous = (counts == judges).any(axis=1)
        values = np.column_stack([counts, agreed, unanimous, np.ones(len(counts))])
        clusters = complete.index.to_frame(index=False)["cluster"]
        sums = cluster_sums(values.astype(float), clusters)
        kappa, same = panel.intervals(sums, kappa_and_unanimity, "agreement", category, task)
        row = {"category": category, "task": task, "judges": judges, "n": len(complete)}
        row |= bounds("kappa", kappa) | bounds("unanimous", same)
        rows.append(row | {"n_dropped": len(wide) - len(complete)})
    return pd.DataFrame(rows, columns=AGREEMENT)
