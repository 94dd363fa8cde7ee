"""Figures of the other tasks, and the two examples that explain bias and skewness."""

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes

from selfpref.params import Params
from selfpref.plots.captions import caption
from selfpref.plots.frame import BLUE, GREY, ORANGE, PAGE, SINGLE, STYLE, Look, empty, legend, long
from selfpref.plots.lines import lines
from selfpref.plots.save import Plate, nothing
from selfpref.studies.xu.draw import (
    HOLLOW,
    SENTENCES,
    STEP,
    by_convention,
    flawed,
    looks,
    only,
    scores,
)


def commongen(
    rows: pd.DataFrame, table: pd.DataFrame, integrity: pd.DataFrame, params: Params
) -> Plate:
    """Constrained generation: share of sentences said to hold every concept, and share that do.

    Args:
        rows: The frame `commongen_intervals`.
        table: The frame `commongen`.
        integrity: The frame `integrity`.
        params: With `bootstrap` and `xu`.
    """
    if rows.empty:
        return nothing("no sentence with given concepts", table)
    shown = _of_commongen(rows, integrity)
    seen = {
        "says all covered, as released": Look(BLUE),
        "says all covered, usable feedback only": Look(BLUE, "o", ":"),
        "all there, as word or lemma": Look(ORANGE, "s"),
        "all there, as word": Look(GREY, "x", "--"),
    }
    kinds = (
        ("predicted", "released", "lemma"),
        ("predicted", "corrected", "lemma"),
        ("true", "released", "lemma"),
        ("true", "released", "surface"),
    )
    figure = lines(
        pd.concat(
            [
                long(only(shown, convention=name, matcher=matcher), {label: value})
                for label, (value, name, matcher) in zip(seen, kinds, strict=True)
            ]
        ),
        x="step",
        label=(STEP, "share of sentences"),
        looks=seen,
        panel="model",
        wrap=3,
        limits=(-0.04, 1.04),
        hollow=HOLLOW,
    )
    return Plate(figure, table, _told_of_commongen(rows, params))


def commongen_bias(rows: pd.DataFrame, integrity: pd.DataFrame, params: Params) -> Plate:
    """Bias and D of constrained generation by step, under both conventions.

    Args:
        rows: The frame `commongen_intervals`.
        integrity: The frame `integrity`.
        params: With `bootstrap` and `xu`.
    """
    one = only(rows, matcher=params.xu.matcher)
    if one.empty:
        return nothing("no sentence with given concepts", rows)
    quantities = {"bias (share of sentences)": "bias", "distance skewness D": "dskew"}
    figure = by_convention(_of_commongen(one, integrity), looks(one["model"]), quantities)
    return Plate(figure, rows, _told_of_commongen(rows, params))


def _of_commongen(rows: pd.DataFrame, integrity: pd.DataFrame) -> pd.DataFrame:
    rows = rows.assign(language="commongen")
    return rows.assign(hollow=flawed(rows, integrity))


def _told_of_commongen(rows: pd.DataFrame, params: Params) -> str:
    one = only(rows, matcher=params.xu.matcher)
    return caption(
        f"Constrained generation: {one['model'].nunique()} models; {scores(one)}",
        "True: every concept is a word of the sentence, or the lemma of one by simplemma's "
        "dictionary, which knows no part of speech",
        f"Hollow: {HOLLOW}",
    )


def mathematics(rows: pd.DataFrame, params: Params) -> Plate:
    """Mathematics: share of answers that the model calls correct, and share that are.

    Args:
        rows: The frame `mathematics`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing("no problem with a boxed answer: the release of the paper has none", rows)
    seen = {"says that it is correct": Look(BLUE), "is correct": Look(ORANGE, "s")}
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
    left.plot(at, ordered["said"], "o", color=BLUE, markersize=3.2, label="the model's self-score")
    left.plot(at, ordered["truth"], "s", color=ORANGE, markersize=3.2, label="human score")
    left.set_xlabel("sentence, ordered by the human score")
    left.set_ylabel("MQM (0: no error)")
    left.grid(visible=True, axis="y")
    _gaps(right, rows)
    legend(figure)
    return Plate(figure, rows, _told_of_example(rows, skewness, params))


@style.context(STYLE)
def example_skewness(rows: pd.DataFrame, skewness: pd.DataFrame, params: Params) -> Plate:
    """Fig. 2 of the paper, from real sentences: a bias of about 0 that hides an asymmetry.

    Args:
        rows: The frame `examples`, of figure 2.
        skewness: The frame `skewness`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing("no step whose bias is about 0", rows)
    figure = empty(SINGLE, 2.4)
    left, right = figure.subplots(1, 2, sharey=True)
    _gaps(left, rows)
    gaps = rows["truth"] - rows["said"]
    _gaps(right, rows.assign(said=gaps, truth=0.0, bias=-rows["bias"]))
    left.set_title("gaps as they are")
    right.set_title("mirrored at 0")
    right.set_ylabel("")
    return Plate(figure, rows, _told_of_example(rows, skewness, params))


def _gaps(axes: Axes, rows: pd.DataFrame) -> None:
    edges = np.arange(-26.25, 27, 2.5).tolist()
    axes.hist(rows["said"] - rows["truth"], bins=edges, color=BLUE, alpha=0.75)
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.axvline(rows["bias"].iloc[0], color=ORANGE, linewidth=1.4)
    axes.set_xlabel("self-score minus true score")
    axes.set_ylabel("sentences")


def _told_of_example(rows: pd.DataFrame, skewness: pd.DataFrame, params: Params) -> str:
    row, n = rows.iloc[0], len(rows)
    bands = skewness.loc[skewness["n"].eq(n), "band_upper"]
    chance = (
        f" (normal values of this n stay below {bands.iloc[0]:.3f} with probability "
        f"{params.bootstrap.level:.0%})"
        if len(bands)
        else ""
    )
    return caption(
        f"{n} sentences of {row['model']}, {row['language']}, step {row['step']}: bias "
        f"{row['bias']:.2f} (orange line), D {row['dskew']:.3f}{chance}"
    )
