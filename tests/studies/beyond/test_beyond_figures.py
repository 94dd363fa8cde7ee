"""The pictures beyond the papers: every mark is there, captions count, nothing left says so."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from selfpref.plots.save import Gallery
from selfpref.studies.beyond import POOLED, draw
from selfpref.studies.beyond.measure.mitigations import MEAN, MEASURES, RULES
from selfpref.studies.beyond.measure.sets import LONG, STATISTICS

PARAMS = SimpleNamespace(
    profile="lab", bootstrap=SimpleNamespace(level=0.95, method="percentile", resamples=200)
)


def row(study, judge, gold, statistic, value, unit="probability", **changes):
    return {
        **{"study": study, "dataset": "set", "judge": judge, "gold": gold, "statistic": statistic},
        **{"value": value, "lo": value - 0.1, "hi": value + 0.1, "n": 10, "dropped": 2},
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
RULED = pd.DataFrame(
    {"dataset": "set", "judge": judge, "rule": rule, "measure": measure, "value": 0.5 + 0.1 * place}
    | {"lo": 0.4, "hi": 0.6, "change": -0.2 * place, "change_lo": -0.3 * place}
    | {"change_hi": -0.1 * place, "n": 7, "dropped": 1}
    for judge in ("j", "k", MEAN)
    for measure in MEASURES
    for place, rule in enumerate(RULES)
)
NEEDED = pd.DataFrame(
    {"study": "wataoka", "dataset": "set", "judge": "j", "gold": "human", "statistic": "excess"}
    | {"bias": bias, "pairs": round(4 / bias**2), "prompts": 9, "n": 50, "effect": 1.2}
    for bias in (0.05, 0.1, 0.2)
)
RECOVERED = pd.DataFrame(
    {"gold": gold, "statistic": "excess", "r": 0.8, "lo": 0.2, "hi": 0.95, "n": 8}
    for gold in ("human", "oracle")
)
PLATES = {
    "statistics": (lambda rows: draw.statistics(rows, "wataoka", PARAMS), ROWS),
    **{
        name: (partial(plate, params=PARAMS), rows)
        for name, plate, rows in (
            ("ratings", draw.ratings, ROWS),
            ("preferences", draw.preferences, ROWS),
            ("recovery", draw.recovery, RECOVERED),
            ("mitigations", draw.mitigations, RULED),
            ("changes", draw.changes, RULED),
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
    assert "no data" in words(plate.figure)
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
    assert set(draw.MARKERS) == set(RULES) == {"single", *draw.RULES}


def test_captions_count_rows_dropped_missing_and_values_without_variation():
    told = draw.statistics(ROWS, "wataoka", PARAMS).caption
    assert "set: 20 own sets of 2 judges, 4 dropped by the strictest statistics" in told
    assert "1 values do not exist" in told
    assert "1 value does not vary in the sample, hence no honest interval: k" in told
    assert "200 bootstrap resamples of prompts" in told
    told = draw.mitigations(RULED, PARAMS).caption
    assert "14 own pairs that the human decides of 2 judges, 2 dropped for want of a score" in told


def test_only_changes_beyond_their_interval_are_told():
    told = draw.changed(RULED).splitlines()
    assert len(told) == len(RULES) - 1
    assert all("excess falls for 2 and rises for 0 of 2 judges" in line for line in told)
    unsure = draw.changed(RULED.assign(change_hi=0.1))
    assert "falls for 0 and rises for 0 of 2 judges" in unsure


def test_where_no_rule_could_be_tried_nothing_is_told():
    assert draw.changed(pd.DataFrame()) == ""
