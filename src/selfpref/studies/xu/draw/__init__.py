"""The figures of Xu et al. (arXiv 2402.11436), from the frames of `selfpref.studies.xu.measure`.

Each function takes frames and gives a plate: the picture, the numbers that it draws, the caption.
`measure.compute` says which function fills which frame. Every number in a caption comes from the
frame that the figure draws. Where a figure has one scoring, it is the corrected one; hollow marks
are mismatched steps (the column `contaminated` of the frame `integrity`).
"""

from collections.abc import Iterable

import pandas as pd
from matplotlib.figure import Figure

from selfpref.params import Params
from selfpref.plots import frame
from selfpref.plots.captions import caption
from selfpref.plots.frame import BLACK, BLUE, GREY, ORANGE, SKY, Look, long
from selfpref.plots.lines import lines
from selfpref.plots.save import Plate, nothing
from selfpref.studies.xu.draw.names import AVERAGE, PAPER, listed, named

CONVENTIONS = {"released": "as released", "corrected": "corrected"}
BIAS = "bias (points of MQM)"
QUANTITIES = {BIAS: "bias", "distance skewness D": "dskew"}
HOLLOW = "mismatched step"
STEP = "step of refinement"
SENTENCES = "sentences"
# What the model says, what the metric says, what people say: in every figure of scores.
SELF, METRIC, PEOPLE = Look(BLUE), Look(ORANGE, "s"), Look(BLACK, "*", "none")
NOISE = {"judge of pure noise": Look(GREY, "x", "--")}


def looks(names: Iterable[str]) -> dict[str, Look]:
    """Colour and marker of each model by its name in words, the same in every figure."""
    return frame.looks(names, PAPER)


