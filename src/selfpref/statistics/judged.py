"""One data set's judged pairs, and what they say of every judge: EO and DP, agreement, position.

A judge's own responses are those of the responder of the same name. The formulas of EO, DP and
excess stand in `selfpref.statistics.bias`, those of another person in the judge's place in
`selfpref.statistics.no_preference`. Nothing in EO needs the responses to be the judge's own: with
"own" read as "of responder r" it exists for every judge and every responder
(`bias_by_judge_and_responder`), and towards the judge itself it is the bias of the paper. If the
rows of this matrix differ, judges do; if its columns differ, responders do: strong responders get a
high value, and weak ones a low value, from whoever judges.

*Agreement* is the share of pairs, decided by both, on which a judge and the human majority prefer
the same response; it exists for judges that wrote nothing.

Position is how much of a verdict depends on the order in which the responses were read:

- *first-position share*: of the verdicts that choose a response, the share that chooses the one
  read first; 1/2 is unbiased.
- *flip rate*: of the pairs judged in both orders, the share whose outcome (a response, or a tie)
  differs between the orders; 0 is consistent.
- *reversal rate*: of the same pairs, the share that chooses the same *position* in both orders, so
  that the order alone decides. A flip into or out of a tie is no reversal.

A *panel* of judges labels pairs on which nobody voted: the majority of its members' decisions (the
sign of decisions for minus decisions against; a sum of 0 is a tie). A member that wrote one of the
two responses does not vote, and no member's verdict is held to a label that it voted for. Judges
share tastes, and a panel's label is no person's.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Literal

import numpy as np
import pandas as pd

from selfpref.statistics.bias import (
    CELLS,
    FEW,
    PAIR,
    JudgeTie,
    Scale,
    Ties,
    Turns,
    by_judge,
    cell_counts,
    cell_weights,
    decide,
    demographic_parity_interval,
    equal_opportunity_interval,
    human_sides,
    judged_pairs,
    names_of,
    oriented_votes,
    pairs_with,
    too_few,
    turned_to,
    verdict_scores,
)
from selfpref.statistics.bootstrap import ClusterBootstrap, Floats, Interval, bounded
from selfpref.statistics.no_preference import (
    against_votes,
    beyond_majority,
    beyond_no_preference,
    vote_cells,
)
from selfpref.statistics.shares import share_interval
from selfpref.tables.schemas import KEY, PANEL, TIE

# Whose streams of random numbers these are.
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
SIDES = ["n_human_own", "n_human_other"]
# A person in the judge's place, the judge, and their difference, all against single votes.
AGAINST_VOTES = ("eo_no_preference", "eo_one_vote", "beyond_no_preference")
BIAS = [
    *("dataset", "judge", "n", *CELLS, *SIDES, "few", *bounded("eo", "dp")),
    *(*bounded(*AGAINST_VOTES), "n_two_votes", "no_preference_status", "n_dropped"),
]
MAJORITY = "majority of people"
TWO_VOTES = f"fewer than {FEW} pairs on one side have two votes"
# The reversal rate above which the order alone decides.
REVERSES = 0.9
NOTHING = Interval(np.nan, np.nan, np.nan, np.nan)
IN_PLACE = [
    *("dataset", "judge", "responder", "own", "n", "status"),
    *bounded(*AGAINST_VOTES, "own_minus"),
]
TOWARDS = [
    *("dataset", "judge", "responder", "own", "n", *CELLS, *bounded("eo")),
    *(*SIDES, "few", "n_dropped"),
]
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

    @property
    def keyed(self) -> bool:
        """Whether nobody voted and an answer key says which response is better."""
        return {*self.tables["labels"]["annotator"].unique()} == {KEY}

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
        return turned_to(responder, self._votes, ["vote"])[["item_id", "opponent", "vote"]]

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
    def live(self) -> list[str]:
        """The judges that were asked here; a file of one's own does not say, and has none."""
        verdicts = self.tables["verdicts"]
        if "released" not in verdicts:
            return []
        return names_of(verdicts.loc[~verdicts["released"], "judge"])

    @cached_property
    def reversing(self) -> dict[str, Interval]:
        """The live judges whose verdict the order decides, with their reversal rate on all pairs.

        The lower bound of the rate is above `REVERSES`.
        """
        verdicts = self.tables["verdicts"]
        known, rates = self.pairs[[*PAIR, "judge", "cluster"]], {}
        for judge in self.live:
            asked = verdicts[verdicts["judge"].eq(judge)]
            counts = position_counts(asked, self.settings.threshold).merge(known)
            columns, level = RATES["reversal_rate"], self.settings.bootstrap.level
            rates[judge] = share_interval(counts[columns], counts["cluster"], level)
        return {judge: rate for judge, rate in rates.items() if rate.lo > REVERSES}

    def left_out(self, judge: str) -> list[str]:
        """The other judges that the mean leaves out which a judge is held against."""
        out = self.reversing if judge in self.live else self.live
        return [name for name in out if name != judge]

    def compared(self, judge: str) -> pd.DataFrame:
        """The pairs with a judge's own responses, turned to it, without whom `left_out` names."""
        rows = self.pairs[~self.pairs["judge"].isin(self.left_out(judge))]
        return pairs_with(rows, judge)

    @cached_property
    def no_preference(self) -> dict[str, tuple[int, str, list[Interval]]]:
        """What `no_preference` finds, by judge."""
        return {judge: no_preference(self, judge) for judge in self.judges}

    def truth(self, metric: str) -> pd.Series:
        """A true score of the responses, by (item_id, responder); empty where there is none."""
        truths = self.tables["truths"]
        found = truths[truths["metric"].eq(metric)]
        return found.set_index(["item_id", "responder"])["score"]

    @property
    def betas(self) -> pd.Series:
        """The testbed's injected bonus by judge; empty where nothing was injected."""
        return self.truth("beta").droplevel("item_id")

    def cells(self, rows: pd.DataFrame) -> Floats:
        """What turned pairs add to the cells, `[rows, 4]`, ties as the settings say."""
        return cell_weights(rows, self.settings.human_ties, self.settings.judge_ties)

    def equal_opportunity(self, rows: pd.DataFrame, *names: str) -> dict[str, object]:
        """EO over pairs turned to one responder, and what it rests on.

        Args:
            rows: As `pairs_with` returns them, of one judge.
            names: Of the stream.

        Returns:
            `n`, the cells, `eo` with bounds, the share of resamples in which it was `undefined`,
            `SIDES` (pairs on which the human prefers the responder's text, and the other one),
            `few` (whether one is too few), `n_dropped` (pairs with a vote that a tie or a status
            kept out).
        """
        cells = self.cells(rows)
        found = equal_opportunity_interval(cells, rows["cluster"], self.bootstrap, *names)
        totals = cells.sum(axis=0)
        return {
            **cell_counts(cells),
            **found.columns("eo"),
            "undefined": found.undefined,
            **dict(zip(SIDES, human_sides(totals), strict=True)),
            "few": bool(too_few(totals)),
            "n_dropped": dropped(rows, cells),
        }


