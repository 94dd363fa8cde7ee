"""The pictures of Wataoka et al.: every mark is there, captions count, "no data" where none is."""

import itertools
from functools import partial
from types import SimpleNamespace

import pandas as pd
import pytest
from matplotlib.figure import Figure

from selfpref.studies.wataoka import draw
from selfpref.studies.wataoka.draw import by_perplexity, outside_reader

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
        "few": True,
        "excess_few": [True, None, None],
        "eo_others": [0.3, None, None],
        "eo_others_lo": [0.1, None, None],
        "eo_others_hi": [0.5, None, None],
        "eo_no_preference": [0.2, None, None],
        "eo_no_preference_lo": [0.1, None, None],
        "eo_no_preference_hi": [0.3, None, None],
        "n_two_votes": [8, 0, 3],
        "no_preference_status": ["ok", "too few votes", "too few votes"],
    }
)
PAPER = BIAS.loc[[0], list(BIAS)[: list(BIAS).index("excess")]].assign(dataset="chatbot-arena")
# Twenty pairs on either side.
ENOUGH = BIAS.iloc[[0]].assign(tp=16, fn=4, fp=12, tn=8, few=False, excess_few=False)
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
def test_no_pairs_left_is_told_with_the_counts(plate):
    empty = BIAS.assign(n=0, tp=0, fn=0, fp=0, tn=0, eo=None, n_dropped=[5, 6, 7])
    found = plate(empty, PAPER)
    assert found.figure is None
    assert "18 labelled own pairs" in found.caption


@pytest.mark.parametrize(
    "plate",
    [
        draw.example,
        *(
            partial(of, params=PARAMS)
            for of in (
                draw.by_opponent,
                draw.position,
                draw.demographic_parity,
                by_perplexity.slopes,
                by_perplexity.log_perplexity,
                by_perplexity.perplexity_vs_human,
                by_perplexity.own_vs_other,
                partial(outside_reader.win_rates, readers=["another"]),
                partial(by_perplexity.planted_vs_measured, recovery=pd.DataFrame()),
            )
        ),
    ],
)
def test_an_empty_frame_is_told_and_not_drawn(plate):
    found = plate(pd.DataFrame())
    assert found.figure is None
    assert len(found.caption) > 20
    assert found.caption.endswith(".")
    assert found.table.empty


def test_a_judge_with_one_human_outcome_has_no_bias_to_draw():
    one = BIAS.iloc[[0]].assign(fp=0, tn=0, eo=None, eo_others=None, eo_no_preference=None)
    plate = draw.bias(one, PAPER, PARAMS)
    assert plate.figure is None
    assert "both human outcomes" in plate.caption


def test_a_judge_without_a_value_has_no_panel():
    rows = BIAS.iloc[:2].assign(opponent="gpt-4", undefined=0.0, n_human_own=5, n_human_other=5)
    plate = draw.by_opponent(rows, PARAMS)
    titles = [axes.get_title(loc) for axes in plate.figure.axes for loc in ("left", "center")]
    assert [title for title in titles if title] == ["j, set"]
    assert "Not drawn, without a value: k." in plate.caption
    assert len(plate.table) == 2


def test_judges_without_a_measured_bias_are_not_drawn():
    marks = ("planted", "measured", "measured_lo", "measured_hi", "oracle_rule")
    rows = pd.DataFrame(float("nan"), [0], marks)
    found = by_perplexity.planted_vs_measured(rows, pd.DataFrame(), PARAMS)
    assert found.figure is None


def test_no_excess_is_told():
    assert draw.excess_signs(pd.DataFrame()).endswith(".")


EXCESS = pd.DataFrame(
    {
        "dataset": "set",
        "judge": "j",
        "variant": ["own", "common", "half-ties"],
        "excess": [0.11, -0.77, -0.22],
        "excess_lo": [0.0, -0.9, -0.3],
        "excess_hi": [0.2, -0.6, -0.1],
        "few": [False, True, False],
    }
)


def test_an_excess_of_too_few_pairs_is_named_and_not_quoted():
    told = draw.excess_signs(EXCESS)
    assert "0.77" not in told
    assert "too few pairs: common" in told
    assert "own 0.11 [0.00, 0.20]; half-ties \N{MINUS SIGN}0.22" in told
    assert "**different signs**" in told
    assert "one sign" in draw.excess_signs(EXCESS.assign(excess=[0.1, -0.7, 0.2]))


