"""Captions: what a figure shows, from which data, with n, what was dropped, and the interval.

Every number in a caption comes from the frame that the figure draws.
"""

from typing import Any

import pandas as pd


def _interval(params: Any) -> str:
    boot = params.bootstrap
    return (
        f"{boot.level:.0%} {'BCa' if boot.method == 'bca' else boot.method} intervals, "
        f"{boot.resamples} bootstrap resamples of prompts"
    )


def _counts(rows: pd.DataFrame, n: str = "n", dropped: str = "n_dropped") -> str:
    parts = [
        f"{dataset}: {part[n].sum():g} pairs of {len(part)} judges, {part[dropped].sum():g} dropped"
        if len(part) > 1
        else f"{dataset}: {part[n].sum():g} pairs of {part['judge'].iloc[0]}, "
        f"{part[dropped].sum():g} dropped"
        for dataset, part in rows.groupby("dataset")
    ]
    return "; ".join(parts) if parts else "no pairs"


def rows_used(bias: pd.DataFrame, params: Any) -> str:
    """Which rows the parameters let in, and how many there are."""
    use = params.wataoka
    return (
        f"Profile `{params.profile}`. Human ties: {use.human_ties}; judge ties: {use.judge_ties}; "
        f"turns: {use.turns}; threshold: {use.threshold:g}. Own pairs with a human vote: "
        f"{_counts(bias)} by a tie or a status. {_interval(params)}."
    )


def example(rows: pd.DataFrame) -> str:
    """Names the pair without its texts."""
    if rows.empty:
        return "No pair with released texts has a judge for its own response and the human against."
    row = rows.iloc[0]
    sides = "sides with the human" if row["opponent_agrees_with_human"] else "is not a judge of it"
    return (
        f"Item {row['item_id']}: the judge {row['judge']} prefers its own response (score "
        f"{row['score']:.2f}), the human majority that of {row['opponent']} (votes for own minus "
        f"against: {row['margin']:g}); {row['opponent']} as a judge {sides}."
    )


def bias(rows: pd.DataFrame, params: Any) -> str:
    """Fig. 1b."""
    return (
        "Equal-opportunity bias of each judge towards its own responses and its excess over the "
        f"other judges on the same responses (variant own). {_counts(rows)} by ties or status. "
        f"{_interval(params)}. Squares: the counts that the paper prints for Chatbot Arena, rows "
        "resampled."
    )


def excess_signs(rows: pd.DataFrame) -> str:
    """Where the three variants of the excess agree in sign, and where not."""
    if rows.empty:
        return "No second judge read the same responses: there is no excess."
    lines = []
    for (dataset, judge), part in rows.groupby(["dataset", "judge"]):
        values = part.set_index("variant")["excess"]
        clear = part[(part["excess_lo"] > 0) | (part["excess_hi"] < 0)]["variant"]
        sign = "one sign" if (values > 0).all() or (values < 0).all() else "**different signs**"
        numbers = ", ".join(f"{name} {value:+.2f}" for name, value in values.items())
        away = f"interval without 0: {', '.join(clear) or 'none'}"
        lines.append(f"- {judge} ({dataset}): {numbers}; {sign}; {away}.")
    return "\n".join(lines)


def confusion(rows: pd.DataFrame) -> str:
    """Fig. 2."""
    return (
        "Human against judge on the pairs with the judge's own response; count and share of the "
        f"row. {_counts(rows)} by ties or status. First: the counts that the paper prints."
    )


def demographic_parity(rows: pd.DataFrame) -> str:
    """Table 2."""
    if rows.empty:
        return "No judge has a pair with a response of its own."
    return (
        "Demographic parity in both readings. Decisive rows: "
        f"{_counts(rows, 'n_decisive', 'n_dropped_decisive')}. Human ties included: "
        f"{_counts(rows, 'n_with_ties', 'n_dropped_with_ties')}. Crosses: printed in the paper for "
        "the judge of this name on Chatbot Arena."
    )


def by_opponent(rows: pd.DataFrame) -> str:
    """EO by opponent."""
    if rows.empty:
        return "No judge has a pair with a response of its own."
    unsure = int((rows["undefined"] > 0.05).sum())
    return (
        f"Equal-opportunity bias by opponent. {len(rows)} cells, {rows['n'].sum():g} pairs, "
        f"{rows['n_dropped'].sum():g} dropped by ties or status. In {unsure} cells more than 5 % "
        "of the resamples lack one human outcome; their intervals rest on the others."
    )


def position(rows: pd.DataFrame) -> str:
    """Position."""
    known = rows[rows["n_decided"].gt(0)] if len(rows) else rows
    if known.empty:
        return "No verdict whose order of presentation is known."
    every = known[known["pairs"].eq("all")]
    return (
        f"{every['n_decided'].sum():g} decided verdicts with known order and "
        f"{every['n_both'].sum():g} pairs judged in both orders, {len(every)} judges. Grey lines: "
        "no position bias. Data sets whose source merged the orders are not shown."
    )