def dropped(rows: pd.DataFrame, cells: Floats) -> int:
    """Pairs with a human vote and a verdict that a tie or a status kept out."""
    return int(rows["human"].notna().sum() - (cells.sum(axis=1) > 0).sum())


def by_panel(data: Judged) -> Judged | None:
    """The pairs of a data set on which nobody voted, with the panel's labels.

    Args:
        data: The data set; its settings name the panel.

    Returns:
        Another data set, named `<data set> (panel)`, with the verdicts of all who did not vote;
        None where the panel votes on no pair.
    """
    unvoted = data.pairs[data.pairs["human"].isna() & data.pairs["decision"].notna()]
    wrote = unvoted["first"].eq(unvoted["judge"]) | unvoted["second"].eq(unvoted["judge"])
    votes = unvoted[unvoted["judge"].isin(list(data.settings.panel)) & ~wrote]
    if votes.empty:
        return None
    margin = (2 * votes["decision"] - 1).groupby([votes[name] for name in PAIR]).sum()
    label = np.select([margin > 0, margin < 0], ["a", "b"], TIE)
    labels = margin.index.to_frame(index=False).assign(label=label, annotator=PANEL)
    rows = verdict_scores(data.tables["verdicts"])
    labelled = pd.MultiIndex.from_frame(rows[PAIR]).isin(pd.MultiIndex.from_frame(labels[PAIR]))
    voted = pd.MultiIndex.from_frame(rows[[*PAIR, "judge"]]).isin(
        pd.MultiIndex.from_frame(votes[[*PAIR, "judge"]])
    )
    tables = {
        "labels": labels.rename(columns={"first": "responder_a", "second": "responder_b"}),
        "verdicts": data.tables["verdicts"].loc[rows.index[labelled & ~voted]],
    }
    return replace(data, name=f"{data.name} ({PANEL})", tables={**data.tables, **tables})


