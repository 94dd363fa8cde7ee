"""The figures of Xu et al. (arXiv 2402.11436), from the frames of `selfpref.studies.xu.measure`.

Each function takes frames and gives a plate: the picture, the numbers that it draws, the caption.
`measure.compute` says which function fills which frame.
Every number in a caption comes from the frame that the figure draws. Hollow marks are mismatched
steps (the column `contaminated` of the frame `integrity`).
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from selfpref.params import Params
from selfpref.plots import frame
from selfpref.plots.captions import caption, interval
from selfpref.plots.forest import forest
from selfpref.plots.frame import BLACK, BLUE, GREY, ORANGE, SKY, YELLOW, Look, long
from selfpref.plots.lines import lines
from selfpref.plots.save import Plate, nothing

AVERAGE = "average"
CONVENTIONS = {"released": "as released", "corrected": "corrected"}
# The paper's models keep their looks in every figure.
MODELS = ("gpt-4", "gpt-3.5-turbo", "gemini", "mistral_moe", "llama2-7b", "deepseek_moe")
QUANTITIES = {"bias (points of MQM)": "bias", "distance skewness D": "dskew"}
HOLLOW = "mismatched step, left out when corrected"
STEP = "step of refinement"
SENTENCES = "sentences"
# The frames that `perceived` draws.
PERCEIVED = ("translation", "second_truth", "human_truth")


def looks(names: Iterable[str]) -> dict[str, Look]:
    """Colour and marker of each model, the same in every figure of the paper's models."""
    return frame.looks(names, MODELS)


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
    """Scores, and what of them is unusable, under both conventions."""
    told = [
        f"{name}: {part['n'].sum():g} scores with a truth"
        for name in CONVENTIONS
        if len(part := only(rows, convention=name))
    ]
    unusable = only(rows, convention="released")["unusable"].sum()
    return f"{'; '.join(told)}; {unusable:g} unusable replies"


def by_convention(
    rows: pd.DataFrame, seen: dict[str, Look], quantities: dict[str, str] = QUANTITIES
) -> Figure:
    """A line of panels a quantity, a column a convention, a line a model."""
    return lines(
        long(_headed(rows), quantities, into="quantity"),
        x="step",
        label=(STEP, ""),
        looks=seen,
        series="model",
        panel="heading",
        quantity="quantity",
        reference=0,
        hollow=HOLLOW,
    )


def _headed(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows by convention, with its name as `heading`."""
    rows = rows.assign(heading=rows["convention"].map(CONVENTIONS))
    return rows.sort_values("convention", ascending=False, kind="stable")


def average(rows: pd.DataFrame, integrity: pd.DataFrame, params: Params) -> Plate:
    """Bias and D by step, averaged over the languages, under both conventions.

    Args:
        rows: The frame `translation` (`measure.grid.summary`).
        integrity: The frame `integrity`.
        params: With `bootstrap`.
    """
    mean = only(rows, language=AVERAGE)
    if mean.empty:
        return nothing("no model with scores and truths in several languages", rows)
    mean = mean.assign(hollow=flawed(mean, integrity))
    lacking = ", ".join(sorted(mean.loc[mean["hollow"], "model"].unique()))
    languages = rows.loc[rows["language"].ne(AVERAGE), "language"].nunique()
    told = caption(
        "Bias and D of each model by step, each the mean of the languages' values, not of pooled "
        "rows",
        f"{languages} languages, {scores(mean)}, over all steps",
        lacking and f"Hollow: {HOLLOW}; the corrected mean of {lacking} lacks a language there",
        params=params,
        of=SENTENCES,
    )
    return Plate(by_convention(mean, looks(mean["model"])), rows, told)


def by_language(rows: pd.DataFrame, integrity: pd.DataFrame, params: Params) -> Plate:
    """Bias by step, one column a language, the conventions one above the other.

    Args:
        rows: The frame `translation`.
        integrity: The frame `integrity`.
        params: With `bootstrap`.
    """
    columns = ["language", "model", "step", "convention", "bias", "bias_lo", "bias_hi", "n"]
    own = rows[rows["language"].ne(AVERAGE)]
    table = own.reindex(columns=[*columns, "unusable"])
    return _by_language(own, table, integrity, params, "bias (points of MQM)")


def skewness_by_language(
    rows: pd.DataFrame, tests: pd.DataFrame, integrity: pd.DataFrame, params: Params
) -> Plate:
    """D by step as `by_language`, with the band of chance: D of as many normal values about 0.

    Args:
        rows: The frame `translation`.
        tests: The frame `skewness`.
        integrity: The frame `integrity`.
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
            "D never includes 0, so that the band, and signs drawn at random (in the table), are "
            f"the tests: by the latter {far} of {len(once)} steps are asymmetric, corrected and "
            f"each set of values once ({len(known) - len(once)} steps repeat those of an earlier "
            "one)"
        )
    own = rows[rows["language"].ne(AVERAGE)]
    plate = _by_language(own, tests, integrity, params, "distance skewness D", told)
    if len(known) and plate.figure:
        for axes in plate.figure.axes:
            axes.axhspan(0, widest["band_upper"], color=GREY, alpha=0.25, linewidth=0)
    return plate


