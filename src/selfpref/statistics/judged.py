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
from selfpref.statistics.bias import CELLS, FEW, PAIR, names_of, pairs_with, too_few
from selfpref.statistics.bootstrap import (
    ClusterBootstrap,
    Floats,
    Statistic,
    bounded,
    group_shares,
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
    scale: formulas.Scale = "log-perplexity"
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
    def _votes(self) -> pd.DataFrame:
        return formulas.oriented_votes(self.tables["labels"])

    def votes(self, responder: str) -> pd.DataFrame:
        """Single votes on the pairs with a responder's text, turned to it.

        Returns:
            `item_id, annotator, opponent, vote` (1 for the responder, 0 against it, 1/2 for a tie).
        """
        return pairs_with(self._votes, responder)

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
        return counts.merge(self.pairs[[*PAIR, "judge", "cluster"]])

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
        every = {judge: against_votes(self, judge, judge) for judge in self.judges}
        return {judge: _beyond(self, of, judge, "no preference") for judge, of in every.items()}

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
        made: Row = {"n_dropped": dropped(rows, cells), "few": bool(too_few(totals))}
        made |= dict(zip(SIDES, formulas.human_sides(totals), strict=True))
        made |= formulas.cell_counts(cells) | found.columns("eo")
        return made | {"undefined": found.undefined}


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
    pairs = data.pairs
    wrote = pairs["first"].eq(pairs["judge"]) | pairs["second"].eq(pairs["judge"])
    voting = pairs["human"].isna() & pairs["decision"].notna() & ~wrote
    votes = pairs[voting & pairs["judge"].isin(list(data.settings.panel))]
    if votes.empty:
        return None
    margin = votes.set_index(PAIR)["decision"].sub(0.5).groupby(level=PAIR).sum()
    label = np.select([margin > 0, margin < 0], ["a", "b"], TIE)
    keys = margin.index.set_names(["item_id", "responder_a", "responder_b"])
    rows, voter = formulas.verdict_scores(data.tables["verdicts"]), [*PAIR, "judge"]
    labelled = rows.set_index(PAIR).index.isin(margin.index)
    voted = rows.set_index(voter).index.isin(votes.set_index(voter).index)
    tables = {
        "labels": keys.to_frame(index=False).assign(label=label, annotator=PANEL),
        "verdicts": data.tables["verdicts"].loc[rows.index[labelled & ~voted]],
    }
    return replace(data, name=f"{data.name} ({PANEL})", tables={**data.tables, **tables})


def _two_votes(data: Judged, rows: pd.DataFrame, responder: str) -> pd.DataFrame:
    """The rows, turned to a responder, that have two votes or more, each with its votes' cells."""
    votes = formulas.vote_cells(data.votes(responder), OPPOSED, data.settings.human_ties)
    return rows.merge(votes, on=OPPOSED)


def against_votes(data: Judged, judge: str, responder: str) -> tuple[Floats, pd.Series]:
    """Cells of another person and of the judge against the same votes, and the clusters.

    Args:
        data: The data set.
        judge: Whose verdicts; pairs that it decides and that have two votes or more enter.
        responder: Whose responses.

    Returns:
        `[pairs, 2, 4]`, and the cluster of each pair.
    """
    rows = data.turned(judge, responder)
    tied = rows["decision"].eq(0.5) & (data.settings.judge_ties == "drop")
    pairs = _two_votes(data, rows[rows["decision"].notna() & ~tied], responder)
    return formulas.against_votes(pairs), pairs["cluster"]


def _beyond(
    data: Judged,
    votes: tuple[Floats, pd.Series],
    *names: str,
    formula: Statistic = formulas.beyond_no_preference,
) -> Row:
    """As `Judged.no_preference` has it, of cells and clusters; another person's come first."""
    cells, clusters = votes
    made: Row = {"n": len(cells), "status": "ok"}
    if too_few(cells.sum(axis=0).reshape(-1, 4)[0]):
        return made | {"status": f"fewer than {FEW} pairs on one side have two votes"}
    found = data.bootstrap.estimates(cells, clusters, formula, *names)
    for name, one in zip(AGAINST_VOTES, found, strict=True):
        made |= one.columns(name)
    return made


def in_place(sets: Iterable[Judged]) -> pd.DataFrame:
    """Placebos of `no_preference`: every judge towards every responder beside another person.

    A judge that did not write a text is at 0 if what is beyond a person comes of a self. `MAJORITY`
    is a judge that decides as most of all people would: it has no self and never errs.

    Returns:
        `dataset, judge, responder, own, n, status`, `AGAINST_VOTES` with bounds and, of a judge
        with own responses, `own_minus`: what it is beyond a person towards its own responses minus
        the same towards this responder's.
    """
    found = []
    for data in sets:
        for responder, judge in product(data.responders, (*data.readers, MAJORITY)):
            names = judge, responder, "in place"
            place = place_of(data.name, judge, responder)
            if judge == MAJORITY:
                rows = pairs_with(data.pairs, responder).drop_duplicates(OPPOSED)
                pairs = _two_votes(data, rows, responder)
                person = pairs[CELLS].to_numpy(float), pairs["cluster"]
                row = _beyond(data, person, *names, formula=formulas.beyond_majority)
            elif data.turned(judge, responder).empty:
                continue
            else:
                row = _beyond(data, against_votes(data, judge, responder), *names)
                if judge in data.judges and judge != responder and row["status"] == "ok":
                    row |= _own_minus(data, judge, responder)
            found.append(place | row)
    return pd.DataFrame(found, columns=IN_PLACE)


def _own_minus(data: Judged, judge: str, responder: str) -> dict[str, float]:
    """What a judge is beyond a person towards itself minus that towards another responder."""
    own, other = (against_votes(data, judge, of) for of in (judge, responder))
    sides = np.zeros((len(own[0]) + len(other[0]), 2, 2, 4))
    sides[: len(own[0]), 0], sides[len(own[0]) :, 1] = own[0], other[0]

    def minus(totals: Floats) -> Floats:
        beyond = formulas.beyond_no_preference(totals)[..., -1]
        return beyond[..., 0] - beyond[..., 1]

    clusters = pd.concat([own[1], other[1]])
    names = judge, responder, "own minus"
    return data.bootstrap.estimate(sides, clusters, minus, *names).columns("own_minus")


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
    by_order = single.groupby([*PAIR, "judge", "presented"])["score"].mean().unstack()
    wide = by_order.reindex(columns=["first", "second"])
    # Outcome for the responder `first`: 1, 0, 1/2; NaN where that order was not judged.
    one, two = (formulas.decide(wide[name].to_numpy(float), threshold) for name in wide)
    read_first, read_second = ~np.isnan(one), ~np.isnan(two)
    both = read_first & read_second
    counts = {
        "chose_first": np.add(one == 1, two == 0, dtype=int),
        "decided": np.add(np.isin(one, (0, 1)), np.isin(two, (0, 1)), dtype=int),
        "flipped": both & (one != two),
        "reversed": np.abs(one - two) == 1,
        "both_orders": both,
        "read_first": read_first,
        "read_second": read_second,
    }
    return pd.DataFrame(counts, index=wide.index).astype(int).reset_index()


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
        for judge, mine in data.positions.groupby("judge"):
            own = mine.query("first == @judge or second == @judge")
            for scope, part in {"all": mine, "own": own}.items():
                if part.empty:
                    continue
                row: Row = {"dataset": data.name, "judge": judge, "pairs": scope}
                row |= {"n_decided": part["decided"].sum(), "n_both": part["both_orders"].sum()}
                if scope == "own":
                    row["one_place"] = one_place(part, judge)
                for name, columns in RATES.items():
                    found = share_interval(part[columns], part["cluster"], data.bootstrap.level)
                    row |= found.columns(name)
                rows.append(row)
    return pd.DataFrame(rows, columns=POSITION)
