"""The pictures beyond the papers: every mark is there, captions count, nothing left says so."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from selfpref.plots.save import Gallery
from selfpref.studies.beyond import draw
from selfpref.studies.beyond.draw import captions
from selfpref.studies.beyond.measure.mitigations import MEAN, MEASURES, RULES
from selfpref.studies.beyond.measure.results import LONG, POOLED, STATISTICS

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
PICTURES = {
    "forest": (lambda rows: draw.forest(rows, "wataoka"), ROWS),
    "ratings": (draw.ratings, ROWS),
    "preferences": (draw.preferences, ROWS),
    "recovery": (draw.recovery, RECOVERED),
    "mitigations": (draw.mitigations, RULED),
    "changes": (draw.changes, RULED),
    "power": (draw.power, NEEDED),
}
CAPTIONS = {
    "forest": lambda rows: captions.forest(rows, "wataoka", PARAMS),
    "ratings": lambda rows: captions.ratings(rows, PARAMS),
    "preferences": lambda rows: captions.preferences(rows, PARAMS),
    "recovery": lambda rows: captions.recovery(rows, PARAMS),
    "mitigations": lambda rows: captions.mitigations(rows, PARAMS),
    "changes": lambda rows: captions.changes(rows, PARAMS),
    "power": lambda rows: captions.power(rows, PARAMS),
}


def words(figure):
    return " ".join(
        found.get_text() for found in figure.findobj(lambda part: hasattr(part, "get_text"))
    )


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_the_same_bytes_every_time(tmp_path, name):
    make, rows = PICTURES[name]
    for folder in ("one", "two"):
        Gallery(tmp_path / folder).figure(make(rows), name, CAPTIONS[name](rows))
    for kind in ("svg", "pdf"):
        one, two = (
            (tmp_path / folder / f"{name}.{kind}").read_bytes() for folder in ("one", "two")
        )
        assert one == two


@pytest.mark.parametrize("name", PICTURES)
def test_nothing_left_is_said(name):
    make, rows = PICTURES[name]
    bare = rows.iloc[:0] if rows is ROWS else pd.DataFrame()
    assert "no data" in words(make(bare))
    assert len(CAPTIONS[name](bare)) > 20


def test_a_forest_has_a_panel_a_judge_and_a_row_a_statistic():
    figure = draw.forest(ROWS, "wataoka")
    shown = words(figure)
    # The pooled row belongs to no judge.
    assert [axes.get_title(loc="left") for axes in figure.axes if axes.axison] == ["j", "k"]
    for statistic in ("demographic_parity", "gold_gap", "excess"):
        assert draw.NAMES[statistic] in shown
    assert "gold: oracle" in shown
    assert set(draw.NAMES) == set(STATISTICS)


def test_captions_count_rows_dropped_missing_and_values_without_variation():
    told = captions.forest(ROWS, "wataoka", PARAMS)
    assert "set: 20 own sets, judges: 2; the strictest statistics drop 4" in told
    assert "1 values do not exist" in told
    assert "1 values do not vary in the sample, hence no honest interval: k" in told
    assert "200 resamples of prompts" in told
    assert "14 own pairs that the human decides, 2 dropped" in captions.mitigations(RULED, PARAMS)


def test_only_changes_beyond_their_interval_are_told():
    told = captions.verdict(RULED).splitlines()
    assert len(told) == len(RULES) - 1
    assert all("excess falls for 2 and rises for 0 of 2 judges" in line for line in told)
    unsure = captions.verdict(RULED.assign(change_hi=0.1))
    assert "falls for 0 and rises for 0 of 2 judges" in unsure
