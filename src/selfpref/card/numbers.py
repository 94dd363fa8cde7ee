"""What a set of judgments shows of its judges, as frames and as JSON (`--json`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from selfpref import __version__
from selfpref.card import words
from selfpref.card.rule import Answer
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.statistics.scaled import EACH

Row = Mapping[str, Any]
STATISTICS = (
    *("equal_opportunity", "beyond_no_preference", "demographic_parity"),
    *("excess", "excess_common", "excess_half_ties", "dbg"),
    *("regression", "regression_scaled", "latent_quality", "harmful", "legitimate"),
)
POSITIONS = {
    "first_position": ("first_share", "n_decided"),
    "flips": ("flip_rate", "n_both"),
    "reversals": ("reversal_rate", "n_both"),
}
NOBODY = {"value": None, "lo": None, "hi": None, "n": 0}
NO_ROWS = {"n_decided": "it chose no response", "n_both": "it read no pair in both orders"}
UNVOTED = "people voted on no pair that it decides"
UNKNOWN_ORDER = {**NOBODY, "reason": "the file does not say which response was read first"}


@dataclass(frozen=True)
class Names:
    """Who is who, before any number.

    Attributes:
        own: Judges with own responses among the pairs.
        alone: Judges without, each with a responder of nearly the same name, or none.
        responders: Whose responses were judged.
        unmatched: Names given by hand, or in a file of votes, that match nothing, each with what
            it nearly is, or none.
        unjudged: How many voted pairs nobody judged.
    """

    own: list[str]
    alone: dict[str, str | None]
    responders: list[str]
    unmatched: dict[str, str | None]
    unjudged: int


@dataclass(frozen=True)
class Measured:
    """What one set of judgments shows.

    Attributes:
        name: Of the set.
        names: Who is who.
        answers: By judge, favours itself or not, and why.
        judges: A row a judge with own responses: cells, EO, DP, another person in its place.
        statistics: A row a judge and statistic: value, lo, hi, n, both human sides, few, reason
            (`selfpref.statistics.choices`).
        placebo: The term of an own text, for every judge and responder.
        agreement: Of every judge with the human majority.
        position: First-position share, flips and reversals, on all and on own pairs.
        counts: By judge, on its own pairs: judged, voted, tied by people, without a verdict.
        power: How many pairs would show a bias of 0.1, by judge and statistic.
        towards: EO of every judge towards every responder (the columns `judged.TOWARDS`).
        key: Whether the labels are an answer key's and not people's.
        made: By which version, when, of which files and how (`made_by`).
    """

    name: str
    names: Names
    answers: Mapping[str, Answer]
    judges: pd.DataFrame
    statistics: pd.DataFrame
    placebo: pd.DataFrame
    agreement: pd.DataFrame
    position: pd.DataFrame
    counts: pd.DataFrame
    power: pd.DataFrame
    towards: pd.DataFrame
    key: bool
    made: dict[str, Any]

    def __str__(self) -> str:
        return words.text(self.parts())

    def _repr_html_(self) -> str:
        # A page needs what no number does.
        from selfpref.card.page import framed  # noqa: PLC0415

        return framed(self)

    def parts(self) -> words.Parts:
        """The cards in words."""
        return words.parts(self.to_dict())

    def picture(self) -> list[tuple[str, list[tuple[str, float, float, float]]]]:
        """What the page draws: by judge, EO and own term with their bounds."""
        wanted = {"equal_opportunity": "EO", "regression_scaled": "its own term"}
        rows = self.statistics[self.statistics["statistic"].isin(wanted)].dropna(subset="lo")
        drawn = [
            (row.judge, (wanted[row.statistic], row.value, row.lo, row.hi))
            for row in rows.itertuples()
        ]
        return [(one, [line for judge, line in drawn if judge == one]) for one in self.names.own]

    def to_dict(self) -> dict[str, Any]:
        """The same as `--json` writes it."""
        names = self.names
        return {
            "name": self.name,
            "judges": {judge: _one(self, judge) for judge in names.own},
            "judges_without_own_responses": {
                judge: {"nearest_responder": near, **_others(self, judge, "all")}
                for judge, near in names.alone.items()
            },
            "responders": names.responders,
            "names_that_match_nothing": names.unmatched,
            "voted_pairs_that_nobody_judged": names.unjudged,
            "labels_are_a_key": self.key,
            "made": dict(self.made),
        }


def made_by(bootstrap: ClusterBootstrap) -> dict[str, Any]:
    """What a card says of its making; the command adds its files and options."""
    return {
        "selfpref": __version__,
        "date": datetime.now(UTC).date().isoformat(),
        "resamples": bootstrap.resamples,
        "seed": bootstrap.seed,
        "level": bootstrap.level,
        "files": {},
        "options": "",
    }


def _number(value: Any, digits: int = 6) -> float | None:
    return None if pd.isna(value) or not np.isfinite(value) else round(float(value), digits)


def _estimate(row: Row, name: str = "", n: str = "n") -> dict[str, Any]:
    """Value, bounds and n of a row of a frame; `n` is the column that holds it."""
    keys = (name, f"{name}_lo", f"{name}_hi") if name else ("value", "lo", "hi")
    numbers = [_number(row[key]) for key in keys]
    count = 0.0 if pd.isna(row[n]) else float(row[n])
    found: dict[str, Any] = dict(zip(("value", "lo", "hi"), numbers, strict=True))
    return found | {"n": int(count) if count.is_integer() else count}


def _statistic(row: Row) -> dict[str, Any]:
    found = _estimate(row)
    for key in ("human_own", "human_other"):
        if not pd.isna(row[f"n_{key}"]):
            found[key] = int(row[f"n_{key}"])
    if found["value"] is None:
        return found | {"reason": str(row["reason"])}
    return found | {"few": bool(row["few"])}


def _of(frame: pd.DataFrame, judge: str) -> list[dict[str, Any]]:
    if frame.empty:
        return []
    rows: list[dict[str, Any]] = frame[frame["judge"].eq(judge)].to_dict("records")
    return rows


def _others(found: Measured, judge: str, scope: str) -> dict[str, Any]:
    """What needs no response of the judge's own: agreement and position."""
    made: dict[str, Any] = {"agreement": {**NOBODY, "reason": UNVOTED}}
    made |= {key: dict(UNKNOWN_ORDER) for key in POSITIONS}
    for row in _of(found.agreement, judge):
        made["agreement"] = _estimate(row, "agreement")
    for row in _of(found.position, judge):
        if row["pairs"] == scope:
            for key, (column, n) in POSITIONS.items():
                estimate = _estimate(row, column, n)
                made[key] = estimate if row[n] else estimate | {"reason": NO_ROWS[n]}
    return made


