"""What was judged, one row a set of responses and responder, and what it says of each judge.

A *set* is what a judge chose from: a pair, or k responses. For the responder r of a row

    decision = 1, 0, 1/2 (a tie), NaN (no verdict)      whether the judge chose r
    win      = decision, a tie counting 1/k
    human    = 1, 0, 1/2: by the gold label r is better than all others, worse than one, as good
    gold     = the win that the gold label gives r: 1/m if it is among the m best, else 0

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
- `excess`, `excess_half_ties`: EO minus the mean EO of the other judges on the same responses, in
  two variants (`selfpref.statistics.bias`).
- `beyond_no_preference` = EO against single votes minus the EO of another person in the judge's
  place (`selfpref.statistics.bias`), on pairs with two votes or more.
- `gold_gap` = P(own wins) by the judge - by the gold label, ties shared: the DBG score of Z.-Y.
  Chen et al. (arXiv 2506.02592) with verdicts for scores.
- `harmful`, `neutral`, `legitimate` = P(own wins) where the gold label says that another response
  is better, that the own one is as good as the best, that it is the best alone. `harmful` is the
  harmful self-preference propensity of W.-L. Chen et al. (arXiv 2504.03846), who take right and
  wrong answers to verifiable tasks for gold and leave out rows on which both are alike (`neutral`
  here); their legitimate self-preference ratio is a share of the judge's choices of itself,
  `legitimate` here a share of the rows on which that choice is right.

In all but EO, demographic parity and excess a judge's tie counts 1/k. 0 is no preference, but for
`neutral` (1/2 for pairs) and `legitimate` (1 for a judge that follows the gold label).

Shares (demographic parity, the three rates) have Wilson's interval, EO Newcombe's where a cell has
fewer than five pairs (`selfpref.statistics.bootstrap`), the others a bootstrap of prompts.
EO and excess depend on how many pairs the gold label decides for the own response and for the other
one, `n_human_own` and `n_human_other`; an excess also on those of the other judges: `n_human_least`
is the fewest that one of them has on one side.

**The regression with judge and responder effects (after Spiliopoulou et al., arXiv 2508.06709).**

For the score s that judge j gives the text of responder r with gold score h:

    s = a_j + r_r + c_j h + b own + e            own = 1 where j = r, else 0

`regression` is b: how much more a judge gives its own texts than it would give texts of this
responder and this gold score as another judge of its severity; each judge has its b. For a pair
(A, B) the model is the difference of both texts' models, in which the severity a_j cancels; what
stays of the judge is how steeply it follows the gold label:

    s - 1/2 = r_A - r_B + c_j (h - 1/2) + b (own_A - own_B) + e

s is the judge's score of A (Eq. 3 of Wataoka et al., 0..1), h the gold label: 1, 0, 1/2.
Intervals are robust to clusters (`selfpref.statistics.bootstrap`).

Their paper fits grades of experts and judges; here the model is linear throughout, so that b is in
units of the score. With one judge, or where each judge reads its own texts only, b cannot be told
from the responder: no value. n counts the rows with an own text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from selfpref.statistics import bias
from selfpref.statistics.bootstrap import (
    MISSING,
    ClusterBootstrap,
    Floats,
    Interval,
    bounded,
    fit,
    ratio,
    share_interval,
)
from selfpref.statistics.judged import STUDY, Judged, Row, Settings

KEY = ["study", "dataset", "judge", "gold", "statistic"]
SIDES = ["n_human_own", "n_human_other", "n_human_least"]
LONG = [*KEY, "value", "lo", "hi", "n", *SIDES, "few", "dropped", "unit", "reason"]
HUMAN, ORACLE, NONE = "human", "oracle", "none"
COLUMNS = ["item_id", "cluster", "judge", "responder", "opponent", "k"]
COLUMNS += ["decision", "win", "human", "gold"]
# What the gold label says of the own response.
KINDS = {"harmful": 0.0, "neutral": 0.5, "legitimate": 1.0}
ALONE = "no second judge read the same responses"
ONE_SIDE = "the gold label prefers one side only"
UNDECIDED = "no set that the judge and the gold label decide"
NOBODY = "no such set with a verdict"
NOT_TOLD = "own text cannot be told from the responder"
EXCESS: dict[bias.Variant, str] = {"own": "excess", "half-ties": "excess_half_ties"}
EO, PARITY, GAP = "equal_opportunity", "demographic_parity", "gold_gap"


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
    value, lo, hi, _ = found
    n, none = (0, none) if np.isnan(value) else (n, "")
    row = row | {"value": value, "lo": lo, "hi": hi, "n": n}
    return row | {"dropped": of - round(n), "reason": none}


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
    return counts["n"].gt(0) & counts.min(axis=1).lt(bias.FEW)


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
        return bias.names_of(self.rows.query("judge == responder")["judge"])

    def own(self, judge: str) -> pd.DataFrame:
        """A judge's own rows."""
        return self.rows.query("judge == responder == @judge").reset_index(drop=True)

    @property
    def bootstrap(self) -> ClusterBootstrap:
        """Intervals, with the streams of the study's chapter where it has them."""
        return self.settings.bootstrap.within(self.study, self.dataset)

    def cells(self, rows: pd.DataFrame) -> Floats:
        """What rows add to the cells, `[rows, 4]`, ties as the settings say."""
        return bias.cell_weights(rows, self.settings.human_ties, self.settings.judge_ties)

    def chance(self, own: pd.DataFrame) -> float:
        """The mean of 1/k over a judge's own rows that it and the gold label decide."""
        return float((1 / own["k"].astype(float))[self.cells(own).sum(axis=1) > 0].mean())

    def stacked(self, judge: str, variant: bias.Variant) -> tuple[Floats, pd.Series]:
        """`bias.stacked_cells` of a judge and those that it is held against."""
        use, left_out = self.settings, self.rows["judge"].isin(self.left_out.get(judge, ()))
        rows = self.rows[self.rows["responder"].eq(judge) & ~left_out]
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
    sides = []
    for responder in bias.names_of(pairs["first"], pairs["second"]):
        rows = bias.pairs_with(pairs, responder).assign(responder=responder, k=2)
        sides.append(rows.assign(win=rows["decision"], gold=rows["human"])[COLUMNS])
    rows = pd.concat(sides, ignore_index=True) if sides else pd.DataFrame(columns=COLUMNS)
    left_out = {judge: data.left_out(judge) for judge in data.judges}
    return Judgments(STUDY, data.name, gold, rows, data.settings, left_out)


