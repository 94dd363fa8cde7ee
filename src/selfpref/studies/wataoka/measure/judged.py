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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from selfpref.statistics.bias import (
    FEW,
    VARIANTS,
    Ties,
    cell_counts,
    cell_weights,
    demographic_parity_interval,
    equal_opportunity,
    equal_opportunity_interval,
    excess,
    human_sides,
    others_mean,
    stacked_cells,
    too_few,
)
from selfpref.statistics.bootstrap import ClusterBootstrap, Interval
from selfpref.statistics.no_preference import against_votes, beyond_no_preference, vote_cells
from selfpref.statistics.scores import (
    PAIR,
    Floats,
    JudgeTie,
    Scale,
    Turns,
    by_judge,
    decide,
    judged_pairs,
    oriented_votes,
    pairs_with,
    verdict_scores,
)
from selfpref.statistics.shares import share_interval

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
        *("probabilities", "mass", "choice", "status"),
    ),
    "perplexities": (
        *("item_id", "responder", "step", "judge", "conditional"),
        *("sum_nll", "n_tokens", "status"),
    ),
}
# The two readings of Table 2, which the paper's text leaves open: what becomes of human ties.
READINGS: dict[str, Ties] = {"decisive": "drop", "with_ties": "half"}
# A person in the judge's place, the judge, and their difference, all against single votes.
AGAINST_VOTES = ("eo_no_preference", "eo_one_vote", "beyond_no_preference")
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
    judge_tie: JudgeTie
    turns: Turns
    bins: int
    binning: Binning
    scale: Scale
    bootstrap: ClusterBootstrap
    panel: Sequence[str] = ()


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
        return judged_pairs(
            items,
            labels,
            verdicts,
            threshold=use.threshold,
            judge_tie=use.judge_tie,
            turns=use.turns,
        )

    @cached_property
    def judges(self) -> list[str]:
        """Those that judged a pair with a response of their own."""
        first, second, judge = (
            set(self.pairs[name].unique()) for name in ("first", "second", "judge")
        )
        return sorted(judge & (first | second))

    @cached_property
    def _votes(self) -> pd.DataFrame:
        return oriented_votes(self.tables["labels"])

    def votes(self, responder: str) -> pd.DataFrame:
        """Single votes on the pairs with a responder's text, turned to it.

        Returns:
            `item_id, opponent, vote` (1 for the responder, 0 against it, 1/2 for a tie).
        """
        votes = self._votes
        held = votes[votes["first"].eq(responder) | votes["second"].eq(responder)]
        turned = held["second"].eq(responder)
        return pd.DataFrame(
            {
                "item_id": held["item_id"],
                "opponent": held["first"].where(turned, held["second"]),
                "vote": held["vote"].where(~turned, 1 - held["vote"]),
            }
        )

    @property
    def bootstrap(self) -> ClusterBootstrap:
        """Intervals, each use with a stream of its own within this data set."""
        return self.settings.bootstrap.within(STUDY, self.name)

    @cached_property
    def _own(self) -> dict[str, pd.DataFrame]:
        return {
            judge: pairs_with(self.pairs[self.pairs["judge"].eq(judge)], judge)
            for judge in self.judges
        }

    def own(self, judge: str) -> pd.DataFrame:
        """The verdicts of one of `judges` on pairs with its own response, turned to it."""
        return self._own[judge]

    @cached_property
    def no_preference(self) -> dict[str, dict[str, object]]:
        """What `no_preference` finds, by judge."""
        return {judge: no_preference(self, judge) for judge in self.judges}

    def truth(self, metric: str) -> pd.Series:
        """A true score of the responses, by (item_id, responder); empty where there is none."""
        truths = self.tables["truths"]
        found = truths[truths["metric"].eq(metric)]
        return found.set_index(["item_id", "responder"])["score"]


def _dropped(rows: pd.DataFrame, cells: Floats) -> int:
    """Pairs with a human vote and a verdict that a tie or a status kept out."""
    return int(rows["human"].notna().sum() - (cells.sum(axis=1) > 0).sum())


def _sides(counts: Floats, suffix: str = "") -> dict[str, float]:
    """Pairs on either human side, `[2]`, by name."""
    names = (f"n_human_own{suffix}", f"n_human_other{suffix}")
    return dict(zip(names, counts, strict=True))


def bias(data: Judged) -> pd.DataFrame:
    """Fig. 1b and Fig. 2: cells, EO and DP of every judge on its own pairs, with n and dropped.

    Beside them, as `no_preference` returns it, what another person shows in the judge's place.
    """
    rows = []
    for judge in data.judges:
        own = data.own(judge)
        cells = cell_weights(own, data.settings.human_ties, data.settings.judge_ties)
        eo = equal_opportunity_interval(cells, own["cluster"], data.bootstrap, judge, "eo")
        dp = demographic_parity_interval(cells, own["cluster"], data.bootstrap.level)
        totals = cells.sum(axis=0)
        rows.append(
            {"dataset": data.name, "judge": judge, **cell_counts(cells)}
            | {**_sides(human_sides(totals)), "few": bool(too_few(totals))}
            | {**eo.columns("eo"), **dp.columns("dp"), **data.no_preference[judge]}
            | {"n_dropped": _dropped(own, cells)}
        )
    return pd.DataFrame(rows)


