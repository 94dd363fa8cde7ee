"""What the judges' page says of each judge, from the tables of the released data in git."""

import pandas as pd
import pytest
from conftest import STAGED

from selfpref.plots.save import tables
from selfpref.report import judges


@pytest.fixture
def found():
    folders = (STAGED / "figures/recorded").iterdir()
    return {(one.name, name): frame for one in folders for name, frame in tables(one).items()}


def rows_of(found):
    """The first table: verdict, order, agreement and evidence by judge and data."""
    rows = judges.first(found).itertuples(index=False, name=None)
    return {(judge, data): told for judge, data, *told in rows}


def test_a_judge_is_answered_by_the_rule_of_measure(found):
    rows = rows_of(found)
    verdict, order, agreement, evidence = rows["GPT-4", "Vicuna-80"]
    assert (verdict, order, agreement) == ("cannot tell", "0.14", "0.83")
    assert evidence.startswith("it adds +0.03")
    verdict, order, _, evidence = rows["GPT-4", "MT-Bench"]
    assert (verdict, order) == ("cannot tell", "")
    assert evidence.startswith("it favours its own responses by")
    # A judge of marks beside a key, by the third judge.
    verdict, *_, evidence = rows["o3-mini", "LiveBench"]
    assert verdict == "favours itself"
    assert evidence.startswith("it marks its own wrong answers +0.92 [+0.60, +1.23] above a third")
    statistics = found["beyond", "beyond"]
    found["beyond", "beyond"] = statistics[statistics["statistic"].ne("regression_scaled")]
    assert judges.answers("gpt-4", found) == {}


def test_every_judge_has_a_row_under_a_known_name_and_those_without_an_answer_come_last(found):
    rows = rows_of(found)
    # Neither null judges nor people, nor what a study tuned.
    assert {"GPT-4", "Gemini", "Claude 3.7", "Llama-2", "Gemma 2 27B"} <= {one for one, _ in rows}
    assert not {"noise", "human", "people", "cnn_10_ft_gpt35"} & {one for one, _ in rows}
    assert "cnn_10_ft_gpt35" in judges.tuned(found)
    # Of several sets the least and the greatest share.
    assert rows["Qwen 2.5 3B", "MATH500, MBPP+, MMLU"][1] == "0.89 to 0.94"
    evidence = [told[-1] for told in rows.values()]
    assert all(evidence)
    assert evidence == sorted(evidence, key=judges.UNVOTED.__eq__)


def test_a_judge_whose_endpoint_failed_says_so():
    asked = {"judge": ["gone", "gone", "half", "half"], "table": "verdicts"}
    asked |= {"status": ["failed", "no table", "failed", "ok"], "n": [7, 0, 1, 2]}
    told = rows_of({("wataoka", "asked"): pd.DataFrame(asked)})
    failed = "nothing is known of it: 7 failed, no table"
    assert told["gone", "wataoka"] == ["cannot tell", "", "", failed]
    assert told["half", "wataoka"] == ["cannot tell", "", "", judges.UNVOTED]


@pytest.mark.parametrize("study", ["livebench", "panickssery", "xu"])
def test_a_study_alone_has_its_page(found, study):
    """With `beyond`, which every profile has."""
    found = {place: frame for place, frame in found.items() if place[0] in (study, "beyond")}
    assert judges.first(found)["judge"].any()
    assert study in dict(judges.tables(found))


def test_an_excerpt_has_of_several_steps_the_last_and_quotes_nothing_of_too_few_pairs(found):
    steps = found["xu", "refined_by_noise"].query(f"{judges.AVERAGE} and model == 'gpt-4'")
    shown = judges.excerpt(found, "xu", "refined_by_noise", judges.AVERAGE).set_index("judge")
    assert shown.loc["gpt-4", "beyond"] == steps.loc[steps["step"].idxmax(), "beyond"]
    bias = found["wataoka", "fig1b_bias"]
    bias.loc[bias["judge"].eq("bard"), "few"] = True
    pages = dict(reversed(judges.tables(found)))
    assert "| Bard | Vicuna-80 | too few |" in pages["wataoka"]
    assert "_ft_" not in "".join(pages.values())
