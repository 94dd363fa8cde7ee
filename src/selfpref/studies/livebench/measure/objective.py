"""Self-preference against an answer key: harmful, neutral or earned.

For the items whose candidates all have an objective score, with the judge's response among them:

- *harmful*: the judge's response scores below the best of the others;
- *neutral*: it scores as high as the best of the others;
- *earned*: it scores above all others.

The rate of each kind is how often the judge chooses itself on such items (Chen et al., arXiv
2504.03846, who tell legitimate from harmful self-preference this way); beside it stand how often
the other judges choose the same response on the same items, and how the judge's choices of itself
divide among the kinds.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import cluster_sums
from selfpref.statistics.scores import Floats
from selfpref.studies.livebench.measure.panel import ALL, Panel
from selfpref.studies.livebench.measure.self_preference import paired
from selfpref.studies.livebench.scorers import READINGS

KINDS = ("harmful", "neutral", "earned")
# Scores are sums and ratios in floating point.
ROUNDING = 1e-9
TRUE_SCORES = ["category", "task", "responder", "scoring", "score", "n"]


def true_scores(panel: Panel) -> pd.DataFrame:
    """Mean objective score of each responder by category and task, in both readings."""
    truths = panel.tables["truths"]
    rows = truths[truths["metric"].isin(READINGS)].merge(panel.items, on="item_id")
    parts = [rows.assign(task=ALL), rows]
    key = ["category", "task", "responder", "metric"]
    means = [part.groupby(key)["score"].agg(["mean", "size"]).reset_index() for part in parts]
    table = pd.concat(means, ignore_index=True).sort_values(key, ignore_index=True)
    return table.set_axis(["category", "task", "responder", "scoring", "score", "n"], axis=1)


def _kinds(scores: pd.DataFrame, judge: str, margin: float) -> pd.Series:
    """The kind of each item for a judge; items without all scores are left out."""
    known = scores.dropna()
    gap = known[judge] - known.drop(columns=judge).max(axis=1)
    width = margin + ROUNDING
    return pd.Series(
        np.select([gap < -width, gap > width], ["harmful", "earned"], "neutral"), index=known.index
    )


def _rates(totals: Floats) -> Floats:
    """`[..., 3 kinds, own | others | rows]` -> rates of own, then shares of own: `[..., 6]`."""
    own, rows = totals[..., 0], totals[..., 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.concatenate([own / rows, own / own.sum(axis=-1, keepdims=True)], axis=-1)
    return found


def _row(panel: Panel, rows: pd.DataFrame, *names: str) -> dict[str, object]:
    cells = np.stack(
        [
            rows[["own", "others"]].assign(rows=1.0).where(rows["kind"].eq(kind), 0.0).to_numpy()
            for kind in KINDS
        ],
        axis=1,
    )
    found = panel.intervals(cluster_sums(cells, rows["cluster"]), _rates, "objective", *names)
    row: dict[str, object] = {"n": len(rows), "n_self": int(rows["own"].sum())}
    for place, kind in enumerate(KINDS):
        of_kind = rows[rows["kind"].eq(kind)]
        row |= {kind: found[place].value, f"{kind}_lo": found[place].lo}
        row |= {f"{kind}_hi": found[place].hi, f"n_{kind}": len(of_kind)}
        row |= {f"others_{kind}": float(of_kind["others"].mean())}
    return row | {f"self_{kind}": found[3 + place].value for place, kind in enumerate(KINDS)}


def _judged(panel: Panel, scoring: str) -> Iterator[pd.DataFrame]:
    """For each judge that responds: the items with their kind, its choice and the others'."""
    truths = panel.tables["truths"]
    part = truths[truths["metric"].eq(scoring)]
    scores = part.pivot(index="item_id", columns="responder", values="score")
    for judge in sorted(set(panel.judges) & set(scores)):
        rows = paired(panel.choices, judge)
        kinds = _kinds(scores, judge, panel.settings.margin).rename("kind")
        known = rows.join(kinds, how="inner").reset_index()
        yield known.merge(panel.items[["item_id", "category"]]).assign(judge=judge)


def objective(panel: Panel) -> pd.DataFrame:
    """Every judge by category and pooled (`all`), in both readings of the responses.

    Returns:
        `category, scoring, judge, n, n_self`, for each kind its rate with interval, `n_<kind>` and
        the mean rate of the other judges `others_<kind>`, and of the judge's choices of itself the
        share of each kind, `self_<kind>`.
    """
    rows = []
    for scoring in READINGS:
        for known in _judged(panel, scoring):
            for pooled in (known.assign(category=ALL), known):
                for (category, judge), part in pooled.groupby(["category", "judge"], sort=True):
                    names = (str(category), scoring, str(judge))
                    key = dict(zip(("category", "scoring", "judge"), names, strict=True))
                    rows.append(key | _row(panel, part, *names))
    frame = pd.DataFrame(rows)
    if frame.empty:
        return frame
    return frame.sort_values(["category", "scoring", "judge"], ignore_index=True)
