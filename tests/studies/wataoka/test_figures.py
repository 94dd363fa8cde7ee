"""The pictures of Wataoka et al.: every mark is there, captions count, "no data" where none is."""

import itertools
from functools import partial
from types import SimpleNamespace

import pandas as pd
import pytest
from matplotlib.figure import Figure

from selfpref.studies.wataoka import draw
from selfpref.studies.wataoka.draw import by_perplexity

BIAS = pd.DataFrame(
    {
        "dataset": ["set", "set", "other"],
        "judge": ["j", "k", "j"],
        "n": [10, 0, 4],
        "tp": [4, 0, 1],
        "fn": [1, 0, 1],
        "fp": [3, 0, 1],
        "tn": [2, 0, 1],
        "eo": [0.4, None, 0.0],
        "eo_lo": [0.1, None, -0.5],
        "eo_hi": [0.6, None, 0.5],
        "dp": [0.4, None, 0.0],
        "dp_lo": [0.1, None, -0.5],
        "dp_hi": [0.6, None, 0.5],
        "excess": [0.1, None, None],
        "excess_lo": [0.0, None, None],
        "excess_hi": [0.2, None, None],
        "n_dropped": [2, 12, 0],
    }
)
PAPER = (
    BIAS.drop(columns=["excess", "excess_lo", "excess_hi", "n_dropped"])
    .iloc[[0]]
    .assign(dataset="chatbot-arena")
)
POSITION = pd.DataFrame(
    {"dataset": "set", "judge": "j", "pairs": ["all", "own"], "n_decided": 4, "n_both": 2}
).assign(
    **{
        f"{rate}{bound}": 0.5
        for rate in ("first_share", "flip_rate", "reversal_rate")
        for bound in ("", "_lo", "_hi")
    }
)


PARAMS = SimpleNamespace(
    bootstrap=SimpleNamespace(level=0.95, method="percentile", resamples=200),
    wataoka=SimpleNamespace(scale="perplexity", bins=8, binning="count"),
)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


@pytest.mark.parametrize("plate", [partial(draw.bias, params=PARAMS), draw.confusion])
def test_no_pairs_left_says_no_data_with_the_counts(plate):
    empty = BIAS.assign(n=0, tp=0, fn=0, fp=0, tn=0, eo=None, n_dropped=[5, 6, 7])
    found = plate(empty, PAPER)
    assert "no data" in texts(found.figure)
    assert any("18 labelled own pairs" in text for text in texts(found.figure))
    assert "18 labelled own pairs" in found.caption


@pytest.mark.parametrize(
    "plate",
    [
        *(draw.by_opponent, draw.position, draw.example, draw.demographic_parity),
        *(
            partial(of, params=PARAMS)
            for of in (
                by_perplexity.slopes,
                by_perplexity.log_perplexity,
                by_perplexity.perplexity_vs_human,
                by_perplexity.own_vs_other,
                partial(by_perplexity.planted_vs_measured, recovery=pd.DataFrame()),
            )
        ),
    ],
)
def test_an_empty_frame_says_no_data_in_picture_and_caption(plate):
    found = plate(pd.DataFrame())
    assert "no data" in texts(found.figure)
    assert len(found.caption) > 20
    assert found.caption.endswith(".")
    assert found.table.empty


def test_judges_without_a_measured_bias_say_no_data():
    marks = ("planted", "measured", "measured_lo", "measured_hi", "oracle_rule")
    rows = pd.DataFrame(float("nan"), [0], marks)
    found = by_perplexity.planted_vs_measured(rows, pd.DataFrame(), PARAMS)
    assert "no data" in texts(found.figure)


def test_no_excess_is_told():
    assert draw.excess_signs(pd.DataFrame()).endswith(".")


def test_captions_count_what_they_show():
    told = draw.confusion(BIAS, PAPER).caption
    assert "set: 10 pairs of 2 judges, 14 dropped" in told
    assert "other: 4 pairs of j, 0 dropped" in told


def test_every_quantity_of_the_position_has_its_neutral_value():
    figure = draw.position(POSITION).figure
    lines = [next(line.get_xdata()[0] for line in axes.lines) for axes in figure.axes]
    assert lines == [0.5, 0.0, 0.0]


def test_no_labels_overlap():
    """Row labels of a figure with many judges stay apart."""
    many = pd.concat(
        [BIAS.iloc[[0]].assign(judge=f"a-judge-with-a-long-name-{n}") for n in range(20)]
    )
    figure = draw.bias(many, PAPER, PARAMS).figure
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for axes in figure.axes for label in axes.get_yticklabels()]
    for upper, lower in itertools.pairwise(boxes):
        assert upper.y0 >= lower.y1 or lower.y0 >= upper.y1
