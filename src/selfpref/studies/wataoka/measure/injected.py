"""How much of an injected bias is measured: beside it, the injected rule's and the oracle's.

In the synthetic testbed the labels that a judge was trained on follow a rule: quality plus a bonus
*beta* for its own style. Run on the very pairs that enter the measured bias (a rule's tie counting
half), that rule gives the *injected* bias (the column `planted`), and the rule without bonus the
*oracle rule's*: that of a judge without any preference. The latter is not zero, because the metric
moves with the quality of the judge's responses. Agreement of measured and injected bias is a check
of the metric; since beta is confounded with a style within one seed, it is no evidence of
self-preference.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from selfpref.statistics.bias import cell_weights, equal_opportunity, equal_opportunity_interval
from selfpref.statistics.bootstrap import cluster_sums, ratio
from selfpref.statistics.scores import Floats
from selfpref.statistics.shares import share_intervals
from selfpref.studies.wataoka.measure.judged import Judged

# The row of the judges that write, in `oracle_agreement`.
MEAN = "mean of families"
MARKS = ("measured", "planted", "oracle_rule")


def betas(data: Judged) -> pd.Series:
    """The injected bonus by judge; empty where nothing was injected."""
    truths = data.tables["truths"]
    return truths[truths["metric"].eq("beta")].set_index("responder")["score"]


def _gap(score: pd.Series, items: pd.Series, one: Sequence[str], two: Sequence[str]) -> Floats:
    """Score of one responder minus another's, item by item; NaN where one is not known."""
    first, second = (
        score.reindex(list(zip(items, names, strict=True))).to_numpy(float) for names in (one, two)
    )
    gap: Floats = np.round(first - second, 9)
    return gap


def rule_cells(data: Judged, judge: str) -> tuple[Floats, pd.Series]:
    """Cells of the judge, its injected rule and the oracle rule on the judge's decisive pairs.

    Returns:
        `[pairs, 3, 4]` in the order of `MARKS`, and the cluster of each pair.
    """
    own = data.own(judge)
    human_ties = data.settings.human_ties
    measured = cell_weights(own, human_ties, data.settings.judge_ties)
    own, measured = own[measured.sum(axis=1) > 0], measured[measured.sum(axis=1) > 0]
    cells = [measured]
    for metric in (f"rule-{judge}", "quality"):
        gap = _gap(data.truth(metric), own["item_id"], [judge] * len(own), own["opponent"])
        decided = own.assign(decision=(np.sign(gap) + 1) / 2)
        cells.append(cell_weights(decided, human_ties, "half"))
    return np.stack(cells, axis=1), own["cluster"]


def injected_bias(data: Judged) -> pd.DataFrame:
    """Measured, injected and oracle rule's EO of every judge with responses of its own.

    Returns:
        `dataset, judge, seed, beta`, the three marks with their intervals, `n`; no rows where
        nothing was injected.
    """
    bonus = betas(data)
    rows = []
    for judge in data.judges if len(bonus) else []:
        cells, clusters = rule_cells(data, judge)
        row = {"dataset": data.name, "judge": judge, "seed": int(data.name.rpartition("-")[2])}
        row["beta"] = float(bonus.get(judge, np.nan))
        for number, mark in enumerate(MARKS):
            found = equal_opportunity_interval(
                cells[:, number], clusters, data.bootstrap, judge, "planted", mark
            )
            row |= found.columns(mark)
        rows.append(row | {"n": len(cells)})
    return pd.DataFrame(rows)


