"""The figures of Panickssery et al. where nothing is left, and with families of any name."""

import pandas as pd
import pytest

from selfpref.params import Bootstrap, Panickssery
from selfpref.plots.save import Gallery
from selfpref.studies.panickssery import draw as panickssery
from selfpref.studies.panickssery.draw import captions, evaluators

WHO = pd.DataFrame(
    [
        ("blue", "blue", "", "base", 0, 0),
        ("red", "red", "", "base", 0, 0),
        ("blue-2", "blue", "one", "self-recognition", 16, 2),
        ("blue-length", "blue", "one", "length", 4000, 500),
    ],
    columns=["evaluator", "family", "trained_on", "variant", "examples", "held_out_from"],
).assign(duplicate_of="", broken=0.0, constant=False, degenerate=False)


class Params:
    profile = "lab"
    bootstrap = Bootstrap(resamples=200, level=0.95, method="percentile")
    panickssery = Panickssery(min_mass=0.0, unusable=0.05)


PAIRWISE = pd.DataFrame(
    [
        (dataset, name, other, task, "corrected", mean, 0.01, mean - 0.02, mean + 0.02, 9, 0.1)
        for dataset in ("one", "two")
        for name, mean in (("blue", 0.5), ("red", 0.6), ("blue-2", 0.8), ("blue-length", 0.4))
        for other in ("red" if name.startswith("blue") else "blue", "all")
        for task in ("recognition", "preference")
    ],
    columns=[
        *("dataset", "evaluator", "other", "task", "convention"),
        *("mean", "se", "lo", "hi", "n", "ambiguous"),
    ],
)
LINES = pd.DataFrame(columns=["dataset", "subset", "convention", "x", "y", "lo", "hi"])
INDIVIDUAL = pd.DataFrame(
    columns=["dataset", "evaluator", "target", "task", "statistic", "value", "lo", "hi", "n"]
)
LABELS = pd.DataFrame(
    columns=["dataset", "evaluator", "other", "labels", "convention", "mean", "lo", "hi", "n"]
).assign(orders=0)
WORDINGS = pd.DataFrame(
    columns=["dataset", "evaluator", "other", "convention", "quantity", "mean", "lo", "hi", "n"]
)


def texts(figure):
    return " ".join(
        t.get_text() for t in figure.findobj(lambda artist: hasattr(artist, "get_text"))
    )


@pytest.mark.parametrize(
    "draw",
    [
        lambda: panickssery.recognition_vs_preference(PAIRWISE[:0], WHO, LINES),
        lambda: panickssery.controls(PAIRWISE[:0], WHO, LINES),
        lambda: panickssery.training_size(PAIRWISE[:0], WHO),
        lambda: evaluators.before_tuning(PAIRWISE[:0], INDIVIDUAL, WHO, "recognition"),
        lambda: evaluators.inverted(WORDINGS, WHO),
        lambda: evaluators.individual(INDIVIDUAL, WHO),
        lambda: evaluators.released_and_corrected(PAIRWISE[:0], WHO),
        lambda: evaluators.labels(LABELS, WHO),
        lambda: evaluators.lengths(pd.DataFrame(), WHO),
    ],
)
def test_nothing_left_says_no_data(draw):
    assert "no data" in texts(draw())


def test_one_convention_is_one_row_of_panels_with_the_families_of_the_evaluators():
    figure = panickssery.recognition_vs_preference(PAIRWISE, WHO, LINES)
    assert len(figure.axes) == 2
    shown = texts(figure)
    for name in ("blue", "red", "base", "self-recognition", "length", "one, corrected"):
        assert name in shown
    assert "always-1" not in shown


def test_without_stored_scores_the_corrected_ones_stand_alone():
    shown = texts(evaluators.released_and_corrected(PAIRWISE, WHO))
    assert "corrected" in shown
    assert "released" not in shown


def test_an_interval_ends_where_an_auroc_does():
    row = ("one", "blue", "all", "recognition", "auroc", 0.9, 0.6, 1.3, 2)
    figure = evaluators.individual(pd.DataFrame([row], columns=INDIVIDUAL.columns), WHO)
    bars = [bar for part in figure.axes[0].collections for bar in part.get_segments() if len(bar)]
    assert max(x for bar in bars for x, _ in bar) == 1


def test_training_size_begins_at_the_base_model(tmp_path):
    figure = panickssery.training_size(PAIRWISE, WHO)
    (line,) = [
        drawn for drawn in figure.axes[0].get_lines() if drawn.get_label().startswith("blue")
    ]
    assert line.get_ydata().tolist() == [0.5, 0.8]
    assert "tuned on this data set" in line.get_label()
    Gallery(tmp_path).figure(figure, "size", "caption")


def test_base_evaluators_are_drawn_without_ratings():
    figure = evaluators.before_tuning(PAIRWISE, INDIVIDUAL, WHO, "preference")
    assert "red against" in texts(figure)


@pytest.mark.parametrize(
    "caption",
    [
        lambda: captions.recognition_vs_preference(
            pd.DataFrame(columns=["dataset", "subset"]), PAIRWISE[:0], "all", Params
        ),
        lambda: captions.training_size(pd.DataFrame(columns=PAIRWISE.columns), WHO, Params),
        lambda: captions.inverted(pd.DataFrame(), pd.DataFrame(), Params),
        lambda: captions.individual(INDIVIDUAL, pd.DataFrame(), Params),
        lambda: captions.labels(LABELS, Params),
        lambda: captions.lengths(pd.DataFrame(), Params),
        lambda: captions.position_bias(pd.DataFrame()),
        lambda: captions.pairwise(PAIRWISE, Params),
        lambda: captions.before_tuning(PAIRWISE, WHO, "recognition", Params),
    ],
)
def test_every_caption_has_words_for_nothing(caption):
    assert caption().endswith(".")
