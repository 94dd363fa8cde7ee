"""The grammar of marks: where a mark stands, what is hollow, what the legend says."""

import doctest

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba

from selfpref.plots import captions, frame, heatmap, lines
from selfpref.plots import forest as rows_with_marks
from selfpref.plots.forest import forest
from selfpref.plots.frame import Look
from selfpref.plots.names import LONGEST, readable
from selfpref.plots.save import drawing

LOOKS = {"a": Look("#0072B2"), "b": Look("#D55E00", "D")}
ROWS = pd.DataFrame(
    {
        "judge": ["j", "j", "k", "k"],
        "series": ["a", "b", "a", "b"],
        "value": [0.1, 0.2, 0.3, np.nan],
        "lo": [0.0, 0.1, 0.2, np.nan],
        "hi": [0.2, 0.3, 0.4, np.nan],
        "hollow": [False, True, False, False],
    }
)


def marks(axes, color):
    """Places and faces of the marks of a colour that are not in the legend alone."""
    return [
        (x, round(y, 3), line.get_markerfacecolor())
        for line in axes.lines
        if line.get_marker() not in ("None", "") and to_rgba(line.get_color()) == to_rgba(color)
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
        if not np.isnan(x)
    ]


def legend_of(figure):
    return [text.get_text() for one in figure.legends for text in one.get_texts()]


@pytest.mark.parametrize("module", [captions, frame, heatmap, lines, rows_with_marks])
def test_examples_of_docstrings(module):
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed


def test_marks_of_a_row_stand_side_by_side_and_a_lone_one_in_the_middle():
    figure = forest(ROWS, row="judge", label="bias", looks=LOOKS)
    (axes,) = figure.axes
    (first, lone), (second,) = (marks(axes, look.color) for look in LOOKS.values())
    assert first[1] == -second[1] < 0
    assert lone[1] == 1
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["j", "k"]


def test_hollow_marks_are_white_inside_and_the_legend_says_why():
    figure = forest(ROWS, row="judge", label="bias", looks=LOOKS, hollow="fewer than ten")
    assert [face for *_, face in marks(figure.axes[0], LOOKS["b"].color)] == ["white"]
    assert legend_of(figure) == ["a", "b", "fewer than ten"]
    firm = forest(ROWS.assign(hollow=False), row="judge", label="", looks=LOOKS, hollow="few")
    assert legend_of(firm) == ["a", "b"]


def test_groups_have_a_line_of_their_own_unless_there_is_one_alone():
    both = pd.concat([ROWS.assign(set="one"), ROWS.assign(set="two")])
    figure = forest(both, row="judge", group="set", label="bias", looks=LOOKS)
    assert list(figure.axes[0].get_yticks()) == [1, 2, 4, 5]
    assert [text.get_text() for text in figure.axes[0].texts] == ["one", "two"]
    alone = forest(ROWS.assign(set="one"), row="judge", group="set", label="bias", looks=LOOKS)
    assert list(alone.axes[0].get_yticks()) == [0, 1]


def test_a_line_leaves_hollow_steps_out():
    rows = pd.DataFrame({"step": [0, 1, 2], "series": "a", "value": [1.0, 5.0, 2.0]}).assign(
        hollow=[False, True, False]
    )
    figure = lines.lines(rows, x="step", label=("step", "bias"), looks=LOOKS, hollow="flawed")
    joined, _, beside = figure.axes[0].lines[:3]
    assert joined.get_xydata().tolist() == [[0, 1], [2, 2]]
    assert beside.get_xydata().tolist() == [[1, 5]]
    assert legend_of(figure) == ["a", "flawed"]


def test_sizes_not_to_scale_stand_at_even_distances():
    sizes = pd.Categorical(["0", "500", "2"], categories=["0", "2", "500"], ordered=True)
    rows = pd.DataFrame({"size": sizes, "series": "a", "value": [0.1, 0.2, 0.3]})
    figure = lines.lines(rows, x="size", label=("examples", "confidence"), looks=LOOKS)
    assert figure.axes[0].lines[0].get_xydata().tolist() == [[0, 0.1], [1, 0.3], [2, 0.2]]
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["0", "2", "500"]


def test_long_labels_stay_in_the_picture_at_every_resolution():
    name = "gpt-3.5-turbo, against the reference metric, of the texts that were refined ten times"
    rows = pd.DataFrame({"row": [name], "value": [0.1], "lo": [0.0], "hi": [0.3]})
    with drawing():
        figure = forest(rows, row="row", label="bias", looks={"bias": Look("#0072B2")})
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        figure.set_layout_engine("none")
        for dpi in (72, 150):
            figure.set_dpi(dpi)
            canvas.draw()
            (label,) = figure.axes[0].get_yticklabels()
            assert label.get_window_extent(canvas.get_renderer()).x0 > 0


def test_a_message_stands_above_the_legend_in_a_narrow_figure_and_apart_from_its_marks():
    told = "The judge that wrote the responses prefers them, and so do the others that did not"
    for looks in (LOOKS, {"a": LOOKS["a"]}):
        figure = forest(
            ROWS, row="judge", label="bias", looks=looks, width=frame.COLUMN, message=told
        )
        frame.legend(figure)
        with drawing():
            FigureCanvasAgg(figure).draw()
        texts = [one.get_title() for one in figure.legends] or [figure._suptitle]
        (message,) = texts
        assert message.get_text().replace("\n", " ") == told
        box = message.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.width
        below = [text for one in figure.legends for text in one.get_texts()] or figure.axes
        assert all(box.y0 >= one.get_window_extent().y1 for one in below)


def test_a_name_of_sixty_characters_is_cut_and_leaves_room_for_the_marks():
    named = readable(ROWS.assign(judge=ROWS["judge"] * 60))
    assert named["judge"].str.len().eq(LONGEST).all()
    figure = forest(named, row="judge", label="bias", looks=LOOKS)
    figure.canvas.draw()
    (axes,) = figure.axes
    assert axes.get_window_extent().width > figure.bbox.width / 3
    assert figure.get_tightbbox().width <= frame.PAGE
