"""What was judged, one row a set of responses and responder, and what it says of each judge.

A *set* is what a judge chose from: a pair, or k responses. For the responder r of a row

    decision = 1, 0, 1/2 (a tie), NaN (no verdict)      whether the judge chose r
    win      = decision, a tie counting 1/k
    human    = 1, 0, 1/2: by the gold label r is better than all others, worse than one, as good
    gold     = the win that the gold label gives r: 1/m if it is among the m best, else 0
    length   = ln(1 + characters of r) - mean over the others of the same

The gold label is the human majority, the testbed's oracle, or an answer key in one of its readings;
it is in the column `human` whoever gave it, since `selfpref.statistics.bias` reads it there.
A row of a responder that is the judge itself is an *own* row.

Every statistic becomes one `Row` of the long table, in the columns `LONG`; one that does not exist
is NaN with n 0 and the reason. EO and excess, which compare two human sides
(`selfpref.statistics.bias`), have the pairs of both in `SIDES`.

Over the own rows of a judge, P the share of its wins:

- `equal_opportunity` = P(judge own | gold own) - P(judge other | gold other), ties as the settings
  say (`selfpref.statistics.bias`). It is `legitimate` + `harmful` - 1 where the judge never ties.
- `demographic_parity` = (P - c) / (1 - c), c the mean of 1/k: for pairs 2 P - 1 (Wataoka et al.,
  Eq. 4). Under a gold label: of the rows that it and the judge decide. Under none: of all rows.
- `excess`, `excess_common`, `excess_half_ties`: EO minus the mean EO of the other judges on the
  same responses, in three variants (`selfpref.statistics.bias`).
- `beyond_no_preference` = EO against single votes minus the EO of another person in the judge's
  place (`selfpref.statistics.bias`), on pairs with two votes or more.
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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from selfpref.statistics import bias
from selfpref.statistics.bias import names_of
from selfpref.statistics.bootstrap import MISSING, ClusterBootstrap, Floats, Interval, bounded
from selfpref.statistics.judged import STUDY, Judged, Row, Settings
from selfpref.statistics.regression import fit
from selfpref.statistics.shares import share_interval

KEY = ["study", "dataset", "judge", "gold", "statistic"]
SIDES = ["n_human_own", "n_human_other", "n_human_least"]
LONG = [
    *(*KEY, "value", "lo", "hi", "n", *SIDES, "few"),
    *("dropped", "unit", "interval", "reason"),
]
HUMAN, ORACLE, NONE = "human", "oracle", "none"
COLUMNS = [
    *("item_id", "cluster", "judge", "responder", "opponent", "k"),
    *("decision", "win", "human", "gold", "alike", "length"),
]
# Statistics that need a gold label, and what this says of the own response.
KINDS = {"harmful": 0.0, "neutral": 0.5, "legitimate": 1.0}
ALONE = "no second judge read the same responses"
ONE_SIDE = "the gold label prefers one side only"
UNDECIDED = "no set that the judge and the gold label decide"
NOBODY = "no such set with a verdict"
NO_LABEL = "no label on a set with its own response"
NO_TEXTS = "the texts are not known"
EXCESS = dict(zip(bias.VARIANTS, ("excess", "excess_common", "excess_half_ties"), strict=True))
EO, PARITY = "equal_opportunity", "demographic_parity"
GOLD = (EO, PARITY, *EXCESS.values(), "gold_gap", "equal_quality", *KINDS)


def key_of(
    dataset: str, gold: str, study: str = STUDY, unit: str = "probability", **more: object
) -> Row:
    """The key of a row, or what rows share of it, and the unit."""
    return {"study": study, "dataset": dataset, "gold": gold, "unit": unit, **more}


def told(row: Row, found: Interval, n: float, of: int, none: str = NOBODY) -> Row:
    """The row of a statistic.

    Args:
        row: Its key and unit.
        found: The value with its interval; NaN where there is none.
        n: The rows that it rests on.
        of: The rows that it might rest on; the others are dropped.
        none: Why there is no value, where there is none.
    """
    if np.isnan(found.value):
        found, n = MISSING._replace(how=""), 0
    made: Row = {"value": found.value, "lo": found.lo, "hi": found.hi, "interval": found.how}
    made |= {"n": n, "dropped": of - round(n), "reason": "" if found.how else none}
    return row | made


def table(rows: Iterable[Row]) -> pd.DataFrame:
    """The long table of rows, in the columns `LONG`."""
    found = pd.DataFrame(list(rows), columns=LONG)
    return found.assign(few=too_few(found))


def too_few(rows: pd.DataFrame) -> pd.Series:
    """Whether each row rests on too few pairs: in all, or on one human side where it has sides.

    Args:
        rows: With `n`, and `SIDES` (or without).
    """
    counts = rows.reindex(columns=["n", *SIDES]).astype(float)
    few: pd.Series = counts["n"].gt(0) & counts.min(axis=1).lt(bias.FEW)
    return few


def on_sides(cells: Floats) -> Row:
    """The pairs on both human sides, and the fewest that a judge of the comparison has on one.

    Args:
        cells: `[pairs, judges, 4]`, the judge itself first.
    """
    sides = bias.human_sides(cells.sum(axis=0))
    return dict(zip(SIDES, map(float, (*sides[0], sides.min())), strict=True))


@dataclass(frozen=True)
class Judgments:
    """The judged sets of one data set under one gold label.

    Attributes:
        study: Whose tables they come from.
        dataset: Which data set.
        gold: Where the gold label comes from; `none` where there is none.
        rows: The columns `COLUMNS`.
        settings: Ties, intervals and seed.
        left_out: By judge, the other judges that the mean leaves out which it is held against.
    """

    study: str
    dataset: str
    gold: str
    rows: pd.DataFrame
    settings: Settings
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def judges(self) -> list[str]:
        """Those that read a response of their own."""
        return names_of(self.rows.loc[self.rows["judge"].eq(self.rows["responder"]), "judge"])

    def compared(self, judge: str) -> pd.DataFrame:
        """The rows turned to a judge, of it and of the other judges that it is held against."""
        left_out = self.rows["judge"].isin(self.left_out.get(judge, ()))
        return self.rows[self.rows["responder"].eq(judge) & ~left_out].reset_index(drop=True)

    def own(self, judge: str) -> pd.DataFrame:
        """A judge's own rows."""
        mine = self.rows["judge"].eq(judge) & self.rows["responder"].eq(judge)
        return self.rows[mine].reset_index(drop=True)

    @property
    def bootstrap(self) -> ClusterBootstrap:
        """Intervals, with the streams of the study's chapter where it has them."""
        return self.settings.bootstrap.within(self.study, self.dataset)

    def cells(self, rows: pd.DataFrame) -> Floats:
        """What rows add to the cells, `[rows, 4]`, ties as the settings say."""
        return bias.cell_weights(rows, self.settings.human_ties, self.settings.judge_ties)

    def stacked(self, judge: str, variant: bias.Variant) -> tuple[Floats, pd.Series]:
        """`bias.stacked_cells` of a judge and those that it is held against."""
        use, rows = self.settings, self.compared(judge)
        return bias.stacked_cells(rows, judge, variant, use.human_ties, use.judge_ties)

    def row(self, judge: str, statistic: str) -> Row:
        """The key of a judge's statistic, and its unit."""
        return key_of(self.dataset, self.gold, self.study, judge=judge, statistic=statistic)


