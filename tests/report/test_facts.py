"""What the judges' page says first of each judge, from the tables of the released data in git."""

import pandas as pd
import pytest
from conftest import REPOSITORY

from selfpref.report.facts import answers, facts

TABLES = [
    ("wataoka", "fig1b_bias"),
    ("wataoka", "position"),
    ("beyond", "beyond"),
    ("beyond", "placebo"),
    ("xu", "gains"),
    ("xu", "refined_by_noise"),
    ("livebench", "position"),
]


def of(judge):
    """A judge's rows of every table."""
    found = {}
    for study, name in TABLES:
        frame = pd.read_csv(REPOSITORY / f"figures/recorded/{study}/{name}.csv")
        who = "judge" if "judge" in frame else "model"
        if frame[who].eq(judge).any():
            found[study, name] = frame[frame[who].eq(judge)]
    return found


def test_a_judge_beside_others_is_answered_by_the_regression_and_alone_cannot_be_told():
    told = dict(one.split(": ", 1) for one in answers("gpt-4", of("gpt-4")))
    assert told["On vicuna80"].startswith("does not favour itself, because it adds +0.03")
    assert told["On mt-bench"].startswith("cannot tell, because it favours its own responses by")


def test_without_pairs_of_its_own_nothing_is_answered():
    assert answers("o3-mini", of("o3-mini")) == []


@pytest.mark.parametrize("measure", ["bias towards its own responses", "another person's"])
def test_no_fixed_value_is_that_of_no_self_preference_in_equal_opportunity(measure):
    (fact,) = [
        one
        for one in facts(of("gpt-4"))
        if one.measure.startswith(measure) and one.data == "vicuna80"
    ]
    assert (fact.null, fact.reading, fact.pairs) == (None, "", "215 + 29")


def test_a_change_over_steps_is_that_to_the_last_step():
    noise = [one for one in facts(of("gpt-4")) if "judge of noise" in one.measure]
    table = of("gpt-4")["xu", "refined_by_noise"].query("convention == 'corrected'")
    (average,) = [one for one in noise if one.data == "average"]
    last = table[table["language"].eq("average")].sort_values("step").iloc[-1]
    assert float(average.value.value) == pytest.approx(last["beyond"])
    assert average.reading == "below 0"


def test_without_what_the_rule_reads_nothing_is_answered():
    own = of("gpt-4")
    rows = own["beyond", "beyond"]
    own["beyond", "beyond"] = rows[rows["statistic"].ne("regression_scaled")]
    assert answers("gpt-4", own) == []