def test_the_tables_for_readers_quote_no_excess_of_too_few_pairs():
    rows = EXCESS.assign(
        **{f"{name}{bound}": 0.33 for name in ("eo", "eo_others") for bound in ("", "_lo", "_hi")},
        **{f"n_human_{side}{of}": 4 for side in ("own", "other") for of in ("", "_least")},
    )
    shown = draw.excess_by_variant(rows).set_index("variant")
    assert shown["excess"].tolist() == [
        "0.11 [0.00, 0.20]",
        "too few",
        "\N{MINUS SIGN}0.22 [\N{MINUS SIGN}0.30, \N{MINUS SIGN}0.10]",
    ]
    assert shown.loc["common", ["bias", "other judges' mean", "pairs"]].tolist() == [
        "too few",
        "too few",
        "4 + 4",
    ]
    assert draw.excess_by_variant(pd.DataFrame()).empty


def test_another_person_is_shown_where_votes_tell():
    votes = {
        f"{name}{bound}": [0.5, None, None]
        for name in ("eo_one_vote", "beyond_no_preference")
        for bound in ("", "_lo", "_hi")
    }
    shown = draw.another_person(BIAS.assign(**votes))
    assert shown["another person"].tolist() == ["0.20 [0.10, 0.30]"]


def test_too_few_on_one_human_side_is_hollow_and_not_printed():
    def drawn(rows):
        return draw.bias(rows, PAPER, PARAMS).figure

    told = "fewer than 10 pairs on one human side"
    assert told in texts(drawn(BIAS))
    assert told not in texts(drawn(ENOUGH))
    few = texts(draw.confusion(BIAS.iloc[[0]], PAPER).figure)
    assert any("too few pairs" in text for text in few)
    assert not any("0.40" in text for text in few)
    assert any("0.40" in text for text in texts(draw.confusion(ENOUGH, PAPER).figure))


def test_the_bias_stands_beside_both_human_counts_and_who_else():
    found = draw.bias(ENOUGH, PAPER, PARAMS)
    shown = texts(found.figure)
    assert "20 + 20" in shown
    assert {"other judges, in the mean", "another person"} <= {*shown}
    assert "8 pairs with two votes or more" in found.caption
    assert "none for k, j (too few votes)" in draw.bias(BIAS, PAPER, PARAMS).caption
    silent = ENOUGH.assign(eo_no_preference=None, no_preference_status="too few votes")
    assert "Another person" not in draw.bias(silent, PAPER, PARAMS).caption


def test_captions_count_what_they_show():
    told = draw.confusion(BIAS, PAPER).caption
    assert "set: 10 pairs of 2 judges, 14 left out" in told
    assert "other: 4 pairs of j, 0 left out" in told


def test_the_position_is_one_rate_with_one_half_marked():
    (axes,) = draw.position(POSITION, PARAMS).figure.axes
    assert axes.lines[0].get_xdata()[0] == 0.5
    one_order = POSITION.assign(n_both=0, reversal_rate=None)
    assert draw.position(one_order, PARAMS).figure is None


def test_a_figure_says_that_others_share_the_bias_only_where_they_do():
    told = "Judges that wrote none of j's responses show most of its bias"

    def message(**changed):
        figure = draw.bias(ENOUGH.assign(**changed), PAPER, PARAMS).figure
        return figure.legends[0].get_title().get_text().replace("\n", " ")

    assert message() == told
    assert message(eo_others=0.1) == message(eo_others_lo=-0.1) == ""
    assert message(excess_few=True) == message(few=True) == message(eo_others=None) == ""


def test_captions_name_the_interval_that_is_drawn():
    assert draw.position(POSITION, PARAMS).caption.endswith("95% Wilson intervals over prompts.")
    assert draw.bias(ENOUGH, PAPER, PARAMS).caption.endswith("200 bootstrap resamples of prompts.")


def test_what_no_judge_has_is_not_in_the_legend():
    alone = ENOUGH.assign(eo_others=None, excess=None)
    shown = texts(draw.bias(alone, PAPER, PARAMS).figure)
    assert "other judges, in the mean" not in shown
    assert "set: no other judge" in shown
    assert "set" in texts(draw.bias(ENOUGH, PAPER, PARAMS).figure)


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
