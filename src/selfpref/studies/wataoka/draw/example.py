"""Fig. 1a: an example."""

import textwrap

import pandas as pd
from matplotlib import style

from selfpref.plots.frame import BLUE, GREY, ORANGE, PAGE, STYLE, empty
from selfpref.plots.save import Plate, nothing
from selfpref.studies.wataoka.draw.names import called


@style.context(STYLE)
def example(rows: pd.DataFrame) -> Plate:
    """Fig. 1a: one pair on which a judge prefers its own response and the human the other.

    Args:
        rows: The frame `example`, at most one row. It holds released text.
    """
    if rows.empty:
        return nothing(
            "no pair with released texts has a judge for its own response and people against",
            rows,
        )
    row = rows.iloc[0]
    judge, opponent = called([row["judge"], row["opponent"]])
    figure = empty(PAGE, 4.2)
    boxes = [
        (f"Prompt ({row['item_id']})", row["prompt"], GREY, 0.99, 300),
        (f"{judge}: preferred by itself as a judge", row["own_text"], BLUE, 0.80, 950),
        (f"{opponent}: preferred by people", row["other_text"], ORANGE, 0.40, 950),
    ]
    for heading, text, color, top, length in boxes:
        figure.text(0.01, top, heading, va="top", fontsize=8, weight="bold", color=color)
        short = textwrap.fill(textwrap.shorten(str(text), length, placeholder=" […]"), 118)
        figure.text(0.01, top - 0.05, short, va="top", fontsize=7.5, parse_math=False)
    agrees = row["opponent_agrees_with_human"]
    sided = "sides with people" if agrees else "does not side with people, or is no judge"
    told = (
        f"Item {row['item_id']}: as a judge {judge} prefers its own response (score "
        f"{row['score']:.2f}), most people that of {opponent} (votes for own minus against: "
        f"{row['margin']:g}); {opponent} as a judge {sided}."
    )
    return Plate(figure, rows, told)