def only(rows: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """The rows whose columns have these values; a frame without rows may lack the columns."""
    for name, value in wanted.items():
        rows = rows[rows[name].eq(value)] if len(rows) else rows
    return rows


def flawed(rows: pd.DataFrame, integrity: pd.DataFrame) -> pd.Series:
    """Whether each row's step is mismatched; a mean over languages if one of them is.

    Args:
        rows: With `language, model, step`.
        integrity: The frame of this name.
    """
    spoilt = integrity[integrity["contaminated"] & integrity["condition"].eq("")]
    cells = set(zip(spoilt["language"], spoilt["model"], spoilt["step"], strict=True))
    # CommonGen is no part of the mean over languages of translation.
    steps = {(model, step) for language, model, step in cells if language != "commongen"}
    keys = zip(rows["language"], rows["model"], rows["step"], strict=True)
    held = [
        (model, step) in steps if language == AVERAGE else (language, model, step) in cells
        for language, model, step in keys
    ]
    return pd.Series(held, index=rows.index, dtype=bool)


def scores(rows: pd.DataFrame) -> str:
    """Scores, and what of them is unusable, under the scorings that are there."""
    told: list[str] = []
    unusable = 0
    for name in reversed(CONVENTIONS):
        if len(part := only(rows, convention=name)):
            told.insert(0, f"{name}: {part['n'].sum():g} texts with both scores")
            unusable = part["unusable"].sum()
    return "; ".join([*told, f"{unusable:g} unusable replies"])


def _by_convention(rows: pd.DataFrame, seen: dict[str, Look]) -> Figure | None:
    """A line of panels a quantity, a column a scoring, a line a model."""
    rows = rows.assign(heading=rows["convention"].map(CONVENTIONS))
    rows = rows.sort_values("convention", ascending=False, kind="stable")
    return lines(
        long(rows, QUANTITIES, into="quantity"),
        x="step",
        label=(STEP, ""),
        looks=seen,
        series="model",
        panel="heading",
        quantity="quantity",
        reference=0,
        hollow=HOLLOW,
    )


def average(rows: pd.DataFrame, integrity: pd.DataFrame, params: Params) -> Plate:
    """Bias and D by step, averaged over the languages, under both scorings.

    Args:
        rows: The frame `translation` (`measure.grid.summary`).
        integrity: The frame `integrity`.
        params: With `bootstrap`.
    """
    mean = only(rows, language=AVERAGE)
    languages = rows.loc[rows["language"].ne(AVERAGE), "language"].nunique()
    if mean.empty:
        # With one language there is nothing to average.
        mean = rows if languages == 1 else mean
    if mean.empty:
        return nothing("no model with scores and truths in several languages", rows)
    mean = mean.assign(hollow=flawed(mean, integrity))
    lacking = listed(mean.loc[mean["hollow"], "model"])
    told = caption(
        "Bias and D of each model by step"
        + (", each the mean of the languages' values, not of pooled rows" if languages > 1 else ""),
        f"{languages} languages, {scores(mean)}, over all steps",
        lacking
        and f"Hollow: {HOLLOW}, left out when corrected, so that the mean of {lacking} lacks a "
        "language there",
        params=params,
        of=SENTENCES,
    )
    shown = named(mean)
    return Plate(_by_convention(shown, looks(shown["model"])), rows, told)


def by_model(rows: pd.DataFrame, params: Params) -> Plate:
    """Bias by step, corrected: a panel a model, a line a language.

    Args:
        rows: The frame `translation`.
        params: With `bootstrap`.
    """
    columns = ["language", "model", "step", "convention", "bias", "bias_lo", "bias_hi", "n"]
    own = rows[rows["language"].ne(AVERAGE)]
    table = own.reindex(columns=[*columns, "unusable"])
    return _by_model(own, table, params, BIAS)


def skewness_by_model(rows: pd.DataFrame, tests: pd.DataFrame, params: Params) -> Plate:
    """D by step as `by_model`, with the band of chance: D of as many normal values about 0.

    Args:
        rows: The frame `translation`.
        tests: The frame `skewness`.
        params: With `bootstrap`.
    """
    known = only(tests, convention="corrected")
    known = (
        known[known["n"].gt(0) & known["language"].isin(rows["language"])] if len(known) else known
    )
    told = ""
    if len(known):
        widest, level = known.loc[known["n"].idxmax()], params.bootstrap.level
        once = known[~known["repeated"]]
        far = int(once["p"].lt(1 - level).sum())
        told = (
            f"Grey: where D of {widest['n']:g} values of a normal distribution about 0 lies with "
            f"probability {level:.0%} (up to {widest['band_upper']:.3f}). A bootstrap interval of "
            "D never includes 0, so the band, and signs drawn at random (in the table), are "
            f"the tests: by the latter {far} of {len(once)} steps are asymmetric, corrected and "
            f"each set of values once ({len(known) - len(once)} steps repeat those of an earlier "
            "one)"
        )
    own = rows[rows["language"].ne(AVERAGE)]
    plate = _by_model(own, tests, params, "distance skewness D", told)
    if len(known) and plate.figure:
        for axes in plate.figure.axes:
            axes.axhspan(0, widest["band_upper"], color=GREY, alpha=0.25, linewidth=0)
    return plate


def _by_model(
    own: pd.DataFrame, table: pd.DataFrame, params: Params, label: str, more: str = ""
) -> Plate:
    shown = only(own, convention="corrected")
    shown = named(shown[shown[QUANTITIES[label]].notna()]) if len(shown) else shown
    if shown.empty:
        return nothing("no step with scores and truths", table)
    seen = frame.looks(shown["language"])
    place = {name: at for at, name in enumerate(looks(shown["model"]))}
    shown = shown.sort_values("model", key=lambda names: names.map(place), kind="stable")
    figure = lines(
        long(shown, {label: QUANTITIES[label]}),
        x="step",
        label=(STEP, label),
        looks=seen,
        series="language",
        panel="model",
        reference=0,
    )
    left = len(only(own, convention="corrected")) - len(shown)
    told = caption(
        f"By model and language; {scores(only(own, convention='corrected'))}; at most "
        f"{shown['n'].max():g} a step",
        f"{left} mismatched steps are left out" if left else "",
        more,
        params=params,
        of=SENTENCES,
    )
    return Plate(figure, table, told)


def size(rows: pd.DataFrame, params: Params) -> Plate:
    """Bias and D by step, corrected, for models that differ in size alone.

    Args:
        rows: The frame `size`, of ascending size.
        params: With `bootstrap`.
    """
    shown = only(rows, convention="corrected")
    shown = named(shown[shown["bias"].notna()]) if len(shown) else shown
    if shown.empty:
        return nothing("no models that differ in size alone", rows)
    shades = (Look(SKY, "v"), Look(BLUE), Look(BLACK, "s"), Look(ORANGE, "D"))
    models = list(dict.fromkeys(shown["model"]))
    figure = lines(
        long(shown, QUANTITIES, into="quantity").assign(panel=lambda all_: all_["quantity"]),
        x="step",
        label=(STEP, ""),
        looks={name: shades[i % 4] for i, name in enumerate(models)},
        series="model",
        panel="panel",
        reference=0,
        share_y=False,
    )
    left = len(only(rows, convention="corrected")) - len(shown)
    told = caption(
        f"{', '.join(models)} in {listed(rows['language'])}; "
        f"{scores(only(rows, convention='corrected'))}",
        f"{left} mismatched steps are left out" if left else "",
        params=params,
        of=SENTENCES,
    )
    return Plate(figure, rows, told)
