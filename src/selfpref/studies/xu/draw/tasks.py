"""Figures of the other tasks, and the two examples that explain bias and skewness."""

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes

from selfpref.params import Params
from selfpref.plots.captions import caption, wilson
from selfpref.plots.frame import BLACK, BLUE, GREY, PAGE, SINGLE, STYLE, empty, legend, long
from selfpref.plots.lines import lines
from selfpref.plots.save import Plate, nothing
from selfpref.studies.xu.draw import HOLLOW, METRIC, PEOPLE, SELF, SENTENCES, STEP, only, scores
from selfpref.studies.xu.draw.names import listed, named


def commongen(rows: pd.DataFrame, table: pd.DataFrame, params: Params) -> Plate:
    """Constrained generation: share of sentences said to hold every concept, and share that do.

    Args:
        rows: The frame `commongen_intervals`.
        table: The frame `commongen`.
        params: With `bootstrap` and `xu`.
    """
    one = only(rows, matcher=params.xu.matcher)
    corrected = only(one, convention="corrected")
    if len(one) and corrected["bias"].isna().all():
        # Every step is mismatched: all that is left to see is what was scored.
        corrected = only(one, convention="released").assign(hollow=True)
    shown = named(corrected[corrected["bias"].notna()]) if len(corrected) else corrected
    if shown.empty:
        return nothing("no sentence with given concepts", table)
    kinds = {"says that all are there": "predicted", "all are there": "true"}
    figure = lines(
        long(shown, kinds),
        x="step",
        label=(STEP, "share of sentences"),
        looks=dict(zip(kinds, (SELF, METRIC), strict=True)),
        panel="model",
        limits=(-0.04, 1.04),
        hollow=HOLLOW,
    )
    left = set(corrected["model"]) - set(corrected.loc[corrected["bias"].notna(), "model"])
    told = caption(
        f"Sentences from given words, {listed(shown['model'])}; {scores(shown)}",
        f"{listed(left)}: every step is mismatched, and left out" if left else "",
        "There: every concept is a word of the sentence, or the lemma of one by simplemma's "
        "dictionary, which knows no part of speech",
        wilson("sentences", params),
    )
    return Plate(figure, table, told)


def mathematics(rows: pd.DataFrame, params: Params) -> Plate:
    """Mathematics: share of answers that the model calls correct, and share that are.

    Args:
        rows: The frame `mathematics`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing("no problem with a boxed answer: the release of the paper has none", rows)
    seen = {"says that it is correct": SELF, "is correct": METRIC}
    figure = lines(
        long(
            rows.assign(panel=rows["model"] + "\n" + rows["condition"]),
            dict(zip(seen, ("predicted", "true"), strict=True)),
        ),
        x="step",
        label=("step of refinement, or round of votes", "share of answers"),
        looks=seen,
        panel="panel",
        limits=(-0.04, 1.04),
    )
    last = rows.loc[rows.groupby(["model", "condition"])["step"].idxmax()]
    told = caption(
        "Share of answers that the model calls correct, and share whose box holds the right one",
        "self-consistency: the judge is the majority of samples",
        "; ".join(
            f"{row.model}, {row.condition}: bias {row.bias:.2f} at step {row.step:g} ({row.n:g} "
            f"problems, {row.unusable:g} without usable feedback)"
            for row in last.itertuples()
        ),
        params=params,
        of=SENTENCES,
    )
    return Plate(figure, rows, told)


@style.context(STYLE)
def example_bias(rows: pd.DataFrame, skewness: pd.DataFrame, params: Params) -> Plate:
    """Fig. 1 of the paper, from real sentences: self-scores beside human ones, and their gaps.

    Args:
        rows: The frame `examples`, of figure 1.
        skewness: The frame `skewness`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing("no text with a human rating and an own score", rows)
    figure = empty(PAGE, 2.5)
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    ordered = rows.sort_values(["truth", "said"], ignore_index=True)
    at = np.arange(len(ordered))
    left.vlines(at, ordered["truth"], ordered["said"], color=GREY, linewidth=0.8)
    for column, look, label in (("said", SELF, "self-score"), ("truth", PEOPLE, "human raters")):
        left.plot(at, ordered[column], look.marker, c=look.color, ms=3.4, label=label)
    left.set_xlabel("sentence, ordered by the human score")
    left.set_ylabel("MQM (0: no error)")
    left.grid(visible=True, axis="y")
    _gaps(right, rows)
    legend(figure)
    return Plate(figure, rows, _told_of_example(rows, skewness, params))


@style.context(STYLE)
def example_skewness(rows: pd.DataFrame, skewness: pd.DataFrame, params: Params) -> Plate:
    """Fig. 2 of the paper, from made-up scores: a bias of 0 that hides an asymmetry.

    Args:
        rows: The frame `examples`, of figure 2.
        skewness: The frame `skewness`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing("no scores to show", rows)
    figure = empty(SINGLE, 2.2)
    left, right = figure.subplots(1, 2, sharey=True)
    _gaps(left, rows)
    _gaps(right, rows.assign(said=rows["truth"], truth=rows["said"]))
    left.set_title("gaps as they are")
    right.set_title("mirrored at 0")
    right.set_ylabel("")
    return Plate(figure, rows, _told_of_example(rows, skewness, params))


def _gaps(axes: Axes, rows: pd.DataFrame) -> None:
    edges = np.arange(-26.25, 27, 2.5).tolist()
    axes.hist(rows["said"] - rows["truth"], bins=edges, color=BLUE, alpha=0.75)
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.axvline(rows["bias"].iloc[0], color=BLACK, linewidth=1.4, linestyle="--")
    axes.set_xlabel("self-score minus true score")
    axes.set_ylabel("sentences")


def _told_of_example(rows: pd.DataFrame, skewness: pd.DataFrame, params: Params) -> str:
    row, n = named(rows).iloc[0], len(rows)
    whose = (
        f"{n} made-up sentences"
        if row["model"] == row["language"]
        else f"{n} sentences of {row['model']}, {row['language']}, step {row['step']}"
    )
    bands = skewness.loc[skewness["n"].eq(n), "band_upper"]
    chance = (
        f" (normal values of this n stay below {bands.iloc[0]:.3f} with probability "
        f"{params.bootstrap.level:.0%})"
        if len(bands)
        else ""
    )
    return caption(f"{whose}: bias {row['bias']:.2f} (dashed), D {row['dskew']:.3f}{chance}")