def _by_language(
    own: pd.DataFrame,
    table: pd.DataFrame,
    integrity: pd.DataFrame,
    params: Params,
    label: str,
    more: str = "",
) -> Plate:
    if own.empty:
        return nothing("no step with scores and truths", table)
    shown = _headed(own.assign(hollow=flawed(own, integrity)))
    shown = shown.sort_values(["convention", "language"], ascending=[False, True], kind="stable")
    figure = lines(
        long(
            shown.assign(panel=shown["language"] + "\n" + shown["heading"]),
            {label: QUANTITIES[label]},
        ),
        x="step",
        label=(STEP, label),
        looks=looks(own["model"]),
        series="model",
        panel="panel",
        wrap=own["language"].nunique(),
        reference=0,
        share_x=False,
        hollow=HOLLOW,
    )
    count = int(only(shown, convention="released")["hollow"].sum())
    largest = only(own, convention="released")["n"].max()
    told = caption(
        f"By language and step; {scores(own)}; at most {largest:g} a step",
        f"Hollow: {HOLLOW} ({count} steps)",
        interval(SENTENCES, params),
        more,
    )
    return Plate(figure, table, told)


def size(rows: pd.DataFrame, integrity: pd.DataFrame, params: Params) -> Plate:
    """Bias and D by step for models that differ in size alone.

    Args:
        rows: The frame `size`.
        integrity: The frame `integrity`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing("no models that differ in size alone", rows)
    shades = (Look(SKY, "v"), Look(BLUE), Look(BLACK, "s"), Look(ORANGE, "D"))
    models = list(dict.fromkeys(rows["model"]))
    shown = rows.assign(hollow=flawed(rows, integrity))
    figure = by_convention(shown, {name: shades[i % 4] for i, name in enumerate(models)})
    told = caption(
        f"{', '.join(models)} in {', '.join(sorted(set(rows['language'])))}; {scores(rows)}",
        f"Hollow: {HOLLOW} ({int(shown['hollow'].sum()) // 2} steps)",
        params=params,
        of=SENTENCES,
    )
    return Plate(figure, rows, told)


def perceived(
    rows: pd.DataFrame, second: pd.DataFrame, human: pd.DataFrame, integrity: pd.DataFrame
) -> Plate:
    """What a model thinks of its texts by step, beside what they are.

    Args:
        rows: The frame `translation`, of one language.
        second: The frame `second_truth`, of this language.
        human: The frame `human_truth`, of this language.
        integrity: The frame `integrity`.
    """
    if rows.empty:
        return nothing("no step with scores and truths", rows)
    shown = rows.assign(hollow=flawed(rows, integrity))
    released = only(shown, convention="released")
    seen = {
        "self-score, as released": Look(BLUE),
        "self-score, usable feedback only": Look(BLUE, "o", ":"),
        "reference-metric score": Look(ORANGE, "s"),
        "chrF, mapped": Look(GREY, "x", "--"),
        "human MQM (first sentences)": Look(BLACK, "*", "none"),
    }
    columns = ("self_mean", "self_mean", "truth_mean", "chrf_mean", "human_mean")
    parts = (
        released,
        only(shown, convention="corrected"),
        released,
        only(second, convention="released"),
        human,
    )
    series = zip(seen, columns, parts, strict=True)
    figure = lines(
        pd.concat([long(part, {name: value}) for name, value, part in series if len(part)]),
        x="step",
        label=(STEP, "mean score (MQM, 0: no error)"),
        looks=seen,
        panel="model",
        hollow="mismatched step",
    )
    told = caption(
        "Mean score that a model gives its own texts, and mean reference-metric scores; "
        f"{scores(rows)}",
        "Dotted: usable feedback only. Hollow: mismatched steps",
        f"Stars: human MQM of the first {human['n'].max():g} sentences" if len(human) else "",
    )
    return Plate(figure, rows, told)


def gains(rows: pd.DataFrame, params: Params) -> Plate:
    """What refinement brought by its last step: to the self-score, and to the reference metric.

    Args:
        rows: The frame `gains`.
        params: With `bootstrap`.
    """
    shown = rows[rows["language"].ne(AVERAGE)] if len(rows) else rows
    if shown.empty:
        return nothing("no chain of steps with a truth", rows)
    shades = {"released": (BLUE, ORANGE), "corrected": (SKY, YELLOW)}
    kinds = {"self-score": "self_change", "reference-metric score": "truth_change"}
    seen = {
        f"{kind}, {heading}": Look(shades[name][i], "oDsv"[2 * i + (name == "corrected")])
        for i, kind in enumerate(kinds)
        for name, heading in CONVENTIONS.items()
    }
    drawn = long(shown.sort_values(["language", "model"]), kinds, into="kind")
    figure = forest(
        drawn.assign(series=drawn["kind"] + ", " + drawn["convention"].map(CONVENTIONS)),
        row="model",
        group="language",
        label="change since step 0 (points of MQM)",
        looks=seen,
    )
    one = only(shown, convention="released")
    told = caption(
        f"Change from step 0 to the last step with a truth, {len(one)} chains as released",
        f"The self-score rises in {int((one['self_change_lo'] > 0).sum())} of them with an "
        "interval above 0; the reference-metric score rises in "
        f"{int((one['truth_change_lo'] > 0).sum())}, falls in "
        f"{int((one['truth_change_hi'] < 0).sum())}",
        params=params,
        of=SENTENCES,
    )
    return Plate(figure, rows, told)


def human(rows: pd.DataFrame, params: Params) -> Plate:
    """The human study: bias and D against human MQM, with the printed bias.

    Args:
        rows: The frame `human`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing("no text with a human rating and an own score", rows)
    named = rows.assign(
        row=[f"{row.model}, step {row.step}" for row in rows.itertuples()],
        note=[f"n = {n:g}" for n in rows["n"]],
    )
    parts = (
        ("bias against human MQM (points)", 0.0, {"recomputed": "bias"}),
        ("bias against human MQM (points)", 0.0, {"printed in the paper": "bias_published"}),
        ("distance skewness D", np.nan, {"recomputed": "dskew"}),
    )
    figure = forest(
        pd.concat([long(named, of).assign(panel=panel, none=none) for panel, none, of in parts]),
        row="row",
        label="",
        looks={"recomputed": Look(BLUE), "printed in the paper": Look(ORANGE, "x")},
        panel="panel",
        share_x=False,
        reference="none",
        note="note",
    )
    told = caption(
        "Self-scores, by the release's rule, against human MQM: bias and D",
        f"{rows['n'].sum():g} texts, {rows['model'].nunique()} models",
        interval(SENTENCES, params),
        "Crosses: printed in the paper, by way of a sheet that quotes it",
    )
    return Plate(figure, rows, told)
