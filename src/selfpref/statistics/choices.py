"""What one judge's own rows say of it, statistic by statistic, each with interval and n.

Over the own rows of a judge (`selfpref.statistics.turned`), P the share of its wins:

- `equal_opportunity` = P(judge own | gold own) - P(judge other | gold other), ties as the settings
  say (`selfpref.statistics.bias`). It is `legitimate` + `harmful` - 1 where the judge never ties.
- `demographic_parity` = (P - c) / (1 - c), c the mean of 1/k: for pairs 2 P - 1 (Wataoka et al.,
  Eq. 4). Under a gold label: of the rows that it and the judge decide. Under none: of all rows.
- `excess`, `excess_common`, `excess_half_ties`: EO minus the mean EO of the other judges on the
  same responses, in three variants (`selfpref.statistics.bias`).
- `beyond_no_preference` = EO against single votes minus the EO of another person in the judge's
  place (`selfpref.statistics.no_preference`), on pairs with two votes or more.
- `paired_excess` = mean of [own win - mean win that the other judges give the same response], set
  by set; needs no gold label (`selfpref.studies.livebench.excess`).
- `gold_gap` = P(own wins) by the judge - by the gold label, ties shared: the DBG score of Z.-Y.
  Chen et al. (arXiv 2506.02592) with verdicts for scores.
- `equal_quality` = P(own wins) - 1/k where the gold label calls all responses alike. Yang et al.
  (arXiv 2604.22891) construct such pairs from the scores of several models; here the gold label
  finds them, so a label that ties carelessly lets differences in quality in.
- `harmful`, `neutral`, `legitimate` = P(own wins) where the gold label says that another response
  is better, that the own one is as good as the best, that it is the best alone. `harmful` is the
  harmful self-preference propensity of W.-L. Chen et al. (arXiv 2504.03846), who take right and
  wrong answers to verifiable tasks for gold and leave out rows on which both are alike (`neutral`
  here); their legitimate self-preference ratio is a share of the judge's choices of itself,
  `legitimate` here a share of the rows on which that choice is right.
- `equal_length` = b_0 of  win - 1/k = b_0 + b_1 length  over the own rows: the preference at equal
  length, quality not held.

In all but EO, demographic parity and excess a judge's tie counts 1/k. 0 is no preference, but for
`neutral` (1/2 for pairs) and `legitimate` (1 for a judge that follows the gold label).

Shares (demographic parity, equal quality, the three rates) have Wilson's interval, EO Newcombe's
where a cell has fewer than five pairs (`selfpref.statistics.shares`), the others a bootstrap of
prompts.
EO and excess depend on how many pairs the gold label decides for the own response and for the other
one, `n_human_own` and `n_human_other`; an excess also on those of the other judges: `n_human_least`
is the fewest that one of them has on one side.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from selfpref.statistics.bias import (
    VARIANTS,
    cell_weights,
    demographic_parity_interval,
    enough,
    equal_opportunity_interval,
    excess_intervals,
    few_decide,
    human_sides,
    stacked_cells,
    value_of,
)
from selfpref.statistics.bootstrap import Floats, Interval
from selfpref.statistics.judged import STUDY, Judged
from selfpref.statistics.regression import fit
from selfpref.statistics.shares import share_interval
from selfpref.statistics.turned import (
    BOOTSTRAP,
    HUMAN,
    NEWCOMBE,
    NONE,
    ROBUST,
    WILSON,
    Judgments,
    Row,
    on_sides,
    told,
)

# Statistics that need a gold label, and what this says of the own response.
KINDS = {"harmful": 0.0, "neutral": 0.5, "legitimate": 1.0}
ALONE = "no second judge read the same responses"
ONE_SIDE = "the gold label prefers one side only"
UNDECIDED = "no set that the judge and the gold label decide"
NOBODY = "no such set with a verdict"
NO_LABEL = "no label on a set with its own response"
NO_TEXTS = "the texts are not known"
EXCESS = dict(zip(VARIANTS, ("excess", "excess_common", "excess_half_ties"), strict=True))
GOLD = (
    *("equal_opportunity", "demographic_parity", *EXCESS.values()),
    *("gold_gap", "equal_quality", *KINDS),
)


def parity(cells: Floats, chance: float) -> Floats:
    """(P - c) / (1 - c) from cells `[..., 4]`, P the share of own wins; `[...]`, at most 1."""
    tp, fn, fp, tn = np.moveaxis(cells, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Floats = (tp + fp) / (tp + fn + fp + tn)
    return (share - chance) / (1 - chance)


def chance(own: pd.DataFrame, used: pd.Series) -> float:
    """The mean of 1/k over the used rows."""
    return float((1 / own["k"].astype(float)[used]).mean()) if used.any() else np.nan


def _mean(data: Judgments, judge: str, name: str, values: pd.Series, within: pd.Series) -> Row:
    """The mean of the known values within a part of the own rows."""
    used, clusters = within & values.notna(), data.own(judge)["cluster"]
    found = (
        data.bootstrap.mean(values[used], clusters[used], judge, name, data.gold)
        if used.any()
        else NOBODY
    )
    return told(data.row(judge, name), found, int(used.sum()), int(within.sum()))


def _share(data: Judgments, judge: str, name: str, within: pd.Series, less: float = 0.0) -> Row:
    """P(own wins) within a part of the own rows, less a number."""
    own, row, of = data.own(judge), data.row(judge, name), int(within.sum())
    used = within & own["win"].notna()
    if not used.any():
        return told(row, NOBODY, 0, of)
    won = own["win"][used].to_numpy(dtype=float)
    one = share_interval(won, own["cluster"][used], data.settings.bootstrap.level)
    moved = Interval(one.value - less, one.lo - less, one.hi - less, 0.0)
    return told(row, moved, int(used.sum()), of, WILSON)


def _on_sides(
    data: Judgments, judge: str, name: str, found: Interval, cells: Floats, kind: str = BOOTSTRAP
) -> Row:
    """EO or an excess, with the pairs on both human sides; cells `[pairs, judges, 4]`."""
    row, labelled = data.row(judge, name), int(data.own(judge)["human"].notna().sum())
    n, sides = float(cells[:, 0].sum()), on_sides(human_sides(cells.sum(axis=0)))
    if np.isnan(found.value):
        return told(row, ONE_SIDE if n else UNDECIDED, 0, labelled) | sides
    return told(row, found, n, labelled, kind) | sides


def _decided(data: Judgments, judge: str) -> Iterator[Row]:
    """EO and demographic parity from the four cells."""
    own, use = data.own(judge), data.settings
    if data.gold == NONE:
        # Parity needs no gold label: every row counts as if it called the own response better.
        own = own.assign(human=1.0)
    cells = cell_weights(own, use.human_ties, use.judge_ties)
    if data.gold != NONE:
        found = equal_opportunity_interval(cells, own["cluster"], data.bootstrap, judge, "eo")
        kind = BOOTSTRAP if enough(cells.sum(axis=0)) else NEWCOMBE
        yield _on_sides(data, judge, "equal_opportunity", found, cells[:, None], kind)
    row, n, labelled = data.row(judge, "demographic_parity"), float(cells.sum()), own["human"]
    c = chance(own, cells.sum(axis=1) > 0)
    share = demographic_parity_interval(cells, own["cluster"], use.bootstrap.level, c)
    yield told(row, share if n else UNDECIDED, n, int(labelled.notna().sum()), WILSON)


def _excess(data: Judgments, judge: str) -> Iterator[Row]:
    pairs, use = data.compared(judge), data.settings
    for variant, name in EXCESS.items():
        if pairs["judge"].nunique() < 2:
            labelled = int(data.own(judge)["human"].notna().sum())
            yield told(data.row(judge, name), ALONE, 0, labelled)
            continue
        cells, clusters = stacked_cells(pairs, judge, variant, use.human_ties, use.judge_ties)
        found, _ = excess_intervals(cells, clusters, data.bootstrap, judge, variant)
        kind = NEWCOMBE if few_decide(cells.sum(axis=0)) else BOOTSTRAP
        yield _on_sides(data, judge, name, found, cells, kind)


def _paired_excess(data: Judgments, judge: str) -> Row:
    pairs, own, name = data.compared(judge), data.own(judge), "paired_excess"
    others = pairs[pairs["judge"].ne(judge)].groupby(["item_id", "opponent"])["win"].mean()
    if others.empty:
        return told(data.row(judge, name), ALONE, 0, len(own))
    theirs = value_of(others, own["item_id"], own["opponent"])
    return _mean(data, judge, name, own["win"] - theirs, own["item_id"].notna())


def _equal_length(data: Judgments, judge: str) -> Row:
    own, row = data.own(judge), data.row(judge, "equal_length")
    if own["length"].isna().all():
        return told(row, NO_TEXTS, 0, len(own))
    kept = own[own["win"].notna() & own["length"].notna()]
    design = pd.DataFrame({"own": 1.0, "length": kept["length"].astype(float)})
    y = (kept["win"] - 1 / kept["k"]).to_numpy(dtype=float)
    found = fit(y, design, kept["cluster"], ["own"], data.settings.bootstrap.level)["own"]
    said = "all lengths are alike" if np.isnan(found.value) else found
    return told(row, said, len(kept), len(own), ROBUST)


def of_judges(data: Judgments) -> Iterator[Row]:
    """What a gold label says of every judge with own rows; or what needs none, where there is none.

    Args:
        data: The judged sets.
    """
    for judge in data.judges:
        if data.gold == NONE:
            yield from _decided(data, judge)
            yield _paired_excess(data, judge)
            yield _equal_length(data, judge)
        else:
            yield from _with_gold(data, judge)


def _with_gold(data: Judgments, judge: str) -> Iterator[Row]:
    own = data.own(judge)
    labelled, alike = own["human"].notna(), own["alike"].astype(bool)
    if not labelled.any():
        yield from (told(data.row(judge, name), NO_LABEL, 0, 0) for name in GOLD)
        return
    yield from _decided(data, judge)
    yield from _excess(data, judge)
    yield _mean(data, judge, "gold_gap", own["win"] - own["gold"], labelled)
    asked = alike & own["win"].notna()
    yield _share(data, judge, "equal_quality", alike, chance(own, asked))
    for kind, human in KINDS.items():
        yield _share(data, judge, kind, own["human"].eq(human))


def against_people(data: Judged) -> Iterator[Row]:
    """EO beyond that of another person in the judge's place, of every judge with own pairs."""
    name = "beyond_no_preference"
    place: Row = {"study": STUDY, "dataset": data.name, "gold": HUMAN, "unit": "probability"}
    for judge in data.judges:
        (n, status, found), own = data.no_preference[judge], data.own(judge)
        said, labelled = found[-1] if status == "ok" else status, int(own["human"].notna().sum())
        yield told(place | {"judge": judge, "statistic": name}, said, n, labelled)