def _against_votes(data: Judged, rows: pd.DataFrame, responder: str) -> pd.DataFrame:
    """The decided pairs that have two votes or more, each with its votes' cells.

    Args:
        data: The data set.
        rows: One judge's, turned to a responder, as `pairs_with` returns them.
        responder: This one.
    """
    use, place = data.settings, ["item_id", "opponent"]
    decided = rows["decision"].notna() & (rows["decision"].ne(0.5) | (use.judge_ties == "half"))
    return rows[decided].merge(vote_cells(data.votes(responder), place, use.human_ties), on=place)


def _beyond_person(
    data: Judged, rows: pd.DataFrame, responder: str, *names: str
) -> tuple[int, str, list[Interval]]:
    """As `no_preference`, of any judge's rows turned to a responder."""
    pairs = _against_votes(data, rows, responder)
    cells = against_votes(pairs)
    if too_few(cells[:, 0].sum(axis=0)):
        return len(pairs), TWO_VOTES, [NOTHING] * len(AGAINST_VOTES)
    found = data.bootstrap.estimates(cells, pairs["cluster"], beyond_no_preference, *names)
    return len(pairs), "ok", found


def no_preference(data: Judged, judge: str) -> tuple[int, str, list[Interval]]:
    """What another person shows in the judge's place, and the judge against the same votes.

    On the judge's own pairs that it decides and that have two votes or more; see
    `selfpref.statistics.no_preference`.

    Returns:
        The number of these pairs; `ok`, or why there are no values; and `AGAINST_VOTES`.
    """
    return _beyond_person(data, data.own(judge), judge, judge, "no preference")


def in_place(sets: Iterable[Judged]) -> pd.DataFrame:
    """Placebos of `no_preference`: every judge towards every responder beside another person.

    A judge that did not write a text is at 0 if what is beyond a person comes of a self. `MAJORITY`
    is a judge that decides as most of all people would: it has no self and never errs.

    Returns:
        `dataset, judge, responder, own, n, status`, `AGAINST_VOTES` with bounds and, of a judge
        with own responses, `own_minus`: what it is beyond a person towards its own responses minus
        the same towards this responder's.
    """
    found: list[dict[str, object]] = []
    for data in sets:
        for responder in names_of(data.pairs["first"], data.pairs["second"]):
            rows = pairs_with(data.pairs, responder)
            told = {
                str(judge): _beyond_person(data, part, responder, str(judge), responder, "in place")
                for judge, part in rows.groupby("judge")
            }
            told[MAJORITY] = _majority(data, rows, responder)
            for judge, (n, status, values) in told.items():
                row: dict[str, object] = {"dataset": data.name, "judge": judge, "n": n}
                row |= {"responder": responder, "own": judge == responder, "status": status}
                for column, one in zip(AGAINST_VOTES, values, strict=True):
                    row |= one.columns(column)
                if judge in data.judges and judge != responder and status == "ok":
                    part = rows[rows["judge"].eq(judge)]
                    row |= _own_minus(data, judge, part, responder).columns("own_minus")
                found.append(row)
    return pd.DataFrame(found, columns=IN_PLACE)


