"""Pairs that a bias takes, beside the pairs at hand."""

import pandas as pd
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from selfpref.plots.captions import caption
from selfpref.plots.forest import forest
from selfpref.plots.frame import BLUE, COLUMN, GREY, Look
from selfpref.plots.save import Plate, nothing
from selfpref.studies.beyond.draw.names import HOLLOW, described

# The bias and the statistic that are drawn; the table has the others.
BIAS, STATISTIC = 0.1, "equal_opportunity"


def power(rows: pd.DataFrame) -> Plate:
    """Pairs that a bias of one tenth takes, beside the pairs that each judge has.

    Args:
        rows: The frame `power`.
    """
    wanted = {"gold": ["human", "key-strict"], "statistic": [STATISTIC], "bias": [BIAS]}
    shown = rows[rows[list(wanted)].isin(wanted).all(axis=1)] if len(rows) else rows
    if shown.empty:
        return nothing("no statistic varies among the decided pairs: nothing can be planned", rows)
    drawn = described(shown).assign(
        note=[f"{n:,} of {pairs:,}" for n, pairs in zip(shown["n"], shown["pairs"], strict=True)]
    )
    # The line from what there is to what it takes.
    ends = drawn[["n", "pairs"]]
    need = drawn.assign(
        value=drawn["pairs"], lo=ends.min(axis=1), hi=ends.max(axis=1), series="need"
    )
    figure = forest(
        pd.concat([drawn.assign(value=drawn["n"], series="have"), need]),
        row="judge",
        group="set",
        label="decided pairs with the judge's own response",
        looks={"have": Look(BLUE), "need": Look(GREY, "s")},
        reference=None,
        note="note",
        hollow=HOLLOW,
        width=COLUMN,
        message=_message(shown),
    )
    for axes in figure.axes if figure else ():
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.xaxis.set_minor_locator(NullLocator())
    told = caption(
        "Pairs that each judge has, and pairs that an equal-opportunity bias of "
        f"{BIAS:g} takes to be seen in four of five repetitions",
        "Two-sided test at 0.05; variance and design effect from each judge's own data, design "
        f"effects {shown['effect'].min():.2f} to {shown['effect'].max():.2f}",
        "A judge whose bias does not vary in the sample is left out",
    )
    return Plate(figure, rows, told)


def _message(shown: pd.DataFrame) -> str:
    """How many judges have enough pairs."""
    enough = int(shown["n"].ge(shown["pairs"]).sum())
    who = f"{enough} of {len(shown)} judges" if enough else "No judge"
    have = "have" if enough > 1 else "has"
    return f"{who} {have} enough pairs to detect a bias of\N{NO-BREAK SPACE}{BIAS:g}"
