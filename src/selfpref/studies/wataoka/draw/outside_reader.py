"""Wins by the perplexity of a reader that is not the judge, and what of it is authorship."""

import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import caption, wilson
from selfpref.plots.forest import forest
from selfpref.plots.frame import BLUE, GREY, ORANGE, Look, long
from selfpref.plots.save import Plate, nothing
from selfpref.studies.wataoka.draw import TITLES
from selfpref.studies.wataoka.draw.by_perplexity import LOST, NONE, by_bin, lost
from selfpref.studies.wataoka.measure.outside_reader import HUMAN

READERS = {"outside": "perplexity to another reader", "own": "the judge's own perplexity"}
FITS = {
    "raw": ("all pairs as they are", Look(GREY)),
    "responders": ("given who wrote the responses", Look(ORANGE, "s")),
    "length": ("given who wrote them, and length", Look(BLUE, "D")),
}


def win_rates(rows: pd.DataFrame, readers: str, params: Params) -> Plate:
    """Fig. 3 with the perplexity of other readers in the place of the judge's own.

    Args:
        rows: The frame `outside_win_rates`.
        readers: Who they are, in words.
        params: With `bootstrap` and `wataoka`.
    """
    if rows.empty:
        return nothing(NONE, rows)
    every = rows[rows["pairs"].eq("all")]
    one, use = every[every["who"].eq("judge")], params.wataoka
    told = caption(
        f"Share of pairs in which A wins, by difference in {use.scale} to {readers}, a proxy for "
        f"the judge's own: {use.bins} bins of equal {use.binning}",
        f"{len(one[['dataset', 'judge']].drop_duplicates())} judges, {one['n'].sum():g} pairs with "
        "a vote, a decision and both perplexities",
        lost(rows),
        wilson("prompts", params),
    )
    return by_bin(every, "who", f"{use.scale} of A minus that of B, to {readers}")._replace(
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
    several = drawn["dataset"].nunique() > 1
    names = [
        f"{row.who} ({TITLES.get(row.dataset, row.dataset).split(',')[0]})" if several else row.who
        for row in drawn.itertuples()
    ]
    marks = long(drawn, {"": "slope"}, into="").assign(
        name=names,
        series=drawn["control"].map({key: name for key, (name, _) in FITS.items()}).to_numpy(),
        panel=drawn["reader"].map(READERS).to_numpy(),
    )
    figure = forest(
        marks,
        row="name",
        panel="panel",
        label="change in the share of wins a nat a token",
        looks=dict(FITS.values()),
    )
    raw = rows[rows["control"].eq("raw")]
    told = caption(
        "Slopes of preference on the difference in log-perplexity. Below 0 the less predictable "
        "response loses",
        f"{len(raw)} slopes of judges and people on {raw['n'].sum():g} pairs; "
        f"{raw['n_dropped'].sum():g} dropped ({LOST})",
        f"{params.bootstrap.level:.0%} intervals, errors clustered by question",
    )
    return Plate(figure, rows, told)
