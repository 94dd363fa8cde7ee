"""Wins by the perplexity of a reader that is not the judge, and what of it is authorship."""

from collections.abc import Sequence

import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import caption, wilson
from selfpref.plots.forest import forest
from selfpref.plots.frame import BLACK, COLUMN, ORANGE, PAGE, YELLOW, Look, long
from selfpref.plots.save import Plate, nothing
from selfpref.studies.wataoka.draw.by_perplexity import LOST, NONE, by_bin, lost
from selfpref.studies.wataoka.draw.names import called, titled
from selfpref.studies.wataoka.measure.outside_reader import HUMAN

READERS = {"outside": "perplexity to another reader", "own": "the judge's own perplexity"}
FITS = {
    "raw": ("all pairs as they are", Look(BLACK)),
    "responders": ("given who wrote the two texts", Look(ORANGE, "s")),
    "length": ("given who wrote them, and their length", Look(YELLOW, "^")),
}


def win_rates(rows: pd.DataFrame, readers: Sequence[str], params: Params) -> Plate:
    """Fig. 3 with the perplexity of other readers in the place of the judge's own.

    Args:
        rows: The frame `outside_win_rates`.
        readers: Who they are.
        params: With `bootstrap` and `wataoka`.
    """
    if rows.empty:
        return nothing(NONE, rows)
    every = rows[rows["pairs"].eq("all")]
    one, use = every[every["who"].eq("judge")], params.wataoka
    names = called(readers)
    who = names[0] if len(names) == 1 else "other readers"
    told = caption(
        f"Share of pairs in which A wins, by difference in {use.scale} to {who}, a proxy for "
        f"the judge's own: {use.bins} bins of equal {use.binning}",
        f"{len(one[['dataset', 'judge']].drop_duplicates())} judges, {one['n'].sum():g} pairs with "
        "a vote, a decision and both perplexities",
        lost(rows),
        wilson("prompts", params),
    )
    return by_bin(every, "who", f"{use.scale} of A minus that of B, to {who}")._replace(
        caption=told
    )


def slopes(rows: pd.DataFrame, params: Params) -> Plate:
    """How preference moves with perplexity: raw, and given who wrote the responses.

    Args:
        rows: The frame `outside_reader`.
        params: With `bootstrap`.
    """
    drawn = rows[rows["control"].isin(list(FITS)) & rows["slope"].notna()]
    people = drawn["who"].eq(HUMAN)
    drawn = drawn.assign(judges=~people).sort_values(["dataset", "judges", "who"], kind="stable")
    marks = titled(long(drawn, {"": "slope"}, into="")).assign(
        who=lambda found: called(found["who"]),
        series=drawn["control"].map({key: name for key, (name, _) in FITS.items()}).to_numpy(),
        panel=drawn["reader"].map(READERS).to_numpy(),
    )
    one = drawn["reader"].nunique() == 1
    figure = forest(
        marks,
        row="who",
        group="set",
        panel=None if one else "panel",
        label="change in the share of wins a nat a token",
        looks=dict(FITS.values()),
        width=COLUMN if one else PAGE,
        message=_message(drawn),
    )
    raw = rows[rows["control"].eq("raw")]
    told = caption(
        "How preference moves with the difference in log-perplexity to a reader: slopes, below 0 "
        "where the less predictable response loses",
        f"For each control {len(raw)} slopes on {raw['n'].sum():g} choices that judges and people "
        f"make between two responses; {raw['n_dropped'].sum():g} left out ({LOST})",
        f"{params.bootstrap.level:.0%} intervals, errors clustered by question",
    )
    return Plate(figure, None, told)


def _message(rows: pd.DataFrame) -> str:
    """That most of every slope is authorship, where it is; else empty."""
    slopes = rows.pivot(index=["dataset", "who", "reader"], columns="control", values="slope")
    if (
        not {"raw", "responders"} <= {*slopes}
        or slopes["raw"].abs().le(2 * slopes["responders"].abs()).any()
    ):
        return ""
    return "Given who wrote the texts, less than half of every slope on perplexity is left"
