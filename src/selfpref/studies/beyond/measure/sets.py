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

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from selfpref.statistics.bias import FEW
from selfpref.statistics.bootstrap import ClusterBootstrap, Interval
from selfpref.statistics.judged import Judged, Settings
from selfpref.statistics.regression import Coefficient
from selfpref.statistics.scores import (
    Floats,
    decide,
    gap,
    names_of,
    pairs_with,
    text_lengths,
    value_of,
)
from selfpref.studies.livebench.panel import Panel
from selfpref.tables.schemas import TIE

Row = dict[str, object]
KEY = ["study", "dataset", "judge", "gold", "statistic"]
SIDES = ["n_human_own", "n_human_other", "n_human_least"]
LONG = [
    *(*KEY, "value", "lo", "hi", "n", *SIDES, "few"),
    *("dropped", "unit", "interval", "reason"),
]
# In this order: what the studies measure, their controls, then what the papers since have added.
STATISTICS = (
    "demographic_parity",
    "equal_length",
    "paired_excess",
    "equal_opportunity",
    "excess",
    "excess_common",
    "excess_half_ties",
    "beyond_no_preference",
    "gold_gap",
    "regression",
    "regression_length",
    "regression_scaled",
    "equal_quality",
    "harmful",
    "neutral",
    "legitimate",
)
HUMAN, ORACLE, NONE = "human", "oracle", "none"
BOOTSTRAP, ROBUST, WILSON, NEWCOMBE = "bootstrap", "cluster-robust", "Wilson", "Newcombe"
# Scores are sums and ratios in floating point.
ROUNDING = 1e-9
COLUMNS = [
    *("item_id", "cluster", "judge", "responder", "opponent", "k", "decision", "win"),
    *("human", "gold", "alike", "length"),
]


def missing(row: Row, dropped: int, reason: str) -> Row:
    """The row of a statistic without a value: NaN, n 0, and why."""
    nothing = dict.fromkeys(("value", "lo", "hi"), np.nan)
    return row | nothing | {"n": 0, "dropped": dropped, "interval": "", "reason": reason}


def known(
    row: Row, found: Interval | Coefficient, n: float, dropped: int, kind: str = BOOTSTRAP
) -> Row:
    """The row of a statistic with a value, and of how its interval was made."""
    values = {"value": found.value, "lo": found.lo, "hi": found.hi}
    return row | values | {"n": n, "dropped": dropped, "interval": kind, "reason": ""}


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
    """

    study: str
    dataset: str
    gold: str
    rows: pd.DataFrame
    settings: Settings

    @cached_property
    def judges(self) -> list[str]:
        """Those that read a response of their own."""
        own = self.rows[self.rows["judge"].eq(self.rows["responder"])]
        return names_of(own["judge"])

    @cached_property
    def _facing(self) -> dict[str, pd.DataFrame]:
        groups = self.rows.groupby("responder", sort=True)
        return {str(name): part.reset_index(drop=True) for name, part in groups}

    def pairs_with(self, responder: str) -> pd.DataFrame:
        """All judges' rows turned to one responder."""
        return self._facing[responder]

    @cached_property
    def _own(self) -> dict[str, pd.DataFrame]:
        return {
            judge: rows[rows["judge"].eq(judge)].reset_index(drop=True)
            for judge, rows in self._facing.items()
        }

    def own(self, judge: str) -> pd.DataFrame:
        """A judge's own rows."""
        return self._own[judge]

    @property
    def bootstrap(self) -> ClusterBootstrap:
        """Intervals, with the streams of the study's chapter where it has them."""
        return self.settings.bootstrap.within(self.study, self.dataset)

    def row(self, judge: str, statistic: str) -> Row:
        """The key of a judge's statistic, and its unit."""
        place = {"study": self.study, "dataset": self.dataset, "judge": judge, "gold": self.gold}
        return {**place, "statistic": statistic, "unit": "probability"}


def _quality(truths: pd.DataFrame) -> pd.Series:
    """The oracle's score of each text, by (item_id, responder); empty without an oracle."""
    known = truths[truths["metric"].eq("quality")]
    return known.set_index(["item_id", "responder"])["score"]


def _side(lead: Floats) -> Floats:
    """1, 1/2 or 0 for a difference above, at or below 0; NaN stays NaN."""
    side: Floats = (np.sign(np.where(np.abs(lead) < ROUNDING, 0.0, lead)) + 1) / 2
    return side


