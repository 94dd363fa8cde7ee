"""Pictures of the study of Xu et al.: flawed steps hollow, "no data" where nothing is left."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from selfpref.studies.xu import draw
from selfpref.studies.xu.draw import controls, flawed, looks, quality, tasks
from selfpref.studies.xu.draw import texts as of_texts

PARAMS = SimpleNamespace(
    profile="recorded",
    bootstrap=SimpleNamespace(resamples=100, level=0.95, method="percentile"),
    xu=SimpleNamespace(truth="bleurt-mqm", gamma=0.0, matcher="lemma"),
)
NOTHING = pd.DataFrame(
    columns=["condition", "language", "model", "step", "convention", "contaminated", "n", "figure"]
)
INTEGRITY = pd.DataFrame(
    {
        "condition": "",
        "language": ["yor-en", "yor-en", "commongen"],
        "model": ["m", "m", "k"],
        "step": [0, 1, 0],
        "contaminated": [False, True, True],
    }
)


def translation():
    """Two models, two steps, one language and the mean; step 1 of m is contaminated."""
    cells = [
        {"language": language, "model": model, "step": step, "convention": convention}
        for language in ("yor-en", "average")
        for model in ("k", "m")
        for step in (0, 1)
        for convention in ("released", "corrected")
    ]
    frame = pd.DataFrame(cells).assign(n=8, unusable=0, self_mean=-3.0, truth_mean=-9.0)
    for name, value in (("bias", 6.0), ("dskew", 0.5)):
        frame = frame.assign(**{name: value, f"{name}_lo": value - 0.1, f"{name}_hi": value + 0.1})
    out = frame["model"].eq("m") & frame["step"].eq(1) & frame["convention"].eq("corrected")
    values = ["bias", "bias_lo", "bias_hi", "dskew", "dskew_lo", "dskew_hi"]
    frame.loc[out, values] = None
    return frame.assign(n=frame["n"].mask(out, 0))


def hollow(axes):
    """Points drawn with a white face."""
    return sum(
        len(line.get_xdata())
        for line in axes.lines
        if line.get_marker() not in {"None", None, ""}
        and to_rgb(line.get_markerfacecolor()) == (1, 1, 1)
    )


def test_a_mean_over_languages_is_flawed_if_one_language_is():
    marked = translation()[flawed(translation(), INTEGRITY)]
    cells = set(marked[["language", "model", "step"]].itertuples(index=False, name=None))
    assert cells == {("yor-en", "m", 1), ("average", "m", 1)}


def test_flawed_steps_are_hollow_as_released_and_absent_when_corrected():
    figure = draw.average(translation(), INTEGRITY, PARAMS).figure
    columns = {axes.get_subplotspec().colspan.start: [] for axes in figure.axes}
    for axes in figure.axes:
        columns[axes.get_subplotspec().colspan.start].append(hollow(axes))
    assert [axes.get_title("left") for axes in figure.axes[:2]] == ["as released", "corrected"]
    assert columns == {0: [1, 1], 1: [0, 0]}


@pytest.mark.parametrize(
    "plate", [draw.by_model, partial(draw.skewness_by_model, tests=pd.DataFrame())]
)
def test_each_model_has_a_panel_without_its_flawed_steps(plate):
    plate = plate(translation(), params=PARAMS)
    points = {
        axes.get_title("left"): sum(len(line.get_xdata()) for line in axes.lines[1:2])
        for axes in plate.figure.axes
    }
    # The first line of a panel is the one at 0, the second its language's.
    assert points == {"k": 2, "m": 1}
    assert "1 mismatched steps are left out" in plate.caption


def test_the_papers_models_keep_their_marks():
    assert looks(["Gemini", "GPT-4"])["GPT-4"] == looks(["GPT-4"])["GPT-4"]
    marks = looks(["b", "a", "c"])
    assert len({look.color for look in marks.values()}) == 3


@pytest.mark.parametrize(
    "plate",
    [
        partial(draw.average, integrity=INTEGRITY, params=PARAMS),
        partial(draw.by_model, params=PARAMS),
        partial(draw.skewness_by_model, tests=NOTHING, params=PARAMS),
        partial(draw.size, params=PARAMS),
        partial(quality.perceived, human=NOTHING, gains=NOTHING, params=PARAMS),
        partial(quality.human, params=PARAMS),
        partial(quality.gains, params=PARAMS),
        partial(tasks.commongen, table=NOTHING, params=PARAMS),
        partial(tasks.mathematics, params=PARAMS),
        partial(tasks.example_bias, skewness=NOTHING, params=PARAMS),
        partial(tasks.example_skewness, skewness=NOTHING, params=PARAMS),
        partial(controls.best_of_k, noise=NOTHING, params=PARAMS),
        partial(controls.refined_by_noise, noise=NOTHING, params=PARAMS),
        partial(controls.paraphrase, params=PARAMS),
        partial(controls.matched, params=PARAMS),
        partial(controls.arms, params=PARAMS),
        partial(of_texts.format_accuracy, steps=(1,), printed=NOTHING),
        of_texts.unusable,
    ],
)
def test_an_empty_frame_is_told_and_not_drawn(plate):
    figure, _, caption = plate(NOTHING)
    assert figure is None
    assert caption.endswith(".")


def test_nothing_found_is_told():
    assert of_texts.defects(NOTHING, INTEGRITY).endswith(".")


def test_captions_count_what_they_show():
    told = draw.average(translation(), INTEGRITY, PARAMS).caption
    assert "released: 32 texts with both scores; corrected: 24 texts" in told
    assert "Hollow: mismatched step, left out when corrected, so that the mean of m" in told
    assert "100 bootstrap resamples of sentences" in told


def test_defects_are_told_with_steps_and_counts():
    audit = pd.DataFrame(
        {
            "file": ["a/m-scores/x.txt", "a/m-scores/y.txt", "a/z.txt"],
            "finding": ["left out: records are not texts", "read", "blocked"],
            "affected": [7, 100, 3],
            "detail": ["7 records for 100 texts", None, None],
        }
    )
    checks = {"truth_without_text": 0, "text_without_truth": 0, "self_decreased": [0, 35, 0]}
    told = of_texts.defects(audit, INTEGRITY.assign(**checks))
    assert "`m-scores` (7 records for 100 texts)" in told
    assert "mismatched: m in Yoruba → English, step 1; k in given words, step 0" in told
    assert "accept rule forbids (35 sentences): m in Yoruba → English, step 1" in told
    assert "blocked: 3 rows in 1 files" in told


def test_the_printed_range_of_formats_stands_beside_what_comes_out():
    cells = {"language": "yor-en", "model": ["k", "m"], "step": 1, "n": 8}
    shares = {"well_formed": [0.6, 0.9], "but_for_cut": [0.7, 0.9], "usable": [0.8, 1.0]}
    rows = pd.DataFrame(cells | shares)
    printed = pd.DataFrame({"published": [0.93, 1.0]})
    told = of_texts.format_accuracy(rows, printed, steps=(1,)).caption
    assert "0.600 to 0.900; printed 0.93 to 1.00" in told
    assert "printed" not in of_texts.format_accuracy(rows, printed[:0], steps=(1,)).caption


def test_asymmetric_steps_are_counted_without_repeats_and_other_tasks():
    cells = {"language": ["yor-en", "yor-en", "yor-en", "commongen"], "model": "m"}
    tests = pd.DataFrame(cells | {"step": [0, 1, 2, 0], "convention": "corrected", "n": 8})
    tests = tests.assign(p=[0.001, 0.001, 0.5, 0.001], band_upper=0.4, repeated=False)
    tests.loc[1, "repeated"] = True
    told = draw.skewness_by_model(translation(), tests, PARAMS).caption
    assert "1 of 2 steps are asymmetric" in told
    assert "(1 steps repeat" in told


def test_the_null_of_best_of_k_and_its_excess_are_told():
    cells = {"language": "yor-en", "model": "m", "k": [2, 4], "convention": "corrected"}
    rows = pd.DataFrame(cells | {"n": 8, "unusable": 0, "truth_mean": -9.0, "bias": 4.0})
    rows = rows.assign(bias_lo=3.0, bias_hi=5.0, beyond=-1.0, beyond_lo=-2.0, beyond_hi=[-0.5, 0.5])
    noise = pd.DataFrame(cells | {"candidate_mean": -8.0, "noise_bias": 5.0, "scores": [16, 32]})
    plate = controls.best_of_k(rows, noise, PARAMS)
    assert "of this k (48 in all)" in plate.caption
    assert "above 0 in 0 of 2, below 0 in 1" in plate.caption
    (axes,) = (axes for axes in plate.figure.axes if axes.lines)
    drawn = {
        line.get_marker(): list(line.get_ydata())
        for line in axes.lines
        if len(line.get_xdata()) == 2
    }
    assert drawn["P"] == [1.0, 1.0]
    assert drawn["x"] == [5.0, 5.0]


def steps(values, **cells):
    """One model's bias by step, corrected, with the columns of two frames."""
    rows = {"language": "yor-en", "model": "m", "convention": "corrected", "n": 8, "unusable": 0}
    return pd.DataFrame({"step": range(len(values)), **rows, "bias": values, **cells})


