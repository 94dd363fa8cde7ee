"""Pictures of the study of Xu et al.: flawed steps hollow, "no data" where nothing is left."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from selfpref.studies.xu import draw
from selfpref.studies.xu.draw import controls, flawed, looks, tasks
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


def texts(figure):
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


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


@pytest.mark.parametrize(
    "plate",
    [draw.average, draw.by_language, partial(draw.skewness_by_language, tests=pd.DataFrame())],
)
def test_flawed_steps_are_hollow_as_released_and_absent_when_corrected(plate):
    figure = plate(translation(), integrity=INTEGRITY, params=PARAMS).figure
    # Panels stand in lines; the titles of a figure of two quantities are above the first.
    titles = {axes.get_subplotspec().colspan.start: axes.get_title("left") for axes in figure.axes}
    headed = [
        (axes, axes.get_title("left") or titles[axes.get_subplotspec().colspan.start])
        for axes in figure.axes
    ]
    released = [axes for axes, title in headed if "as released" in title]
    corrected = [axes for axes, title in headed if "corrected" in title]
    assert len(released) == len(corrected) > 0
    assert [hollow(axes) for axes in released] == [1] * len(released)
    assert [hollow(axes) for axes in corrected] == [0] * len(corrected)


def test_the_papers_models_keep_their_marks():
    assert looks(["gemini", "gpt-4"])["gpt-4"] == looks(["gpt-4"])["gpt-4"]
    marks = looks(["b", "a", "c"])
    assert len({look.color for look in marks.values()}) == 3


@pytest.mark.parametrize(
    "plate",
    [
        partial(draw.average, integrity=INTEGRITY, params=PARAMS),
        partial(draw.by_language, integrity=INTEGRITY, params=PARAMS),
        partial(draw.skewness_by_language, tests=NOTHING, integrity=INTEGRITY, params=PARAMS),
        partial(draw.perceived, second=NOTHING, human=NOTHING, integrity=INTEGRITY),
        partial(draw.human, params=PARAMS),
        partial(draw.size, integrity=INTEGRITY, params=PARAMS),
        partial(draw.gains, params=PARAMS),
        partial(tasks.commongen, table=NOTHING, integrity=INTEGRITY, params=PARAMS),
        partial(tasks.commongen_bias, integrity=INTEGRITY, params=PARAMS),
        partial(tasks.mathematics, params=PARAMS),
        partial(tasks.example_bias, skewness=NOTHING, params=PARAMS),
        partial(tasks.example_skewness, skewness=NOTHING, params=PARAMS),
        partial(controls.best_of_k, noise=NOTHING, params=PARAMS),
        partial(controls.refined_by_noise, noise=NOTHING, integrity=INTEGRITY, params=PARAMS),
        partial(controls.paraphrase, params=PARAMS),
        controls.rescoring,
        controls.second_readings,
        partial(controls.matched, params=PARAMS),
        partial(controls.arms, params=PARAMS),
        partial(of_texts.format_accuracy, steps=(1,), printed=NOTHING),
        of_texts.scale,
        of_texts.second_truth,
        of_texts.unusable,
        of_texts.fluency,
    ],
)
def test_an_empty_frame_is_told_and_not_drawn(plate):
    figure, _, caption = plate(NOTHING)
    assert figure is None
    assert caption.startswith("Not drawn: ")
    assert caption.endswith(".")


def test_nothing_found_is_told():
    assert of_texts.defects(NOTHING, INTEGRITY).endswith(".")


def test_a_panel_without_perplexities_says_so():
    steps = {"condition": "", "model": "m", "step": [0, 1], "n": 5, "words": 4.0, "distinct_2": 0.5}
    scored = pd.DataFrame(steps | {"language": "scored", "nats": [1.0, 0.9]})
    other = pd.DataFrame(steps | {"language": "other", "nats": np.nan})
    panels = of_texts.fluency(pd.concat([scored, other], ignore_index=True)).figure.axes
    # Words, pairs of words, nats; in each the languages by name.
    assert [bool(panel.texts) for panel in panels] == [False] * 4 + [True, False]


def test_captions_count_what_they_show():
    told = draw.by_language(translation(), INTEGRITY, PARAMS).caption
    assert "released: 32 scores with a truth; corrected: 24 scores" in told
    assert "(1 steps)" in told
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
    assert "mismatched: k in commongen, step 0; m in yor-en, step 1" in told
    assert "accept rule forbids (35 sentences): m in yor-en, step 1" in told
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
    told = draw.skewness_by_language(translation(), tests, INTEGRITY, PARAMS).caption
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


def test_pooled_gains_are_drawn_and_not_counted_twice():
    cells = {"language": ["yor-en", "all translations"], "model": "m", "convention": "released"}
    counts = {"links": 10, "edited": 3, "rescored": 17}
    rows = pd.DataFrame(cells | counts | {"share": 0.4, "share_lo": 0.2, "share_hi": 0.6})
    plate = controls.rescoring(rows)
    assert "Of 10 pairs" in plate.caption
    assert "17 only the feedback" in plate.caption
    # Each row has its own number beside it.
    beside = [text for text in texts(plate.figure) if text in {"0", "17"}]
    assert set(beside) == {"17"}
