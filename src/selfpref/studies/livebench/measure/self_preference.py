"""The paired excess of a judge's choice of itself over the other judges' choices of it.

On each row on which judge J and at least one other judge chose among candidates with J's response:

    d = [J chose J] - mean over the others K of [K chose J]          excess = mean of d, -1..1

The quality of the responses is the same for all judges, and so is their position where all read one
order; what differs is whose response it is. Zero says that J chooses itself as often as the others
choose J.

p is that of a paired randomisation test: the sums of d by cluster change sign at random. It is
adjusted by Holm (1979) over a family of tests: all categories and judges together, and, apart from
these, all tasks of each judge.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from selfpref.statistics.bootstrap import cluster_sums
from selfpref.statistics.scores import Floats
from selfpref.studies.livebench.measure.panel import ALL, Panel, scopes

EXCESS = ["category", "task", "judge", "excess", "lo", "hi", "p_holm", "n"]


def holm(p: npt.ArrayLike) -> Floats:
    """p-values adjusted by Holm's step-down procedure; NaN is no test and stays NaN."""
    values = np.asarray(p, dtype=float)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    steps = np.arange(len(order), 0, -1)
    adjusted = np.full(len(values), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * steps), 1)
    return adjusted


def sign_flip_p(sums: Floats, flips: int, rng: np.random.Generator) -> float:
    """Two-sided p of "the sums are symmetric about zero", by random changes of their signs.

    Args:
        sums: One a cluster, `[clusters]`.
        flips: How many random assignments of signs.
        rng: Their source.

    Returns:
        (1 + assignments at least as extreme) / (1 + assignments); NaN without a cluster.
    """
    if not len(sums):
        return float("nan")
    sizes, counts = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    # Of c equal sums b keep their sign: their total is (2 b - c) times the size.
    kept = rng.binomial(counts, 0.5, size=(flips, len(counts)))
    totals = np.abs((2 * kept - counts) @ sizes)
    extreme = np.count_nonzero(totals >= abs(sums.sum()) - 1e-9)
    return float((1 + extreme) / (1 + flips))


def paired(rows: pd.DataFrame, judge: str) -> pd.DataFrame:
    """`cluster, own, others` of the rows that enter: did the judge, and how many others, choose it.

    Args:
        rows: As `Panel.choices`.
        judge: Whose response.
    """
    facing = rows[rows["choice"].notna() & rows["candidates"].map(lambda names: judge in names)]
    picked = facing.assign(picked=facing["choice"].eq(judge).astype(float))
    own = picked[picked["judge"].eq(judge)].set_index("item_id")[["cluster", "picked"]]
    others = picked[picked["judge"].ne(judge)].groupby("item_id")["picked"].mean()
    both = own.rename(columns={"picked": "own"}).join(others.rename("others"), how="inner")
    return both.sort_index()


def excess(panel: Panel) -> pd.DataFrame:
    """Excess of every judge that responds, by category and task, in the columns `EXCESS`."""
    found = []
    for category, task, part in scopes(panel.choices):
        for judge in sorted(set(part["judge"]) & set(panel.responders)):
            rows = paired(part, judge)
            if rows.empty:
                continue
            names = ("excess", category, task, judge)
            difference = rows["own"] - rows["others"]
            one = panel.mean(difference, rows["cluster"], *names)
            sums = cluster_sums(difference.to_numpy(), rows["cluster"])
            p = sign_flip_p(sums, panel.settings.bootstrap.resamples, panel.stream("p", *names))
            found.append((category, task, judge, one.value, one.lo, one.hi, p, len(rows)))
    table = pd.DataFrame(found, columns=EXCESS)
    whole = table["task"].eq(ALL)
    families = [whole, *(~whole & table["judge"].eq(judge) for judge in set(table["judge"]))]
    adjusted = table["p_holm"].to_numpy(copy=True)
    for family in families:
        adjusted[family] = holm(table.loc[family, "p_holm"])
    return table.assign(p_holm=adjusted)
