"""What refinement brings: perceived and real quality, by a learned metric and by people."""

import numpy as np
import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import beyond, caption, interval, signed, span
from selfpref.plots.forest import forest
from selfpref.plots.frame import BLUE, COLUMN, SKY, Look, long
from selfpref.plots.lines import lines
from selfpref.plots.save import Plate, nothing
from selfpref.studies.xu.draw import METRIC, NOISE, PEOPLE, SELF, SENTENCES, STEP, only, scores
from selfpref.studies.xu.draw.names import AVERAGE, PAPER, listed, named

SCORES = {"its own score": SELF, "reference metric": METRIC, "human raters": PEOPLE}


def perceived(
    rows: pd.DataFrame, human: pd.DataFrame, gains: pd.DataFrame, params: Params
) -> Plate:
    """What a model thinks of its texts by step, beside what they are; one language.

    Where people rated texts, it is the language and the models that they rated.

    Args:
        rows: The frame `translation`.
        human: The frame `human_truth`.
        gains: The frame of this name.
        params: With `bootstrap`.
    """
    own = rows[rows["language"].ne(AVERAGE)]
    if own.empty:
        return nothing("no step with scores and truths", own)
    language = (human if len(human) else own)["language"].iloc[0]
    table = only(own, language=language)
    shown = only(table, convention="corrected")
    if len(human):
        human = only(human, language=language)
        shown = shown[shown["model"].isin(human["model"])]
    columns = zip(SCORES, ("self_mean", "truth_mean", "human_mean"), strict=True)
    parts = zip(columns, (shown, shown, human), strict=True)
    drawn = pd.concat(
        [long(named(part), {name: column}) for (name, column), part in parts if len(part)],
        ignore_index=True,
    )
    place = {name: at for at, name in enumerate(PAPER)}
    figure = lines(
        drawn.sort_values("model", key=lambda names: names.map(place), kind="stable"),
        x="step",
        label=(STEP, "mean score (MQM)"),
        looks=SCORES,
        panel="model",
        wrap=3,
        width=COLUMN,
        message=_message(only(gains, convention="corrected", language=language), shown["model"]),
    )
    told = caption(
        f"Mean scores of {listed([language])}: what each model gives its own texts, and what the "
        f"reference metric gives them (0: no error); {scores(shown)}",
        f"Stars: human MQM of the first {human['n'].max():g} sentences" if len(human) else "",
        interval(SENTENCES, params) if len(human) else "",
    )
    return Plate(figure, table, told)


def _message(gains: pd.DataFrame, models: pd.Series) -> str:
    """That self-scores rise while the quality does not, where each model's intervals say so."""
    gains = gains[gains["model"].isin(models)] if len(gains) else gains
    if gains.empty or not gains["self_change_lo"].gt(0).all():
        return ""
    return "" if gains["truth_change_lo"].gt(0).any() else "Self-scores rise, quality does not"


def gains(rows: pd.DataFrame, params: Params) -> Plate:
    """What refinement brought by its last step: to the self-score, and to the reference metric.

    Args:
        rows: The frame `gains`.
        params: With `bootstrap`.
    """
    shown = only(rows, convention="corrected")
    shown = shown[shown["language"].ne(AVERAGE)] if len(shown) else shown
    if shown.empty:
        return nothing("no chain of steps with a truth", rows)
    kinds = {"its own score": "self_change", "reference metric": "truth_change"}
    figure = forest(
        long(named(shown).sort_values(["language", "model"]), kinds),
        row="model",
        panel="language",
        wrap=4,
        label="change since step 0 (points of MQM)",
        looks={name: SCORES[name] for name in kinds},
    )
    rises, (falls, better) = beyond(shown, "self_change")[1], beyond(shown, "truth_change")
    told = caption(
        f"Change from step 0 to the last step with both scores, {len(shown)} chains (a model and a "
        "language each), corrected",
        f"The self-score rises in {rises} of them, with an interval above 0; the reference-metric "
        f"score rises in {better}, falls in {falls}",
        params=params,
        of=SENTENCES,
    )
    return Plate(figure, rows, told)


def human(rows: pd.DataFrame, params: Params) -> Plate:
    """The human study: bias and D against human MQM before and after refinement.

    Args:
        rows: The frame `human`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing("no text with a human rating and an own score", rows)
    ends = {0: Look(SKY, "v"), int(rows["step"].max()): Look(BLUE)}
    seen = {f"step {step}": look for step, look in ends.items()}
    steps = "step " + rows["step"].astype(str)
    bias, skewness = "bias against human raters (points)", "distance skewness D"
    last = rows[rows["step"].eq(max(ends))]
    parts = (
        long(rows, {"": "bias"}).assign(series=steps.to_numpy(), panel=bias, none=0.0),
        long(last, {next(iter(NOISE)): "noise_bias"}).assign(panel=bias, none=0.0),
        long(rows, {"": "dskew"}).assign(series=steps.to_numpy(), panel=skewness, none=np.nan),
    )
    drawn = named(pd.concat(parts, ignore_index=True))
    figure = forest(
        drawn[drawn["series"].isin([*seen, *NOISE])],
        row="model",
        label="",
        looks=seen | NOISE,
        panel="panel",
        share_x=False,
        reference="none",
    )
    least, most = (signed(end) for end in (last["self_mean"].min(), last["self_mean"].max()))
    told = caption(
        "Self-scores, by the release's rule, against human MQM: bias and D before and after "
        "refinement",
        f"{rows['n'].sum():g} texts of {rows['model'].nunique()} models, {span(rows['n'])} a model "
        "and step",
        interval(SENTENCES, params),
        f"Crosses: the bias of a judge of pure noise at step {max(ends)}, by the same accept rule",
        f"Mean self-score at step {max(ends)}: {least} to {most}, of 0 at most",
    )
    return Plate(figure, rows, told)
