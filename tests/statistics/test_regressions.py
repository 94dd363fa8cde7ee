"""Least squares against others' programs; own terms on judges whose preferences are known."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from conftest import SETTINGS

from selfpref.statistics import choices, scaled
from selfpref.statistics.bias import between
from selfpref.statistics.bootstrap import ClusterBootstrap, fit, pearson, slope_of_sums
from selfpref.statistics.choices import by_name
from selfpref.statistics.scaled import EACH, ONE, Products


def test_coefficients_and_intervals_are_those_of_statsmodels(rng):
    clusters = pd.Series(rng.integers(0, 25, 200).astype(str))
    shared = rng.normal(size=25)[clusters.astype(int)]
    a, noise = rng.normal(size=(2, 200))
    x = pd.DataFrame({"one": 1.0, "a": a, "b": shared + noise})
    y = (0.3 * x["a"] - x["b"] + shared + rng.normal(size=200)).to_numpy()
    how = {"cov_type": "cluster", "cov_kwds": {"groups": clusters.astype(int)}, "use_t": True}
    wanted = sm.OLS(y, x).fit(**how)
    found = fit(y, x, clusters, list(x), 0.95)
    for name, one in found.items():
        assert one[:3] == pytest.approx((wanted.params[name], *wanted.conf_int().loc[name]))
    # A column that others span has none, and takes a degree of freedom from no other one.
    spanned = fit(y, x.assign(c=x["a"] - 2 * x["one"], empty=0.0), clusters, [*"abc"], 0.95)
    assert spanned["b"][:3] == pytest.approx(found["b"][:3])
    assert np.isnan([spanned["a"].value, spanned["c"].value]).all()
    alone = fit(y, x, pd.Series("same", index=x.index), ["a"], 0.95)["a"]
    assert alone[:2] == pytest.approx((found["a"].value, np.nan), nan_ok=True)


def of_rows(*columns):
    rows = np.column_stack([np.ones(len(columns[0])), *columns])
    return slope_of_sums(rows.T @ rows)


def test_slopes_of_sums_and_correlations_are_those_of_the_rows(rng):
    q, x, noise = rng.normal(size=(3, 300))
    y = 0.3 - 0.2 * x + 0.4 * q + 0.1 * noise
    for controls in ((), (q,)):
        design = np.column_stack([x, np.ones(300), *controls])
        assert of_rows(*controls, x, y) == pytest.approx(np.linalg.lstsq(design, y)[0][0])
    assert pearson(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1])
    # One value of x, or a control that explains it, leave nothing.
    x, y = np.array([1.0, 2, 3, 4]), np.array([0.0, 0, 1, 1])
    assert np.isnan([of_rows(0 * x, y), of_rows(2 * x, x, y), pearson(0 * x, y)]).all()


QUALITY = {"best": 1.0, "good": 0.4, "poor": -0.4, "worst": -1.0}
# The steadiest judge writes best: what looks like self-preference with one scale for all.
SCALES = {"best": 1.8, "good": 1.2, "poor": 0.6, "worst": 0.4}


def simulated(rng, bonus=(), scales=SCALES, items=100):
    """Scores that follow quality with a scale of each judge, and a bonus for its own texts."""
    rows, bonus = [], dict(bonus)
    for item in range(items):
        quality = {name: mean + 0.5 * rng.normal() for name, mean in QUALITY.items()}
        for first, second in combinations(sorted(QUALITY), 2):
            gap = quality[first] - quality[second]
            human = float(gap + 0.5 * rng.normal() > 0)
            for judge, scale in scales.items():
                own = bonus.get(judge, 0.0) * ((first == judge) - (second == judge))
                score = 0.5 + 0.08 * scale * gap + own + 0.05 * rng.normal()
                rows.append((str(item), judge, first, second, human, score))
    return pd.DataFrame(rows, columns=["cluster", "judge", "first", "second", "human", "score"])


def own_texts(pairs, resamples=500):
    return scaled.own_texts(Products.of(pairs), ClusterBootstrap(resamples, seed=1), "test")


def alone(pairs):
    found = scaled.placebos(SimpleNamespace(name="d", pairs=pairs, settings=SETTINGS))
    return found.set_index(["model", "judge", "responder"])


def test_a_bonus_is_recovered_with_one_scale_and_a_good_writer_has_none(rng):
    pairs = simulated(rng, {"worst": 0.08}, scales=dict.fromkeys(QUALITY, 1.0))
    data = SimpleNamespace(name="d", settings=SETTINGS)
    found = pd.DataFrame(choices.regressions(data, pairs, "human")).set_index("judge")
    for judge, wanted in {"worst": 0.08, "good": 0.0}.items():
        assert found.loc[judge, "lo"] < wanted < found.loc[judge, "hi"]
        assert found.loc[judge, "value"] == pytest.approx(wanted, abs=0.02)
    assert found[["n", "dropped"]].to_numpy().tolist() == [[300, 0]] * 4


def test_noise_alone_passes_for_self_preference_with_one_scale_and_not_with_a_scale_each(rng):
    pairs = simulated(rng)
    found, (effects, _) = alone(pairs), own_texts(pairs)
    assert found.loc[(ONE, "best", "best"), "effect_lo"] > 0
    assert found.loc[(ONE, "worst", "best"), "effect_hi"] < 0
    assert all(effect.lo < 0 < effect.hi for effect in effects.values())
    sizes = found[~found["own"]]["effect"].abs().groupby("model").mean()
    assert sizes[EACH] < sizes[ONE] / 2


def test_an_injected_preference_is_recovered(rng):
    bonus = {"best": 0.0, "good": 0.1, "poor": -0.06, "worst": 0.0}
    effects, scales = own_texts(simulated(rng, bonus))
    for judge, wanted in bonus.items():
        assert effects[judge].lo <= wanted <= effects[judge].hi
        assert effects[judge].value == pytest.approx(wanted, abs=0.02)
    found = scales.set_index("judge")
    assert found["n"].eq(600).all()
    # Scales have a mean of 1.
    wanted = pd.Series(SCALES)
    assert wanted.between(found["scale_lo"], found["scale_hi"], inclusive="neither").all()


def test_a_placebo_with_one_scale_is_the_coefficient_of_the_plain_regression(rng):
    pairs = simulated(rng, items=30)
    texts = between(pairs).iloc[:, 1:]
    design = texts.join(by_name(pairs["human"] - 0.5, pairs["judge"], "gold to"))
    term = pairs["first"].eq("poor").astype(float) - pairs["second"].eq("poor")
    design["term"] = term.where(pairs["judge"].eq("good"), 0.0)
    y = pairs["score"].to_numpy() - 0.5
    wanted = fit(y, design, pairs["cluster"], ["term"], SETTINGS.bootstrap.level)["term"]
    found = alone(pairs).loc[(ONE, "good", "poor")]
    assert found[["effect", "effect_lo", "effect_hi"]].tolist() == pytest.approx(wanted[:3])
    assert (found["n"], found["own"]) == (90, False)


def test_own_less_a_placebo_has_the_error_that_leaving_prompts_out_gives(rng):
    pairs, cell = simulated(rng, {"best": 0.05}, items=40), (EACH, "best", "good")
    found, prompts = alone(pairs).loc[cell], pairs["cluster"].unique()
    left = [alone(pairs[pairs["cluster"].ne(one)]).loc[cell, "own_less"] for one in prompts]
    half = 2.0227 * np.std(left) * 39 / np.sqrt(40)  # of t with 39 degrees of freedom
    assert found["own_less_hi"] - found["own_less"] == pytest.approx(half, rel=0.1)
    assert found["own_less_lo"] + found["own_less_hi"] == pytest.approx(2 * np.mean(left), rel=0.01)


@pytest.mark.parametrize("judges", ["best", "best good", ""])
def test_what_the_responders_cannot_be_told_from_has_no_coefficient(rng, judges):
    """One judge of many responders, or two of two: the scales take up what own texts would show."""
    pairs = simulated(rng, items=20).query("judge in @judges.split()")
    if " " in judges:
        pairs = pairs.query("first in @judges.split() and second in @judges.split()")
    effects, scales = own_texts(pairs, resamples=20)
    assert not effects
    assert judges or scales.empty
    assert EACH not in alone(pairs).index


def test_a_fit_that_does_not_settle_gives_no_coefficient(rng):
    """One judge loves what `good` writes, the others follow quality: r of `good` has no end."""
    pairs = simulated(rng, scales=dict.fromkeys([*QUALITY, "fan"], 0.02), items=40)
    fan = 0.4 * (pairs["first"].eq("good").astype(float) - pairs["second"].eq("good"))
    pairs["score"] += fan.where(pairs["judge"].eq("fan"), 0.0)
    effects, found = own_texts(pairs, resamples=20)
    assert (effects, len(found)) == ({}, 0)


def placebo(effects):
    rows = [(judge, of, judge == of, effect) for (judge, of), effect in effects.items()]
    found = pd.DataFrame(rows, columns=["judge", "responder", "own", "effect"])
    return found.assign(dataset="d", model=EACH)


def test_the_permutation_counts_assignments_whose_mean_is_no_smaller(rng):
    cells = placebo({"aa": 0.2, "ab": 0.0, "ac": 0.1, "ba": 0.1, "bb": 0.1, "bc": -0.4})
    # Of the six ways only the true one has a mean of 0.15; of four without the last cell, too.
    for rows, ways in ((cells, 6), (cells[cells["effect"].ne(-0.4)], 4)):
        (found,) = scaled.permuted(rows, rng).to_dict("records")
        assert (found["p"], found["assignments"]) == (1 / ways, ways)
        others = rows.loc[~rows["own"], "effect"].mean()
        assert [found["own"], found["others"]] == pytest.approx([0.15, others])
    # Of many assignments some are drawn, and the true one counts.
    alike = {(judge, of): float(judge == of) for judge in "abcdefgh" for of in "abcdefgh"}
    many = scaled.permuted(placebo(alike), rng)
    assert many["assignments"].tolist() == [scaled.MOST + 1]
    assert 0 < many["p"].item() < 0.01
