"""The term of an own text beside the same term of every other text."""

import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import caption, signed
from selfpref.plots.forest import forest
from selfpref.plots.frame import GREY, ORANGE, Look, long, looks
from selfpref.plots.save import Plate, nothing
from selfpref.studies.beyond.draw.names import HOLLOW, called
from selfpref.studies.beyond.measure.scaled import EACH

OWN_TEXT = "its own text"


def _message(rows: pd.DataFrame) -> str:
    """What the figure shows, if given each judge's scale own texts have no more than others."""
    scaled = rows[rows["model"].eq(EACH)]
    sizes = scaled["effect"].abs().groupby(scaled["own"]).mean()
    if len(sizes) > 1 and sizes[True] <= sizes[False]:
        return "Given each judge's scale, own texts (orange) gain no more than others (grey)"
    return ""


def placebo(rows: pd.DataFrame, scales: pd.DataFrame, params: Params) -> Plate:
    """The term of an own text beside the same term of every other text: one panel a model.

    Args:
        rows: The frame `placebo`.
        scales: The frame `scales`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing("no data set with several judges of the same responses", rows)
    of = scales[scales["gold"].eq("human")].set_index(["dataset", "judge"])["scale"]
    keys = pd.MultiIndex.from_frame(rows[["dataset", "judge"]])
    drawn = long(rows, {"": "effect"}, into="of").assign(
        series=("text of " + rows["responder"].map(called)).mask(rows["own"], OWN_TEXT).to_numpy(),
        note=[f"scale {signed(scale)}" for scale in of.reindex(keys)],
        hollow=rows["few"].to_numpy(),
        set=rows["dataset"].map(called).to_numpy(),
    )
    drawn = drawn.assign(judge=drawn["judge"].map(called))
    others = sorted(set(drawn["series"]) - {OWN_TEXT})
    greys = {
        name: Look(GREY, look.marker) for name, look in looks(others, first=[OWN_TEXT]).items()
    }
    figure = forest(
        drawn.sort_values(["set", "judge"], kind="stable"),
        row="judge",
        group="set",
        panel="model",
        label="coefficient: score beyond what the model expects of this judge",
        looks={OWN_TEXT: Look(ORANGE, "D"), **greys},
        note="note",
        hollow=HOLLOW,
        message=_message(rows),
    )
    own = rows.groupby("model")["own"].agg(["sum", "size"]).max()
    told = caption(
        "Coefficients of one judge and one responder at a time in a model of the judges' scores "
        "with responder and human vote",
        f"{own['size'] - own['sum']} without an own text (placebos) and {own['sum']} with one, "
        "with one scale for all judges and with a scale for each",
        f"At least {rows['n'].min()} pairs each",
        f"{params.bootstrap.level:.0%} intervals, clustered by prompts",
    )
    return Plate(figure, rows, told)
