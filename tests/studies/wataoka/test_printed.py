"""What is printed beside what is computed: the paper's counts, agreement, win rates, no self."""

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
    assert found["recomputed"].to_dict() == {
        ("human", "gpt-4"): 0.625,
        ("human", "bard"): 0.375,
        ("gpt-4", "gpt-4"): 1.0,
        ("gpt-4", "bard"): 0.0,
    }
    assert found.loc[("gpt-4", "gpt-4"), "difference"] == pytest.approx(1 - 0.85625)


def votes_of(name, p, annotators, rng):
    """A pair an item with gpt-4's response, and votes for it with its own probability."""
    votes = [
        (number, "gpt-4", "other", "gpt-4" if rng.random() < chance else "other", str(who))
        for number, chance in enumerate(p)
        for who in range(annotators)
    ]
    return data_set(name, votes)


def test_another_person_in_the_judges_place_is_found_from_two_sets_of_votes(rng):
    # Beta(3.2, 0.8) and Beta(2, 2) spread alike: rho = 1 / (a + b + 1).
    arena = votes_of("arena", rng.beta(3.2, 0.8, 4000), 1, rng)
    other = votes_of("other", rng.beta(2, 2, 4000), 3, rng)
    (row,) = checks.without_self([arena, other], PAPER).to_dict("records")
    assert (row["votes_of"], row["n"], row["n_two_votes"]) == ("other", 4000, 4000)
    assert row["win_rate"] == pytest.approx(0.8, abs=0.02)
    assert row["agreement_beyond_chance"] == pytest.approx(1 / 5, abs=0.03)
    truth = (2 * 0.8 - 1) * (1 - 1 / 5)
    assert row["eo_without_self_lo"] < truth < row["eo_without_self_hi"]
    assert row["share_of_printed"] == pytest.approx(row["eo_without_self"] / 0.520438)
    # Without Arena, another set or the paper's counts there is nothing to say.
    for sets, paper in (([other], PAPER), ([arena], PAPER), ([arena, other], PAPER.iloc[:0])):
        assert checks.without_self(sets, paper).empty
