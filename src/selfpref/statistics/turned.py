"""What was judged, one row a set of responses and responder; and the table of what is measured.

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
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from selfpref.statistics.bias import FEW, gap, names_of, pairs_with, text_lengths
from selfpref.statistics.bootstrap import ClusterBootstrap, Floats, Interval
from selfpref.statistics.judged import STUDY, Judged, Settings

Row = dict[str, object]
KEY = ["study", "dataset", "judge", "gold", "statistic"]
SIDES = ["n_human_own", "n_human_other", "n_human_least"]
LONG = [
    *(*KEY, "value", "lo", "hi", "n", *SIDES, "few"),
    *("dropped", "unit", "interval", "reason"),
]
HUMAN, ORACLE, NONE = "human", "oracle", "none"
BOOTSTRAP, ROBUST, WILSON, NEWCOMBE = "bootstrap", "cluster-robust", "Wilson", "Newcombe"
COLUMNS = [
    *("item_id", "cluster", "judge", "responder", "opponent", "k", "decision", "win"),
    *("human", "gold", "alike", "length"),
]


def told(row: Row, found: Interval | str, n: float, of: int, interval: str = BOOTSTRAP) -> Row:
    """The row of a statistic with its value, or with the reason for which there is none.

    Args:
        row: Its key and unit.
        found: The value with its interval; or the reason.
        n: The rows that it rests on.
        of: The rows that it might rest on; the others are dropped.
        interval: How the interval was made.
    """
    if isinstance(found, str):
        nothing = dict.fromkeys(("value", "lo", "hi"), np.nan)
        return row | nothing | {"n": 0, "dropped": of, "interval": "", "reason": found}
    values = {"value": found.value, "lo": found.lo, "hi": found.hi}
    return row | values | {"n": n, "dropped": of - round(n), "interval": interval, "reason": ""}


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
    few: pd.Series = counts["n"].gt(0) & counts.min(axis=1).lt(FEW)
    return few


def on_sides(pairs: Floats) -> Row:
    """The pairs on both human sides, and the fewest that a judge of the comparison has on one.

    Args:
        pairs: `[judges, 2]`, the judge itself first.
    """
    return dict(zip(SIDES, map(float, (*pairs[0], pairs.min())), strict=True))


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

    @cached_property
    def judges(self) -> list[str]:
        """Those that read a response of their own."""
        return names_of(self.rows.loc[self.rows["judge"].eq(self.rows["responder"]), "judge"])

    @cached_property
    def _facing(self) -> dict[str, pd.DataFrame]:
        groups = self.rows.groupby("responder", sort=True)
        return {str(name): part.reset_index(drop=True) for name, part in groups}

    def pairs_with(self, responder: str) -> pd.DataFrame:
        """All judges' rows turned to one responder."""
        return self._facing[responder]

    def compared(self, judge: str) -> pd.DataFrame:
        """The rows turned to a judge, of it and of the other judges that it is held against."""
        rows = self.pairs_with(judge)
        return rows[~rows["judge"].isin(self.left_out.get(judge, ()))]

    def own(self, judge: str) -> pd.DataFrame:
        """A judge's own rows."""
        rows = self.pairs_with(judge)
        return rows[rows["judge"].eq(judge)].reset_index(drop=True)

    @property
    def bootstrap(self) -> ClusterBootstrap:
        """Intervals, with the streams of the study's chapter where it has them."""
        return self.settings.bootstrap.within(self.study, self.dataset)

    def row(self, judge: str, statistic: str) -> Row:
        """The key of a judge's statistic, and its unit."""
        key = (self.study, self.dataset, judge, self.gold, statistic)
        return dict(zip([*KEY, "unit"], (*key, "probability"), strict=True))


def from_pairs(data: Judged, pairs: pd.DataFrame, gold: str) -> Judgments:
    """The judged pairs of one data set, every pair turned to both of its responders.

    Args:
        data: The data set.
        pairs: Its pairs, `human` being the gold label.
        gold: Where the gold label comes from.
    """
    responses = data.tables["responses"]
    lengths = text_lengths(responses, responses["length"])
    sides = [pd.DataFrame(columns=COLUMNS)]
    for responder in names_of(pairs["first"], pairs["second"]):
        rows = pairs_with(pairs, responder).assign(responder=responder, k=2)
        length = gap(lengths, rows, "responder", "opponent")
        rows = rows.assign(length=length, win=rows["decision"], gold=rows["human"])
        sides.append(rows.assign(alike=rows["human"].eq(0.5))[COLUMNS])
    rows = pd.concat(sides[1:] or sides, ignore_index=True)
    left_out = {judge: data.left_out(judge) for judge in data.judges}
    return Judgments(STUDY, data.name, gold, rows, data.settings, left_out)