@pytest.mark.parametrize(("last", "told"), [(3.5, True), (2.0, False)])
def test_noise_rises_nearly_as_much_is_said_where_it_does(last, told):
    noise = steps([0.0, 0.0], scores=8, beyond=[np.nan, 0.5]).assign(noise_bias=[0.0, last])
    noise = noise.assign(beyond_lo=-1.0, beyond_hi=1.0)
    figure = controls.refined_by_noise(steps([0.0, 4.0]), noise, PARAMS).figure
    shown = figure.legends[0].get_title().get_text().replace("\n", " ")
    message = "Under this rule random scores rise about as much, or more"
    assert shown == (message if told else "")


@pytest.mark.parametrize(("better", "told"), [(-0.5, True), (0.5, False)])
def test_that_quality_does_not_rise_is_said_where_no_interval_lies_above_0(better, told):
    rows = steps([6.0, 9.0], self_mean=[-3.0, -1.0], truth_mean=-9.0)
    where = {"language": "yor-en", "model": "m", "convention": "corrected"}
    gains = pd.DataFrame([where | {"self_change_lo": 1.0, "truth_change_lo": better}])
    human = pd.DataFrame({"language": "yor-en", "model": "m", "step": [0, 1], "n": 8})
    bounds = {"human_mean": -12.0, "human_mean_lo": -14.0, "human_mean_hi": -10.0}
    plate = quality.perceived(rows, human.assign(**bounds), gains, PARAMS)
    shown = plate.figure.legends[0].get_title().get_text()
    assert shown == ("Self-scores rise, quality does not" if told else "")
    assert "Stars: human MQM of the first 8 sentences" in plate.caption


def test_sentences_of_mismatched_steps_are_hollow_where_nothing_else_is_left():
    cells = {"model": "k", "step": [0, 1], "matcher": "lemma", "n": 8, "unusable": 0}
    shares = {"predicted": [0.5, 0.9], "true": 0.2, "bias": [0.3, 0.7]}
    seen = pd.DataFrame(cells | shares | {"convention": "released"})
    left = pd.DataFrame(cells | {"predicted": [0.5, 0.9], "convention": "corrected"})
    left = left.assign(true=np.nan, bias=np.nan)
    other = seen.assign(model="m", convention="corrected")
    (axes,) = tasks.commongen(pd.concat([seen, left]), seen, PARAMS).figure.axes
    assert hollow(axes) == 4
    plate = tasks.commongen(pd.concat([seen, left, other]), seen, PARAMS)
    assert [hollow(axes) for axes in plate.figure.axes] == [0]
    assert "k: every step is mismatched" in plate.caption
