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

from selfpref.statistics import bias
from selfpref.statistics.bootstrap import Floats, Groups, bounded, ratio
from selfpref.statistics.judged import Judged
from selfpref.statistics.regression import pearson
from selfpref.statistics.shares import group_shares
from selfpref.studies.wataoka.pairs import each_judge

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
        lead = bias.gap(data.truth(metric), own, "judge", "opponent").round(9)
        decided = own.assign(decision=(np.sign(lead) + 1) / 2)
        cells.append(bias.cell_weights(decided, data.settings.human_ties, "half"))
    return np.stack(cells, axis=1), own["cluster"]


def planted(sets: Sequence[Judged]) -> pd.DataFrame:
    """Measured, injected and oracle rule's EO of every judge with responses of its own.

    Returns:
        `dataset, judge, seed, beta`, the three marks with their intervals, `n`; no rows where
        nothing was injected.
    """
    rows = []
    for key, data, judge, _ in each_judge([data for data in sets if len(data.betas)]):
        cells, clusters = rule_cells(data, judge)
        row = key | {"seed": int(data.name.rpartition("-")[2]), "n": len(cells)}
        row["beta"] = float(data.betas.get(judge, np.nan))
        for mark, part in zip(MARKS, np.moveaxis(cells, 1, 0), strict=True):
            place = part, clusters, data.bootstrap, judge, "planted", mark
            row |= bias.equal_opportunity_interval(*place).columns(mark)
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
    blocks, names, bonus = [], [], []
    for _, data, judge, _ in each_judge(sets):
        cells, clusters = rule_cells(data, judge)
        # Without both human outcomes a judge has no bias to correlate.
        if judge in data.betas and not np.isnan(bias.equal_opportunity(cells.sum(axis=0))).any():
            blocks.append(cells)
            names.append(data.name + "/" + clusters.astype(str))
            bonus.append(float(data.betas[judge]))
    if len(blocks) < 3:
        return pd.DataFrame(columns=RECOVERY)
    # The cells of each judge in their place among all: [pairs, marks, judges, 4].
    places = np.eye(len(blocks))[:, :, None]
    stacked = [cells[:, :, None] * place for cells, place in zip(blocks, places, strict=True)]

    def correlations(totals: Floats) -> Floats:
        measured, injected, oracle = np.moveaxis(bias.equal_opportunity(totals), -2, 0)
        against = (injected, oracle, np.broadcast_to(bonus, measured.shape))
        return np.stack([pearson(measured, other) for other in against], axis=-1)

    clusters, bootstrap = pd.concat(names), sets[0].settings.bootstrap
    found = bootstrap.estimates(np.concatenate(stacked), clusters, correlations, "recovery")
    seeds = len({name.partition("/")[0] for name in clusters})
    rows = [
        (f"measured with {quantity}", r.value, r.lo, r.hi, len(blocks), seeds)
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
    found = [pd.DataFrame(columns=AGREEMENT)]
    for data in sets:
        metadata = data.tables["items"].set_index("item_id")["metadata"]
        lead, decision = bias.gap(data.truth("quality"), data.pairs), data.pairs["decision"]
        held_out = data.pairs["item_id"].map(metadata).str.contains('"held_out": true')
        agrees = decision.gt(0.5).eq(lead.gt(0)).astype(float).mask(decision.eq(0.5), 0.5)
        pairs = data.pairs.assign(agrees=agrees, prompts=np.where(held_out, "held-out", "seen"))
        for prompts, part in pairs[decision.notna() & lead.round(9).abs().gt(0)].groupby("prompts"):
            table = group_shares(part, ["judge"], "agrees", data.bootstrap.level)
            table["writes"] = table["judge"].isin(data.judges)
            if table["writes"].any():
                sums = Groups.of(part, ["judge"], "agrees").sums[:, table["writes"]]
                names = "mean", str(prompts), "oracle"
                (mean,) = data.bootstrap.of_sums(sums, _mean_ratio, *names)
                values = MEAN, mean.value, mean.lo, mean.hi, int(sums[..., 1].sum()), True
                table.loc[len(table)] = values
            table.columns = ["judge", *bounded("agreement"), "n", "writes"]
            found.append(table.assign(dataset=data.name, prompts=prompts)[AGREEMENT])
    return pd.concat(found[1:] or found, ignore_index=True)


def _mean_ratio(totals: Floats) -> Floats:
    result: Floats = ratio(totals).mean(axis=-1, keepdims=True)
    return result
