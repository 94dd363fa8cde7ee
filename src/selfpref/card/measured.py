"""Every statistic of every judge of one set of judgments.

The rows of a file (`selfpref.formats.judgments`) become the tables that the studies read, and go
through the same functions, with the settings of the recorded profile: human and judge ties are
dropped, a judge decides above 1/2, 10,000 resamples of clusters (2,000 of 200,000 verdicts).
"""

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from selfpref.card import marks
from selfpref.card.rule import REGRESSION, Answer, Row, answer, pairs_to_show
from selfpref.card.words import Card, chosen, made_by
from selfpref.errors import SelfprefError
from selfpref.formats import judgments
from selfpref.formats.records import (
    NO_NAMES,
    PAIR,
    Frames,
    Names,
    Record,
    refuse,
    renamed,
    tables_of,
)
from selfpref.statistics import bias, choices, judged, latent, scaled
from selfpref.statistics.bootstrap import MISSING, ClusterBootstrap, bounded, means_and_difference
from selfpref.statistics.judged import STUDY, Judged, Settings

# Those of the recorded profile, so that the numbers of its data sets come out again.
SEED, RESAMPLES = 20241030, 10_000
# Of the random numbers, whatever the file is called.
STREAM = "judgments"
# With so many verdicts, resamples are most of the work, and a fifth of them says the same.
MANY, FEWER = 200_000, 2_000
STATISTICS = (
    *("equal_opportunity", "beyond_no_preference", "demographic_parity"),
    *("excess", "excess_half_ties", "dbg"),
    *("regression", "regression_scaled", "latent_quality", "harmful", "legitimate"),
)
PLANNED = ("equal_opportunity", "excess", REGRESSION)
POSITIONS = {
    "first_position": ("first_share", "n_decided"),
    "flips": ("flip_rate", "n_both"),
    "reversals": ("reversal_rate", "n_both"),
}
NOBODY: Record = {"value": None, "lo": None, "hi": None, "n": 0}
UNVOTED = NOBODY | {"reason": "people voted on no pair that it decides"}
UNKNOWN_ORDER = NOBODY | {"reason": "the file does not say which response was read first"}


def _nearly(name: str, known: Sequence[str]) -> str | None:
    """The name among these that is nearly this one, or None; to be suggested, never taken."""
    lowered = {other.lower(): other for other in known}
    found = get_close_matches(name.lower(), lowered, n=1, cutoff=0.5)
    # `gpt-4` and `gpt-4-generations` share too little of their length to be close.
    found += [other for other in lowered if name.lower() in other or other in name.lower()]
    return lowered[found[0]] if found else None


