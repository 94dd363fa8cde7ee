"""Captions: what a figure shows, from which data, with n, what was dropped, and the interval.

Every number in a caption comes from the frame that the figure draws.
"""

from functools import partial
from typing import Any

import pandas as pd

from selfpref.plots.intervals import interval

_interval = partial(interval, "prompts")


def _counts(rows: pd.DataFrame, n: str = "n", dropped: str = "n_dropped") -> str:
    parts = [
        f"{dataset}: {part[n].sum():g} pairs of {len(part)} judges, {part[dropped].sum():g} dropped"
        if len(part) > 1
        else f"{dataset}: {part[n].sum():g} pairs of {part['judge'].iloc[0]}, "
        f"{part[dropped].sum():g} dropped"
        for dataset, part in rows.groupby("dataset")
    ]
    return "; ".join(parts) if parts else "no pairs"


def rows_used(bias: pd.DataFrame, responses: pd.DataFrame, params: Any) -> str:
    """Which rows the parameters let in, and how many there are."""
    use = params.wataoka
    texts, cut = responses["n"].sum(), responses["cut_off"].sum()
    return (
        f"Profile `{params.profile}`. Human ties: {use.human_ties}; judge ties: {use.judge_ties}; "
        f"turns: {use.turns}; threshold: {use.threshold:g}. Own pairs with a human vote: "
        f"{_counts(bias)} by a tie or a status. Responses: {texts:g}, of them {cut:g} cut off at "
        f"their limit. {_interval(params)}."
    )


def example(rows: pd.DataFrame) -> str:
    """Names the pair without its texts."""
    if rows.empty:
        return "No pair with released texts has a judge for its own response and the human against."
    row = rows.iloc[0]
    agrees = row["opponent_agrees_with_human"]
    sides = "sides with the human" if agrees else "does not side with the human, or is no judge"
    return (
        f"Item {row['item_id']}: the judge {row['judge']} prefers its own response (score "
        f"{row['score']:.2f}), the human majority that of {row['opponent']} (votes for own minus "
        f"against: {row['margin']:g}); {row['opponent']} as a judge {sides}."
    )