def no_preference(data: Judged, judge: str) -> dict[str, object]:
    """What another person shows in the judge's place, and the judge against the same votes.

    On the judge's own pairs that it decides and that have two votes or more; see
    `selfpref.statistics.no_preference`.

    Returns:
        `eo_no_preference`, `eo_one_vote` (the judge's) and `beyond_no_preference` (their
        difference) with bounds; `n_two_votes`, the pairs; `no_preference_status`, `ok` or why the
        values are missing.
    """
    use = data.settings
    own = data.own(judge)
    decided = own[own["decision"].notna() & (own["decision"].ne(0.5) | (use.judge_ties == "half"))]
    place = ["item_id", "opponent"]
    pairs = decided.merge(vote_cells(data.votes(judge), place, use.human_ties), on=place)
    cells, status = against_votes(pairs), "ok"
    found = [Interval(np.nan, np.nan, np.nan, np.nan)] * len(AGAINST_VOTES)
    if too_few(cells[:, 0].sum(axis=0)):
        status = f"fewer than {FEW} pairs on one side have two votes"
    else:
        found = data.bootstrap.estimates(
            cells, pairs["cluster"], beyond_no_preference, judge, "no preference"
        )
    values: dict[str, object] = {"n_two_votes": len(pairs), "no_preference_status": status}
    for name, interval in zip(AGAINST_VOTES, found, strict=True):
        values |= interval.columns(name)
    return values


def bias_by_opponent(data: Judged) -> pd.DataFrame:
    """EO split by whose response the judge's own was compared with."""
    rows = []
    for judge in data.judges:
        for opponent, own in data.own(judge).groupby("opponent"):
            cells = cell_weights(own, data.settings.human_ties, data.settings.judge_ties)
            names = (judge, str(opponent), "eo")
            found = equal_opportunity_interval(cells, own["cluster"], data.bootstrap, *names)
            totals = cells.sum(axis=0)
            rows.append(
                {"dataset": data.name, "judge": judge, "opponent": opponent, **cell_counts(cells)}
                | {**_sides(human_sides(totals)), "few": bool(too_few(totals))}
                | found.columns("eo")
                | {"undefined": found.undefined, "n_dropped": _dropped(own, cells)}
            )
    return pd.DataFrame(rows)


def _excess_and_others(totals: Floats) -> Floats:
    """Excess, and the mean EO of the other judges: `[..., judges, 4]` to `[..., 2]`."""
    return np.stack([excess(totals), others_mean(equal_opportunity(totals))], axis=-1)


def excess_table(data: Judged) -> pd.DataFrame:
    """The three variants of the excess; empty where no second judge read the same responses.

    Returns:
        `dataset, judge, variant`; the judge's `eo`; `excess` and the mean `eo_others` of the other
        judges with bounds; `n_human_own` and `n_human_other`, the judge's pairs on either human
        side, with `_least` the fewest that another judge has; `few`, whether one of the four is
        too few; `others`, how many other judges enter; `n, undefined`.
    """
    rows = []
    for judge in data.judges:
        towards_judge = pairs_with(data.pairs, judge)
        for variant in VARIANTS if towards_judge["judge"].nunique() > 1 else ():
            cells, clusters = stacked_cells(
                towards_judge, judge, variant, data.settings.human_ties, data.settings.judge_ties
            )
            found = data.bootstrap.estimates(cells, clusters, _excess_and_others, judge, variant)
            totals = cells.sum(axis=0)
            sides = human_sides(totals)
            row: dict[str, object] = {"dataset": data.name, "judge": judge, "variant": variant}
            row["eo"] = float(equal_opportunity(totals[0]))
            for name, interval in zip(("excess", "eo_others"), found, strict=True):
                row |= interval.columns(name)
            rows.append(
                row
                | {**_sides(sides[0]), **_sides(sides[1:].min(axis=0), "_least")}
                | {"few": bool(too_few(totals).any()), "others": cells.shape[1] - 1}
                | {"n": int((cells[:, 0].sum(axis=1) > 0).sum()), "undefined": found[0].undefined}
            )
    return pd.DataFrame(rows)


def demographic_parities(data: Judged) -> pd.DataFrame:
    """Table 2 in both readings: decisive rows only; pairs that the human tied included.

    Where nobody voted on some of a judge's pairs, `dp_every` is that of all pairs.
    """
    rows = []
    for judge in data.judges:
        own = data.own(judge)
        row: dict[str, object] = {"dataset": data.name, "judge": judge}
        for reading, ties in READINGS.items():
            cells = cell_weights(own, ties, data.settings.judge_ties)
            found = demographic_parity_interval(cells, own["cluster"], data.bootstrap.level)
            row |= {f"n_{reading}": cells.sum(), f"n_dropped_{reading}": _dropped(own, cells)}
            row |= found.columns(f"dp_{reading}")
        # Eq. 4 needs no human.
        cells = cell_weights(own.assign(human=1.0), "drop", data.settings.judge_ties)
        found = demographic_parity_interval(cells, own["cluster"], data.bootstrap.level)
        if own["human"].isna().any():
            row |= {"n_every": cells.sum(), "n_dropped_every": len(own) - int(cells.any(1).sum())}
            row |= found.columns("dp_every")
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
                found = share_interval(part[columns], part["cluster"], data.bootstrap.level)
                row |= found.columns(name)
            rows.append(row)
    return pd.DataFrame(rows)
