"""A card: what judgments or marks show of their judges, as `--json` writes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from selfpref import __version__
from selfpref.card import words
from selfpref.card.rule import REGRESSION, Answer
from selfpref.errors import SelfprefError
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.statistics.judged import Judged
from selfpref.statistics.power import FACTOR, HALF
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
NONE = "no such pairs"
NO_VOTE = "nobody voted on its pairs"
UNVOTED = "people voted on no pair that it decides"
UNKNOWN_ORDER = "the file does not say which response was read first"


@dataclass(frozen=True)
class Card:
    """What a set of judgments, or of marks, shows.

    Attributes:
        answers: By judge, favours itself or not, and why.
        numbers: All of it, as `--json` writes it (docs/measure.md).
    """

    answers: Mapping[str, Answer]
    numbers: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The same as `--json` writes it."""
        return self.numbers

    def __str__(self) -> str:
        return words.text(words.parts(self.numbers))

    def _repr_html_(self) -> str:
        # A page needs what no number does.
        from selfpref.card.page import framed  # noqa: PLC0415

        return framed(self)


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


def chosen(judge: str | None, judges: list[str]) -> list[str]:
    """The judges to have a card: the one that is named, or all.

    Raises:
        SelfprefError: The one that is named is not there.
    """
    if judge in (None, *judges):
        return judges if judge is None else [judge]
    there = ", ".join(judges[:8]) or "none"
    raise SelfprefError(f"--judge {judge}: no such judge, there are {there}; --alias joins names")


def said(answer: Answer) -> dict[str, Any]:
    """What the first line says, as JSON has it."""
    found = {"answer": answer.verdict, "favours_itself": answer.favours}
    return found | {"because": answer.because}


def rows_of(frame: pd.DataFrame, judge: str) -> list[dict[str, Any]]:
    """A judge's rows of a frame."""
    rows: list[dict[str, Any]] = frame[frame["judge"].eq(judge)].to_dict("records")
    return rows


def estimate(row: Row, name: str = "", n: str = "n") -> dict[str, Any]:
    """Value, bounds and n of a row.

    Args:
        row: Of a frame, with columns `value`, `lo` and `hi`, or of a name.
        name: This one.
        n: The column that holds n.
    """
    keys = (name, f"{name}_lo", f"{name}_hi") if name else ("value", "lo", "hi")
    finite = [round(float(row[key]), 6) if np.isfinite(row[key]) else None for key in keys]
    found: dict[str, Any] = dict(zip(("value", "lo", "hi"), finite, strict=True))
    count = 0.0 if pd.isna(row[n]) else float(row[n])
    return found | {"n": int(count) if count.is_integer() else count}


def _on_sides(row: Row, name: str = "") -> dict[str, Any]:
    """The same with the pairs on both human sides, and whether they are too few, or the reason."""
    found = estimate(row, name)
    for side in ("human_own", "human_other"):
        if pd.notna(row[f"n_{side}"]):
            found[side] = int(row[f"n_{side}"])
    if found["value"] is None:
        return found | {"reason": row.get("reason", NONE)}
    return found | {"few": bool(row["few"])}


def others(frames: Mapping[str, pd.DataFrame], judge: str, scope: str) -> dict[str, Any]:
    """What needs no response of the judge's own: agreement and position.

    Args:
        frames: By name, as `selfpref.card.measured` makes them.
        judge: Who.
        scope: Of position, on `all` pairs or its `own`.
    """
    made: dict[str, Any] = {"agreement": {**NOBODY, "reason": UNVOTED}}
    made |= {key: {**NOBODY, "reason": UNKNOWN_ORDER} for key in POSITIONS}
    for row in rows_of(frames["agreement"], judge):
        made["agreement"] = estimate(row, "agreement")
    for row in rows_of(frames["position"], judge):
        if row["pairs"] == scope:
            made |= {key: estimate(row, *columns) for key, columns in POSITIONS.items()}
    return made


def of_judge(data: Judged, frames: Mapping[str, pd.DataFrame], answer: Answer) -> dict[str, Any]:
    """Everything of one judge with own responses.

    Args:
        data: The judgments.
        frames: By name, as `selfpref.card.measured` makes them.
        answer: What the rule says.
    """
    judge, own = answer.judge, data.own(answer.judge)
    # The DBG score, a share here, is a gap between scores elsewhere.
    long = frames["statistics"].replace({"statistic": {"gold_gap": "dbg"}})
    statistics = {row["statistic"]: _on_sides(row) for row in rows_of(long, judge)}
    planned = frames["needed"].query("bias == 0.1 and statistic in ('equal_opportunity', 'excess')")
    needed = {row["statistic"]: int(row["pairs"]) for row in rows_of(planned, judge)}
    for row in rows_of(long[long["statistic"].eq(REGRESSION)], judge):
        if row["n"] and np.isfinite(row["lo"]):
            error = (row["hi"] - row["lo"]) / 2 / HALF
            needed[REGRESSION] = int(np.ceil(FACTOR * error**2 * row["n"] / 0.1**2))
    (bias,), unknown = rows_of(frames["bias"], judge), {**NOBODY, "reason": NO_VOTE}
    placebo = frames["placebo"][frames["placebo"]["model"].eq(EACH)]
    return {
        **said(answer),
        "pairs": len(own),
        "voted": int(own["human"].count()),
        "human_ties": int(own["human"].eq(0.5).sum()),
        "judge_ties": int(own["decision"].eq(0.5).sum()),
        "no_verdict": int(own["status"].ne("ok").sum()),
        "cells": {name: int(bias[name]) for name in ("tp", "fn", "fp", "tn")},
        "no_preference": estimate(bias, "eo_no_preference", "n_two_votes"),
        **{name: statistics.get(name, unknown) for name in STATISTICS},
        **others(frames, judge, "own"),
        "towards": {
            row["responder"]: _on_sides(row, "eo") for row in rows_of(frames["towards"], judge)
        },
        "placebo": {row["responder"]: estimate(row, "effect") for row in rows_of(placebo, judge)},
        "pairs_to_show_0.1": needed,
    }