def parity(cells: Floats, chance: float) -> Floats:
    """(P - c) / (1 - c) from cells `[..., 4]`, P the share of own wins; `[...]`, at most 1."""
    return (ratio(bias.some_of(cells, "tp", "fp")) - chance) / (1 - chance)


def _parity(data: Judgments, judge: str, own: pd.DataFrame) -> Row:
    cells, level = data.cells(own), data.bootstrap.level
    found = bias.demographic_parity_interval(cells, own["cluster"], level, data.chance(own))
    return told(data.row(judge, PARITY), found, cells.sum(), own["human"].count(), UNDECIDED)


def _on_sides(row: Row, found: Interval, cells: Floats, labelled: int) -> Row:
    """EO or an excess, with the pairs on both human sides; cells `[pairs, judges, 4]`."""
    n = cells[:, 0].sum()
    return told(row, found, n, labelled, ONE_SIDE if n else UNDECIDED) | on_sides(cells)


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
        elif own["human"].isna().all():
            none = "no label on a set with its own response"
            for name in (EO, PARITY, *EXCESS.values(), GAP, *KINDS):
                yield told(data.row(judge, name), MISSING, 0, 0, none)
        else:
            labelled, cells = own.dropna(subset="human"), data.cells(own)
            of = cells, own["cluster"], data.bootstrap, judge
            found = bias.equal_opportunity_interval(*of, "eo")
            yield _on_sides(data.row(judge, EO), found, cells[:, None], len(labelled))
            yield _parity(data, judge, own)
            for variant, name in EXCESS.items():
                row, (cells, clusters) = data.row(judge, name), data.stacked(judge, variant)
                found, _ = bias.excess_intervals(cells, clusters, data.bootstrap, judge, variant)
                if cells.shape[1] > 1:
                    yield _on_sides(row, found, cells, len(labelled))
                else:
                    yield told(row, found, 0, len(labelled), ALONE)
            gap = labelled["win"] - labelled["gold"]
            found = data.bootstrap.mean(gap, labelled["cluster"], judge, GAP, data.gold)
            yield told(data.row(judge, GAP), found, gap.count(), len(gap))
            for kind, human in KINDS.items():
                won = own.loc[own["human"].eq(human), "win"].astype(float)
                found = share_interval(won, own["cluster"][won.index], data.bootstrap.level)
                yield told(data.row(judge, kind), found, won.count(), len(won))


