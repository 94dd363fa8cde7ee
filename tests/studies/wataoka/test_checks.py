"""What papers print and the testbed knows beside what is computed."""

import json
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from conftest import PUBLISHED, SETTINGS
from judged_sets import data_set

from selfpref.studies.wataoka import checks

PAPER = pd.DataFrame({"judge": ["gpt-4"], "eo": [0.520438]})


def test_the_papers_counts_give_its_printed_values():
    (row,) = checks.paper_bias(PUBLISHED, SETTINGS.bootstrap).to_dict("records")
    assert (row["judge"], row["n"], row["tp"]) == ("gpt-4", 2238, 1852)
    assert row["eo"] == pytest.approx(1852 / 1960 - 118 / 278)
    assert (row["eo_printed"], row["dp_printed"]) == (0.520, 0.749)
    assert row["eo_lo"] < row["eo"] < row["eo_hi"]


def test_agreement_counts_votes_with_and_without_ties():
    votes = [(1, "b", "a", "b", "expert_1"), (1, "a", "b", "b", "expert_2")]
    votes += [(2, "a", "b", "tie", "expert_1")]
    verdicts = [(1, "j", "a", "b", "b"), (2, "j", "a", "b", "tie"), (3, "j", "a", "b", "a")]
    found = checks.agreement(data_set(votes=votes, verdicts=verdicts))
    found = found.set_index(["item", "judge", "quantity"])["recomputed"]
    kinds = ["expert, turn 1, with ties", "expert, turn 1, without ties"]
    assert found["agreement", "j"][kinds].tolist() == [1, 1]
    assert found["agreement n", "j"][kinds].tolist() == [3, 2]


def test_win_rates_are_of_all_judged_pairs_whichever_judge_sorts_first():
    verdicts = [(1, "first", "a", "b", "a"), (2, "first", "a", "b", None)]
    verdicts += [(n, "second", "a", "b", "b") for n in (1, 2)] + [(3, "second", "a", "b", "a")]
    # Nobody judged the fourth pair; the first judge scored one of three.
    votes = [(1, "a", "b", "a"), (2, "a", "b", "tie"), (3, "a", "b", "b"), (4, "a", "b", "a")]
    data = data_set("vicuna80", votes=votes, verdicts=verdicts)
    found = checks.win_rates(data).set_index(["judge", "quantity"])["recomputed"]
    assert found["human"].to_dict() == {"a": 0.5, "b": 0.5}
    assert found["second"].to_dict() == pytest.approx({"a": 1 / 3, "b": 2 / 3})


def test_checks_are_of_the_data_sets_and_judges_at_hand():
    votes = [(n, "gpt-4", "bard", who) for n, who in enumerate(["gpt-4", "gpt-4", "bard", "tie"])]
    verdicts = [(n, "gpt-4", "gpt-4", "bard", "gpt-4") for n in range(4)]
    found = checks.checks([data_set("vicuna80", votes, verdicts)], PUBLISHED)
    found = found.set_index(["judge", "quantity"])
    assert set(found["item"]) == {"win rate"}
    assert found["recomputed"].xs("human").to_dict() == {"gpt-4": 0.625, "bard": 0.375}
    assert found.loc[("gpt-4", "gpt-4"), "difference"] == pytest.approx(1 - 0.85625)


def test_another_person_in_the_judges_place_is_found_from_two_sets_of_votes():
    single = [(n, "gpt-4", "other", "gpt-4" if n < 8 else "other") for n in range(10)]
    double = [("gpt-4", "gpt-4")] * 4 + [("gpt-4", "other")] * 2 + [("other", "other")] * 2
    every = [
        (n, who, vote)
        for n, both in enumerate(double)
        for who, vote in zip("pq", both, strict=True)
    ]
    other = data_set("other", [(n, "gpt-4", "other", vote, who) for n, who, vote in every])
    arena = data_set("arena", [*single, (10, "gpt-4", "other", "tie")])
    (row,) = checks.without_self([arena, other], PAPER).to_dict("records")
    assert (row["votes_of"], row["n"], row["n_two_votes"]) == ("other", 10, 8)
    # Of eight pairs two differ; ten of 16 votes are for GPT-4.
    rho = 1 - (2 / 8) / (2 * 10 / 16 * 6 / 16)
    eo = (2 * 0.8 - 1) * (1 - rho)
    found = [row[name] for name in checks.VALUES]
    assert found == pytest.approx([0.8, rho, eo, eo / 0.520438])
    assert row["eo_without_self_lo"] < eo < row["eo_without_self_hi"]
    # Without Arena, another set or the paper's counts there is nothing to say.
    for sets, paper in (([other], PAPER), ([arena], PAPER), ([arena, other], PAPER.iloc[:0])):
        assert checks.without_self(sets, paper).empty


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
