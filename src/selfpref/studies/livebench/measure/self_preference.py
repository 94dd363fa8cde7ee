"""Self-preference: a judge's choices of itself beside the others' choices of it, and by answer key.

Over the rows on which judge J and at least one other judge chose among candidates with J's response

    d = [J chose J] - mean over the others K of [K chose J]          excess = mean of d, -1..1

The quality of the responses is the same for all judges, and so is their position where all read one
order; what differs is whose response it is. Zero says that J chooses itself as often as the others
choose J. p is that of a paired randomisation test: the sums of d by cluster change sign at random.
It is adjusted by Holm (1979) over a family of tests: all categories and judges together, and, apart
from these, all tasks of each judge.

By the answer key, on items whose candidates all have an objective score, a preference for itself is

- *harmful* where the judge's response scores below the best of the others;
- *neutral* where it scores as high as the best of the others;
- *legitimate* where it scores above all others (the word of W.-L. Chen et al., arXiv 2504.03846).

The rate of each kind is how often the judge chooses itself on such items; beside it are how often
the other judges choose the same response on the same items, and how the judge's choices of itself
divide among the kinds. The rates are shares, and their intervals Wilson's
(`selfpref.statistics.shares`).
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from selfpref.statistics.bootstrap import cluster_sums
from selfpref.statistics.scores import Floats
from selfpref.statistics.shares import share_interval
from selfpref.studies.livebench.measure.panel import ALL, Panel, scopes
from selfpref.studies.livebench.scorers import READINGS

EXCESS = ["category", "task", "judge", "excess", "lo", "hi", "p_holm", "n"]
KINDS = ("harmful", "neutral", "legitimate")
OBJECTIVE = [
    *("category", "scoring", "judge", "n", "n_self"),
    *(
        column
        for kind in KINDS
        for column in (kind, f"{kind}_lo", f"{kind}_hi", f"n_{kind}", f"others_{kind}")
    ),
    *(f"self_{kind}" for kind in KINDS),
]
TRUE_SCORES = ["category", "task", "responder", "scoring", "score", "n"]
# Scores are sums and ratios in floating point.
ROUNDING = 1e-9


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
    own_rows = rows[rows["choice"].notna() & rows["candidates"].map(lambda names: judge in names)]
    picked = own_rows.assign(picked=own_rows["choice"].eq(judge).astype(float))
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
            one = panel.bootstrap.mean(difference, rows["cluster"], *names)
            sums = cluster_sums(difference.to_numpy(), rows["cluster"])
            p = sign_flip_p(sums, panel.bootstrap.resamples, panel.bootstrap.rng("p", *names))
            found.append((category, task, judge, one.value, one.lo, one.hi, p, len(rows)))
    table = pd.DataFrame(found, columns=EXCESS)
    families = table["judge"].mask(table["task"].eq(ALL), ALL)
    table["p_holm"] = table.groupby(families)["p_holm"].transform(holm)
    return table


def true_scores(panel: Panel) -> pd.DataFrame:
    """Mean objective score of each responder by category and task, in both readings."""
    truths = panel.tables["truths"]
    rows = truths[truths["metric"].isin(READINGS)].merge(panel.items, on="item_id")
    key = ["category", "task", "responder", "metric"]
    means = pd.concat([rows.assign(task=ALL), rows]).groupby(key)["score"].agg(["mean", "size"])
    return means.reset_index().set_axis(TRUE_SCORES, axis=1)


def _by_kind(panel: Panel, scoring: str, judge: str) -> pd.DataFrame:
    """The items with objective scores of all, as `paired`, with `category` and `kind`."""
    truths = panel.tables["truths"]
    part = truths[truths["metric"].eq(scoring)]
    scores = part.pivot(index="item_id", columns="responder", values="score").dropna()
    gap = scores[judge] - scores.drop(columns=judge).max(axis=1)
    width = panel.settings.margin + ROUNDING
    kinds = np.select([gap < -width, gap > width], [KINDS[0], KINDS[2]], KINDS[1])
    known = paired(panel.choices, judge).join(pd.Series(kinds, gap.index, name="kind"), how="inner")
    return known.reset_index().merge(panel.items[["item_id", "category"]])


def _objective_row(rows: pd.DataFrame, level: float) -> dict[str, object]:
    row: dict[str, object] = {"n": len(rows), "n_self": int(rows["own"].sum())}
    of_itself = {}
    for kind in KINDS:
        part = rows[rows["kind"].eq(kind)]
        row |= share_interval(part["own"], part["cluster"], level).columns(kind)
        row |= {f"n_{kind}": len(part), f"others_{kind}": part["others"].mean()}
        share = part["own"].sum() / rows["own"].sum() if row["n_self"] else np.nan
        of_itself[f"self_{kind}"] = share
    return row | of_itself


def objective(panel: Panel) -> pd.DataFrame:
    """Every judge by category and pooled (`all`), in both readings of the responses.

    Returns:
        The columns `OBJECTIVE`: for each kind its rate with interval, `n_<kind>` and
        the mean rate of the other judges `others_<kind>`, and of the judge's choices of itself the
        share of each kind, `self_<kind>`.
    """
    truths = panel.tables["truths"]
    rows = []
    for scoring in READINGS:
        scored = set(truths.loc[truths["metric"].eq(scoring), "responder"])
        for judge in sorted(scored & set(panel.judges)):
            known = _by_kind(panel, scoring, judge)
            for category, part in [(ALL, known), *known.groupby("category")]:
                if len(part):
                    key = {"category": category, "scoring": scoring, "judge": judge}
                    rows.append(key | _objective_row(part, panel.bootstrap.level))
    frame = pd.DataFrame(rows, columns=OBJECTIVE)
    return frame.sort_values(["category", "scoring", "judge"], ignore_index=True)
