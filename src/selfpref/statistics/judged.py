"""One data set's judged pairs, and what they say of every judge: EO and DP, agreement, position.

A judge's own responses are those of the responder of the same name. The formulas of EO, DP and
excess, and those of another person in the judge's place, stand in `selfpref.statistics.bias`.
Nothing in EO needs the responses to be the judge's own: with "own" read as "of responder r" it
exists for every judge and every responder
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
from itertools import product
from typing import Any, Literal

import numpy as np
import pandas as pd

from selfpref.statistics import bias as formulas
from selfpref.statistics.bias import CELLS, FEW, PAIR, READ, names_of, pairs_with, too_few
from selfpref.statistics.bootstrap import (
    ClusterBootstrap,
    Floats,
    bounded,
    group_shares,
    intervals,
    means_and_difference,
    quotient,
    share_interval,
)
from selfpref.tables.schemas import KEY, PANEL, TIE

# Whose streams of random numbers these are.
STUDY = "wataoka"
Binning = Literal["width", "count"]
TABLES = ("items", "responses", "labels", "truths", "verdicts", "perplexities")
SIDES = ["n_human_own", "n_human_other"]
# A person in the judge's place, the judge, and their difference, all against single votes.
AGAINST_VOTES = ("eo_no_preference", "eo_one_vote", "beyond_no_preference")
BIAS = [
    *("dataset", "judge", "n", *CELLS, *SIDES, "few", *bounded("eo", "eo_ratio", "dp")),
    *(*bounded(*AGAINST_VOTES), "n_two_votes", "no_preference_status", "n_dropped"),
]
MAJORITY = "majority of people"
# The reversal rate above which the order alone decides.
REVERSES = 0.9
OPPOSED = ["item_id", "opponent"]
PLACE = ["dataset", "judge", "responder", "own"]
IN_PLACE = [*PLACE, "n", "status", *bounded(*AGAINST_VOTES, "own_minus")]
TOWARDS = [*PLACE, "n", *CELLS, *bounded("eo"), *SIDES, "few", "n_dropped"]
AMONG = "person", "itself", "more"
AGREEMENT = ["dataset", "judge", "responds", *bounded("agreement"), "n", "n_dropped"]
RATES = {
    "first_share": ["chose_first", "decided"],
    "flip_rate": ["flipped", "both_orders"],
    "reversal_rate": ["reversed", "both_orders"],
}
POSITION = ["dataset", "judge", "pairs", "n_decided", "n_both", *bounded(*RATES), "one_place"]
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Which rows enter, how they count, and how intervals are made; see `selfpref.params`.

    What is left out is as the recorded profile has it, whose numbers `selfpref measure` gives.
    """

    bootstrap: ClusterBootstrap
    threshold: float = 0.5
    human_ties: formulas.Ties = "drop"
    judge_ties: formulas.Ties = "drop"
    judge_tie: formulas.JudgeTie = "exact"
    turns: formulas.Turns = "all"
    bins: int = 8
    binning: Binning = "count"
    scale: Literal["log-perplexity", "perplexity"] = "log-perplexity"
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
        tables, use = self.tables, self.settings
        frames = tables["items"], tables["labels"], tables["verdicts"]
        return formulas.judged_pairs(*frames, use.threshold, use.judge_tie, use.turns)

    @property
    def keyed(self) -> bool:
        """Whether nobody voted and an answer key says which response is better."""
        return {*self.tables["labels"]["annotator"].unique()} == {KEY}

    @cached_property
    def responders(self) -> list[str]:
        """Those whose responses were judged."""
        return names_of(self.pairs["first"], self.pairs["second"])

    @cached_property
    def readers(self) -> list[str]:
        """All who judged."""
        return names_of(self.pairs["judge"])

    @cached_property
    def judges(self) -> list[str]:
        """Those that judged a pair with a response of their own."""
        return [judge for judge in self.readers if judge in self.responders]

    @cached_property
    def all_votes(self) -> pd.DataFrame:
        """Single votes on all pairs, as `oriented_votes` returns them."""
        return formulas.oriented_votes(self.tables["labels"])

    def votes(self, responder: str) -> pd.DataFrame:
        """Single votes on the pairs with a responder's text, turned to it.

        Returns:
            `item_id, annotator, opponent, vote` (1 for the responder, 0 against it, 1/2 for a tie).
        """
        return pairs_with(self.all_votes, responder)

    @property
    def bootstrap(self) -> ClusterBootstrap:
        """Intervals, each use with a stream of its own within this data set."""
        return self.settings.bootstrap.within(STUDY, self.name)

    def turned(self, judge: str, responder: str) -> pd.DataFrame:
        """A judge's verdicts on pairs with a responder's text, turned to it."""
        return pairs_with(self.pairs[self.pairs["judge"].eq(judge)], responder)

    def own(self, judge: str) -> pd.DataFrame:
        """The verdicts of one of `judges` on pairs with its own response, turned to it."""
        return self.turned(judge, judge)

    @cached_property
    def live(self) -> list[str]:
        """The judges that were asked here; a file of one's own does not say, and has none."""
        verdicts = self.tables["verdicts"]
        here = ~verdicts["released"] if "released" in verdicts else []
        return names_of(verdicts.loc[here, "judge"])

    @cached_property
    def positions(self) -> pd.DataFrame:
        """`position_counts` of the judged pairs, with `cluster`."""
        # Pairs of turns that the settings leave out, and items without a cluster, do not count.
        counts = position_counts(self.tables["verdicts"], self.settings.threshold)
        return counts.merge(self.pairs[[*READ, "cluster"]])

    @cached_property
    def reversing(self) -> list[str]:
        """The live judges whose verdict the order decides.

        The lower bound of their reversal rate on all pairs is above `REVERSES`.
        """
        both = self.positions.query("both_orders == 1")
        rates = group_shares(both, ["judge"], "reversed", self.settings.bootstrap.level)
        certain = set(rates.query("lo > @REVERSES")["judge"])
        return [judge for judge in self.live if judge in certain]

    def left_out(self, judge: str) -> list[str]:
        """The other judges that the mean leaves out which a judge is held against."""
        out = self.reversing if judge in self.live else self.live
        return [name for name in out if name != judge]

    def compared(self, judge: str) -> pd.DataFrame:
        """The pairs with a judge's own responses, turned to it, without whom `left_out` names."""
        rows = self.pairs[~self.pairs["judge"].isin(self.left_out(judge))]
        return pairs_with(rows, judge)

    @cached_property
    def no_preference(self) -> dict[str, Row]:
        """By judge what another person shows in its place, and the judge against the same votes.

        On its own pairs that it decides and that have two votes or more: their number `n`, `status`
        (`ok`, or why there are no values), and where there are `AGAINST_VOTES` with bounds.
        """
        return {judge: _beyond(self, judge, judge, judge, "no preference") for judge in self.judges}

    def truth(self, metric: str) -> pd.Series:
        """A true score of the responses, by (item_id, responder); empty where there is none."""
        return formulas.scores_of(self.tables["truths"], metric)

    @property
    def betas(self) -> pd.Series:
        """The testbed's injected bonus by judge; empty where nothing was injected."""
        return self.truth("beta").droplevel("item_id")

    def cells(self, rows: pd.DataFrame) -> Floats:
        """What turned pairs add to the cells, `[rows, 4]`, ties as the settings say."""
        return formulas.cell_weights(rows, self.settings.human_ties, self.settings.judge_ties)

    def equal_opportunity(self, rows: pd.DataFrame, *names: str) -> Row:
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
        found = formulas.equal_opportunity_interval(cells, rows["cluster"], self.bootstrap, *names)
        totals = cells.sum(axis=0)
        made: Row = {"n_dropped": dropped(rows, cells), "undefined": found.undefined}
        made |= {"few": bool(too_few(totals))} | found.columns("eo")
        sides = formulas.human_sides(totals)
        return made | formulas.cell_counts(cells) | dict(zip(SIDES, sides, strict=True))


