"""What the instrument recovers: measured bias beside the planted one and the oracle rule's.

In the laboratory the labels that a judge was tuned on follow a rule: quality plus a bonus *beta*
for its own style. Run on the very pairs that enter the measured bias (a rule's tie counting half),
that rule gives the *planted* bias, and the rule without bonus the *oracle rule's*: that of a judge
without any preference. The latter is not zero, because the metric moves with the quality of the
judge's responses. Agreement of measured and planted bias is a check of the instrument; since beta
is confounded with a style within one seed, it is no evidence of self-preference.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bias import cell_weights, equal_opportunity
from selfpref.statistics.bootstrap import bounds, cluster_sums, ratio, stream
from selfpref.statistics.scores import Floats
from selfpref.studies.wataoka.measure.judged import Judged

MARKS = ("measured", "planted", "oracle_rule")


def betas(data: Judged) -> pd.Series:
    """The planted bonus by judge; empty where nothing was planted."""
    truths = data.tables["truths"]
    return truths[truths["metric"].eq("beta")].set_index("responder")["score"]


def rule_decisions(rows: pd.DataFrame, judge: str, truths: pd.DataFrame, metric: str) -> Floats:
    """What a rule decides on pairs turned to one responder: 1 for it, 0 against, 1/2 for a tie.

    Args:
        rows: With `item_id` and `opponent`, as `facing` returns them.
        judge: The responder that the pairs are turned to.
        truths: The truths table.
        metric: The rule's score of a response, such as `quality`.
    """
    score = truths[truths["metric"].eq(metric)].set_index(["item_id", "responder"])["score"]
    mine = score.reindex([(item, judge) for item in rows["item_id"]]).to_numpy(float)
    other = score.reindex(list(zip(rows["item_id"], rows["opponent"], strict=True))).to_numpy(float)
    gap = np.round(mine - other, 9)
    decided: Floats = np.where(np.isnan(gap), np.nan, (np.sign(gap) + 1) / 2)
    return decided


def rule_cells(data: Judged, judge: str) -> tuple[Floats, pd.Series]:
    """Cells of the judge, its planted rule and the oracle rule on the judge's decisive pairs.

    Returns:
        `[pairs, 3, 4]` in the order of `MARKS`, and the cluster of each pair.
    """
    own = data.own(judge)
    human_ties = data.settings.human_ties
    measured = cell_weights(own, human_ties, data.settings.judge_ties)
    own, measured = own[measured.sum(axis=1) > 0], measured[measured.sum(axis=1) > 0]
    cells = [measured]
    for metric in (f"rule-{judge}", "quality"):
        decided = rule_decisions(own, judge, data.tables["truths"], metric)
        cells.append(cell_weights(own.assign(decision=decided), human_ties, "half"))
    return np.stack(cells, axis=1), own["cluster"]


def planted_bias(data: Judged) -> pd.DataFrame:
    """Measured, planted and oracle rule's EO of every judge with responses of its own.

    Returns:
        `dataset, judge, seed, beta`, the three marks with their intervals, `n`; no rows where
        nothing was planted.
    """
    planted = betas(data)
    rows = []
    for judge in data.judges if len(planted) else []:
        cells, clusters = rule_cells(data, judge)
        sums = cluster_sums(cells, clusters)
        row = {"dataset": data.name, "judge": judge, "seed": int(data.name.rpartition("-")[2])}
        row["beta"] = float(planted[judge]) if judge in planted else np.nan
        for number, mark in enumerate(MARKS):
            found = data.interval(sums[:, number], equal_opportunity, judge, "planted", mark)
            row |= bounds(mark, found)
        rows.append(row | {"n": len(cells)})
    return pd.DataFrame(rows)


def recovery(judged: list[Judged]) -> pd.DataFrame:
    """Correlation over judges of measured with planted bias, with the oracle rule and with beta.

    Prompts are resampled, judges are not: the interval tells the noise of the measurement for
    these judges, not how other judges would turn out.

    Returns:
        `quantity, r, lo, hi, n` (judges with a planted bonus and a bias), `seeds`; no rows with
        fewer than three such judges.
    """
    blocks, bonus, seeds = [], [], []
    for data in judged:
        planted = betas(data)
        for judge in (name for name in data.judges if name in planted):
            cells, clusters = rule_cells(data, judge)
            if np.isnan(equal_opportunity(cells.sum(axis=0))).any():
                # Without both human outcomes a judge has no bias to correlate.
                continue
            blocks.append((cells, data.name + "/" + clusters.astype(str)))
            bonus.append(float(planted[judge]))
            seeds.append(data.name)
    if len(blocks) < 3:
        return pd.DataFrame()
    stacked = np.concatenate(
        [_place(cells, number, len(blocks)) for number, (cells, _) in enumerate(blocks)]
    )
    sums = cluster_sums(stacked, pd.concat([names for _, names in blocks]))
    settings = judged[0].settings

    def correlations(totals: Floats) -> Floats:
        # [..., marks, judges]
        found = equal_opportunity(totals)
        measured = found[..., 0, :]
        against = [found[..., 1, :], found[..., 2, :], np.broadcast_to(bonus, measured.shape)]
        return np.stack([_pearson(measured, other) for other in against], axis=-1)

    rng = stream(settings.seed, "recovery")
    return pd.DataFrame(
        {"quantity": f"measured with {quantity}"}
        | {"r": found.value, "lo": found.lo, "hi": found.hi}
        | {"n": len(blocks), "seeds": len(set(seeds))}
        for quantity, found in zip(
            ("planted", "oracle rule", "beta"),
            settings.bootstrap.intervals(sums, correlations, rng),
            strict=True,
        )
    )


def _place(cells: Floats, number: int, judges: int) -> Floats:
    """Cells of one judge `[pairs, 3, 4]` in their place among all `[pairs, 3, judges, 4]`."""
    placed = np.zeros((len(cells), cells.shape[1], judges, cells.shape[2]))
    placed[:, :, number] = cells
    return placed


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
        write. No rows without a true quality.
    """
    truths = data.tables["truths"]
    score = truths[truths["metric"].eq("quality")].set_index(["item_id", "responder"])["score"]
    if score.empty:
        return pd.DataFrame()
    pairs = data.pairs[data.pairs["decision"].notna()]
    one, two = (
        score.reindex(list(zip(pairs["item_id"], pairs[side], strict=True))).to_numpy(float)
        for side in ("first", "second")
    )
    metadata = data.tables["items"].set_index("item_id")["metadata"]
    held = pairs["item_id"].map(metadata).str.contains('"held_out": true')
    rows = pairs.assign(gap=np.round(one - two, 9), held=held)
    rows = rows[rows["gap"].abs() > 0]
    agrees = np.where(rows["decision"] == 0.5, 0.5, rows["decision"].gt(0.5) == rows["gap"].gt(0))
    rows = rows.assign(agrees=agrees.astype(float))
    found = []
    for prompts, part in (("held-out", rows[rows["held"]]), ("seen", rows[~rows["held"]])):
        judges = sorted(set(part["judge"]))
        writers = [judge for judge in judges if judge in data.judges]
        stacked = np.zeros((len(part), len(judges), 2))
        at = part["judge"].map({judge: n for n, judge in enumerate(judges)}).to_numpy(int)
        stacked[np.arange(len(part)), at] = np.stack([part["agrees"], np.ones(len(part))], axis=-1)
        sums = cluster_sums(stacked, part["cluster"])
        for number, judge in enumerate(judges):
            share = data.interval(sums[:, number], ratio, judge, prompts, "oracle")
            found.append(
                (judge, judge in writers, prompts, share, int(stacked[:, number, 1].sum()))
            )
        if writers:
            own = np.isin(judges, writers)
            share = data.interval(sums[:, own], _mean_ratio, "mean", prompts, "oracle")
            count = int(stacked[:, own, 1].sum())
            found.append(("mean of families", True, prompts, share, count))
    return pd.DataFrame(
        {
            "dataset": data.name,
            "judge": judge,
            "writes": writes,
            "prompts": prompts,
            "agreement": share.value,
            "agreement_lo": share.lo,
            "agreement_hi": share.hi,
            "n": n,
        }
        for judge, writes, prompts, share, n in found
    )


def _mean_ratio(totals: Floats) -> Floats:
    result: Floats = ratio(totals).mean(axis=-1)
    return result
