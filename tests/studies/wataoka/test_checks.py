"""What papers print and the testbed knows beside what is computed."""

import json
from dataclasses import replace
from itertools import combinations

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
    assert row["dp"] == pytest.approx(2 * (1852 + 160) / 2238 - 1)
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


def test_win_rates_are_of_all_judged_pairs_beside_what_is_printed():
    # The judge that sorts first scored one of three pairs, and nobody the fourth.
    said = {"claude-1": "g-", "gpt-4": "bbg"}
    names = {"g": "gpt-4", "b": "bard", "t": "tie", "-": None}
    verdicts = [
        (n, judge, "gpt-4", "bard", names[one])
        for judge, every in said.items()
        for n, one in enumerate(every)
    ]
    votes = [(n, "gpt-4", "bard", names[one]) for n, one in enumerate("gtbg")]
    found = checks.checks([data_set("vicuna80", votes, verdicts)], PUBLISHED)
    found = found.set_index(["judge", "quantity"])
    assert set(found["item"]) == {"win rate"}
    rates = found["recomputed"]
    assert rates["human"].to_dict() == {"gpt-4": 0.5, "bard": 0.5}
    assert rates["gpt-4"].to_dict() == pytest.approx({"gpt-4": 1 / 3, "bard": 2 / 3})
    assert found.loc[("gpt-4", "gpt-4"), "difference"] == pytest.approx(1 / 3 - 0.85625)


def test_another_person_in_the_judges_place():
    single = ["gpt-4"] * 8 + ["other"] * 2 + ["tie"]
    arena = data_set("arena", [(n, "gpt-4", "other", vote) for n, vote in enumerate(single)])
    double = [
        (n, "gpt-4", "other", "gpt-4" if n < won else "other", who)
        for who, won in {"p": 6, "q": 4}.items()
        for n in range(8)
    ]
    other = data_set("other", double)
    (row,) = checks.without_self([arena, other], PAPER).to_dict("records")
    assert (row["votes_of"], row["n"], row["n_two_votes"]) == ("other", 10, 8)
    # Of eight pairs two differ; ten of 16 votes are for GPT-4.
    rho = 1 - (2 / 8) / (2 * 10 / 16 * 6 / 16)
    eo = (2 * 0.8 - 1) * (1 - rho)
    assert [row[name] for name in checks.VALUES] == pytest.approx([0.8, rho, eo, eo / 0.520438])
    assert row["eo_without_self_lo"] < eo < row["eo_without_self_hi"]
    # Without Arena, another set or the paper's counts there is nothing to say.
    for sets, paper in (([other], PAPER), ([arena], PAPER), ([arena, other], PAPER.iloc[:0])):
        assert checks.without_self(sets, paper).empty


def scores(item, responder, **of):
    """True scores of one text by metric."""
    row = {"item": item, "responder": responder}
    return [row | {"metric": metric, "score": score} for metric, score in of.items()]


WRITERS = {"plain": 0.0, "proud": 0.4, "humble": -0.4}


@pytest.fixture(scope="module")
def world():
    """60 prompts, three writers; every judge decides by quality plus its bonus for itself."""
    rng, judges = np.random.default_rng(5), WRITERS | {"onlooker": 0.0}
    votes, verdicts = [], []
    truths = [row for judge, beta in judges.items() for row in scores(0, judge, beta=beta)]
    for n in range(60):
        quality = dict(zip(WRITERS, rng.random(3).round(3), strict=True))
        for name, q in quality.items():
            rules = {f"rule-{judge}": q + beta * (judge == name) for judge, beta in judges.items()}
            truths += scores(n, name, quality=q, **rules)
        for a, b in combinations(WRITERS, 2):
            gap = quality[a] - quality[b]
            votes.append((n, a, b, a if rng.normal(gap, 0.25) > 0 else b))
            for judge, beta in judges.items():
                lean = gap + beta * ((judge == a) - (judge == b))
                verdicts.append((n, judge, a, b, a if lean > 0 else b))
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


def test_pairs_of_equal_quality_do_not_count():
    truths = [*scores(0, "a", quality=0.5), *scores(0, "b", quality=0.5)]
    truths += [*scores(1, "a", quality=0.9), *scores(1, "b", quality=0.1)]
    data = data_set(verdicts=[(n, "j", "a", "b", "a") for n in (0, 1)], truths=truths)
    row = checks.oracle_agreement([data]).iloc[0]
    assert (row["n"], row["agreement"], row["writes"]) == (1, 1, False)