def place_of(dataset: str, judge: str, responder: str) -> Row:
    """What is said of a judge towards a responder: the columns `PLACE`."""
    return dict(zip(PLACE, (dataset, judge, responder, judge == responder), strict=True))


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
    verdicts, members = data.tables["verdicts"], data.pairs["judge"].isin([*data.settings.panel])
    votes = data.pairs[members].query("first != judge != second and human.isna()")
    votes = votes.dropna(subset="decision")
    if votes.empty:
        return None
    margin = votes.assign(margin=votes["decision"] - 0.5).groupby(PAIR)["margin"].sum()
    labels = np.sign(margin).map({1: "a", 0: TIE, -1: "b"}).reset_index(name="label")
    rows = formulas.verdict_scores(verdicts).reset_index(names="row").merge(labels, on=PAIR)
    kept = rows.merge(votes[READ], "left_anti", on=READ)["row"]
    labels = labels.rename(columns={"first": "responder_a", "second": "responder_b"})
    tables = {"labels": labels.assign(annotator=PANEL), "verdicts": verdicts.loc[kept]}
    return replace(data, name=f"{data.name} ({PANEL})", tables={**data.tables, **tables})


def against_votes(data: Judged, judge: str, responder: str) -> tuple[Floats, pd.Series]:
    """Cells of another person and of the judge against the same votes, and the clusters.

    Args:
        data: The data set.
        judge: Whose verdicts; pairs that it decides and that have two votes or more enter. Of
            `MAJORITY` all that have them.
        responder: Whose responses.

    Returns:
        `[pairs, 2, 4]`, of `MAJORITY` another person's alone, `[pairs, 4]`; and the cluster of each
        pair.
    """
    use, votes = data.settings, data.votes(responder)
    if judge == MAJORITY:
        rows = pairs_with(data.pairs, responder).drop_duplicates(OPPOSED)
    else:
        rows = data.turned(judge, responder).dropna(subset="decision")
        rows = rows[rows["decision"].ne(0.5) | (use.judge_ties == "half")]
    rows = rows.merge(formulas.vote_cells(votes, OPPOSED, use.human_ties), on=OPPOSED)
    cells = rows[CELLS].to_numpy(float) if judge == MAJORITY else formulas.against_votes(rows)
    return cells, rows["cluster"]