def against_people(data: Judged) -> Iterator[Row]:
    """EO beyond that of another person in the judge's place, of every judge with own pairs."""
    name = "beyond_no_preference"
    for judge, place in data.no_preference.items():
        found = Interval(*(place.get(column, np.nan) for column in bounded(name)))
        row = key_of(data.name, HUMAN, judge=judge, statistic=name)
        yield told(row, found, place["n"], data.own(judge)["human"].count(), place["status"])


def by_name(values: pd.Series | float, names: pd.Series, what: str) -> pd.DataFrame:
    """One column a name, such as a judge's: the values of its rows, else 0."""
    return pd.get_dummies(names, dtype=float).mul(values, axis="index").add_prefix(what)


def own_text(rows: pd.DataFrame, held: pd.DataFrame, place: Row, level: float) -> Iterator[Row]:
    """B of each judge with own texts.

    Args:
        rows: `judge, cluster, y, gold, own` (1, 0; -1 where the other text of a pair is the own
            one); without a gold score they do not count.
        held: The columns that are held beside the gold score.
        place: The row's key, without judge and statistic, and its unit.
        level: Coverage of the intervals.
    """
    rows = rows.dropna(subset="gold")
    used, is_own = rows["y"].notna(), rows["own"].ne(0)
    kept = rows[used]
    own = by_name(kept["own"], kept["judge"], "")
    gold = by_name(kept["gold"], kept["judge"], "gold to ")
    design = held.loc[kept.index].join([gold, own])
    found = fit(kept["y"].to_numpy(float), design, kept["cluster"], [*own], level)
    for judge, mine in used[is_own].groupby(rows["judge"]):
        n, row = int(mine.sum()), place | {"judge": judge, "statistic": "regression"}
        none = NOT_TOLD if n else "no row with a score and gold"
        yield told(row, found.get(judge, MISSING), n, len(mine), none)


def regressions(data: Judged, pairs: pd.DataFrame, gold: str) -> Iterator[Row]:
    """The rows of one data set of pairs under one gold label.

    Args:
        data: The data set.
        pairs: Its pairs, `human` being the gold label.
        gold: Where the gold label comes from.
    """
    pairs = pairs.dropna(subset="human", ignore_index=True)
    own = pairs["first"].eq(pairs["judge"]).astype(float) - pairs["second"].eq(pairs["judge"])
    y, label = pairs["score"] - 0.5, pairs["human"] - 0.5
    rows = pairs[["judge", "cluster"]].assign(y=y, gold=label, own=own)
    texts = bias.between(pairs).iloc[:, 1:].add_prefix("text of ")
    yield from own_text(rows, texts, key_of(data.name, gold), data.settings.bootstrap.level)


def of_ratings(rated: pd.DataFrame, gold: pd.Series, place: Row, level: float) -> Iterator[Row]:
    """The rows of one data set of ratings under one gold score.

    Args:
        rated: `judge, responder, cluster, score`.
        gold: The gold score of each row; NaN where there is none.
        place: Study, data set, name of the gold score, unit.
        level: Coverage of the intervals.
    """
    own = rated["judge"].eq(rated["responder"]).astype(float)
    rows = rated[["judge", "cluster"]].assign(y=rated["score"], gold=gold, own=own)
    severity = by_name(1.0, rated["judge"], "severity of ")
    texts = by_name(1.0, rated["responder"], "text of ").iloc[:, 1:]
    yield from own_text(rows, severity.join(texts), place, level)