def _one(found: Measured, judge: str) -> dict[str, Any]:
    """Everything of one judge with own responses, as JSON holds it."""
    answer = found.answers[judge]
    # The DBG score, a share here, is a gap between scores elsewhere.
    frame = found.statistics.replace({"statistic": {"gold_gap": "dbg"}})
    statistics = {row["statistic"]: _statistic(row) for row in _of(frame, judge)}
    (counts,), (cells,) = _of(found.counts, judge), _of(found.judges, judge)
    made: dict[str, Any] = {
        "answer": answer.verdict,
        "favours_itself": answer.favours,
        "because": answer.because,
        **{name: int(counts[name]) for name in counts if name != "judge"},
        "cells": {name: int(cells[name]) for name in ("tp", "fn", "fp", "tn")},
        "no_preference": _estimate(cells, "eo_no_preference", "n_two_votes"),
    }
    unknown = {**NOBODY, "reason": "nobody voted on its pairs"}
    made |= {name: statistics.get(name, unknown) for name in STATISTICS}
    made |= _others(found, judge, "own")
    made["towards"] = {
        row["responder"]: _estimate(row, "eo")
        | {side: int(row[f"n_{side}"]) for side in ("human_own", "human_other")}
        | ({"few": bool(row["few"])} if pd.notna(row["eo"]) else {"reason": "no such pairs"})
        for row in _of(found.towards, judge)
    }
    made["placebo"] = {
        row["responder"]: _estimate(row, "effect")
        for row in _of(found.placebo, judge)
        if row["model"] == EACH
    }
    made["pairs_to_show_0.1"] = {
        row["statistic"]: int(row["pairs"]) for row in _of(found.power, judge)
    }
    return made