def _beyond(data: Judged, judge: str, responder: str, *names: str) -> Row:
    """As `Judged.no_preference` has it, towards any responder and with any stream."""
    cells, clusters = against_votes(data, judge, responder)
    made: Row = {"n": len(cells), "status": "ok"}
    # Another person's cells come first.
    if too_few(cells.sum(axis=0).reshape(-1, 4)[0]):
        return made | {"status": f"fewer than {FEW} pairs on one side have two votes"}
    formula = formulas.beyond_majority if judge == MAJORITY else formulas.beyond_no_preference
    found = data.bootstrap.estimates(cells, clusters, formula, *names)
    return made | intervals(AGAINST_VOTES, found)


def in_place(sets: Iterable[Judged]) -> pd.DataFrame:
    """Placebos of `no_preference`: every judge towards every responder beside another person.

    A judge that did not write a text is at 0 if what is beyond a person comes of a self. `MAJORITY`
    is a judge that decides as most of all people would: it has no self and never errs.

    Returns:
        `dataset, judge, responder, own, n, status`, `AGAINST_VOTES` with bounds and, of a judge
        with own responses, `own_minus`: what it is beyond a person towards its own responses minus
        the same towards this responder's.
    """
    rows = []
    for data in sets:
        for responder, judge in product(data.responders, (*data.readers, MAJORITY)):
            if judge != MAJORITY and data.turned(judge, responder).empty:
                continue
            row = _beyond(data, judge, responder, judge, responder, "in place")
            if judge in data.judges and judge != responder and row["status"] == "ok":
                row |= _own_minus(data, judge, responder)
            rows.append(place_of(data.name, judge, responder) | row)
    return pd.DataFrame(rows, columns=IN_PLACE)


