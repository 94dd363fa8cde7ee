"""What judges decide: one data set's judged pairs; EO and DP, their excess, and position.

The formulas of EO, DP and excess stand in `selfpref.statistics.bias`. Position is how much of a
verdict depends on the order in which the responses were read:

- *first-position share*: of the verdicts that choose a response, the share that chooses the one
  read first; 1/2 is unbiased.
- *flip rate*: of the pairs judged in both orders, the share whose outcome (a response, or a tie)
  differs between the orders; 0 is consistent.
- *reversal rate*: of the same pairs, the share that chooses the same *position* in both orders, so
  that the order alone decides. A flip into or out of a tie is no reversal.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from selfpref.statistics.bias import (
    VARIANTS,
    Ties,
    cell_counts,
    cell_weights,
    demographic_parity,
    equal_opportunity,
    excess,
    stacked_cells,
)
from selfpref.statistics.bootstrap import ClusterBootstrap, ratio
from selfpref.statistics.scores import (
    PAIR,
    Floats,
    Scale,
    Turns,
    by_judge,
    decide,
    judged_pairs,
    pairs_with,
    verdict_scores,
)

STUDY = "wataoka"
Binning = Literal["width", "count"]
# What is read of each table; of the texts, their length.
COLUMNS = {
    "items": ("item_id", "cluster", "metadata"),
    "responses": ("item_id", "responder", "step", "sample", "text", "status"),
    "labels": ("item_id", "responder_a", "responder_b", "annotator", "label"),
    "truths": ("item_id", "responder", "metric", "score"),
    "verdicts": (
        *("item_id", "judge", "task", "candidates", "order_known", "repeat"),
        *("probabilities", "choice", "status"),
    ),
    "perplexities": (
        *("item_id", "responder", "step", "judge", "conditional"),
        *("sum_nll", "n_tokens", "status"),
    ),
}
# The two readings of Table 2, which the paper's text leaves open: what becomes of human ties.
READINGS: dict[str, Ties] = {"decisive": "drop", "with_ties": "half"}
RATES = {
    "first_share": ["chose_first", "decided"],
    "flip_rate": ["flipped", "both_orders"],
    "reversal_rate": ["reversed", "both_orders"],
}


@dataclass(frozen=True)
class Settings:
    """Which rows enter, how they count, and how intervals are made; see `selfpref.params`."""

    threshold: float
    human_ties: Ties
    judge_ties: Ties
    turns: Turns
    bins: int
    binning: Binning
    scale: Scale
    bootstrap: ClusterBootstrap


@dataclass(frozen=True)
class Judged:
    """One data set's tables, responses with their `length`, and its judged pairs."""

    name: str
    tables: Mapping[str, pd.DataFrame]
    settings: Settings

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Every judged pair, as `judged_pairs` returns them."""
        items, labels, verdicts = (self.tables[key] for key in ("items", "labels", "verdicts"))
        use = self.settings
        return judged_pairs(items, labels, verdicts, threshold=use.threshold, turns=use.turns)

    @cached_property
    def judges(self) -> list[str]:
        """Those that judged a pair with a response of their own."""
        first, second, judge = (
            set(self.pairs[name].unique()) for name in ("first", "second", "judge")
        )
        return sorted(judge & (first | second))

    @property
    def bootstrap(self) -> ClusterBootstrap:
        """Intervals, each use with a stream of its own within this data set."""
        return self.settings.bootstrap.within(STUDY, self.name)

    def own(self, judge: str) -> pd.DataFrame:
        """The judge's verdicts on pairs with its own response, turned to it."""
        rows = pairs_with(self.pairs, judge)
        return rows[rows["judge"].eq(judge)].reset_index(drop=True)

    def truth(self, metric: str) -> pd.Series:
        """A true score of the responses, by (item_id, responder); empty where there is none."""
        truths = self.tables["truths"]
        found = truths[truths["metric"].eq(metric)]
        return found.set_index(["item_id", "responder"])["score"]


def _dropped(rows: pd.DataFrame, cells: Floats) -> int:
    """Pairs with a human vote and a verdict that a tie or a status kept out."""
    return int(rows["human"].notna().sum() - (cells.sum(axis=1) > 0).sum())


def bias(data: Judged) -> pd.DataFrame:
    """Fig. 1b and Fig. 2: cells, EO and DP of every judge on its own pairs, with n and dropped."""
    rows = []
    for judge in data.judges:
        own = data.own(judge)
        cells = cell_weights(own, data.settings.human_ties, data.settings.judge_ties)
        eo, dp = (
            data.bootstrap.estimate(cells, own["cluster"], statistic, judge, name).columns(name)
            for name, statistic in (("eo", equal_opportunity), ("dp", demographic_parity))
        )
        row = {"dataset": data.name, "judge": judge, **cell_counts(cells), **eo, **dp}
        rows.append(row | {"n_dropped": _dropped(own, cells)})
    return pd.DataFrame(rows)


