"""Every statistic of every judge of one set of judgments.

The rows of a file (`selfpref.formats.judgments`) become the tables that the studies read, and go
through the same functions, with the settings of the recorded profile: human and judge ties are
dropped, a judge decides above 1/2, 10,000 resamples of clusters (2,000 of 200,000 verdicts).
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

import numpy as np
import pandas as pd
from scipy.special import ndtri

from selfpref.card.numbers import Measured, Names, made_by
from selfpref.card.rule import ODDS, REGRESSION, answer
from selfpref.errors import SelfprefError
from selfpref.formats import judgments
from selfpref.formats.rows import Frames, refuse, renamed, tables_of
from selfpref.statistics import choices, effects, latent, power, scaled
from selfpref.statistics.bias import names_of, too_few
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.statistics.judged import (
    STUDY,
    Judged,
    Settings,
    agreement_with_human,
    bias,
    bias_by_judge_and_responder,
    position,
)
from selfpref.statistics.no_preference import against_votes, vote_cells
from selfpref.statistics.threads import at_once
from selfpref.tables.schemas import KEY

# Those of the recorded profile, so that the numbers of its data sets come out again.
SEED, RESAMPLES = 20241030, 10_000
# Of the random numbers, whatever the file is called.
STREAM = "judgments"
# With so many verdicts, resamples are most of the work, and a fifth of them says the same.
MANY, FEWER = 200_000, 2_000
SHOWN_BIAS = 0.1
TIES = {"human_ties": "human", "judge_ties": "decision"}
PLANNED = ["judge", "statistic", "pairs"]


def _nearly(name: str, known: Sequence[str]) -> str | None:
    """The name among these that is nearly this one, or None; to be suggested, never taken."""
    lowered = {other.lower(): other for other in known}
    found = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.5)
    # `gpt-4` and `gpt-4-generations` share too little of their length to be close.
    found += [other for other in lowered if name.lower() in other or other in name.lower()]
    return lowered[found[0]] if found else None


def measure(
    frame: pd.DataFrame,
    *,
    judge: str | None = None,
    votes: pd.DataFrame | None = None,
    alias: Mapping[str, str] | None = None,
    name: str = "judgments",
    odds: float = ODDS,
) -> Measured:
    """What a frame of judgments shows of its judges.

    Args:
        frame: A row a verdict, in the columns of `selfpref.formats.pairs`.
        judge: The only judge to have a card; the others still serve for comparison. Left out: all.
        votes: More votes: `item, responder_a, responder_b, label` and, if known, `annotator`.
        alias: Other names of judges and responders.
        name: Of the set; no number depends on it.
        odds: Of choosing itself, what multiplies them by so much matters (`selfpref.card.rule`).

    Raises:
        SelfprefError: A row breaks the rules of the format; names row and column.

    >>> import pandas as pd
    >>> rows = [
    ...     {"item": n, "responder_a": "me", "responder_b": "you", "label": "ab"[n % 2],
    ...      "judge": "me", "order": order, "verdict": "a"}
    ...     for n in range(40)
    ...     for order in ("ab", "ba")
    ... ]
    >>> found = measure(pd.DataFrame(rows))
    >>> found.answers["me"].favours, found.to_dict()["judges"]["me"]["cells"]
    (None, {'tp': 20, 'fn': 0, 'fp': 20, 'tn': 0})
    >>> float(found.judges["eo"].iloc[0])
    1.0
    """
    rows = judgments.of_frame(frame, "frame")
    more = None if votes is None else judgments.of_frame(votes, "votes", voted=True)
    return of_rows(rows, more, judge=judge, alias=alias or {}, name=name, odds=odds)


def of_rows(
    rows: pd.DataFrame,
    votes: pd.DataFrame | None,
    *,
    judge: str | None,
    alias: Mapping[str, str],
    name: str,
    odds: float = ODDS,
    resamples: int | None = None,
) -> Measured:
    """As `measure`, of gathered rows; `resamples` where not as many as for a user's file.

    Raises:
        SelfprefError: A row breaks the rules, no verdict is there, or the judge is not.
    """
    if odds <= 1:
        raise SelfprefError(f"--odds {odds:g}: give more than 1, as {ODDS} is")
    if votes is not None and not votes["item"].isin(rows["item"]).any():
        refuse(
            votes,
            votes["item"].notna(),
            "item {item}, and no other of the votes, is among the judgments, which have {there}; "
            "give both the same ids",
            there=repr(rows["item"].iloc[0]),
        )
    whole = rows if votes is None else pd.concat([rows, votes], ignore_index=True)
    pair = ["responder_a", "responder_b"]
    there = names_of(*(whole[column] for column in pair), whole["judge"].dropna())
    unmatched = {given: _nearly(given, there) for given in alias if given not in there}
    whole = renamed(whole, alias)
    made = tables_of(whole, STREAM, STUDY)
    if made["verdicts"].empty:
        reason = "votes, but no judge's verdict; give the verdicts, and this as --votes"
        refuse(whole, whole["item"].notna(), reason)
    data = _judged(made, resamples)
    judges = names_of(data.pairs["judge"])
    wanted = judges if judge is None else [alias.get(judge, judge)]
    if wanted[0] not in judges:
        near = _nearly(wanted[0], judges)
        hint = f"; nearest is {near!r}" if near else ""
        shown = ", ".join(judges[:8]) + (", ..." if len(judges) > 8 else "")
        raise SelfprefError(f"--judge {judge}: no such judge, there are {shown}{hint}")
    responders = names_of(data.pairs["first"], data.pairs["second"])
    strangers = set(names_of(*(whole[column][len(rows) :] for column in pair)))
    for stranger in sorted(strangers - {*responders, *judges}):
        unmatched[stranger] = _nearly(stranger, responders)
    own = [one for one in data.judges if one in wanted]
    alone = {one: _nearly(one, responders) for one in wanted if one not in data.judges}
    return _measured(data, name, Names(own, alone, responders, unmatched, _unjudged(data)), odds)


def _judged(made: Frames, resamples: int | None = None) -> Judged:
    many = len(made["verdicts"]) >= MANY
    count = resamples or (min(RESAMPLES, FEWER) if many else RESAMPLES)
    settings = Settings(
        threshold=0.5,
        human_ties="drop",
        judge_ties="drop",
        judge_tie="exact",
        turns="all",
        bins=8,
        binning="count",
        scale="log-perplexity",
        bootstrap=ClusterBootstrap(count, seed=SEED),
    )
    # The texts, and with them their lengths, are left in the file.
    given = {**made, "responses": made["responses"].assign(length=0)}
    return Judged(STREAM, given, settings)


def _unjudged(data: Judged) -> int:
    key = ["item_id", "first", "second"]
    sides = {"responder_a": "first", "responder_b": "second"}
    voted = data.tables["labels"].rename(columns=sides)[key].drop_duplicates()
    return len(voted) - len(voted.merge(data.pairs[key].drop_duplicates(), on=key))


def _counts(data: Judged) -> pd.DataFrame:
    found = []
    for judge in data.judges:
        rows = data.own(judge)
        ties = {side: rows[of].eq(0.5).sum() for side, of in TIES.items()}
        counts = {"judge": judge, "pairs": len(rows), "voted": rows["human"].count(), **ties}
        found.append(counts | {"no_verdict": rows["status"].ne("ok").sum()})
    return pd.DataFrame(found)


def _sharper(data: Judged, judge: str) -> float:
    """By how much the judge agrees with single votes more often than another person does.

    On the pairs of `beyond_no_preference`; NaN where there are none.
    """
    own, place = data.own(judge), ["item_id", "opponent"]
    decided = own[own["decision"].isin((0, 1))]
    voted = decided.merge(vote_cells(data.votes(judge), place, "drop"), on=place)
    if voted.empty:
        return np.nan
    person, itself = against_votes(voted).sum(axis=0)
    if too_few(person):
        return np.nan
    return float((itself[[0, 3]].sum() - person[[0, 3]].sum()) / len(voted))


def _planned(needed: pd.DataFrame, statistics: pd.DataFrame, level: float) -> pd.DataFrame:
    """Pairs that would show a bias of 0.1: of EO and excess, and of the regression."""
    at = needed[
        needed["bias"].eq(SHOWN_BIAS) & needed["statistic"].isin(("equal_opportunity", "excess"))
    ]
    rows = at[PLANNED].to_dict("records")
    for row in statistics[statistics["statistic"].eq(REGRESSION)].itertuples():
        if row.n and np.isfinite(row.lo):
            se = (row.hi - row.lo) / 2 / ndtri((1 + level) / 2)
            plan = power.Plan(int(row.n), int(row.n), se**2 * row.n, 0.0, 1.0)
            pairs_needed = int(np.ceil(plan.pairs(SHOWN_BIAS)))
            rows.append(dict(zip(PLANNED, (row.judge, REGRESSION, pairs_needed), strict=True)))
    return pd.DataFrame(rows, columns=PLANNED)


def _measured(data: Judged, name: str, names: Names, odds: float) -> Measured:
    judged = choices.from_pairs(data, data.pairs, choices.HUMAN)
    several = data.pairs["judge"].nunique() > 1
    voted = bool(data.pairs["human"].notna().any())
    regress = several and voted
    made = at_once(
        lambda part: part(),
        [
            (lambda: list(choices.of_judges(judged)),),
            (lambda: scaled.of_pairs(data, data.pairs, choices.HUMAN)[0] if regress else None,),
            (lambda: list(effects.of_pairs(data, data.pairs, choices.HUMAN)),),
            (lambda: scaled.placebos(data) if regress else pd.DataFrame(columns=scaled.PLACEBO),),
            (lambda: (bias([data]), list(choices.against_people(data))),),
            (lambda: position([data]),),
            (lambda: latent.of_pairs(data)[0],),
            (lambda: bias_by_judge_and_responder([data]),),
        ],
    )
    gold, regression, slopes, placebo, (judges, people), places, quality, towards = made
    if regression is None:
        why = "nobody voted" if several else choices.ALONE
        rows = [judged.row(judge, REGRESSION) for judge in data.judges]
        regression = [choices.told(row, why, 0, 0) for row in rows]
    statistics = choices.table([*people, *gold, *slopes, *regression, *quality])
    persons = dict(zip(judges["judge"], judges["eo_no_preference"], strict=True))
    own = places[places["pairs"].eq("own")].set_index("judge")[["reversal_rate", "one_place"]]
    stood = own.to_dict("index")
    answers = {
        judge: answer(
            judge,
            statistics[statistics["judge"].eq(judge)].set_index("statistic"),
            placebo[placebo["judge"].eq(judge) & placebo["model"].eq(scaled.EACH)],
            persons[judge],
            _sharper(data, judge),
            stood.get(judge, {}),
            odds,
        )
        for judge in names.own
    }
    return Measured(
        name=name,
        names=names,
        answers=answers,
        judges=judges,
        statistics=statistics,
        placebo=placebo,
        agreement=agreement_with_human([data]),
        position=places,
        counts=_counts(data),
        power=_planned(power.needed(judged), statistics, data.bootstrap.level),
        towards=towards,
        key=bool(data.tables["labels"]["annotator"].eq(KEY).all() and voted),
        made=made_by(data.bootstrap),
    )
