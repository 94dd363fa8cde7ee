"""How far a judge follows the order in which it reads two responses."""

import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import caption, wilson
from selfpref.plots.forest import forest
from selfpref.plots.frame import COLUMN, long
from selfpref.plots.save import Plate, nothing
from selfpref.studies.wataoka.draw.names import AUTHOR, called, titled


def position(rows: pd.DataFrame, params: Params) -> Plate:
    """How often the winner reverses with the order, by judge.

    Args:
        rows: The frame `position` (`measure.judged.position`).
        params: With `bootstrap`.
    """
    if not len(rows) or not rows["reversal_rate"].notna().any():
        return nothing("no pair was judged in both orders", rows)
    every = rows[rows["n_both"].gt(0) & rows["pairs"].eq("all")]
    drawn = every.sort_values(["dataset", "reversal_rate"], ascending=[True, False], kind="stable")
    figure = forest(
        long(titled(drawn).assign(judge=called(drawn["judge"])), {"": "reversal_rate"}),
        row="judge",
        group="set",
        label="share of pairs whose winner reverses with the order",
        looks={"": AUTHOR},
        reference=0.5,
        limits=(-0.03, 1.03),
        width=COLUMN,
    )
    told = caption(
        f"Of {every['n_both'].sum():g} pairs that {len(every)} judges read in both orders, the "
        "share in which the response that stands first (or second) wins both times",
        "Line: one half, above which the order decides more often than the responses",
        "Data sets whose source merged the orders are not shown",
        wilson("prompts", params),
    )
    return Plate(figure, rows, told)


def led_by_position(rows: pd.DataFrame) -> str:
    """Which judges follow the order more than the responses; empty where none does.

    Args:
        rows: The frame `position`.
    """
    led = rows[rows["pairs"].eq("all") & rows["reversal_rate_lo"].gt(0.5)] if len(rows) else rows
    if led.empty:
        return ""
    names = "; ".join(
        f"{name} ({row.set}, {row.reversal_rate:.2f} [{row.reversal_rate_lo:.2f}, "
        f"{row.reversal_rate_hi:.2f}] of {row.n_both:g} pairs)"
        for row, name in zip(titled(led).itertuples(), called(led["judge"]), strict=True)
    )
    return (
        "**The order decides more often than the responses** where the winner reverses with it in "
        f"more than half of the pairs: {names}."
    )
