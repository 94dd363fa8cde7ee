"""The model with a scale for each judge, on judges whose scales and preferences are known."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import SETTINGS

from selfpref.statistics import scaled
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.statistics.effects import between, by_name
from selfpref.statistics.regression import fit
from selfpref.statistics.scaled import EACH, ONE, Products

QUALITY = {"best": 1.0, "good": 0.4, "poor": -0.4, "worst": -1.0}
# The steadiest judge writes best: what looks like self-preference with one scale for all.
SCALES = {"best": 1.8, "good": 1.2, "poor": 0.6, "worst": 0.4}


def simulated(rng, bonus, scales=SCALES, items=100):
    """Scores that follow quality with a scale of each judge, and a bonus for its own texts."""
    rows = []
    for item in range(items):
        quality = {name: mean + 0.5 * rng.normal() for name, mean in QUALITY.items()}
        for first, second in combinations(sorted(QUALITY), 2):
            gap = quality[first] - quality[second]
            human = float(gap + 0.5 * rng.normal() > 0)
            for judge, scale in scales.items():
                own = bonus.get(judge, 0.0) * ((first == judge) - (second == judge))
                score = 0.5 + 0.08 * scale * gap + own + 0.05 * rng.normal()
                rows.append((str(item), judge, first, second, human, score))
    columns = ["cluster", "judge", "first", "second", "human", "score"]
    return pd.DataFrame(rows, columns=columns)


def own_texts(pairs, resamples=500):
    return scaled.own_texts(Products.of(pairs), ClusterBootstrap(resamples, seed=1), "test")


def alone(pairs):
    found = scaled.placebos(SimpleNamespace(name="d", pairs=pairs, settings=SETTINGS))
    return found.set_index(["model", "judge", "responder"])


def test_noise_alone_passes_for_self_preference_with_one_scale_and_not_with_a_scale_each(rng):
    pairs = simulated(rng, {})
    found = alone(pairs)
    assert found.loc[(ONE, "best", "best"), "effect_lo"] > 0
    # It is no more than what the noisiest judge shows towards the same texts.
    assert found.loc[(ONE, "worst", "best"), "effect_hi"] < 0
    effects, _ = own_texts(pairs)
    for judge, effect in effects.items():
        assert effect.lo < 0 < effect.hi, judge
        assert abs(effect.value) < 0.02, judge
    sizes = found[~found["own"]]["effect"].abs().groupby("model").mean()
    assert sizes[EACH] < sizes[ONE] / 2


def test_an_injected_preference_is_recovered(rng):
    bonus = {"best": 0.0, "good": 0.1, "poor": -0.06, "worst": 0.0}
    effects, scales = own_texts(simulated(rng, bonus))
    for judge, wanted in bonus.items():
        assert effects[judge].lo <= wanted <= effects[judge].hi, judge
        assert effects[judge].value == pytest.approx(wanted, abs=0.02), judge
    assert effects["good"].lo > 0.05
    mean = np.mean(list(SCALES.values()))
    found = scales.set_index("judge")
    assert found["scale"].mean() == pytest.approx(1)
    for judge, wanted in SCALES.items():
        assert found.loc[judge, "scale_lo"] < wanted / mean < found.loc[judge, "scale_hi"]
    assert found["n"].eq(600).all()


def test_the_fit_is_the_least_of_squares(rng):
    """No small step of any parameter makes the sum of squares smaller."""
    products = Products.of(simulated(rng, {"good": 0.1}, items=20))
    scale, judged, b = (
        part[0] for part in scaled.fitted(products.total[None], products.own, np.ones(4))
    )
    effects = judged[0, :4] / scale[0]

    def squares(scale, effects, b):
        model = np.pad(scale[:, None] * effects, ((0, 0), (0, 2))) + b[:, None] * products.own
        # The gold label's slope is solved for, as the score is left over from it.
        free = products.free
        line = np.concatenate([-model[:, :-1], np.ones((4, 1))], axis=1)
        return np.einsum("ja,jab,jb->", line, free, line)

    least = squares(scale, effects, b)
    for place in range(4):
        for step in (1e-3, -1e-3):
            moved = step * np.eye(4)[place]
            assert squares(scale + moved, effects, b) > least
            assert squares(scale, effects, b + moved) > least
            assert squares(scale, effects + moved, b) > least - 1e-12


def test_a_placebo_with_one_scale_is_the_coefficient_of_the_plain_regression(rng):
    pairs = simulated(rng, {}, items=30)
    design = between(pairs).join(by_name(pairs["human"] - 0.5, pairs["judge"], "gold to"))
    term = pairs["first"].eq("poor").astype(float) - pairs["second"].eq("poor")
    design["term"] = term.where(pairs["judge"].eq("good"), 0.0)
    y = pairs["score"].to_numpy() - 0.5
    wanted = fit(y, design, pairs["cluster"], ["term"], SETTINGS.bootstrap.level)["term"]
    found = alone(pairs).loc[(ONE, "good", "poor")]
    assert found[["effect", "effect_lo", "effect_hi"]].tolist() == pytest.approx(
        [wanted.value, wanted.lo, wanted.hi]
    )
    assert (found["n"], found["own"]) == (90, False)


def test_robust_intervals_of_placebos_are_as_wide_as_those_of_a_bootstrap(rng):
    pairs = simulated(rng, {}, items=80)
    products = Products.of(pairs)
    term = np.zeros(products.own.shape)
    term[0, 1] = 1.0
    (drawn,) = ClusterBootstrap(2000, seed=1).of_sums(
        products.sums,
        lambda sums: scaled.fitted(scaled.squared(sums), term, np.ones(4))[2][:, :1],
        "test",
    )
    found = alone(pairs).loc[(EACH, "best", "good")]
    assert found["effect"] == pytest.approx(drawn.value, abs=1e-6)
    width = found["effect_hi"] - found["effect_lo"]
    assert width == pytest.approx(drawn.hi - drawn.lo, rel=0.15)


@pytest.mark.parametrize("judges", [["best"], ["best", "good"]])
def test_what_the_responders_cannot_be_told_from_has_no_coefficient(rng, judges):
    """One judge of many responders, or two of two: the scales take up what own texts would show."""
    pairs = simulated(rng, {}, items=20)
    pairs = pairs[pairs["judge"].isin(judges)]
    if len(judges) > 1:
        pairs = pairs[pairs["first"].isin(judges) & pairs["second"].isin(judges)]
    effects, _ = own_texts(pairs, resamples=20)
    assert not effects
    assert not (alone(pairs).reset_index()["model"] == EACH).any()


def test_a_fit_that_does_not_settle_gives_no_coefficient(rng):
    """One judge loves what `good` writes, the others follow quality: r of `good` has no end."""
    scales = dict.fromkeys([*QUALITY, "fan"], 0.02)
    pairs = simulated(rng, {}, scales=scales, items=40)
    fan = 0.4 * (pairs["first"].eq("good").astype(float) - pairs["second"].eq("good"))
    pairs["score"] += fan.where(pairs["judge"].eq("fan"), 0.0)
    effects, found = own_texts(pairs, resamples=20)
    assert not effects
    assert found.empty
    # Nor is there anything to fit where nobody answers.
    effects, scales = own_texts(pairs.assign(score=np.nan))
    assert not effects
    assert scales.empty
    assert alone(pairs.assign(score=np.nan)).empty


def test_judges_whose_scales_sum_to_zero_have_no_fit():
    """One prefers `a` in all its three pairs, the other one `b` in its only one."""
    columns = ["judge", "score", "cluster"]
    pairs = pd.DataFrame([("j", 1.0, n) for n in "123"] + [("k", 0.0, "1")], columns=columns)
    products = Products.of(pairs.assign(first="a", second="b", human=0.5))
    with np.errstate(all="raise"):
        scale, judged, _ = scaled.fitted(products.total[None], products.own, np.ones(2))
    assert np.isnan(scale).all()
    assert np.isnan(judged[0, :, :2]).all()


def test_the_permutation_counts_assignments_whose_mean_is_no_smaller(rng):
    effect = {"a": {"a": 0.2, "b": 0.0, "c": 0.1}, "b": {"a": 0.1, "b": 0.1, "c": -0.4}}
    rows = [
        {"dataset": "d", "model": scaled.EACH, "judge": judge, "responder": responder}
        | {"own": judge == responder, "effect": value}
        for judge, told in effect.items()
        for responder, value in told.items()
    ]
    (found,) = scaled.permuted(pd.DataFrame(rows), rng).to_dict("records")
    # Of the six ways only the true one has a mean of 0.15.
    assert found["p"] == 1 / 6
    assert (found["judges"], found["assignments"]) == (2, 6)
    assert [found["own"], found["others"]] == pytest.approx([0.15, (0.0 + 0.1 + 0.1 - 0.4) / 4])
    unknown = pd.DataFrame(rows).query("not (judge == 'b' and responder == 'c')")
    (fewer,) = scaled.permuted(unknown, rng).to_dict("records")
    assert (fewer["assignments"], fewer["p"]) == (4, 0.25)


def test_of_many_assignments_some_are_drawn_and_the_true_one_counts(rng):
    names = list("abcdefgh")
    cells = pd.MultiIndex.from_product([names, names], names=["judge", "responder"])
    table = cells.to_frame(index=False).assign(dataset="d", model=scaled.ONE)
    table["own"] = table["judge"].eq(table["responder"])
    found = scaled.permuted(table.assign(effect=table["own"].astype(float)), rng)
    assert found["assignments"].tolist() == [scaled.MOST + 1]
    assert 0 < found["p"].item() < 0.01