def bias(rows: pd.DataFrame, params: Any) -> str:
    """Fig. 1b."""
    certain = rows[rows["n"].gt(0) & rows["eo_lo"].eq(rows["eo_hi"])]["judge"]
    note = (
        f" No variation in the sample, hence no honest interval: {', '.join(certain)}."
        if len(certain)
        else ""
    )
    return (
        "Equal-opportunity bias of each judge towards its own responses and its excess over the "
        f"other judges on the same responses (variant own). {_counts(rows)} by ties or status. "
        f"{_interval(params)}.{note} Squares: the counts that the paper prints for Chatbot Arena, "
        "rows resampled."
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


def _lost(rows: pd.DataFrame) -> str:
    """What the pairs of Figs. 3, 4 and 6 lost; the number is the same in every bin of a judge."""
    every = rows[rows["pairs"].eq("all")].drop_duplicates(["dataset", "judge"])
    return f"{every['n_dropped'].sum():g} more dropped (a tie, a status, no vote or no perplexity)"


def perplexity(rows: pd.DataFrame, params: Any) -> str:
    """Figs. 3 and 6."""
    if rows.empty:
        return "No such judge with perplexities."
    one = rows[rows["pairs"].eq("all") & rows["who"].eq("judge")]
    use = params.wataoka
    return (
        f"Share of pairs in which A wins, by difference in {use.scale} to the judge: "
        f"{use.bins} bins of equal {use.binning}. {one['judge'].nunique()} judges, "
        f"{one['n'].sum():g} pairs with a vote, a decision and both perplexities. {_lost(rows)}. "
        f"Bands: {_interval(params)}."
    )


def own_and_others_pairs(rows: pd.DataFrame, params: Any) -> str:
    """Fig. 4."""
    counted = rows[rows["who"].eq("judge")].groupby("pairs")["n"].sum()
    return (
        f"The judge's win rate of A in {counted.get('own', 0):g} pairs with its own response (as "
        f"A) and {counted.get('other', 0):g} pairs of others, in the bins of Fig. 3. "
        f"{_lost(rows)}. Bands: {_interval(params)}. Hollow: bins with fewer than ten pairs."
    )


def slopes(rows: pd.DataFrame, params: Any) -> str:
    """Slopes."""
    one = rows[rows["pairs"].eq("all") & rows["who"].eq("judge")]
    return (
        f"Slopes of wins on the difference in perplexity, {len(one)} judges, {one['n'].sum():g} "
        f"pairs, {one['n_dropped'].sum():g} dropped (a tie, a status, no vote or no perplexity). "
        f"Negative: the less probable response loses. {_interval(params)}."
    )


def slope_comparison(rows: pd.DataFrame) -> str:
    """How many judges lean on perplexity more than the human, by kind of pair."""
    gaps = rows[rows["who"].eq("judge - human")]
    kinds = {
        "all": "all pairs",
        "own": "pairs with the judge's own response",
        "other": "pairs of others",
    }
    lines = []
    for pairs, kind in kinds.items():
        gap = gaps[gaps["pairs"].eq(pairs)]
        for name, heading in (("slope", "raw"), ("controlled", "with quality held")):
            steeper = int((gap[f"{name}_hi"] < 0).sum())
            flatter = int((gap[f"{name}_lo"] > 0).sum())
            lines.append(
                f"- {kind}, {heading}: of {len(gap)} judges, {steeper} fall more steeply with "
                f"perplexity than the human, {flatter} less steeply, "
                f"{len(gap) - steeper - flatter} cannot be told apart."
            )
    return "\n".join(
        [
            *lines,
            "",
            "The slope over all pairs mixes two things: how a judge treats probable texts, and how "
            "it treats its own, which are the probable ones. A preference for its own style alone "
            "makes it steeper; only the pairs of others are free of that.",
        ]
    )


def log_perplexity(rows: pd.DataFrame, params: Any) -> str:
    """Fig. 5."""
    known = rows[rows["conditional"] & rows["gap"].notna()]
    parts = []
    for view, heading in (("judge", "by judge"), ("text", "by text")):
        part = known[known["view"].eq(view)]
        lower = int((part["gap_lo"] > 0).sum())
        parts.append(f"{heading}, own is lower with an interval above 0 for {lower} of {len(part)}")
    dropped = known[known["view"].eq("judge")]["n_dropped"].sum()
    return (
        f"Mean log-perplexity given the prompt: {'; '.join(parts)}. "
        f"{known[known['view'].eq('judge')]['n'].sum():g} readings of responses, {dropped:g} "
        f"dropped (no token, or truncated). {_interval(params)}."
    )


def planted(rows: pd.DataFrame, recovery: pd.DataFrame, params: Any) -> str:
    """Planted against measured."""
    told = "; ".join(
        f"{row.quantity}: r = {row.r:.2f} [{row.lo:.2f}, {row.hi:.2f}]"
        for row in recovery.itertuples()
    )
    return (
        f"{len(rows)} judges of {rows['seed'].nunique()} seeds, {rows['n'].sum():g} pairs. {told} "
        f"(prompts resampled, judges not). Vertical: the measured bias, {_interval(params)}."
    )


def oracle_agreement(rows: pd.DataFrame) -> str:
    """How well the laboratory's judges judge."""
    lines = [
        f"- {row.dataset}, {row.prompts} prompts, mean of the families: {row.agreement:.3f} "
        f"[{row.agreement_lo:.3f}, {row.agreement_hi:.3f}], n = {row.n} verdicts on pairs of "
        "unequal quality"
        for row in rows[rows["judge"].eq("mean of families")].itertuples()
    ]
    return "Agreement of the judges with the oracle:\n\n" + "\n".join(lines)
