"""The pictures beyond the papers: every mark is there, captions count, nothing left says so."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import REPOSITORY

from selfpref.params import load
from selfpref.plots.frame import COLUMN
from selfpref.plots.save import Gallery
from selfpref.studies.beyond import MEAN, OTHER_WRITER, OTHERS, POOLED, draw
from selfpref.studies.beyond.draw.mitigations import PATH, changed
from selfpref.studies.beyond.draw.mitigations import RULES as DRAWN
from selfpref.studies.beyond.draw.names import NAMES, RATES
from selfpref.studies.beyond.draw.placebo import OWN_TEXT
from selfpref.studies.beyond.measure.mitigations import EFFECTS, MEASURES, RULES
from selfpref.studies.beyond.measure.scaled import EACH, ONE
from selfpref.studies.beyond.measure.sets import LONG, STATISTICS
from selfpref.studies.panickssery.evaluators import from_names, of_params

PARAMS = SimpleNamespace(
    profile="lab",
    bootstrap=SimpleNamespace(level=0.95, method="percentile", resamples=200),
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
        row("xu", "gpt-4", "human-mqm", "gold_gap", 8.0, unit="MQM points"),
        row("xu", "lucky", "human-mqm", "gold_gap", 9.0, unit="MQM points", n=1),
        row("panickssery", "gpt4", "none", "equal_length", 0.1),
        row("panickssery", "gpt4", "none", "demographic_parity", 0.3),
        row("panickssery", "gpt35", "none", "demographic_parity", 0.2),
        row("panickssery", "xsum_500_ft_gpt35", "none", "demographic_parity", 0.6),
        row("panickssery", "xsum_10_ft_gpt35", "none", "demographic_parity", 0.4),
        row("panickssery", "xsum_length_ft_gpt35", "none", "demographic_parity", 0.1),
        row("panickssery", "cnn_always_1_ft_gpt35", "none", "demographic_parity", 1.0, n=1),
    ],
    columns=LONG,
)
WHO = from_names(ROWS.loc[ROWS["study"].eq("panickssery"), "judge"])
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
    {"study": "wataoka", "dataset": "set", "judge": judge, "gold": "human"}
    | {"statistic": "equal_opportunity", "bias": bias, "pairs": round(4 / bias**2), "prompts": 9}
    | {"n": n, "effect": 1.2, "few": False}
    for judge, n in (("j", 50), ("k", 500))
    for bias in (0.05, 0.1, 0.2)
)
RECOVERED = pd.DataFrame(
    {"gold": gold, "statistic": "excess", "r": 0.8, "lo": 0.2, "hi": 0.95, "n": 8}
    for gold in ("human", "oracle")
)
PLATES = {
    "statistics": (lambda rows: draw.statistics(rows, "wataoka", PARAMS), ROWS),
    "rates": (lambda rows: draw.rates(rows, "livebench", PARAMS), ROWS),
    "rubric": (lambda rows: draw.ratings(rows, PARAMS, rubric=True), ROWS),
    "controls": (lambda rows: draw.preferences(rows, WHO, PARAMS, controls=True), ROWS),
    "placebo": (lambda rows: draw.placebo(rows, SCALES, PARAMS), PLACEBO),
    "mitigations": (draw.mitigations, RULED),
    "power": (draw.power, NEEDED),
    **{
        name: (partial(plate, params=PARAMS), rows)
        for name, plate, rows in (
            ("ratings", draw.ratings, ROWS),
            ("preferences", lambda rows, params: draw.preferences(rows, WHO, params), ROWS),
            ("recovery", draw.recovery, RECOVERED),
            ("changes", draw.changes, CHANGED),
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
    one, two = ((tmp_path / folder / f"{name}.svg").read_bytes() for folder in ("one", "two"))
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
        NAMES[name] for name in ("demographic_parity", "gold_gap")
    ]
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["j", "k"]
    assert "gold: oracle" in words(figure)
    assert tuple(NAMES) == STATISTICS
    assert set(DRAWN) == {*RULES, OTHERS}
    assert set(DRAWN) > {rule for effect, rule, _ in EFFECTS if effect != OTHER_WRITER}
    assert "too few" not in words(figure)


def test_a_row_that_is_too_few_is_hollow_and_the_legend_says_so():
    figure = draw.statistics(ROWS.assign(few=True), "wataoka", PARAMS).figure
    assert "too few: under ten rows" in words(figure)


def test_placebos_stand_beside_own_texts_with_a_panel_a_model():
    plate = draw.placebo(PLACEBO, SCALES, PARAMS)
    told = words(plate.figure)
    assert all(word in told for word in (ONE, EACH, OWN_TEXT, "text of writer", "scale 0.80"))
    assert "4 without an own text (placebos) and 2 with one" in plate.caption


def test_captions_count_rows_dropped_missing_and_values_without_variation():
    told = draw.statistics(ROWS, "wataoka", PARAMS).caption
    assert "set: 24 pairs with an own response of 2 judges; each statistic uses 10 a judge" in told
    assert "demographic parity without gold leaves out 2 (ties or unusable answers)" in told
    assert "1 values do not exist" in told
    assert "1 value does not vary in the sample, hence no honest interval: k" in told
    assert "200 bootstrap resamples of prompts" in told
    told = draw.mitigations(RULED).caption
    assert "14 own pairs that people decide of 2 judges, 2 left out (no score)" in told


def test_only_changes_beyond_their_interval_are_told():
    told = changed(CHANGED).splitlines()
    assert len(told) == len(EFFECTS)
    assert all("EO rises for 0 and falls for 2 of 2 judges" in line for line in told)
    unsure = changed(CHANGED.assign(change_hi=0.1))
    assert "EO rises for 0 and falls for 0 of 2 judges" in unsure


def test_where_no_rule_could_be_tried_nothing_is_told():
    assert changed(pd.DataFrame()) == ""


def rows_of(figure):
    return [tick.get_text() for tick in figure.axes[0].get_yticklabels()]


def test_rates_stand_apart_each_with_the_line_of_a_judge_that_follows_gold():
    rates = [row("livebench", "j", "key-strict", name, 0.4) for name in RATES]
    figure = draw.rates(pd.DataFrame(rates, columns=LONG), "livebench", PARAMS).figure
    lines = [axes.lines[0].get_xdata()[0] for axes in figure.axes]
    assert lines == [0.0, 0.5, 1.0]
    assert "harmful: where it is worse" in words(figure)
    # The other picture has none of them.
    both = draw.statistics(pd.concat([ROWS, pd.DataFrame(rates)]), "livebench", PARAMS)
    assert both.figure is None


def test_small_and_large_preferences_share_one_axis():
    axes = draw.statistics(ROWS, "wataoka", PARAMS).figure.axes
    assert {one.get_xscale() for one in axes if one.axison} == {"symlog"}
    assert len({one.get_xlim() for one in axes if one.axison}) == 1


def test_preferences_go_by_family_and_number_and_a_single_pair_is_not_drawn():
    plate = draw.preferences(ROWS, WHO, PARAMS)
    assert rows_of(plate.figure) == ["GPT-3.5", "GPT-3.5 + 10 XSum", "GPT-3.5 + 500 XSum", "GPT-4"]
    assert len(plate.table) == ROWS["study"].eq("panickssery").sum()
    controls = draw.preferences(ROWS, WHO, PARAMS, controls=True)
    assert rows_of(controls.figure) == ["GPT-3.5, length (XSum)"]
    assert "1 value from one pair, not drawn" in controls.caption
    assert len(controls.table) == 2


def test_judges_that_the_parameters_tune_have_names_for_people():
    """As the figures of their own study call them; a replay is no control."""
    names = ["clerk", "clerk-notes-10", "clerk-replay-notes-10", "clerk-notes-length"]
    tuned = of_params(load(REPOSITORY / "params.yaml").panickssery, names, {"clerk", "host"})
    who = pd.concat([from_names(["clerk"]), tuned])
    rows = [row("panickssery", name, "none", "demographic_parity", 0.1) for name in names]
    plates = [
        draw.preferences(pd.DataFrame(rows, columns=LONG), who, PARAMS, controls=controls)
        for controls in (False, True)
    ]
    assert rows_of(plates[0].figure) == ["clerk", "clerk + 10 notes", "clerk + 10 notes, replay"]
    assert rows_of(plates[1].figure) == ["clerk, length (notes)"]


def test_scores_of_one_row_are_not_drawn_and_rubrics_have_a_picture_of_their_own():
    plate, rubric = (draw.ratings(ROWS, PARAMS, rubric=rubric) for rubric in (False, True))
    assert rows_of(plate.figure) == ["GPT-4"]
    assert "1 from one score, not drawn" in plate.caption
    assert len(plate.table) == 3
    assert rows_of(rubric.figure) == ["j"]
    assert rubric.table["unit"].eq("rubric points").all()


def test_arrows_go_from_the_others_alone_to_the_panel_with_the_judge():
    figure = draw.mitigations(RULED).figure
    for axes in figure.axes[:2]:
        ends = [(tuple(one.xyann), tuple(one.xy)) for one in axes.texts]
        assert len(ends) == len(PATH) - 1
        (_, first), (second, _) = ends
        assert first == second


def test_what_a_judge_has_stands_against_what_it_needs():
    figure = draw.power(NEEDED).figure
    told = words(figure).replace("\n", " ").replace("\N{NO-BREAK SPACE}", " ")
    assert "1 of 2 judges has enough pairs to detect a bias of 0.1" in told
    assert all(text in told for text in ("50 of 400", "500 of 400", "have", "need"))
    assert figure.get_figwidth() == COLUMN
    none = words(draw.power(NEEDED[NEEDED["judge"].eq("j")]).figure).replace("\n", " ")
    assert "No judge has enough pairs to detect" in none


def test_judges_whose_measures_have_opposite_signs_are_counted():
    told = "1 of 2 judges favours its own responses by one measure and those of others by another"
    assert told not in words(draw.statistics(ROWS, "wataoka", PARAMS).figure).replace("\n", " ")
    against = pd.DataFrame([row("wataoka", "j", "none", "equal_length", -0.2)], columns=LONG)
    for few, wanted in ((False, True), (True, False)):
        rows = pd.concat([ROWS, against.assign(few=few)])
        drawn = words(draw.statistics(rows, "wataoka", PARAMS).figure).replace("\n", " ")
        assert (told in drawn) == wanted


def test_a_message_is_there_only_where_the_data_say_so():
    message = "Given each judge's scale, own texts (orange) gain no more"
    scaled = PLACEBO["own"] & PLACEBO["model"].eq(EACH)
    larger = PLACEBO.assign(effect=scaled * 0.2 + 0.01)
    smaller = PLACEBO.assign(effect=0.2 - scaled * 0.1)
    assert message not in words(draw.placebo(larger, SCALES, PARAMS).figure).replace("\n", " ")
    assert message in words(draw.placebo(smaller, SCALES, PARAMS).figure).replace("\n", " ")
    message = "Averaging makes bias larger"
    rises = CHANGED["measure"].eq("size")
    grown = CHANGED.assign(change_lo=CHANGED["change_lo"].mask(rises, 0.1))
    assert message not in words(draw.changes(CHANGED, PARAMS).figure)
    assert message in words(draw.changes(grown, PARAMS).figure)