def _own_minus(data: Judged, judge: str, responder: str) -> dict[str, float]:
    """What a judge is beyond a person towards itself minus that towards another responder."""
    cells, clusters = zip(
        *(against_votes(data, judge, of) for of in (judge, responder)), strict=True
    )
    side = np.repeat(np.eye(2), [*map(len, cells)], axis=0)
    values = np.concatenate(cells)[:, None] * side[..., None, None]

    def minus(totals: Floats) -> Floats:
        beyond = formulas.beyond_no_preference(totals)[..., -1]
        return beyond[..., 0] - beyond[..., 1]

    names = judge, responder, "own minus"
    return data.bootstrap.estimate(values, pd.concat(clusters), minus, *names).columns("own_minus")


def bias(sets: Iterable[Judged]) -> pd.DataFrame:
    """Cells, EO, its ratio form and DP of every judge on its own pairs (the columns `BIAS`).

    Beside them, as `Judged.no_preference` has it, what another person shows in the judge's place. A
    judge whose pairs all dropped out stays, with their number.
    """
    rows = []
    for data in sets:
        for judge in data.judges:
            own, place = data.own(judge), data.no_preference[judge]
            of = data.cells(own), own["cluster"], data.bootstrap.level
            dp = formulas.demographic_parity_interval(*of)
            form = quotient(*formulas.agreement_intervals(*of)).columns("eo_ratio")
            row: Row = {"dataset": data.name, "judge": judge, **form, **dp.columns("dp"), **place}
            row |= {"n_two_votes": place["n"], "no_preference_status": place["status"]}
            rows.append(row | data.equal_opportunity(own, judge, "eo"))
    return pd.DataFrame(rows, columns=BIAS)


def bias_by_judge_and_responder(sets: Iterable[Judged]) -> pd.DataFrame:
    """EO of every judge towards every responder whose responses it judged (columns `TOWARDS`).

    `own` is whether the judge wrote the responses; `n_human_own` counts the pairs on which the
    human prefers the responder's response, `n_human_other` those on which it prefers the other one.
    """
    rows = []
    for data in sets:
        for judge, responder in product(data.readers, data.responders):
            if len(turned := data.turned(judge, responder)):
                found = data.equal_opportunity(turned, judge, responder, "towards")
                rows.append(place_of(data.name, judge, responder) | found)
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
            counts = formulas.some_of(cells, "tp", "tn")
            found = share_interval(counts, part["cluster"], data.bootstrap.level)
            row = {"dataset": data.name, "judge": judge, "responds": judge in data.judges}
            row |= {"n": cells.sum(), "n_dropped": dropped(part, cells)}
            rows.append(row | found.columns("agreement"))
    return pd.DataFrame(rows, columns=AGREEMENT)


def agreement_of_people(sets: Iterable[Judged]) -> pd.DataFrame:
    """How often each judge, and another person, agree with a single vote on the same pairs.

    Returns:
        `dataset, judge, ties` (`left out`, or `counted` as a third answer), `n` (pairs without a
        response of the judge, with its answer and two votes or more), and with bounds `person`,
        `itself`, 0..1, and `more`, the judge's minus the person's.
    """
    rows = []
    for data in sets:
        for judge, part in data.pairs.groupby("judge"):
            cast = part.dropna(subset="decision").merge(data.all_votes, on=PAIR)
            cast = cast[cast["first"].ne(judge) & cast["second"].ne(judge)]
            for ties, of in ("left out", cast.query("vote != 0.5 != decision")), ("counted", cast):
                alike = agreements(of)
                row = {"dataset": data.name, "judge": judge, "ties": ties, "n": len(alike)}
                sums = np.stack([alike[["person", "itself"]], np.ones((len(alike), 2))], axis=-1)
                place = alike["cluster"], means_and_difference, judge, "among people"
                rows.append(row | intervals(AMONG, data.bootstrap.estimates(sums, *place)))
    return pd.DataFrame(rows, columns=["dataset", "judge", "ties", "n", *bounded(*AMONG)])


