"""The LiveBench study's pictures: every percentage printed, same bytes, "no data" when empty."""

import itertools
from functools import partial
from types import SimpleNamespace

import pandas as pd
import pytest
from matplotlib.figure import Figure

from selfpref.plots.save import Gallery
from selfpref.studies.livebench import draw
from selfpref.studies.livebench.draw import controls

NAMES = ["x", "y", "z"]
SHARES = pd.DataFrame(
    [
        ("c", task, judge, responder, share, share - 0.02, share + 0.02, 200)
        for task, judge in itertools.product(("all", "t"), NAMES)
        for responder, share in zip(NAMES, (0.645, 0.275, 0.08), strict=True)
    ],
    columns=["category", "task", "judge", "responder", "share", "lo", "hi", "n"],
)
VOTES = pd.DataFrame(
    [
        ("c", rule, responder, share, 200, undecided)
        for rule, undecided in (("released", 0), ("two-of-three", 37))
        for responder, share in zip(NAMES, (0.52, 0.175, 0.12), strict=True)
    ],
    columns=["category", "rule", "responder", "share", "n", "undecided"],
)
INTERVALS = VOTES.assign(lo=VOTES["share"] - 0.02, hi=VOTES["share"] + 0.02)
EXCESS = pd.DataFrame(
    [("c", task, judge, 0.2, 0.1, 0.3, 0.01, 200) for task in ("all", "t") for judge in NAMES],
    columns=["category", "task", "judge", "excess", "lo", "hi", "p_holm", "n"],
)
OUTCOMES = pd.DataFrame(
    {"category": "c", "task": "all", "judge": NAMES, "outcome": "chosen", "n": 200}
)
PARAMS = SimpleNamespace(
    profile="recorded",
    bootstrap=SimpleNamespace(level=0.95, method="percentile", resamples=100),
    livebench=SimpleNamespace(margin=0.0, few=10),
)
MODELS = pd.DataFrame(
    {"category": ["c", "d"], "responder": "x", "model": ["vendor/x", "vendor/x-thinking"]}
)
CHECKS = pd.DataFrame(
    columns=["item", "category", "task", "judge", "responder", "published", "difference"]
)
SCORES = pd.DataFrame(
    [("c", judge, responder, 10.5, 200) for judge in NAMES for responder in NAMES],
    columns=["category", "judge", "responder", "mean", "n"],
)
EMPTY = pd.DataFrame()


def none(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.iloc[:0]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


def released(shares, votes=VOTES):
    return draw.released(shares, votes, CHECKS, OUTCOMES, MODELS, "c")


def dots(shares, *, tasks):
    return draw.preference_shares(shares, INTERVALS, OUTCOMES, MODELS, PARAMS, tasks=tasks)


def test_every_percentage_is_printed():
    shown = texts(released(SHARES).figure)
    for number in ("64.5", "27.5", "8.0"):
        assert shown.count(number) == 6
    # What the votes leave undecided, 1 - 0.52 - 0.175 - 0.12, is printed too.
    assert shown.count("18.5") == 2


def test_a_figure_is_the_same_bytes_every_time(tmp_path):
    for name in ("one", "two"):
        gallery = Gallery(tmp_path / name)
        gallery.figure(released(SHARES).figure, "bars", "a caption")
        gallery.figure(dots(SHARES, tasks=False).figure, "dots", "a caption")
        gallery.figure(controls.excess(EXCESS, PARAMS).figure, "excess", "a caption")
        gallery.figure(draw.matrices(SCORES, MODELS).figure, "heatmap", "a caption")
        gallery.figure(draw.overview(SHARES, VOTES, OUTCOMES, MODELS).figure, "all", "a caption")
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("one", "two"))
    assert one == two