def from_pairs(data: Judged, pairs: pd.DataFrame, gold: str) -> Judgments:
    """The judged pairs of one data set, every pair turned to both of its responders.

    Args:
        data: The data set.
        pairs: Its pairs, `human` being the gold label.
        gold: Where the gold label comes from.
    """
    responses, sides = data.tables["responses"], [pd.DataFrame(columns=COLUMNS)]
    lengths = bias.text_lengths(responses, responses["length"])
    for responder in names_of(pairs["first"], pairs["second"]):
        rows = bias.pairs_with(pairs, responder).assign(responder=responder, k=2)
        rows["length"] = bias.gap(lengths, rows, "responder", "opponent")
        rows = rows.assign(win=rows["decision"], gold=rows["human"], alike=rows["human"].eq(0.5))
        sides.append(rows[COLUMNS])
    rows = pd.concat(sides[1:] or sides, ignore_index=True)
    left_out = {judge: data.left_out(judge) for judge in data.judges}
    return Judgments(STUDY, data.name, gold, rows, data.settings, left_out)


def parity(cells: Floats, chance: float) -> Floats:
    """(P - c) / (1 - c) from cells `[..., 4]`, P the share of own wins; `[...]`, at most 1."""
    tp, fn, fp, tn = np.moveaxis(cells, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Floats = (tp + fp) / (tp + fn + fp + tn)
    return (share - chance) / (1 - chance)


def chance(own: pd.DataFrame, used: pd.Series) -> float:
    """The mean of 1/k over the used rows."""
    return float((1 / own["k"].astype(float)[used]).mean())


def _parity(data: Judgments, judge: str, own: pd.DataFrame) -> Row:
    cells = data.cells(own)
    by_chance, level = chance(own, cells.sum(axis=1) > 0), data.bootstrap.level
    found = bias.demographic_parity_interval(cells, own["cluster"], level, by_chance)
    return told(data.row(judge, PARITY), found, cells.sum(), own["human"].count(), UNDECIDED)


def _on_sides(row: Row, found: Interval, cells: Floats, labelled: int) -> Row:
    """EO or an excess, with the pairs on both human sides; cells `[pairs, judges, 4]`."""
    n = cells[:, 0].sum()
    return told(row, found, n, labelled, ONE_SIDE if n else UNDECIDED) | on_sides(cells)


def _excess(data: Judgments, judge: str, labelled: int) -> Iterator[Row]:
    for variant, name in EXCESS.items():
        row, (cells, clusters) = data.row(judge, name), data.stacked(judge, variant)
        found, _ = bias.excess_intervals(cells, clusters, data.bootstrap, judge, variant)
        if cells.shape[1] > 1:
            yield _on_sides(row, found, cells, labelled)
        else:
            yield told(row, MISSING, 0, labelled, ALONE)


def _mean(
    data: Judgments,
    judge: str,
    name: str,
    values: pd.Series,
    rows: pd.DataFrame,
    none: str = NOBODY,
) -> Row:
    """The mean of the known values of some rows."""
    found = data.bootstrap.mean(values, rows["cluster"], judge, name, data.gold)
    return told(data.row(judge, name), found, values.count(), len(values), none)


def _share(data: Judgments, judge: str, name: str, rows: pd.DataFrame, less: float = 0.0) -> Row:
    """P(own wins) in these rows, less a number."""
    won = rows["win"].astype(float)
    share = share_interval(won, rows["cluster"], data.bootstrap.level)
    return told(data.row(judge, name), share.moved(less), won.count(), len(rows))


def _paired_excess(data: Judgments, judge: str, own: pd.DataFrame) -> Row:
    others = data.compared(judge)
    others = others[others["judge"].ne(judge)]
    wins = others.groupby(["item_id", "opponent"])["win"].mean()
    beyond = own["win"] - bias.value_of(wins, own["item_id"], own["opponent"])
    return _mean(data, judge, "paired_excess", beyond, own, NOBODY if len(others) else ALONE)


def _equal_length(data: Judgments, judge: str, own: pd.DataFrame) -> Row:
    kept = own.dropna(subset=["win", "length"])
    design = pd.DataFrame({"own": 1.0, "length": kept["length"].astype(float)})
    y = (kept["win"] - 1 / kept["k"]).to_numpy(dtype=float)
    found = fit(y, design, kept["cluster"], ["own"], data.bootstrap.level)["own"]
    none = "all lengths are alike" if own["length"].notna().any() else NO_TEXTS
    return told(data.row(judge, "equal_length"), found, len(kept), len(own), none)


def of_judges(data: Judgments) -> Iterator[Row]:
    """What a gold label says of every judge with own rows; or what needs none, where there is none.

    Args:
        data: The judged sets.
    """
    for judge in data.judges:
        own = data.own(judge)
        if data.gold == NONE:
            # Parity needs no gold label: every row counts as if it called the own response better.
            yield _parity(data, judge, own.assign(human=1.0))
            yield _paired_excess(data, judge, own)
            yield _equal_length(data, judge, own)
        elif own["human"].isna().all():
            yield from (told(data.row(judge, name), MISSING, 0, 0, NO_LABEL) for name in GOLD)
        else:
            yield from _with_gold(data, judge, own)


def _with_gold(data: Judgments, judge: str, own: pd.DataFrame) -> Iterator[Row]:
    labelled, alike = own[own["human"].notna()], own[own["alike"].astype(bool)]
    cells = data.cells(own)
    found = bias.equal_opportunity_interval(cells, own["cluster"], data.bootstrap, judge, "eo")
    yield _on_sides(data.row(judge, EO), found, cells[:, None], len(labelled))
    yield _parity(data, judge, own)
    yield from _excess(data, judge, len(labelled))
    yield _mean(data, judge, "gold_gap", labelled["win"] - labelled["gold"], labelled)
    by_chance = chance(alike, alike["win"].notna())
    yield _share(data, judge, "equal_quality", alike, by_chance)
    for kind, human in KINDS.items():
        yield _share(data, judge, kind, own[own["human"].eq(human)])


def against_people(data: Judged) -> Iterator[Row]:
    """EO beyond that of another person in the judge's place, of every judge with own pairs."""
    name = "beyond_no_preference"
    for judge, place in data.no_preference.items():
        found = Interval(*(float(place[column]) for column in bounded(name)))
        row = key_of(data.name, HUMAN, judge=judge, statistic=name)
        yield told(row, found, place["n"], data.own(judge)["human"].count(), place["status"])
