"""The grammar of marks: where a mark stands, what is hollow, what the legend says."""

import doctest

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from selfpref.plots.forest import forest

from selfpref.plots import captions, frame, heatmap, lines
from selfpref.plots import forest as rows_with_marks
from selfpref.plots.frame import Look
from selfpref.plots.names import LONGEST, readable

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


def test_hollow_marks_are_white_inside_and_the_legend_says_why():
    figure = forest(ROWS, row="judge", label="bias", looks=LOOKS, hollow="fewer than ten")
    assert [face for *_, face in marks(figure.axes[0], LOOKS["b"].color)] == ["white"]
    assert legend_of(figure) == ["a", "b", "fewer than ten"]
    firm = forest(ROWS.assign(hollow=False), row="judge", label="", looks=LOOKS, hollow="few")
    assert legend_of(firm) == ["a", "b"]


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


def test_a_name_of_sixty_characters_is_cut_and_leaves_room_for_the_marks():
    named = readable(ROWS.assign(judge=ROWS["judge"] * 60))
    assert named["judge"].str.len().eq(LONGEST).all()
    figure = forest(named, row="judge", label="bias", looks=LOOKS)
    figure.canvas.draw()
    (axes,) = figure.axes
    assert axes.get_window_extent().width > figure.bbox.width / 3
    assert figure.get_tightbbox().width <= frame.PAGE