@pytest.mark.parametrize(
    "plate",
    [
        partial(released, none(SHARES)),
        partial(dots, none(SHARES), tasks=True),
        partial(controls.excess, none(EXCESS), PARAMS),
        partial(controls.objective, EMPTY, EMPTY, MODELS, PARAMS),
        partial(draw.overview, none(SHARES), none(VOTES), OUTCOMES, MODELS),
        partial(draw.matrices, none(SCORES), MODELS),
        partial(controls.position, EMPTY, MODELS, PARAMS),
        partial(controls.position_by_category, EMPTY, MODELS, PARAMS),
        partial(controls.by_orders, EMPTY, PARAMS),
    ],
)
def test_an_empty_frame_is_told_and_not_drawn(plate):
    figure, _, caption = plate()
    assert figure is None
    assert caption.endswith(".")


def test_what_is_told_without_a_figure_can_be_empty():
    assert draw.data(EMPTY, OUTCOMES, EMPTY, PARAMS).endswith(".")
    assert draw.vote_outcomes(EMPTY).endswith(".")


def test_captions_count_verdicts_and_name_the_variants():
    told = dots(SHARES, tasks=False).caption
    assert "600 verdicts of 3 judges (x, y, z)" in told
    assert "x is x in c; x-thinking in d" in told
    for tasks in (False, True):
        plate = controls.excess(EXCESS, PARAMS, tasks=tasks)
        assert "adjustment: x 1 of 1, y 1 of 1" in plate.caption
        assert (plate.table is None) == tasks


def test_the_overview_shows_every_judge_and_the_first_vote_of_a_category():
    plate = draw.overview(SHARES, VOTES, OUTCOMES, MODELS)
    labels = [label.get_text() for label in plate.figure.axes[0].get_yticklabels()]
    judges = [f"c: {name}, n=200" for name in NAMES]
    assert labels == [*judges, "c: vote, as released"]


POSITION = ["category", "judge", "quantity", "share", "lo", "hi", "n", "items", "chance"]


def test_few_choices_are_hollow_and_the_caption_names_the_variants():
    rows = [("all", "x", "first position", 0.5, 0.4, 0.6, 200, 200, 1 / 3)]
    few = [("c", "x", "first position", 1.0, 0.2, 1.0, 2, 8, 1 / 3)]
    many, both = (pd.DataFrame(part, columns=POSITION) for part in (rows, rows + few))
    plate = controls.position_by_category(both, MODELS, PARAMS)
    assert "fewer than 10 choices" in texts(plate.figure)
    alone = controls.position_by_category(many, MODELS, PARAMS)
    assert "fewer than 10 choices" not in texts(alone.figure)
    assert "x is x in c; x-thinking in d" in plate.caption
    # Over all categories there are enough.
    assert "Hollow" not in controls.position(both, MODELS, PARAMS).caption
    scarce = many.assign(n=2)
    assert "Hollow: fewer than 10 choices" in controls.position(scarce, MODELS, PARAMS).caption


@pytest.mark.parametrize(("lo", "n", "told"), [(0.6, 20, True), (0.4, 20, False), (0.6, 2, False)])
def test_a_leaning_to_the_first_of_copies_is_said_where_every_interval_says_so(lo, n, told):
    rows = [
        ("all", "x", "earliest of 2 copies", 0.8, 0.7, 0.9, 20, 10, 0.5),
        ("all", "y", "earliest of 2 copies", 0.7, lo, 0.9, n, 10, 0.5),
        ("all", "y", "first position", 0.3, 0.2, 0.4, 20, 10, 1 / 3),
    ]
    figure = controls.position(pd.DataFrame(rows, columns=POSITION), MODELS, PARAMS).figure
    shown = texts(figure)
    # What rests on few choices is not counted.
    assert ("Judges favour the first of identical responses" in shown) == (told or n < 10)


@pytest.mark.parametrize("number", [2, 3, 7])
def test_row_labels_stay_apart_for_any_number_of_judges(number):
    names = [f"a-judge-with-a-name-{n}" for n in range(number)]
    rows = pd.DataFrame(
        [("c", "all", j, r, 1 / number, 0.0, 1.0, 9) for j in names for r in names],
        columns=SHARES.columns,
    )
    figure = released(rows, none(VOTES)).figure
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    for upper, lower in itertools.pairwise(boxes):
        assert upper.y0 >= lower.y1 or lower.y0 >= upper.y1
