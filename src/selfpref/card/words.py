"""A judge's card: blocks of numbers, each with a sentence; as text, and as JSON.

A number is `value [lo, hi]`. One that rests on fewer than ten pairs of a human side is marked "too
few"; one that does not exist says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from selfpref.card.measured import Measured

Row = Mapping[str, Any]
# Of JSON, by what the frames call it.
STATISTICS = {
    "equal_opportunity": "equal_opportunity",
    "beyond_no_preference": "beyond_no_preference",
    "demographic_parity": "demographic_parity",
    "excess": "excess",
    "excess_common": "excess_common",
    "excess_half_ties": "excess_half_ties",
    "dbg": "gold_gap",
    "regression": "regression",
    "regression_scaled": "regression_scaled",
    "harmful": "harmful",
    "legitimate": "legitimate",
}
POSITIONS = {
    "first_position": ("first_share", "n_decided"),
    "flips": ("flip_rate", "n_both"),
    "reversals": ("reversal_rate", "n_both"),
}
NOBODY = {"value": None, "lo": None, "hi": None, "n": 0}
NO_ROWS = {"n_decided": "it chose no response", "n_both": "it read no pair in both orders"}
UNKNOWN_ORDER = {**NOBODY, "reason": "the file does not say which response was read first"}


@dataclass(frozen=True)
class Block:
    """A part of a card.

    Attributes:
        title: What it is about.
        sentence: What it says, in plain words.
        lines: Name and number of each row.
    """

    title: str
    sentence: str
    lines: list[tuple[str, str]]


def _number(value: Any, digits: int = 6) -> float | None:
    return None if pd.isna(value) or not np.isfinite(value) else round(float(value), digits)


def _estimate(row: Row, name: str = "", n: Any = 0) -> dict[str, Any]:
    """Value, bounds and n of a row of a frame."""
    keys = (name, f"{name}_lo", f"{name}_hi") if name else ("value", "lo", "hi")
    found: dict[str, Any] = {
        key: _number(row[column]) for key, column in zip(("value", "lo", "hi"), keys, strict=True)
    }
    return found | {"n": 0 if pd.isna(n) else int(n) if float(n).is_integer() else float(n)}


def _statistic(row: Row) -> dict[str, Any]:
    found = _estimate(row, n=row["n"])
    for key, column in (("human_own", "n_human_own"), ("human_other", "n_human_other")):
        if not pd.isna(row[column]):
            found[key] = int(row[column])
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
    made: dict[str, Any] = {"agreement": dict(NOBODY)}
    made |= {key: dict(UNKNOWN_ORDER) for key in POSITIONS}
    for row in _of(found.agreement, judge):
        made["agreement"] = _estimate(row, "agreement", row["n"])
    for row in _of(found.position, judge):
        if row["pairs"] == scope:
            for key, (column, n) in POSITIONS.items():
                estimate = _estimate(row, column, row[n])
                made[key] = estimate if row[n] else estimate | {"reason": NO_ROWS[n]}
    return made


def one(found: "Measured", judge: str) -> dict[str, Any]:
    """Everything of one judge with own responses, as JSON holds it."""
    answer = found.answers[judge]
    statistics = {row["statistic"]: row for row in _of(found.statistics, judge)}
    (counts,), (cells,) = _of(found.counts, judge), _of(found.judges, judge)
    made: dict[str, Any] = {
        "answer": answer.verdict,
        "favours_itself": answer.favours,
        "because": answer.because,
        **{name: int(counts[name]) for name in counts if name != "judge"},
        "cells": {name: int(cells[name]) for name in ("tp", "fn", "fp", "tn")},
        "no_preference": _estimate(cells, "eo_no_preference", cells["n_two_votes"]),
    }
    unknown = {**NOBODY, "reason": "nobody voted on its pairs"}
    made |= {
        key: _statistic(statistics[name]) if name in statistics else unknown
        for key, name in STATISTICS.items()
    }
    made |= _others(found, judge, "own")
    made["placebo"] = {
        row["responder"]: _estimate(row, "effect", row["n"])
        for row in _of(found.placebo, judge)
        if row["model"] == EACH
    }
    made["pairs_to_show_0.1"] = {
        row["statistic"]: int(row["pairs"]) for row in _of(found.power, judge)
    }
    return made


# As `selfpref.studies.beyond.measure.scaled` names the model.
EACH = "a scale for each judge"


def as_json(found: "Measured") -> dict[str, Any]:
    """The whole, as `--json` writes it."""
    names = found.names
    return {
        "name": found.name,
        "judges": {judge: one(found, judge) for judge in names.own},
        "judges_without_own_responses": {
            judge: {"nearest_responder": near, **_others(found, judge, "all")}
            for judge, near in names.alone.items()
        },
        "responders": names.responders,
        "names_that_match_nothing": names.unmatched,
        "voted_pairs_that_nobody_judged": names.unjudged,
    }


def shown(estimate: Row, sign: bool = False) -> str:
    """`value [lo, hi]`, with its counts; or why there is none."""
    if estimate["value"] is None:
        return f"none: {estimate.get('reason') or 'no such pairs'}"
    form = "{:+.2f}" if sign else "{:.2f}"
    values = [
        "" if estimate[key] is None else form.format(round(estimate[key], 2) + 0.0)
        for key in ("value", "lo", "hi")
    ]
    text = values[0] + (f" [{values[1]}, {values[2]}]" if values[1] else "")
    text += f", n {estimate['n']:g}"
    if "human_own" in estimate:
        text += f" (people prefer own {estimate['human_own']}, other {estimate['human_other']})"
    return text + (", too few" if estimate.get("few") else "")


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "none"


def blocks(found: "Measured", judge: str) -> list[Block]:
    """The card of one judge with own responses."""
    card = one(found, judge)
    cells = card["cells"]
    n_own, n_other = cells["tp"] + cells["fn"], cells["fp"] + cells["tn"]
    parts = [
        Block(
            "The pairs",
            f"{judge} read {card['pairs']} pairs with a response of its own. People voted on "
            f"{card['voted']} of them and tied {card['human_ties']}; it tied "
            f"{card['judge_ties']} and gave no verdict on {card['no_verdict']}.",
            [
                ("pairs with a vote and a verdict, no ties", f"{sum(cells.values())}"),
                ("flips between orders", shown(card["flips"])),
            ],
        ),
        Block(
            "Equal opportunity",
            f"Where people prefer its response, it agrees in {_percent(cells['tp'], n_own)} of "
            f"{n_own} pairs; where they prefer the other, in {_percent(cells['tn'], n_other)} of "
            f"{n_other}. A judge without a self shows such a difference too, where one response is "
            "better: compare it with a person in the judge's place.",
            [
                ("equal opportunity", shown(card["equal_opportunity"], True)),
                ("a person in its place (no preference)", shown(card["no_preference"], True)),
                (
                    "beyond that person, on the same votes",
                    shown(card["beyond_no_preference"], True),
                ),
            ],
        ),
        Block(
            "How often it chooses itself",
            f"It chooses its own response in {_percent(cells['tp'] + cells['fp'], n_own + n_other)}"
            f" of the pairs that it and people decide; people choose it in "
            f"{_percent(n_own, n_own + n_other)}.",
            [
                ("demographic parity", shown(card["demographic_parity"], True)),
                ("DBG score", shown(card["dbg"], True)),
            ],
        ),
        Block(
            "Against the other judges",
            "How much more it favours its responses than the other judges of the file favour the "
            "same ones. A judge with less noise than the others shows an excess as well.",
            [
                ("excess, each judge on its own pairs", shown(card["excess"], True)),
                ("excess, pairs that all decide", shown(card["excess_common"], True)),
                ("excess, judges' ties as halves", shown(card["excess_half_ties"], True)),
            ],
        ),
        _regression(judge, card),
        Block(
            "When it chooses itself",
            "How often its own response wins where people prefer the other one (harmful: a judge "
            "that follows people has 0), and where they prefer its own (legitimate: 1).",
            [("harmful", shown(card["harmful"])), ("legitimate", shown(card["legitimate"]))],
        ),
        Block(
            "Agreement and position",
            "How often it and the majority of people prefer the same response, over all pairs that "
            "both decide; and how often it prefers what it read first, on its own pairs (0.50 is "
            "even).",
            [
                ("agreement with people", shown(card["agreement"])),
                ("chooses the first", shown(card["first_position"])),
                ("the winner reverses with the order", shown(card["reversals"])),
            ],
        ),
    ]
    return [*parts, _needed(card)]


def _regression(judge: str, card: Row) -> Block:
    placebo = {name: row for name, row in card["placebo"].items() if name != judge}
    lines = [
        ("its own responses, a scale for each judge", shown(card["regression_scaled"], True)),
        ("its own responses, one scale for all", shown(card["regression"], True)),
    ]
    lines += [(f"placebo: {name}'s responses", shown(row, True)) for name, row in placebo.items()]
    return Block(
        "Regression",
        "What it adds to the probability of its own response being chosen, controlling for who "
        "wrote the responses, for people's votes and for the judge's noise. A placebo is the same "
        "for responses that are not its own.",
        lines,
    )


def _needed(card: Row) -> Block:
    names = {
        "equal_opportunity": "equal opportunity",
        "excess": "excess",
        "regression_scaled": "regression",
    }
    needed = card["pairs_to_show_0.1"]
    return Block(
        "How many pairs it takes",
        f"Pairs with its own response that would show a bias of 0.1 in four files of five like "
        f"this one, at 5 %; the file has {card['voted']} with a vote.",
        [
            (label, f"{needed[name]} pairs" if name in needed else "cannot be planned from this")
            for name, label in names.items()
        ],
    )


def others(found: "Measured", judge: str) -> list[tuple[str, str]]:
    """Name and number of each row of a judge without own responses."""
    labels = {"agreement": "agreement with people", "first_position": "chooses the first"}
    return [(labels.get(key, key), shown(row)) for key, row in _others(found, judge, "all").items()]


def who(found: "Measured") -> list[str]:
    """Who is who, a line each."""
    names = found.names

    def near(other: str | None) -> str:
        return f" (nearest name: {other}; join them with --alias)" if other else ""

    lines = [f"judges with own responses: {', '.join(names.own) or 'none'}"]
    if names.alone:
        told = "; ".join(f"{judge}{near(other)}" for judge, other in names.alone.items())
        lines.append(f"judges without own responses: {told}")
    if names.unmatched:
        told = "; ".join(f"{name}{near(other)}" for name, other in names.unmatched.items())
        lines.append(f"names that match nothing: {told}")
    if names.unjudged:
        lines.append(f"voted pairs that nobody judged: {names.unjudged}")
    return lines


def first(found: "Measured") -> list[str]:
    """What the first lines answer, a judge each."""
    if not found.answers:
        return ["cannot tell, because no judge wrote a response that it judged"]
    return [str(answer) for answer in found.answers.values()]


def text(found: "Measured") -> str:
    """Answers, who is who, and the cards."""
    lines = [*first(found), "", *who(found)]
    for judge in found.names.own:
        lines += ["", judge, "=" * len(judge)]
        for block in blocks(found, judge):
            lines += ["", block.title, f"  {block.sentence}"]
            lines += [f"  {name:<42} {value}" for name, value in block.lines]
    for judge in found.names.alone:
        lines += ["", f"{judge} (wrote none of the responses)"]
        lines += [f"  {name:<42} {value}" for name, value in others(found, judge)]
    return "\n".join(lines)