def bias_by_opponent(data: Judged) -> pd.DataFrame:
    """EO split by whose response the judge's own was compared with."""
    rows = []
    for judge in data.judges:
        for opponent, own in data.own(judge).groupby("opponent"):
            cells = cell_weights(own, data.settings.human_ties, data.settings.judge_ties)
            names = (judge, str(opponent), "eo")
            found = data.bootstrap.estimate(cells, own["cluster"], equal_opportunity, *names)
            rows.append(
                {"dataset": data.name, "judge": judge, "opponent": opponent, **cell_counts(cells)}
                | found.columns("eo")
                | {"undefined": found.undefined, "n_dropped": _dropped(own, cells)}
            )
    return pd.DataFrame(rows)


def excess_table(data: Judged) -> pd.DataFrame:
    """The three variants of the excess; empty where no second judge read the same responses."""
    rows = []
    for judge in data.judges:
        towards_judge = pairs_with(data.pairs, judge)
        others = towards_judge["judge"].nunique() - 1
        for variant in VARIANTS if others else ():
            cells, clusters = stacked_cells(
                towards_judge, judge, variant, data.settings.human_ties, data.settings.judge_ties
            )
            found = data.bootstrap.estimate(cells, clusters, excess, judge, variant)
            rows.append(
                {"dataset": data.name, "judge": judge, "variant": variant}
                | found.columns("excess")
                | {
                    "eo": float(equal_opportunity(cells.sum(axis=0))[0]),
                    "n": int((cells[:, 0].sum(axis=1) > 0).sum()),
                    "others": others,
                    "undefined": found.undefined,
                }
            )
    return pd.DataFrame(rows)


def demographic_parities(data: Judged) -> pd.DataFrame:
    """Table 2 in both readings: decisive rows only; pairs that the human tied included."""
    rows = []
    for judge in data.judges:
        own = data.own(judge)
        row: dict[str, object] = {"dataset": data.name, "judge": judge}
        for reading, ties in READINGS.items():
            cells = cell_weights(own, ties, data.settings.judge_ties)
            names = (judge, reading)
            found = data.bootstrap.estimate(cells, own["cluster"], demographic_parity, *names)
            row |= {f"n_{reading}": cells.sum(), f"n_dropped_{reading}": _dropped(own, cells)}
            row |= found.columns(f"dp_{reading}")
        rows.append(row)
    return pd.DataFrame(rows)


def position_counts(verdicts: pd.DataFrame, threshold: float = 0.5) -> pd.DataFrame:
    """Counts of each pair and judge, from rows with a known order and the status ok.

    Args:
        verdicts: The verdicts table.
        threshold: As in `judged_pairs`.

    Returns:
        `item_id, first, second, judge` and the counts `decided` (orders in which a response was
        chosen, 0..2), `chose_first` (of these, where it was the one read first), `both_orders` (1
        where the pair was judged in both), `flipped` and `reversed` (0 or 1).
    """
    single = verdict_scores(verdicts)
    single = single[single["presented"].notna() & single["score"].notna()]
    by_order = single.groupby([*PAIR, "judge", "presented"], as_index=False)["score"].mean()
    wide = by_order.pivot(index=[*PAIR, "judge"], columns="presented", values="score")
    wide = wide.reindex(columns=["first", "second"])
    # Outcome for the responder `first`: 1, 0, 1/2; NaN where that order was not judged.
    one, two = (decide(wide[name].to_numpy(dtype=float), threshold) for name in ("first", "second"))
    both = ~np.isnan(one) & ~np.isnan(two)
    return wide.index.to_frame(index=False).assign(
        chose_first=(one == 1).astype(int) + (two == 0).astype(int),
        decided=np.isin(one, (0, 1)).astype(int) + np.isin(two, (0, 1)).astype(int),
        flipped=(both & (one != two)).astype(int),
        reversed=(both & (np.abs(one - two) == 1)).astype(int),
        both_orders=both.astype(int),
    )


def position(data: Judged) -> pd.DataFrame:
    """First-position share, flip and reversal rate of every judge, on all and on own pairs."""
    rows = []
    for judge, verdicts in by_judge(data.tables["verdicts"]):
        counts = position_counts(verdicts, data.settings.threshold)
        # Pairs of turns that the settings leave out, and items without a cluster, are not counted.
        known = data.pairs.loc[data.pairs["judge"].eq(judge), [*PAIR, "cluster"]]
        mine = counts.merge(known, on=PAIR)
        own = mine["first"].eq(judge) | mine["second"].eq(judge)
        for scope, part in (("all", mine), ("own", mine[own])):
            if part.empty:
                continue
            row: dict[str, object] = {"dataset": data.name, "judge": judge, "pairs": scope}
            row |= {"n_decided": part["decided"].sum(), "n_both": part["both_orders"].sum()}
            for name, columns in RATES.items():
                names = (judge, scope, name)
                found = data.bootstrap.estimate(part[columns], part["cluster"], ratio, *names)
                row |= found.columns(name)
            rows.append(row)
    return pd.DataFrame(rows)
