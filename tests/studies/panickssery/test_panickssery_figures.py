"""The figures of Panickssery et al. where nothing is left, and with families of any name."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Annotation

from selfpref.params import Bootstrap, Panickssery
from selfpref.plots.save import Gallery
from selfpref.studies.panickssery import draw
from selfpref.studies.panickssery.draw import judges, plane, sizes
from selfpref.studies.panickssery.draw.names import for_readers, judge_names

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
        lambda: plane.recognition_vs_preference(NOTHING, Params),
        lambda: plane.controls(NOTHING, Params),
        lambda: sizes.training_size(NOTHING, Params),
        lambda: judges.before_tuning(NOTHING, "recognition", Params),
        lambda: judges.inverted(NOTHING, Params),
        lambda: judges.individual(NOTHING, Params),
        lambda: judges.pairwise(NOTHING, Params),
        lambda: judges.labels(NOTHING, Params),
    ],
)
def test_nothing_left_is_told_and_not_drawn(drawn):
    plate = drawn()
    assert plate.figure is None
    assert plate.caption.endswith(".")


def test_without_stored_scores_the_panels_show_judges_and_their_tuning_alone():
    figure = plane.recognition_vs_preference(DATA, Params).figure
    assert len(figure.axes) == 2
    shown = texts(figure)
    for name in ("blue", "red", "untuned", "self-recognition", "control task", "one"):
        assert name in shown
    assert "stored" not in shown


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
    caption = plane.recognition_vs_preference(DATA | {"correlation": fits}, Params).caption
    assert told in caption
    assert not_told not in caption
    assert "articles" not in caption


def test_without_stored_scores_the_corrected_ones_stand_alone():
    shown = texts(judges.pairwise(DATA, Params).figure)
    assert "blue + 2 one" in shown
    assert "stored" not in shown


def test_an_interval_ends_where_an_auroc_does():
    row = ("one", "blue", "all", "recognition", "auroc", 0.9, 0.6, 1.3, 2)
    rows = pd.DataFrame([row], columns=INDIVIDUAL.columns)
    figure = judges.individual(DATA | {"individual": rows}, Params).figure
    bars = [bar for part in figure.axes[0].collections for bar in part.get_segments() if len(bar)]
    assert np.nanmax([x for bar in bars for x, _ in bar]) == 1


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
        lambda: plane.recognition_vs_preference(DATA, Params).caption,
        lambda: sizes.training_size(DATA, Params).caption,
        lambda: judges.pairwise(DATA, Params).caption,
        lambda: judges.before_tuning(DATA, "recognition", Params).caption,
        lambda: draw.overview(PAIRWISE, WHO, DATA["statuses"], Params),
    ],
)
def test_every_caption_has_words_for_nothing(caption):
    assert caption().endswith(".")


ALWAYS = WHO.assign(variant=WHO["variant"].replace("length", "always-1"))


def stored(mean):
    """The scores that a source stored for the judge taught to answer "1", beside the corrected."""
    rows = PAIRWISE[PAIRWISE["evaluator"].eq("blue-length")]
    rows = rows.assign(convention="released", mean=mean)
    return DATA | {"evaluators": ALWAYS, "pairwise": pd.concat([PAIRWISE, rows])}


def notes(figure):
    return [note for note in figure.findobj(Annotation) if note.get_text()]


def test_an_arrow_leads_from_stored_to_corrected_and_the_always_1_judge_is_told():
    figure = plane.recognition_vs_preference(stored(0.95), Params).figure
    assert [note.get_text() for note in notes(figure)] == [
        "taught to answer “1”:\nstored 0.950, is 0.400"
    ] * 2
    arrows = [note for note in figure.axes[0].findobj(Annotation) if not note.get_text()]
    assert [(note.xyann, note.xy) for note in arrows] == [((0.95, 0.95), (0.4, 0.4))]


def test_a_stored_score_that_is_the_corrected_one_has_no_arrow():
    figure = plane.recognition_vs_preference(stored(0.41), Params).figure
    assert not figure.findobj(Annotation)


def test_both_axes_of_both_figures_have_one_scale_that_holds_all_means():
    for drawn in (plane.recognition_vs_preference, plane.controls):
        for axes in drawn(stored(0.95), Params).figure.axes:
            low, high = axes.get_xlim()
            assert axes.get_ylim() == (low, high)
            assert axes.get_aspect() == 1
            marks = [x for line in axes.get_lines() for x in line.get_xdata() if x not in (0, 1)]
            assert low < np.nanmin(marks) <= np.nanmax(marks) < high
            assert [0, 1] in [list(line.get_xdata()) for line in axes.get_lines()]


@pytest.mark.parametrize(("r", "slope", "told"), [(0.95, 0.8, True), (0.95, 0.1, False)])
def test_a_message_stands_where_the_lines_bear_it_out(r, slope, told):
    row = ("all", "blue-controls", "corrected", r, slope, 0.0, 10, np.nan, np.nan, 5)
    fits = pd.DataFrame([row], columns=CORRELATION.columns)
    shown = texts(plane.controls(DATA | {"correlation": fits}, Params).figure)
    assert ("Other tasks move both answers" in shown) == told


def test_only_judges_that_move_are_drawn_with_the_untuned():
    plate = judges.pairwise(stored(0.95), Params)
    shown = texts(plate.figure)
    assert "blue, always “1” (one)" in shown
    assert "blue + 2 one" not in shown
    assert "1 tuned judges move by less" not in judges.pairwise(DATA, Params).caption


def test_every_mark_of_every_panel_lies_within_its_axes():
    rows = PAIRWISE[PAIRWISE["evaluator"].eq("blue-length") & PAIRWISE["dataset"].eq("two")]
    data = stored(0.95) | {}
    low = rows.assign(convention="released", mean=0.05)
    ours = data["pairwise"]
    ours = ours[ours["convention"].eq("corrected") | ours["dataset"].eq("one")]
    figure = judges.pairwise(data | {"pairwise": pd.concat([ours, low])}, Params).figure
    for axes in figure.axes:
        left, right = axes.get_xlim()
        marks = [x for line in axes.get_lines() for x in line.get_xdata()]
        assert left <= np.nanmin(marks) <= 0.95 <= right
        assert left < 0.05


def test_wordings_of_one_judge_are_joined_by_a_line():
    rows = [
        ("one", "red", "all", "corrected", name, mean, mean - 0.02, mean + 0.02, 9)
        for name, mean in (("prefer", 0.7), ("worse", 0.2), ("mean", 0.45))
    ]
    fits = CORRELATION.assign(quantity="")
    table = pd.DataFrame([("one", "red", 0.7, 0.2, 0.45, 9, "unclear")]).set_axis(
        ["dataset", "evaluator", "prefer", "worse", "mean", "n", "pattern"], axis=1
    )
    words = pd.DataFrame(rows, columns=WORDINGS.columns)
    frames = {"wordings": words, "inverted": table, "inverted_correlation": fits}
    axes = judges.inverted(DATA | frames, Params).figure.axes[0]
    bars = [bar.tolist() for part in axes.collections for bar in part.get_segments()]
    assert [[0.2, 0.0], [0.7, 0.0]] in bars


def test_judges_have_names_for_people_and_keys_where_these_are_not_one_each():
    assert list(judge_names(WHO).values()) == ["blue", "red", "blue + 2 one", "blue, length (one)"]
    twins = pd.concat([WHO, WHO[WHO["evaluator"].eq("blue-2")].assign(evaluator="again")])
    assert judge_names(twins)["again"] == "again"
    told = for_readers(pd.DataFrame({"evaluator": ["blue-2"], "other": "gpt4", "n": 1}), WHO)
    assert told.to_dict("records") == [{"judge": "blue + 2 one", "other": "GPT-4", "n": 1}]


def test_labels_have_a_row_each_where_they_were_shown_and_random_ones_none():
    rows = [
        (dataset, name, "all", labels, scoring, mean, mean, mean, 9, 2)
        for dataset, name in (("one", "red"), ("two", "red"), ("two", "blue-2"))
        for labels in ("none", "correct", "swapped", "random-swapped")
        for scoring, mean in (("released", 0.3), ("corrected", 0.7))
    ]
    table = pd.DataFrame(rows, columns=LABELS.columns)
    (axes,) = judges.labels(DATA | {"labels": table}, Params).figure.axes
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names == [
        f"{name}, {labels} labels"
        for name in ("red on one", "red on two", "blue + 2 one on two")
        for labels in ("no", "true", "swapped")
    ]
