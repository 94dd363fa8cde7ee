"""What one judge's own rows say of it, statistic by statistic, each with interval and n.

Over the own rows of a judge (`selfpref.studies.beyond.measure.sets`), P the share of its wins:

- `equal_opportunity` = P(judge own | gold own) - P(judge other | gold other), ties as the settings
  say (`selfpref.statistics.bias`). It is `earned` + `harmful` - 1 where the judge never ties.
- `demographic_parity` = (P - c) / (1 - c), c the mean of 1/k: for pairs 2 P - 1 (Wataoka et al.,
  Eq. 4). Under a gold label: of the rows that it and the judge decide. Under none: of all rows.
- `excess`, `excess_common`, `excess_half_ties`: EO minus the mean EO of the other judges on the
  same responses, in three variants (`selfpref.statistics.bias`).
- `paired_excess` = mean of [own win - mean win that the other judges give the same response], set
  by set; needs no gold label (`selfpref.studies.livebench.measure.self_preference`).
- `gold_gap` = P(own wins) by the judge - by the gold label, ties shared: the DBG score of Z.-Y.
  Chen et al. (arXiv 2506.02592) with verdicts for scores.
- `equal_quality` = P(own wins) - 1/k where the gold label calls all responses alike. Yang et al.
  (arXiv 2604.22891) construct such pairs from the scores of several models; here the gold label
  finds them, so a label that ties carelessly lets differences in quality in.
- `harmful`, `neutral`, `earned` = P(own wins) where the gold label says that another response is
  better, that the own one is as good as the best, that it is the best alone. `harmful` is the
  harmful self-preference propensity of W.-L. Chen et al. (arXiv 2504.03846), who take right and
  wrong answers to verifiable tasks for gold and leave out rows on which both are alike (`neutral`
  here); their legitimate self-preference ratio is a share of the judge's choices of itself,
  `earned` here a share of the rows on which that choice is right.
- `equal_length` = b_0 of  win - 1/k = b_0 + b_1 length  over the own rows: the preference at equal
  length, quality not held.

In all but EO, demographic parity and excess a judge's tie counts 1/k. 0 is no preference, but for
`neutral` (1/2 for pairs) and `earned` (1 for a judge that follows the gold label).
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from selfpref.statistics.bias import (
    VARIANTS,
    cell_weights,
    equal_opportunity,
    excess,
    stacked_cells,
)
from selfpref.statistics.bootstrap import Statistic
from selfpref.statistics.scores import Floats
from selfpref.studies.beyond.measure.regression import fit
from selfpref.studies.beyond.measure.sets import NONE, Judgments, Row, known, missing

# Statistics that need a gold label, and where no preference lies for pairs.
KINDS = {"harmful": 0.0, "neutral": 0.5, "earned": 1.0}
ALONE = "no second judge read the same responses"
ONE_SIDE = "the gold label prefers one side only"
EXCESS = dict(zip(VARIANTS, ("excess", "excess_common", "excess_half_ties"), strict=True))


def parity(cells: Floats, chance: float) -> Floats:
    """(P - c) / (1 - c) from cells `[..., 4]`, P the share of own wins; `[...]`, at most 1."""
    tp, fn, fp, tn = np.moveaxis(cells, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Floats = (tp + fp) / (tp + fn + fp + tn)
    return (share - chance) / (1 - chance)


def _mean(data: Judgments, judge: str, name: str, values: pd.Series, within: pd.Series) -> Row:
    """The mean of the known values within a part of the own rows."""
    row, used = data.row(judge, name), within & values.notna()
    if not used.any():
        return missing(row, int(within.sum()), "no such set with a verdict")
    clusters = data.own(judge)["cluster"]
    found = data.bootstrap.mean(values[used], clusters[used], judge, name, data.gold)
    return known(row, found, int(used.sum()), int(within.sum() - used.sum()))


def _decided(data: Judgments, judge: str) -> Iterator[Row]:
    """EO and demographic parity from the four cells."""
    own, use = data.own(judge), data.settings
    if data.gold == NONE:
        # Parity needs no gold label: every row counts as if it called the own response better.
        own = own.assign(human=1.0)
    cells = cell_weights(own, use.human_ties, use.judge_ties)
    used = cells.sum(axis=1) > 0
    chance = float((1 / own["k"].astype(float)[used]).mean()) if used.any() else np.nan
    labelled = int(own["human"].notna().sum())
    statistics: dict[str, tuple[str, Statistic]] = {
        "equal_opportunity": ("eo", equal_opportunity),
        "demographic_parity": ("dp", partial(parity, chance=chance)),
    }
    if data.gold == NONE:
        del statistics["equal_opportunity"]
    for name, (stream, statistic) in statistics.items():
        found = data.bootstrap.estimate(cells, own["cluster"], statistic, judge, stream)
        if np.isnan(found.value):
            reason = ONE_SIDE if used.any() else "no set that the judge and the gold label decide"
            yield missing(data.row(judge, name), labelled, reason)
        else:
            dropped = labelled - int(used.sum())
            yield known(data.row(judge, name), found, float(cells.sum()), dropped)


def _excess(data: Judgments, judge: str) -> Iterator[Row]:
    pairs, use = data.pairs_with(judge), data.settings
    alone = pairs["judge"].nunique() < 2
    labelled = int(pairs.loc[pairs["judge"].eq(judge), "human"].notna().sum())
    for variant, name in EXCESS.items():
        row = data.row(judge, name)
        if alone:
            yield missing(row, labelled, ALONE)
            continue
        cells, clusters = stacked_cells(pairs, judge, variant, use.human_ties, use.judge_ties)
        n = int((cells[:, 0].sum(axis=1) > 0).sum())
        found = data.bootstrap.estimate(cells, clusters, excess, judge, variant)
        if np.isnan(found.value):
            yield missing(row, labelled, ONE_SIDE)
        else:
            yield known(row, found, n, labelled - n)


def _paired_excess(data: Judgments, judge: str) -> Row:
    pairs, own, name = data.pairs_with(judge), data.own(judge), "paired_excess"
    others = pairs[pairs["judge"].ne(judge)].groupby(["item_id", "opponent"])["win"].mean()
    if others.empty:
        return missing(data.row(judge, name), len(own), ALONE)
    theirs = others.reindex(pd.MultiIndex.from_frame(own[["item_id", "opponent"]])).to_numpy()
    return _mean(data, judge, name, own["win"] - theirs, own["item_id"].notna())


def _equal_length(data: Judgments, judge: str) -> Row:
    own, row = data.own(judge), data.row(judge, "equal_length")
    if own["length"].isna().all():
        return missing(row, len(own), "the texts are not known")
    kept = own[own["win"].notna() & own["length"].notna()]
    design = pd.DataFrame({"own": 1.0, "length": kept["length"].astype(float)})
    y = (kept["win"] - 1 / kept["k"]).to_numpy(dtype=float)
    found = fit(y, design, kept["cluster"], ["own"], data.settings.bootstrap.level)["own"]
    if not found.identified:
        return missing(row, len(own), "all lengths are alike")
    return known(row, found, len(kept), len(own) - len(kept))


def without_gold(data: Judgments) -> Iterator[Row]:
    """The statistics that need no gold label, of every judge with own rows."""
    bare = Judgments(data.study, data.dataset, NONE, data.rows, data.settings)
    for judge in bare.judges:
        yield from _decided(bare, judge)
        yield _paired_excess(bare, judge)
        yield _equal_length(bare, judge)


def with_gold(data: Judgments) -> Iterator[Row]:
    """The statistics under the gold label, of every judge with own rows."""
    for judge in data.judges:
        own = data.own(judge)
        labelled = own["human"].notna()
        yield from _decided(data, judge)
        yield from _excess(data, judge)
        yield _mean(data, judge, "gold_gap", own["win"] - own["gold"], labelled)
        alike = own["alike"].astype(bool)
        yield _mean(data, judge, "equal_quality", own["win"] - 1 / own["k"], alike)
        for kind, human in zip(KINDS, (0.0, 0.5, 1.0), strict=True):
            yield _mean(data, judge, kind, own["win"], own["human"].eq(human))
