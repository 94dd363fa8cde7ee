"""The figures of Panickssery et al. where nothing is left, and with families of any name."""

import pandas as pd
import pytest

from selfpref.params import Bootstrap, Panickssery
from selfpref.plots.save import Gallery
from selfpref.studies.panickssery import draw
from selfpref.studies.panickssery.draw import judges, sizes

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
    panickssery = Panickssery(
        datasets={}, respond={}, finetune={}, recognise={}, min_mass=0.0, unusable=0.05
    )


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


CORRELATION = pd.DataFrame(
    columns=[
        *("dataset", "subset", "convention", "r", "slope", "intercept", "n", "lo", "hi", "families")
    ]
)
EMPTY = pd.DataFrame()
DATA = {
    "pairwise": PAIRWISE,
    "evaluators": WHO,
    "lines": LINES,
    "correlation": CORRELATION,
    "deltas": pd.DataFrame(columns=PAIRWISE.columns),
    "individual": INDIVIDUAL,
    "labels": LABELS,
    "wordings": WORDINGS,
    "inverted": EMPTY,
    "inverted_correlation": EMPTY,
    "lengths": EMPTY,
    "off_line": pd.DataFrame(columns=["dataset", "evaluator", "family", "variant", "off"]),
    "statuses": pd.DataFrame(columns=["dataset", "evaluator", "task", "variant", "status", "n"]),
}
NOTHING = DATA | {"pairwise": PAIRWISE[:0]}


def texts(figure):
    return " ".join(
        t.get_text() for t in figure.findobj(lambda artist: hasattr(artist, "get_text"))
    )


@pytest.mark.parametrize(
    "drawn",
    [
        lambda: draw.recognition_vs_preference(NOTHING, Params),
        lambda: draw.controls(NOTHING, Params),
        lambda: sizes.training_size(NOTHING, Params),
        lambda: judges.before_tuning(NOTHING, "recognition", Params),
        lambda: judges.inverted(NOTHING, Params),
        lambda: judges.individual(NOTHING, Params),
        lambda: judges.pairwise(NOTHING, Params),
        lambda: judges.labels(NOTHING, Params),
        lambda: judges.lengths(NOTHING, Params),
    ],
)
def test_nothing_left_is_told_and_not_drawn(drawn):
    plate = drawn()
    assert plate.figure is None
    assert plate.caption.startswith("Not drawn: ")
    assert plate.caption.endswith(".")


def test_one_convention_is_one_row_of_panels_with_the_families_of_the_evaluators():
    figure = draw.recognition_vs_preference(DATA, Params).figure
    assert len(figure.axes) == 2
    shown = texts(figure)
    for name in ("blue", "red", "base", "self-recognition", "length", "one, corrected"):
        assert name in shown
    assert "always-1" not in shown


@pytest.mark.parametrize(
    ("families", "bounds", "told", "not_told"),
    [
        (12, (0.5, 0.9), "r = 0.800 [0.500, 0.900]", "No interval"),
        (3, (None, None), "No interval of a line with fewer than 10 families", "bootstrap"),
    ],
)
def test_the_caption_gives_an_interval_over_families_or_says_why_not(
    families, bounds, told, not_told
):
    row = ("one", "all", "corrected", 0.8, 1.1, 0.0, 30, *bounds, families)
    fits = pd.DataFrame([row], columns=CORRELATION.columns).astype({"lo": float, "hi": float})
    caption = draw.recognition_vs_preference(DATA | {"correlation": fits}, Params).caption
    assert told in caption
    assert not_told not in caption
    assert "articles" not in caption


def test_without_stored_scores_the_corrected_ones_stand_alone():
    shown = texts(judges.pairwise(DATA, Params).figure)
    assert "corrected" in shown
    assert "released" not in shown


def test_an_interval_ends_where_an_auroc_does():
    row = ("one", "blue", "all", "recognition", "auroc", 0.9, 0.6, 1.3, 2)
    rows = pd.DataFrame([row], columns=INDIVIDUAL.columns)
    figure = judges.individual(DATA | {"individual": rows}, Params).figure
    bars = [bar for part in figure.axes[0].collections for bar in part.get_segments() if len(bar)]
    assert max(x for bar in bars for x, _ in bar) == 1


def test_training_size_begins_at_the_base_model(tmp_path):
    plate = sizes.training_size(DATA, Params)
    drawn = [list(line.get_ydata()) for line in plate.figure.axes[0].get_lines()]
    assert [0.5, 0.8] in drawn
    assert "blue, tuned on this data set" in texts(plate.figure)
    Gallery(tmp_path).figure(plate.figure, "size", "caption")


def test_base_evaluators_are_drawn_without_ratings():
    figure = judges.before_tuning(DATA, "preference", Params).figure
    assert "red against" in texts(figure)


@pytest.mark.parametrize(
    "caption",
    [
        lambda: draw.recognition_vs_preference(DATA, Params).caption,
        lambda: sizes.training_size(DATA, Params).caption,
        lambda: judges.pairwise(DATA, Params).caption,
        lambda: judges.before_tuning(DATA, "recognition", Params).caption,
        lambda: draw.overview(PAIRWISE, WHO, DATA["statuses"], Params),
    ],
)
def test_every_caption_has_words_for_nothing(caption):
    assert caption().endswith(".")
