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

from selfpref.statistics.bias import (
    cell_weights,
    equal_opportunity,
    equal_opportunity_interval,
    gap,
)
from selfpref.statistics.bootstrap import Floats, bounded, cluster_sums, ratio
from selfpref.statistics.judged import Judged
from selfpref.statistics.regression import pearson
from selfpref.statistics.shares import share_intervals

# The row of the judges that write, in `oracle_agreement`.
MEAN = "mean of families"
MARKS = ("measured", "planted", "oracle_rule")
PLANTED = ["dataset", "judge", "seed", "beta", *bounded(*MARKS), "n"]
RECOVERY = ["quantity", "r", "lo", "hi", "n", "seeds"]
AGREEMENT = ["dataset", "judge", "writes", "prompts", *bounded("agreement"), "n"]


def rule_cells(data: Judged, judge: str) -> tuple[Floats, pd.Series]:
    """Cells of the judge, its injected rule and the oracle rule on the judge's decisive pairs.

    Returns:
        `[pairs, 3, 4]` in the order of `MARKS`, and the cluster of each pair.
    """
    own = data.own(judge)
    own = own[data.cells(own).sum(axis=1) > 0]
    cells = [data.cells(own)]
    for metric in (f"rule-{judge}", "quality"):
        lead = gap(data.truth(metric), own, "judge", "opponent").round(9)
        decided = own.assign(decision=(np.sign(lead) + 1) / 2)
        cells.append(cell_weights(decided, data.settings.human_ties, "half"))
    return np.stack(cells, axis=1), own["cluster"]


def planted(sets: Sequence[Judged]) -> pd.DataFrame:
    """Measured, injected and oracle rule's EO of every judge with responses of its own.

    Returns:
        `dataset, judge, seed, beta`, the three marks with their intervals, `n`; no rows where
        nothing was injected.
    """
    rows = []
    for data in sets:
        betas = data.betas
        for judge in data.judges if len(betas) else ():
            cells, clusters = rule_cells(data, judge)
            row = {"dataset": data.name, "judge": judge, "seed": int(data.name.rpartition("-")[2])}
            row |= {"beta": float(betas.get(judge, np.nan)), "n": len(cells)}
            for number, mark in enumerate(MARKS):
                found = equal_opportunity_interval(
                    cells[:, number], clusters, data.bootstrap, judge, "planted", mark
                )
                row |= found.columns(mark)
            rows.append(row)
    return pd.DataFrame(rows, columns=PLANTED)


def recovery(sets: Sequence[Judged]) -> pd.DataFrame:
    """Correlation over judges of measured with injected bias, with the oracle rule and with beta.

    Prompts are resampled, judges are not: the interval is the noise of the measurement for these
    judges, not how other judges would turn out.

    Returns:
        `quantity, r, lo, hi, n` (judges with an injected bonus and a bias), `seeds`; no rows with
        fewer than three such judges.
    """
    blocks, names, bonus, seeds = [], [], [], []
    for data in sets:
        betas = data.betas
        for judge in (name for name in data.judges if name in betas):
            cells, clusters = rule_cells(data, judge)
            # Without both human outcomes a judge has no bias to correlate.
            if not np.isnan(equal_opportunity(cells.sum(axis=0))).any():
                blocks.append(cells)
                names.append(data.name + "/" + clusters.astype(str))
                bonus.append(float(betas[judge]))
                seeds.append(data.name)
    if len(blocks) < 3:
        return pd.DataFrame(columns=RECOVERY)
    # The cells of each judge in their place among all: [pairs, marks, judges, 4].
    places = np.eye(len(blocks))[:, :, None]
    stacked = np.concatenate(
        [cells[:, :, None] * place for cells, place in zip(blocks, places, strict=True)]
    )

    def correlations(totals: Floats) -> Floats:
        measured, injected, oracle = np.moveaxis(equal_opportunity(totals), -2, 0)
        against = (injected, oracle, np.broadcast_to(bonus, measured.shape))
        return np.stack([pearson(measured, other) for other in against], axis=-1)

    bootstrap = sets[0].settings.bootstrap
    found = bootstrap.estimates(stacked, pd.concat(names), correlations, "recovery")
    rows = [
        {"quantity": f"measured with {quantity}", "r": r.value, "lo": r.lo, "hi": r.hi}
        | {"n": len(blocks), "seeds": len(set(seeds))}
        for quantity, r in zip(("planted", "oracle rule", "beta"), found, strict=True)
    ]
    return pd.DataFrame(rows, columns=RECOVERY)


def oracle_agreement(sets: Sequence[Judged]) -> pd.DataFrame:
    """Share of pairs of unequal quality on which each judge agrees with the oracle.

    Returns:
        `dataset, judge, writes, prompts` (`held-out`, `seen`), `agreement, agreement_lo,
        agreement_hi, n`; the judge `mean of families` is the unweighted mean over those that
        write, its interval bootstrapped. No rows without a true quality.
    """
    rows: list[dict[str, object]] = []
    for data in sets:
        pairs = data.pairs[data.pairs["decision"].notna()]
        lead = gap(data.truth("quality"), pairs).round(9)
        pairs, lead = pairs[lead.abs() > 0], lead[lead.abs() > 0]
        agrees = np.where(
            pairs["decision"] == 0.5, 0.5, pairs["decision"].gt(0.5) == lead.gt(0)
        ).astype(float)
        metadata = data.tables["items"].set_index("item_id")["metadata"]
        held_out = pairs["item_id"].map(metadata).str.contains('"held_out": true')
        for prompts, which in (("held-out", held_out), ("seen", ~held_out)):
            part = pairs[which].assign(agrees=agrees[which])
            rows += [
                {"dataset": data.name, "prompts": prompts, **row}
                for row in _agreements(data, part, prompts)
            ]
    return pd.DataFrame(rows, columns=AGREEMENT)


def _agreements(data: Judged, pairs: pd.DataFrame, prompts: str) -> list[dict[str, object]]:
    """Every judge's share of pairs on which it agrees, and the mean of those that write."""
    judges = sorted(set(pairs["judge"]))
    # Agreement and number of each judge: [pairs, judges, 2].
    mine = pairs["judge"].to_numpy()[:, None] == np.array(judges, dtype=object)
    stacked = np.stack([mine * pairs["agrees"].to_numpy()[:, None], mine], axis=-1)
    sums = cluster_sums(stacked, pairs["cluster"])
    counts = dict(zip(judges, stacked[..., 1].sum(axis=0), strict=True))
    shares = dict(zip(judges, share_intervals(sums, data.bootstrap.level), strict=True))
    if any(writers := [judge in data.judges for judge in judges]):
        counts[MEAN] = stacked[:, writers, 1].sum()
        (shares[MEAN],) = data.bootstrap.of_sums(
            sums[:, writers], _mean_ratio, "mean", prompts, "oracle"
        )
    return [
        {"judge": judge, "writes": judge == MEAN or judge in data.judges}
        | {**share.columns("agreement"), "n": int(counts[judge])}
        for judge, share in shares.items()
    ]


def _mean_ratio(totals: Floats) -> Floats:
    result: Floats = ratio(totals).mean(axis=-1, keepdims=True)
    return result