def agreements(cast: pd.DataFrame) -> pd.DataFrame:
    """How often two votes on a pair, and a vote and its `decision`, are alike, with `cluster`.

    Args:
        cast: A row a vote, with `PAIR`, `cluster`, `vote` and `decision` (1, 0, 1/2).

    Returns:
        A row a pair with two votes or more: `PAIR, cluster, person, itself`, 0..1.
    """
    size = cast.groupby(PAIR)["vote"].transform("size")
    same = cast.groupby([*PAIR, "vote"])["vote"].transform("size")
    alike = cast.assign(person=(same - 1) / (size - 1), itself=cast["vote"].eq(cast["decision"]))
    return alike[size > 1].groupby([*PAIR, "cluster"])[["person", "itself"]].mean().reset_index()


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
    single = formulas.verdict_scores(verdicts).dropna(subset=["presented", "score"])
    by_order = single.groupby([*READ, "presented"])["score"].mean().unstack()
    # Outcome for the responder `first`: 1, 0, 1/2; NaN where that order was not judged.
    outcomes = formulas.decide(by_order.reindex(columns=["first", "second"]), threshold)
    read, apart = ~np.isnan(outcomes), np.abs(np.diff(outcomes)[:, 0])
    counts = {
        "chose_first": (outcomes == [1, 0]).sum(axis=1),
        "decided": np.isin(outcomes, (0, 1)).sum(axis=1),
        "flipped": apart > 0,
        "reversed": apart == 1,
        "both_orders": read.all(axis=1),
        "read_first": read[:, 0],
        "read_second": read[:, 1],
    }
    return pd.DataFrame(counts, index=by_order.index).astype(int).reset_index()


def one_place(counts: pd.DataFrame) -> float:
    """Share of verdicts, 0.5..1, with a judge's own response where it mostly stood.

    Opponent by opponent: 0.5 where each was read as often before it as after it, 1 where always in
    one place. A taste for itself and one for the place are the same then.

    Args:
        counts: Rows of `position_counts` with its own response.
    """
    read = counts.groupby(["first", "second"])[["read_first", "read_second"]].sum()
    return float(read.max(axis=1).sum() / read.to_numpy().sum())


def position(sets: Iterable[Judged]) -> pd.DataFrame:
    """First-position share, flip and reversal rate of every judge, on all and on own pairs.

    Returns:
        `dataset, judge, pairs` (`all`, `own`), `n_decided` (verdicts that choose a response),
        `n_both` (pairs judged in both orders), the three rates with bounds; of own pairs
        `one_place` (see there).
    """
    rows = []
    for data in sets:
        for judge, mine in data.positions.groupby("judge"):
            own = mine.query("first == @judge or second == @judge")
            for scope, part in {"all": mine, "own": own}.items():
                if part.empty:
                    continue
                row: Row = {"dataset": data.name, "judge": judge, "pairs": scope}
                row |= {"n_decided": part["decided"].sum(), "n_both": part["both_orders"].sum()}
                if scope == "own":
                    row["one_place"] = one_place(part)
                for name, columns in RATES.items():
                    found = share_interval(part[columns], part["cluster"], data.bootstrap.level)
                    row |= found.columns(name)
                rows.append(row)
    return pd.DataFrame(rows, columns=POSITION)