def measure(
    frame: pd.DataFrame,
    *,
    judge: str | None = None,
    votes: pd.DataFrame | None = None,
    alias: Names | None = None,
    name: str = "judgments",
    resamples: int | None = None,
) -> Card:
    """What a frame of judgments shows of its judges.

    Args:
        frame: A row a verdict, in the columns of `selfpref.formats.judgments`.
        judge: The only judge to have a card; the others still serve for comparison. Left out: all.
        votes: More votes: `item, responder_a, responder_b, label` and, if known, `annotator`.
        alias: Other names of judges and responders.
        name: Of the set; no number depends on it.
        resamples: So many; left out, as many as for a file.

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
    more = [] if votes is None else [judgments.of_frame(votes, "votes", voted=True)]
    return of_rows(rows, more, judge, alias or {}, name, resamples)


def _kept(path: Path, scratch: str) -> Path:
    """The file; standard input (`-`) and pipes, which are read once, as files of their own."""
    if str(path) != "-" and not path.is_fifo():
        return path
    with sys.stdin.buffer if str(path) == "-" else path.open("rb") as stream:
        (kept := Path(scratch, path.name)).write_bytes(stream.read())
    return kept


def read(
    *paths: Path | str,
    judge: str | None = None,
    votes: Path | str | None = None,
    wanted: str = judgments.AUTO,
    alias: Names = NO_NAMES,
    columns: Names = NO_NAMES,
) -> Card:
    """What files of judgments, or a file of marks, show.

    Args:
        paths: The files, or folders of review files; `-` is standard input.
        judge: The only judge to have a card, as the files or an alias name it.
        votes: A file of votes.
        wanted: The format, or `auto`; files of votes are always recognised.
        alias: Other names of judges and responders, by those of the files.
        columns: What the files call a column, by its name.

    Raises:
        SelfprefError: One or two lines with file, line, field and remedy.
    """
    given = [Path(path) for path in (*paths, votes) if path is not None]
    name = given[0].resolve().stem
    with TemporaryDirectory(prefix="selfpref-") as scratch:
        files = [_kept(path, scratch) for path in given]
        digests = {
            file.name: sha256(file.read_bytes()).hexdigest()[:16]
            for file in files
            if file.is_file()
        }
        files, voted = files[: len(paths)], files[len(paths) :]
        if "marks" in [judgments.recognised(file, wanted, columns) for file in files]:
            if len(given) > 1:
                raise SelfprefError("marks have a key, and no votes: give one file, and no --votes")
            rows = marks.read(files[0], alias, columns)
            bootstrap = ClusterBootstrap(RESAMPLES, seed=SEED).within(STREAM)
            found = marks.measure(rows, name, judge, bootstrap)
        else:
            whom = judgments.called([judge] if judge else [], alias)
            parts = [judgments.read(file, wanted, whom, columns=columns) for file in files]
            rows = pd.concat(parts, ignore_index=True)
            more = [judgments.read(file, voted=True) for file in voted]
            found = of_rows(rows, more, judge, alias, name)
    options = [f"--alias {old}={new}" for old, new in alias.items()]
    options += [f"--columns {one}={there}" for one, there in columns.items()]
    options += [f"--judge {judge}"] if judge else []
    found.numbers["made"] |= {"files": digests, "options": " ".join(options)}
    return found


def of_rows(
    rows: pd.DataFrame,
    more: Sequence[pd.DataFrame],
    judge: str | None,
    alias: Names,
    name: str,
    resamples: int | None = None,
) -> Card:
    """As `measure`, of gathered rows, and `more` of votes alone.

    Raises:
        SelfprefError: A row breaks the rules, no verdict is there, or the judge is not.
    """
    votes = pd.concat([rows[:0], *more], ignore_index=True)
    strange = ~votes["item"].isin(rows["item"])
    told = "item {item}, as all of the votes, is not among the judgments; give both the same ids"
    refuse(votes, strange & strange.all(), told)
    whole = pd.concat([rows, votes], ignore_index=True)
    names = bias.names_of(*(whole[column].dropna() for column in (*PAIR, "judge")))
    unmatched = {given: _nearly(given, names) for given in alias if given not in names}
    whole = renamed(whole, alias)
    made = tables_of(whole, STREAM, STUDY)
    if not made["verdicts"]["status"].eq("ok").any():
        reason = "no judge chose anything; give `verdict`, or `probability_a` and `probability_b`"
        refuse(whole, whole["item"].notna(), f"{reason}, and votes alone as --votes")
    data = of_tables(made, resamples)
    wanted = chosen(alias.get(judge or "", judge), data.readers)
    voters = bias.names_of(*(whole[column][len(rows) :] for column in PAIR))
    strangers = [one for one in voters if one not in {*data.responders, *data.readers}]
    unmatched |= {one: _nearly(one, data.responders) for one in strangers}
    voted, read = made["labels"].set_index(["item_id", *PAIR]), data.pairs.set_index(bias.PAIR)
    frames, answers, own, without = _frames(data), {}, {}, {}
    for one in wanted:
        mine = {kind: frame[frame["judge"].eq(one)] for kind, frame in frames.items()}
        if one in data.judges:
            answers[one], own[one] = of_judge(data, mine, one)
        else:
            nearest = {"nearest_responder": _nearly(one, data.responders)}
            without[one] = nearest | others(mine, "all")
    numbers: Record = {
        "name": name,
        "judges": own,
        "judges_without_own_responses": without,
        "responders": data.responders,
        "names_that_match_nothing": unmatched,
        "voted_pairs_that_nobody_judged": len(voted.index.difference(read.index, sort=False)),
        "labels_are_a_key": data.keyed,
        "made": made_by(data.bootstrap),
    }
    return Card(answers, numbers)


def of_tables(made: Frames, resamples: int | None = None) -> Judged:
    """The tables of a file as the studies read them, with so many resamples."""
    count = FEWER if len(made["verdicts"]) >= MANY else RESAMPLES
    count = resamples or min(RESAMPLES, count)
    settings = Settings(bootstrap=ClusterBootstrap(count, seed=SEED))
    return Judged(STREAM, made, settings)


def _sharper(data: Judged, judge: str) -> float:
    """By how much the judge agrees with single votes more often than another person does.

    On the pairs of `beyond_no_preference`; NaN where there are none.
    """
    cells, _ = judged.against_votes(data, judge, judge)
    totals = cells.sum(axis=0)
    agree = means_and_difference(bias.some_of(totals, "tp", "tn"))
    return np.nan if bias.too_few(totals[0]) else float(agree[-1])


def _frames(data: Judged) -> Frames:
    """Every statistic of every judge, by what it is; `statistics` is a table of `choices`."""
    place = data, data.pairs, choices.HUMAN
    own, several = choices.from_pairs(*place), len(data.readers) > 1
    rows = [*choices.of_judges(own), *choices.against_people(data), *choices.regressions(*place)]
    rows += latent.of_pairs(data)[0]
    if several and data.pairs["human"].notna().any():
        rows += scaled.of_pairs(*place)[0]
    else:
        why = "nobody voted" if several else choices.ALONE
        rows += [choices.told(own.row(one, REGRESSION), MISSING, 0, 0, why) for one in data.judges]
    return {
        "statistics": choices.table(rows),
        "bias": judged.bias([data]),
        "towards": judged.bias_by_judge_and_responder([data]),
        "placebo": scaled.placebos(data),
        "agreement": judged.agreement_with_human([data]),
        "position": judged.position([data]),
    }


def estimate(row: Row, name: str = "", n: str = "n") -> Record:
    """Value, bounds and n of a row.

    Args:
        row: Of a frame, with columns `value`, `lo` and `hi`, or of a name.
        name: This one.
        n: The column that holds n.
    """
    ends, count = ("value", "lo", "hi"), float(np.nan_to_num(row[n]))
    values = [round(float(row[key]), 6) for key in (bounded(name) if name else ends)]
    known = [value if np.isfinite(value) else None for value in values]
    return dict(zip(ends, known, strict=True)) | {"n": int(count) if count % 1 == 0 else count}


def _on_sides(row: Row, name: str = "") -> Record:
    """The same with the pairs on both human sides, and whether they are too few, or the reason."""
    found = estimate(row, name)
    for side in ("human_own", "human_other"):
        if pd.notna(row[f"n_{side}"]):
            found[side] = int(row[f"n_{side}"])
    if found["value"] is None:
        return found | {"reason": row.get("reason", "no such pairs")}
    return found | {"few": bool(row["few"])}


def others(mine: Frames, scope: str) -> Record:
    """What needs no response of the judge's own: agreement and position.

    Args:
        mine: A judge's rows of every frame, as `_frames` makes them.
        scope: Of position, on `all` pairs or its `own`.
    """
    made: Record = {"agreement": UNVOTED, **dict.fromkeys(POSITIONS, UNKNOWN_ORDER)}
    for row in mine["agreement"].to_dict("records"):
        made["agreement"] = estimate(row, "agreement")
    for row in mine["position"].query("pairs == @scope").to_dict("records"):
        made |= {key: estimate(row, *columns) for key, columns in POSITIONS.items()}
    return made


def of_judge(data: Judged, mine: Frames, judge: str) -> tuple[Answer, Record]:
    """What the rule says of a judge with own responses, and everything of it.

    Args:
        data: The judgments.
        mine: The judge's rows of every frame, as `_frames` makes them.
        judge: Who.
    """
    own, statistics = data.own(judge), mine["statistics"].set_index("statistic")
    (eo,) = mine["bias"].to_dict("records")
    placebo = mine["placebo"].query("model == @scaled.EACH")
    place = mine["position"].query("pairs == 'own'").to_dict("records") or [{}]
    told = answer(statistics, placebo, eo["eo_no_preference"], _sharper(data, judge), place[0])
    known = statistics[statistics["n"].gt(0) & statistics["lo"].notna()].to_dict("index")
    planned = [name for name in PLANNED if name in known]
    shows = {name: int(np.ceil(pairs_to_show(0.1, known[name]))) for name in planned}
    # The DBG score, a share here, is a gap between scores elsewhere.
    rows = statistics.rename(index={"gold_gap": "dbg"}).to_dict("index")
    return told, {
        **told.to_dict(),
        "pairs": len(own),
        "voted": int(own["human"].count()),
        "human_ties": int(own["human"].eq(0.5).sum()),
        "judge_ties": int(own["decision"].eq(0.5).sum()),
        "no_verdict": int(own["status"].ne("ok").sum()),
        "cells": {name: int(eo[name]) for name in bias.CELLS},
        "no_preference": estimate(eo, "eo_no_preference", "n_two_votes"),
        **{name: _on_sides(rows[name]) if name in rows else UNVOTED for name in STATISTICS},
        **others(mine, "own"),
        "towards": {
            row["responder"]: _on_sides(row, "eo") for row in mine["towards"].to_dict("records")
        },
        "placebo": {
            row["responder"]: estimate(row, "effect") for row in placebo.to_dict("records")
        },
        "pairs_to_show_0.1": shows,
    }