def _majority(data: Judged, rows: pd.DataFrame, responder: str) -> tuple[int, str, list[Interval]]:
    """As `no_preference`, of a judge that decides as most of all people would."""
    place = ["item_id", "opponent"]
    votes = vote_cells(data.votes(responder), place, data.settings.human_ties)
    pairs = rows.drop_duplicates(place)[[*place, "cluster"]].merge(votes, on=place)
    cells = pairs[CELLS].to_numpy(dtype=float)
    if too_few(cells.sum(axis=0)):
        return len(pairs), TWO_VOTES, [NOTHING] * len(AGAINST_VOTES)
    names = MAJORITY, responder, "in place"
    found = data.bootstrap.estimates(cells, pairs["cluster"], beyond_majority, *names)
    return len(pairs), "ok", found


def _own_minus(data: Judged, judge: str, rows: pd.DataFrame, responder: str) -> Interval:
    """What a judge is beyond a person towards itself minus that towards another responder."""
    sides = [_against_votes(data, data.own(judge), judge), _against_votes(data, rows, responder)]
    both = pd.concat(sides, keys=range(2))
    cells = against_votes(both)
    side = np.eye(2)[both.index.get_level_values(0)]

    def gap_of(totals: Floats) -> Floats:
        beyond = beyond_no_preference(totals)[..., -1]
        found: Floats = beyond[..., 0] - beyond[..., 1]
        return found

    stacked = side[:, :, None, None] * cells[:, None]
    names = judge, responder, "own minus"
    return data.bootstrap.estimate(stacked, both["cluster"], gap_of, *names)


def bias(sets: Iterable[Judged]) -> pd.DataFrame:
    """Cells, EO and DP of every judge on its own pairs, with n and dropped (the columns `BIAS`).

    Beside them, as `no_preference` returns it, what another person shows in the judge's place. A
    judge whose pairs all dropped out stays, with their number.
    """
    rows = []
    for data in sets:
        for judge in data.judges:
            own = data.own(judge)
            dp = demographic_parity_interval(data.cells(own), own["cluster"], data.bootstrap.level)
            n, status, found = data.no_preference[judge]
            row: dict[str, object] = {"n_two_votes": n, "no_preference_status": status}
            for name, one in zip(AGAINST_VOTES, found, strict=True):
                row |= one.columns(name)
            row |= data.equal_opportunity(own, judge, "eo") | dp.columns("dp")
            rows.append({"dataset": data.name, "judge": judge, **row})
    return pd.DataFrame(rows, columns=BIAS)


def bias_by_judge_and_responder(sets: Iterable[Judged]) -> pd.DataFrame:
    """EO of every judge towards every responder whose responses it judged (columns `TOWARDS`).

    `own` is whether the judge wrote the responses; `n_human_own` counts the pairs on which the
    human prefers the responder's response, `n_human_other` those on which it prefers the other one.
    """
    rows: list[dict[str, object]] = []
    for data in sets:
        towards = {
            (str(judge), responder): data.equal_opportunity(part, str(judge), responder, "towards")
            for responder in names_of(data.pairs["first"], data.pairs["second"])
            for judge, part in pairs_with(data.pairs, responder).groupby("judge")
        }
        for (judge, responder), row in sorted(towards.items(), key=itemgetter(0)):
            place = {"dataset": data.name, "judge": judge, "responder": responder}
            rows.append({**place, "own": judge == responder, **row})
    return pd.DataFrame(rows, columns=TOWARDS)


