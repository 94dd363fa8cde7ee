"""The pictures beyond the papers: every mark is there, captions count, nothing left says so."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from selfpref.plots.save import Gallery
from selfpref.studies.beyond import MEAN, OTHER_WRITER, OTHERS, POOLED, draw
from selfpref.studies.beyond.measure.mitigations import EFFECTS, MEASURES, RULES
from selfpref.studies.beyond.measure.scaled import EACH, ONE
from selfpref.studies.beyond.measure.sets import LONG, STATISTICS

PARAMS = SimpleNamespace(
    profile="lab", bootstrap=SimpleNamespace(level=0.95, method="percentile", resamples=200)
)


def row(study, judge, gold, statistic, value, unit="probability", **changes):
    return {
        **{"study": study, "dataset": "set", "judge": judge, "gold": gold, "statistic": statistic},
        **{"value": value, "lo": value - 0.1, "hi": value + 0.1, "n": 10, "dropped": 2},
        **dict.fromkeys(("n_human_own", "n_human_other", "n_human_least"), np.nan),
        "few": False,
        **{"unit": unit, "interval": "bootstrap", "reason": ""},
        **changes,
    }


GONE = {"lo": np.nan, "hi": np.nan, "n": 0, "reason": "why"}
ROWS = pd.DataFrame(
    [
        row("wataoka", "j", "none", "demographic_parity", 0.3),
        *(row("wataoka", "j", gold, "gold_gap", 0.2) for gold in ("human", "oracle")),
        row("wataoka", "k", "human", "gold_gap", -0.2, lo=-0.2, hi=-0.2),
        row("wataoka", "k", "human", "excess", np.nan, **GONE),
        row("wataoka", POOLED, "human", "regression", 0.1),
        row("livebench", "j", "key-strict", "harmful", 0.4),
        row("livebench", "j", "other judges", "gold_gap", 1.5, unit="rubric points"),
        row("panickssery", "gpt4", "none", "equal_length", 0.1),
        row("panickssery", "gpt4", "none", "demographic_parity", 0.3),
    ],
    columns=LONG,
)
JUDGES = ("j", "k", MEAN)
COUNTS = {"n": 7, "n_human_own": 3, "n_human_other": 4, "dropped": 1, "few": True}
RULED = pd.DataFrame(
    {"dataset": "set", "judge": judge, "measure": measure, "rule": rule, "value": 0.5 + 0.1 * place}
    | {"lo": 0.4, "hi": 0.6, **COUNTS}
    for judge in JUDGES
    for measure in MEASURES
    for place, rule in enumerate((*RULES, OTHERS))
)
CHANGED = pd.DataFrame(
    {"dataset": "set", "judge": judge, "measure": measure, "effect": effect, "rule": rule}
    | {"against": against, "change": -0.2, "change_lo": -0.3, "change_hi": -0.1, **COUNTS}
    for judge in JUDGES
    for measure in MEASURES
    for effect, rule, against in EFFECTS
)
PLACEBO = pd.DataFrame(
    {"dataset": "set", "judge": judge, "responder": responder}
    | {"own": judge == responder, "model": model, "effect": 0.01 * place, "effect_lo": -0.1}
    | {"effect_hi": 0.1, "n": 20, "few": False}
    for judge in ("j", "k")
    for place, responder in enumerate(("j", "k", "writer"))
    for model in (ONE, EACH)
)
SCALES = pd.DataFrame(
    {"dataset": "set", "gold": "human", "judge": ["j", "k"], "scale": [0.8, 1.2], "n": 60}
)
NEEDED = pd.DataFrame(
    {"study": "wataoka", "dataset": "set", "judge": "j", "gold": "human", "statistic": "excess"}
    | {"bias": bias, "pairs": round(4 / bias**2), "prompts": 9, "n": 50, "effect": 1.2}
    | {"few": False}
    for bias in (0.05, 0.1, 0.2)
)
RECOVERED = pd.DataFrame(
    {"gold": gold, "statistic": "excess", "r": 0.8, "lo": 0.2, "hi": 0.95, "n": 8}
    for gold in ("human", "oracle")
)
PLATES = {
    "statistics": (lambda rows: draw.statistics(rows, "wataoka", PARAMS), ROWS),
    "placebo": (lambda rows: draw.placebo(rows, SCALES, PARAMS), PLACEBO),
    **{
        name: (partial(plate, params=PARAMS), rows)
        for name, plate, rows in (
            ("ratings", draw.ratings, ROWS),
            ("preferences", draw.preferences, ROWS),
            ("recovery", draw.recovery, RECOVERED),
            ("mitigations", draw.mitigations, RULED),
            ("changes", draw.changes, CHANGED),
            ("power", draw.power, NEEDED),
        )
    },
}


def words(figure):
    return " ".join(
        found.get_text() for found in figure.findobj(lambda part: hasattr(part, "get_text"))
    )


@pytest.mark.parametrize("name", PLATES)
def test_pictures_are_the_same_bytes_every_time(tmp_path, name):
    make, rows = PLATES[name]
    for folder in ("one", "two"):
        plate = make(rows)
        Gallery(tmp_path / folder).figure(plate.figure, name, plate.caption)
    for kind in ("svg", "pdf"):
        one, two = (
            (tmp_path / folder / f"{name}.{kind}").read_bytes() for folder in ("one", "two")
        )
        assert one == two


@pytest.mark.parametrize("name", PLATES)
def test_nothing_left_is_said(name):
    make, rows = PLATES[name]
    plate = make(rows.iloc[:0] if rows is ROWS else pd.DataFrame())
    assert plate.figure is None
    assert len(plate.caption) > 20


def test_the_forest_has_a_panel_a_statistic_and_a_row_a_judge():
    figure = draw.statistics(ROWS, "wataoka", PARAMS).figure
    # The pooled row belongs to no judge, the excess has no value.
    assert [axes.get_title(loc="left") for axes in figure.axes if axes.axison] == [
        draw.NAMES[name] for name in ("demographic_parity", "gold_gap")
    ]
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["j", "k"]
    assert "gold: oracle" in words(figure)
    assert tuple(draw.NAMES) == STATISTICS
    assert set(draw.MARKERS) == {*RULES, OTHERS}
    assert set(draw.RULES) == {rule for effect, rule, _ in EFFECTS if effect != OTHER_WRITER}
    assert "too few" not in words(figure)


def test_a_row_that_is_too_few_is_hollow_and_the_legend_says_so():
    figure = draw.statistics(ROWS.assign(few=True), "wataoka", PARAMS).figure
    assert "too few: under ten rows" in words(figure)


def test_placebos_stand_beside_own_texts_with_a_panel_a_model():
    plate = draw.placebo(PLACEBO, SCALES, PARAMS)
    told = words(plate.figure)
    assert all(word in told for word in (ONE, EACH, draw.OWN_TEXT, "text of writer", "scale 0.80"))
    assert "4 without an own text (placebos) and 2 with one" in plate.caption


def test_captions_count_rows_dropped_missing_and_values_without_variation():
    told = draw.statistics(ROWS, "wataoka", PARAMS).caption
    assert "set: 20 own sets of 2 judges, 4 dropped by the strictest statistics" in told
    assert "1 values do not exist" in told
    assert "1 value does not vary in the sample, hence no honest interval: k" in told
    assert "200 bootstrap resamples of prompts" in told
    told = draw.mitigations(RULED, PARAMS).caption
    assert "14 own pairs that the human decides of 2 judges, 2 dropped for want of a score" in told


def test_only_changes_beyond_their_interval_are_told():
    told = draw.changed(CHANGED).splitlines()
    assert len(told) == len(EFFECTS)
    assert all("EO rises for 0 and falls for 2 of 2 judges" in line for line in told)
    unsure = draw.changed(CHANGED.assign(change_hi=0.1))
    assert "EO rises for 0 and falls for 0 of 2 judges" in unsure


def test_where_no_rule_could_be_tried_nothing_is_told():
    assert draw.changed(pd.DataFrame()) == ""
