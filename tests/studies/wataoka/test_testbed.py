"""What was injected is recovered: judges that follow their rule exactly, in a small true world."""

import json
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
from judged_sets import data_set

from selfpref.studies.wataoka import checks

WRITERS = {"plain": 0.0, "proud": 0.4, "humble": -0.4}


@pytest.fixture(scope="module")
def world():
    """60 prompts, three writers; every judge decides by quality plus its bonus for itself."""
    rng = np.random.default_rng(5)
    bonus = {**WRITERS, "onlooker": 0.0}
    votes, verdicts, truths = [], [], []
    for n in range(60):
        quality = {name: round(rng.random(), 3) for name in WRITERS}
        for name, q in quality.items():
            row = {"item": n, "responder": name}
            truths.append(row | {"metric": "quality", "score": q})
            for judge, beta in bonus.items():
                score = q + beta * (judge == name)
                truths.append(row | {"metric": f"rule-{judge}", "score": score})
        for a, b in combinations(sorted(WRITERS), 2):
            gap = quality[a] - quality[b]
            votes.append((n, a, b, a if rng.random() < 1 / (1 + np.exp(-gap / 0.15)) else b))
            for judge, beta in bonus.items():
                lean = gap + beta * ((judge == a) - (judge == b))
                choice = a if lean > 0 else b
                verdicts += [(n, judge, *order, choice) for order in permutations((a, b))]
    truths += [
        {"item": 0, "responder": judge, "metric": "beta", "score": beta}
        for judge, beta in bonus.items()
    ]
    metadata = {n: json.dumps({"held_out": n % 5 == 0}) for n in range(60)}
    return data_set("seed-3", votes, verdicts, metadata=metadata, truths=truths)


def test_judges_that_follow_their_rule_measure_what_was_planted(world):
    found = checks.planted([world]).set_index("judge")
    assert np.allclose(found["measured"], found["planted"])
    assert found["beta"].to_dict() == WRITERS
    assert (found["seed"] == 3).all()
    # A bonus moves the bias away from the oracle rule.
    away = (found["measured"] - found["oracle_rule"]).round(9)
    assert away["plain"] == 0 > away["humble"]
    assert away["proud"] > 0


def test_the_recovery_is_perfect_here(world):
    found = checks.recovery([world]).set_index("quantity")
    assert found.loc["measured with planted", "r"] == pytest.approx(1)
    assert found["n"].tolist() == [3, 3, 3]
    assert found.loc["measured with oracle rule", "r"] < 0.999
    # A judge without a bonus of its own takes no part in the others' correlation.
    truths = world.tables["truths"]
    some = truths[~(truths["metric"].eq("beta") & truths["responder"].eq("plain"))]
    assert checks.recovery([replace(world, tables={**world.tables, "truths": some})]).empty


def test_an_unbiased_judge_agrees_with_the_oracle(world):
    found = checks.oracle_agreement([world]).set_index(["judge", "prompts"])["agreement"]
    assert found[("plain", "held-out")] == found[("onlooker", "seen")] == 1
    assert found[("proud", "seen")] < 1
    families = [found[(name, "seen")] for name in WRITERS]
    assert found[("mean of families", "seen")] == pytest.approx(np.mean(families))
