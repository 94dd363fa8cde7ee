"""Every statistic of every judge of one set of judgments.

The rows of a file (`selfpref.formats.judgments`) become the tables that the studies read, and go
through the same functions, with the settings of the recorded profile: human and judge ties are
dropped, a judge decides above 1/2, 10,000 resamples of clusters (2,000 of 200,000 verdicts).
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from selfpref.card.numbers import Card, chosen, made_by, of_judge, others
from selfpref.card.rule import REGRESSION, Answer, answer
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
PAIR = ["responder_a", "responder_b"]


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
) -> Card:
    """What a frame of judgments shows of its judges.

    Args:
        frame: A row a verdict, in the columns of `selfpref.formats.judgments`.
        judge: The only judge to have a card; the others still serve for comparison. Left out: all.
        votes: More votes: `item, responder_a, responder_b, label` and, if known, `annotator`.
        alias: Other names of judges and responders.
        name: Of the set; no number depends on it.

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
    >>> found.to_dict()["judges"]["me"]["equal_opportunity"]["value"]
    1.0
    """
    rows = judgments.of_frame(frame, "frame")
    more = None if votes is None else judgments.of_frame(votes, "votes", voted=True)
    return of_rows(rows, more, judge=judge, alias=alias or {}, name=name)


def of_rows(
    rows: pd.DataFrame,
    votes: pd.DataFrame | None,
    *,
    judge: str | None,
    alias: Mapping[str, str],
    name: str,
    resamples: int | None = None,
) -> Card:
    """As `measure`, of gathered rows; `resamples` where not as many as for a user's file.

    Raises:
        SelfprefError: A row breaks the rules, no verdict is there, or the judge is not.
    """
    if votes is not None and not votes["item"].isin(rows["item"]).any():
        told = "item {item}, and no other of the votes, is among the judgments, which have {there}"
        there = repr(rows["item"].iloc[0])
        refuse(votes, votes["item"].notna(), f"{told}; give both the same ids", there=there)
    whole = rows if votes is None else pd.concat([rows, votes], ignore_index=True)
    names = names_of(*(whole[column] for column in PAIR), whole["judge"].dropna())
    unmatched = {given: _nearly(given, names) for given in alias if given not in names}
    whole = renamed(whole, alias)
    made = tables_of(whole, STREAM, STUDY)
    if made["verdicts"].empty:
        reason = "votes, but no judge's verdict; give the verdicts, and this as --votes"
        refuse(whole, whole["item"].notna(), reason)
    data = judged(made, resamples)
    wanted = chosen(alias.get(judge or "", judge), names_of(data.pairs["judge"]))
    responders = names_of(data.pairs["first"], data.pairs["second"])
    strangers = {*names_of(*(whole[column][len(rows) :] for column in PAIR))}
    strangers -= {*responders, *data.pairs["judge"]}
    unmatched |= {stranger: _nearly(stranger, responders) for stranger in sorted(strangers)}
    frames = _frames(data)
    own = [one for one in data.judges if one in wanted]
    answers = {one: _answer(data, frames, one) for one in own}
    alone = [one for one in wanted if one not in own]
    numbers: dict[str, Any] = {
        "name": name,
        "judges": {one: of_judge(data, frames, answers[one]) for one in own},
        "judges_without_own_responses": {
            one: {"nearest_responder": _nearly(one, responders), **others(frames, one, "all")}
            for one in alone
        },
        "responders": responders,
        "names_that_match_nothing": unmatched,
        "voted_pairs_that_nobody_judged": _unjudged(data),
        "labels_are_a_key": bool(len(made["labels"]) and made["labels"]["annotator"].eq(KEY).all()),
        "made": made_by(data.bootstrap),
    }
    return Card(answers, numbers)


def judged(made: Frames, resamples: int | None = None) -> Judged:
    """The tables of a file as the studies read them, with so many resamples."""
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


def _frames(data: Judged) -> dict[str, pd.DataFrame]:
    """Every statistic of every judge, by what it is; `statistics` is a table of `choices`."""
    rows = choices.from_pairs(data, data.pairs, choices.HUMAN)
    several = data.pairs["judge"].nunique() > 1
    regress = several and bool(data.pairs["human"].notna().any())
    why = "nobody voted" if several else choices.ALONE
    tasks: dict[str, Callable[[], Any]] = {
        "gold": lambda: list(choices.of_judges(rows)),
        "slopes": lambda: list(effects.of_pairs(data, data.pairs, choices.HUMAN)),
        "quality": lambda: latent.of_pairs(data)[0],
        "people": lambda: (bias([data]), list(choices.against_people(data))),
        "agreement": partial(agreement_with_human, [data]),
        "position": partial(position, [data]),
        "towards": partial(bias_by_judge_and_responder, [data]),
    }
    if regress:
        tasks["regression"] = lambda: scaled.of_pairs(data, data.pairs, choices.HUMAN)[0]
        tasks["placebo"] = partial(scaled.placebos, data)
    made = at_once(lambda task: task(), [(task,) for task in tasks.values()])
    none = [choices.told(rows.row(judge, REGRESSION), why, 0, 0) for judge in data.judges]
    found = {"regression": none, "placebo": pd.DataFrame(columns=scaled.PLACEBO)}
    found |= dict(zip(tasks, made, strict=True))
    found["bias"], people = found.pop("people")
    long = [people, *(found.pop(name) for name in ("gold", "slopes", "regression", "quality"))]
    statistics = choices.table([row for part in long for row in part])
    return {**found, "statistics": statistics, "needed": power.needed(rows)}


def _answer(data: Judged, frames: Mapping[str, pd.DataFrame], judge: str) -> Answer:
    """What the rule says of a judge with own responses."""
    mine = {name: frame[frame["judge"].eq(judge)] for name, frame in frames.items()}
    places = mine["position"][mine["position"]["pairs"].eq("own")]
    placebo = mine["placebo"][mine["placebo"]["model"].eq(scaled.EACH)]
    return answer(
        judge,
        mine["statistics"].set_index("statistic"),
        placebo,
        mine["bias"]["eo_no_preference"].iloc[0],
        _sharper(data, judge),
        next(iter(places[["reversal_rate", "one_place"]].to_dict("records")), {}),
    )