def recovery(judged: list[Judged]) -> pd.DataFrame:
    """Correlation over judges of measured with injected bias, with the oracle rule and with beta.

    Prompts are resampled, judges are not: the interval is the noise of the measurement for these
    judges, not how other judges would turn out.

    Returns:
        `quantity, r, lo, hi, n` (judges with an injected bonus and a bias), `seeds`; no rows with
        fewer than three such judges.
    """
    blocks, bonus, seeds = [], [], []
    for data in judged:
        injected = betas(data)
        for judge in (name for name in data.judges if name in injected):
            cells, clusters = rule_cells(data, judge)
            if np.isnan(equal_opportunity(cells.sum(axis=0))).any():
                # Without both human outcomes a judge has no bias to correlate.
                continue
            blocks.append((cells, data.name + "/" + clusters.astype(str)))
            bonus.append(float(injected[judge]))
            seeds.append(data.name)
    if len(blocks) < 3:
        return pd.DataFrame()
    # The cells of each judge in their place among all: [pairs, marks, judges, 4].
    places = np.eye(len(blocks))[:, :, None]
    stacked = np.concatenate(
        [cells[:, :, None] * place for (cells, _), place in zip(blocks, places, strict=True)]
    )

    def correlations(totals: Floats) -> Floats:
        measured, injected, oracle = np.moveaxis(equal_opportunity(totals), -2, 0)
        against = (injected, oracle, np.broadcast_to(bonus, measured.shape))
        return np.stack([_pearson(measured, other) for other in against], axis=-1)

    clusters = pd.concat([names for _, names in blocks])
    bootstrap = judged[0].settings.bootstrap
    found = bootstrap.estimates(stacked, clusters, correlations, "recovery")
    return pd.DataFrame(
        {"quantity": f"measured with {quantity}", "r": r.value, "lo": r.lo, "hi": r.hi}
        | {"n": len(blocks), "seeds": len(set(seeds))}
        for quantity, r in zip(("planted", "oracle rule", "beta"), found, strict=True)
    )


def _pearson(a: Floats, b: Floats) -> Floats:
    a, b = (v - v.mean(axis=-1, keepdims=True) for v in (a, b))
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = (a * b).sum(-1) / np.sqrt((a**2).sum(-1) * (b**2).sum(-1))
    return result


def oracle_agreement(data: Judged) -> pd.DataFrame:
    """Share of pairs of unequal quality on which each judge agrees with the oracle.

    Returns:
        `dataset, judge, writes, prompts` (`held-out`, `seen`), `agreement, agreement_lo,
        agreement_hi, n`; the judge `mean of families` is the unweighted mean over those that
        write, its interval bootstrapped. No rows without a true quality.
    """
    score = data.truth("quality")
    if score.empty:
        return pd.DataFrame()
    pairs = data.pairs[data.pairs["decision"].notna()]
    metadata = data.tables["items"].set_index("item_id")["metadata"]
    rows = pairs.assign(
        gap=_gap(score, pairs["item_id"], pairs["first"], pairs["second"]),
        held_out=pairs["item_id"].map(metadata).str.contains('"held_out": true'),
    )
    rows = rows[rows["gap"].abs() > 0]
    agrees = np.where(rows["decision"] == 0.5, 0.5, rows["decision"].gt(0.5) == rows["gap"].gt(0))
    rows = rows.assign(agrees=agrees.astype(float))
    found = []
    for prompts, part in (("held-out", rows[rows["held_out"]]), ("seen", rows[~rows["held_out"]])):
        judges = sorted(set(part["judge"]))
        # Agreement and number of each judge: [pairs, judges, 2].
        mine = part["judge"].to_numpy()[:, None] == np.array(judges, dtype=object)
        stacked = np.stack([mine * part["agrees"].to_numpy()[:, None], mine], axis=-1)
        sums = cluster_sums(stacked, part["cluster"])
        shares = dict(zip(judges, share_intervals(sums, data.bootstrap.level), strict=True))
        writers = [judge in data.judges for judge in judges]
        if any(writers):
            (shares[MEAN],) = data.bootstrap.of_sums(
                sums[:, writers], _mean_ratio, "mean", prompts, "oracle"
            )
        counts = dict(zip(judges, stacked[..., 1].sum(axis=0), strict=True))
        counts[MEAN] = stacked[:, writers, 1].sum()
        found += [
            {"dataset": data.name, "judge": judge, "writes": judge == MEAN or judge in data.judges}
            | {"prompts": prompts, **share.columns("agreement"), "n": int(counts[judge])}
            for judge, share in shares.items()
        ]
    return pd.DataFrame(found)


def _mean_ratio(totals: Floats) -> Floats:
    result: Floats = ratio(totals).mean(axis=-1, keepdims=True)
    return result