def agreement_with_human(sets: Iterable[Judged]) -> pd.DataFrame:
    """How often each judge and the human majority prefer the same response.

    Returns:
        `dataset, judge, responds` (whether it wrote responses among these), `agreement,
        agreement_lo, agreement_hi, n` (pairs that both decide), `n_dropped`.
    """
    rows = []
    for data in sets:
        for judge, part in data.pairs.groupby("judge"):
            cells = data.cells(part)
            counts = np.stack([cells[:, 0] + cells[:, 3], cells.sum(axis=1)], axis=-1)
            found = share_interval(counts, part["cluster"], data.bootstrap.level)
            rows.append(
                {"dataset": data.name, "judge": judge, "responds": judge in data.judges}
                | found.columns("agreement")
                | {"n": cells.sum(), "n_dropped": dropped(part, cells)}
            )
    columns = ["dataset", "judge", "responds", *bounded("agreement"), "n", "n_dropped"]
    return pd.DataFrame(rows, columns=columns)


def position_counts(verdicts: pd.DataFrame, threshold: float = 0.5) -> pd.DataFrame:
    """Counts of each pair and judge, from rows with a known order and the status ok.

    Args:
        verdicts: The verdicts table.
        threshold: As in `judged_pairs`.

    Returns:
        `item_id, first, second, judge` and the counts `decided` (orders in which a response was
        chosen, 0..2), `chose_first` (of these, where it was the one read first), `both_orders` (1
        where the pair was judged in both), `flipped` and `reversed` (0 or 1), and `read_first` and
        `read_second` (1 where it was judged with `first`, with `second` read first).
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
        read_first=(~np.isnan(one)).astype(int),
        read_second=(~np.isnan(two)).astype(int),
    )


def one_place(counts: pd.DataFrame, judge: str) -> float:
    """Share of verdicts, 0.5..1, with a judge's own response where it mostly stood.

    Opponent by opponent: 0.5 where each was read as often before it as after it, 1 where always in
    one place. A taste for itself and one for the place are the same then.

    Args:
        counts: Rows of `position_counts` with its own response.
        judge: Whose.
    """
    own, first, second = counts["first"].eq(judge), counts["read_first"], counts["read_second"]
    places = {"before": first.where(own, second), "after": second.where(own, first)}
    by = pd.DataFrame(places).groupby(counts["second"].where(own, counts["first"])).sum()
    return float(by.max(axis=1).sum() / by.to_numpy().sum())


def position(sets: Iterable[Judged]) -> pd.DataFrame:
    """First-position share, flip and reversal rate of every judge, on all and on own pairs.

    Returns:
        `dataset, judge, pairs` (`all`, `own`), `n_decided` (verdicts that choose a response),
        `n_both` (pairs judged in both orders), the three rates with bounds; of own pairs
        `one_place` (see there).
    """
    rows = []
    for data in sets:
        for judge, verdicts in by_judge(data.tables["verdicts"]):
            counts = position_counts(verdicts, data.settings.threshold)
            # Pairs of turns that the settings leave out, and items without a cluster, do not count.
            known = data.pairs.loc[data.pairs["judge"].eq(judge), [*PAIR, "cluster"]]
            mine = counts.merge(known, on=PAIR)
            own = mine["first"].eq(judge) | mine["second"].eq(judge)
            for scope, part in (("all", mine), ("own", mine[own])):
                if part.empty:
                    continue
                row: dict[str, object] = {"dataset": data.name, "judge": judge, "pairs": scope}
                row |= {"n_decided": part["decided"].sum(), "n_both": part["both_orders"].sum()}
                if scope == "own":
                    row["one_place"] = one_place(part, judge)
                for name, columns in RATES.items():
                    found = share_interval(part[columns], part["cluster"], data.bootstrap.level)
                    row |= found.columns(name)
                rows.append(row)
    columns = ["dataset", "judge", "pairs", "n_decided", "n_both", *bounded(*RATES), "one_place"]
    return pd.DataFrame(rows, columns=columns)
