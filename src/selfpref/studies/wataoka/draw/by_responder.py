"""EO of every judge towards every responder, and the paper's own models with no self in it."""

import numpy as np
import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import caption, counted, labelled_by
from selfpref.plots.forest import forest
from selfpref.plots.frame import COLUMN, GREY, long
from selfpref.plots.save import Plate, nothing
from selfpref.studies.wataoka.draw.names import (
    AUTHOR,
    HOLLOW,
    OTHERS,
    PERSON,
    TITLES,
    WHY,
    called,
    readable,
    titled,
)

# The paper's judge whose counts are printed.
MODEL = "gpt-4"
# What the paper's text says of a model's bias towards itself, by the sign in data/published.
SAID = {1.0: "+", 0.0: "0", -1.0: "−"}
UNSAID = "not stated"


def towards(rows: pd.DataFrame, params: Params) -> Plate:
    """EO of every judge towards every responder: do judges differ, or responders?

    Args:
        rows: The frame `bias_by_judge_and_responder`.
        params: With `bootstrap`.
    """
    if not len(rows) or not rows["eo"].notna().any():
        return nothing("no judge and responder with both human outcomes", rows)
    alone, other = "the responses' author", "another judge"
    means = rows.groupby(["dataset", "responder"])["eo"].transform("mean")
    drawn = rows.assign(mean=means).sort_values(
        ["dataset", "mean", "responder", "own"], ascending=[True, False, True, True]
    )
    drawn = drawn[drawn["mean"].notna()]
    marks = long(drawn, {"EO": "eo"}).assign(
        series=[alone if own else other for own in drawn["own"]],
        hollow=drawn["few"].to_numpy(bool),
    )
    # Several marks without a name on one line: their intervals, in the table, would hide them.
    several = marks.groupby(["dataset", "responder", "series"])["judge"].transform("size").gt(1)
    marks.loc[several, ["lo", "hi"]] = float("nan")
    figure = forest(
        titled(marks).assign(responder=called(marks["responder"])),
        row="responder",
        panel="set",
        rows_by_panel=True,
        wrap=1,
        label="equal-opportunity bias towards each model's responses",
        looks={other: OTHERS, alone: AUTHOR},
        limits=(-1.06, 1.06),
        hollow=HOLLOW,
        width=COLUMN,
    )
    told = caption(
        "Equal-opportunity bias of every judge towards every responder, responders by the mean of "
        "their judges",
        compared(rows),
        labelled_by(rows),
        params=params,
    )
    return Plate(figure, rows, told)


def without_a_self(
    rows: pd.DataFrame,
    paper: pd.DataFrame,
    signs: pd.DataFrame,
    expected: pd.DataFrame,
    params: Params,
) -> Plate:
    """GPT-4's EO towards models that are not GPT-4, beside what the paper says of them as judges.

    Args:
        rows: The frame `bias_by_judge_and_responder`, of it the data set `arena`.
        paper: As `paper_bias` returns it: GPT-4's EO from the printed counts, towards itself.
        signs: The frame `paper_signs`: `judge, sign` (1, 0, -1) of each model's bias towards
            itself, as the paper's text says.
        expected: The frame `without_self`: EO of another person in GPT-4's place.
        params: With `bootstrap`.
    """
    arena = rows if rows.empty else rows[rows["dataset"].eq("arena") & ~rows["own"]]
    if arena.empty or not arena["eo"].notna().any():
        return nothing("no judge without responses of its own on Chatbot Arena", arena)
    arena = arena.sort_values("eo", ascending=False)
    itself, judge = "towards its own responses (paper's counts)", "towards another model's"
    of_itself = long(paper, {itself: "eo"}).assign(responder=paper["judge"], few=False)
    parts = [of_itself, long(arena, {judge: "eo"})]
    looks = {itself: AUTHOR, judge: OTHERS}
    for row, marker in zip(expected.itertuples(), ("v", "^", "<", ">"), strict=False):
        votes = TITLES.get(row.votes_of, row.votes_of)
        name = f"a person, if Arena's voters agree as much as {votes}'s"
        found = long(expected[expected["votes_of"].eq(row.votes_of)], {name: "eo_without_self"})
        parts.append(found.assign(responder=MODEL, few=False))
        looks[name] = PERSON._replace(marker=marker)
    marks = pd.concat(parts, ignore_index=True)
    said = marks["responder"].map(signs.set_index("judge")["sign"].map(SAID)).fillna(UNSAID)
    figure = forest(
        marks.assign(
            responder=called(marks["responder"]),
            note=said.mask(marks["responder"].eq(MODEL), "largest"),
            hollow=marks["few"].astype(bool),
        ),
        row="responder",
        label="GPT-4's equal-opportunity bias by responder\n"
        "right: sign the paper states for the model itself",
        looks=looks,
        note="note",
        hollow=HOLLOW,
        width=COLUMN,
        message=_message(arena, signs),
    )
    for text in figure.axes[0].child_axes[0].get_yticklabels():
        if text.get_text() == UNSAID:
            text.set(color=GREY, fontsize=6.5)
    told = caption(
        "Equal-opportunity bias of GPT-4 as a judge towards the responses of models that are not "
        f"GPT-4 ({TITLES['arena']}). First row: GPT-4 towards its own, from the paper's counts, "
        "and another person in its place, from Arena's votes and the agreement of others' votes on "
        "one pair. On the right, the sign that the paper's text gives for the bias of each model "
        "towards itself, when that model judges",
        compared(arena),
        params=params,
        of="questions",
    )
    return Plate(figure, arena, told)


def compared(rows: pd.DataFrame) -> str:
    """How many comparisons there are: each stands in the rows of both responders.

    Args:
        rows: Of the frame `bias_by_judge_and_responder`, with all responders of a judge.
    """
    counts = rows[["n", "n_dropped"]] / 2
    told = counted(readable(rows.assign(**counts)), "comparisons", by="by", why=WHY)
    return f"{told}; each is counted for both models"


def _message(arena: pd.DataFrame, signs: pd.DataFrame) -> str:
    """That GPT-4's bias towards each model has the paper's sign, where it has; else empty."""
    rows = arena.merge(signs, left_on="responder", right_on="judge", suffixes=("", "_paper"))
    apart = rows["eo_lo"].gt(0) | rows["eo_hi"].lt(0)
    if len(rows) < len(signs) or not (apart & np.sign(rows["eo"]).eq(rows["sign"])).all():
        return ""
    return "Towards models it is not, GPT-4 shows the signs that the paper reads as self-preference"
