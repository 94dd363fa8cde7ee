"""A judge's card as JSON: `--json`, and what its words are made of."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from selfpref.statistics.scaled import EACH

if TYPE_CHECKING:
    from selfpref.card.measured import Measured

Row = Mapping[str, Any]
STATISTICS = (
    *("equal_opportunity", "beyond_no_preference", "demographic_parity"),
    *("excess", "excess_common", "excess_half_ties", "dbg"),
    *("regression", "regression_scaled", "harmful", "legitimate"),
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


def _others(found: "Measured", judge: str, scope: str) -> dict[str, Any]:
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


def _one(found: "Measured", judge: str) -> dict[str, Any]:
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
    made["placebo"] = {
        row["responder"]: _estimate(row, "effect")
        for row in _of(found.placebo, judge)
        if row["model"] == EACH
    }
    made["pairs_to_show_0.1"] = {
        row["statistic"]: int(row["pairs"]) for row in _of(found.power, judge)
    }
    return made


def as_json(found: "Measured") -> dict[str, Any]:
    """The whole, as `--json` writes it."""
    names = found.names
    return {
        "name": found.name,
        "judges": {judge: _one(found, judge) for judge in names.own},
        "judges_without_own_responses": {
            judge: {"nearest_responder": near, **_others(found, judge, "all")}
            for judge, near in names.alone.items()
        },
        "responders": names.responders,
        "names_that_match_nothing": names.unmatched,
        "voted_pairs_that_nobody_judged": names.unjudged,
    }