def from_pairs(data: Judged, pairs: pd.DataFrame, gold: str) -> Judgments:
    """The judged pairs of one data set, every pair turned to both of its responders.

    Args:
        data: The data set.
        pairs: Its pairs, `human` being the gold label.
        gold: Where the gold label comes from.
    """
    responses = data.tables["responses"]
    lengths = text_lengths(responses, responses["length"])
    sides = pd.DataFrame(columns=COLUMNS)
    for responder in names_of(pairs["first"], pairs["second"]):
        rows = pairs_with(pairs, responder).assign(responder=responder, k=2)
        length = gap(lengths, rows, "responder", "opponent")
        rows = rows.assign(length=length, win=rows["decision"], gold=rows["human"])
        rows = rows.assign(alike=rows["human"].eq(0.5))[COLUMNS]
        sides = rows if sides.empty else pd.concat([sides, rows], ignore_index=True)
    return Judgments("wataoka", data.name, gold, sides, data.settings)


def by_oracle(pairs: pd.DataFrame, truths: pd.DataFrame) -> pd.DataFrame | None:
    """The pairs with the oracle in the place of the human; None without an oracle.

    Args:
        pairs: As `judged_pairs` returns them.
        truths: The truths table; equal `quality` is a tie.
    """
    quality = _quality(truths)
    if quality.empty:
        return None
    return pairs.assign(human=_side(gap(quality, pairs).to_numpy()))


def from_choices(panel: Panel, reading: str, settings: Settings) -> Judgments:
    """The choices among k responses, every set turned to each of them, held to an answer key.

    Args:
        panel: The tables of the study.
        reading: The metric of `truths`.
        settings: Ties, intervals and seed.
    """
    truths = panel.tables["truths"]
    scores = truths[truths["metric"].eq(reading)].set_index(["item_id", "responder"])["score"]
    choices = panel.choices
    rows = choices.assign(responder=choices["candidates"]).explode("responder").reset_index()
    rows = rows.rename(columns={"index": "set"}).astype({"responder": "str"})
    rows["k"] = rows["candidates"].map(len)
    rows["opponent"] = [
        "+".join(name for name in names if name != me)
        for names, me in zip(rows["candidates"], rows["responder"], strict=True)
    ]
    chosen = [rows["choice"].isna(), rows["choice"].eq(TIE), rows["choice"].eq(rows["responder"])]
    rows["decision"] = np.select(chosen, [np.nan, 0.5, 1.0], 0.0)
    rows["win"] = rows["decision"].mask(rows["decision"].eq(0.5), 1 / rows["k"])
    score = pd.Series(value_of(scores, rows["item_id"], rows["responder"]), index=rows.index)
    by_set = score.groupby(rows["set"])
    best = score.ge(by_set.transform("max") - panel.settings.margin - ROUNDING)
    number = best.groupby(rows["set"]).transform("sum")
    known = score.notna().groupby(rows["set"]).transform("all")
    rows["gold"] = best.div(number).where(known)
    rows["human"] = best.astype(float).mask(best & number.gt(1), 0.5).where(known)
    rows["alike"] = known & number.eq(rows["k"])
    responses = panel.tables["responses"]
    lengths = text_lengths(responses, responses["text"].str.len())
    length = pd.Series(value_of(lengths, rows["item_id"], rows["responder"]), index=rows.index)
    total = length.groupby(rows["set"]).transform(lambda values: values.sum(skipna=False))
    rows["length"] = length - (total - length) / (rows["k"] - 1)
    return Judgments("livebench", "livebench", f"key-{reading}", rows[COLUMNS], settings)


def from_confidences(
    pairs: pd.DataFrame, responses: pd.DataFrame, truths: pd.DataFrame, settings: Settings
) -> list[Judgments]:
    """Preferences between an own text and another one, by data set; gold is the oracle's or none.

    Args:
        pairs: The frame `pairs` of Panickssery et al.: their `corrected` confidences enter.
        responses: The responses table.
        truths: The truths table; equal `quality` is a tie.
        settings: Threshold, ties, intervals and seed.
    """
    lengths = text_lengths(responses, responses["text"].str.len())
    quality = _quality(truths)
    asked = pairs[pairs["task"].eq("preference") & pairs["variant"].eq("plain")]
    asked = asked[asked["held_out"]].astype(
        dict.fromkeys(["dataset", "evaluator", "other", "own", "item_id", "cluster"], "str")
    )
    decision = decide(asked["corrected"].to_numpy(dtype=float), settings.threshold)
    human = _side(gap(quality, asked, "own", "other").to_numpy())
    rows = asked.assign(
        judge=asked["evaluator"], responder=asked["evaluator"], opponent=asked["other"], k=2
    ).assign(decision=decision, win=decision, human=human, gold=human, alike=human == 0.5)
    rows = rows.assign(length=gap(lengths, asked, "own", "other"))
    gold = NONE if quality.empty else ORACLE
    return [
        Judgments("panickssery", str(name), gold, part[COLUMNS].reset_index(drop=True), settings)
        for name, part in rows.groupby("dataset")
    ]
