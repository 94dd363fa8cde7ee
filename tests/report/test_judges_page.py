"""What the judges' page says of each judge, from the tables of the released data in git."""

import pandas as pd
import pytest
from conftest import STAGED

from selfpref.report import judges

TABLES = {
    "wataoka": ("fig1b_bias", "position", "keyed_bias", "agreement_with_human", "asked"),
    "beyond": ("beyond", "placebo"),
    "xu": ("gains", "refined_by_noise", "asked"),
    "livebench": ("position", "excess", "third_judge", "asked"),
    "panickssery": ("evaluators", "fig1_recognition_vs_preference", "ordering", "asked"),
}


@pytest.fixture
def found():
    folder = STAGED / "figures/recorded"
    return {
        (study, name): pd.read_csv(folder / f"{study}/{name}.csv")
        for study, names in TABLES.items()
        for name in names
    }


def rows_of(found):
    """The first table: verdict, order, agreement and evidence by judge and data."""
    return {(judge, data): told for judge, data, *told in judges.first(found).rows}


def test_a_judge_is_answered_by_the_regression_where_it_stands_beside_others(found):
    rows = rows_of(found)
    verdict, order, agreement, evidence = rows["GPT-4", "Vicuna-80"]
    assert (verdict, order, agreement) == ("cannot tell", "0.14", "0.83")
    assert evidence.startswith("it adds +0.03")
    verdict, order, _, evidence = rows["GPT-4", "MT-Bench"]
    assert (verdict, order) == ("cannot tell", "")
    assert evidence.startswith("it favours its own responses by")
    statistics = found["beyond", "beyond"]
    found["beyond", "beyond"] = statistics[statistics["statistic"].ne("regression_scaled")]
    assert judges.answers("gpt-4", found) == {}


def test_a_judge_of_marks_beside_a_key_is_answered_by_the_third_judge(found):
    verdict, *_, evidence = rows_of(found)["o3-mini", "LiveBench"]
    assert verdict == "favours itself"
    assert evidence.startswith("it marks its own wrong answers +0.92 [+0.60, +1.23] above a third")


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


def test_a_table_has_the_numbers_of_the_figures_and_of_several_steps_the_last(found):
    table = judges.table("xu", found).set_index("judge")
    steps = found["xu", "refined_by_noise"].query(
        "convention == 'corrected' and language == 'average' and model == 'gpt-4'"
    )
    last = steps.sort_values("step").iloc[-1][["beyond", "beyond_hi"]]
    name = "its self-bias beyond noise (0)"
    assert table.loc["gpt-4", [name, f"{name}_hi"]].tolist() == last.tolist()
    found["xu", "gains"] = found["xu", "gains"].drop(columns="bias_change")
    with pytest.raises(KeyError, match="bias_change"):
        judges.table("xu", found)


def test_what_rests_on_too_few_pairs_is_not_quoted(found):
    bias = found["wataoka", "fig1b_bias"]
    bias.loc[bias["judge"].eq("bard"), "few"] = True
    shown = judges.tables(found)["wataoka"]
    heads = [name for name, _ in shown.heads]
    (row,) = (row for row in shown.rows if row[0] == "Bard")
    assert row[heads.index("bias towards its own responses")] == "too few"
    assert not any(name.endswith("few") for name in heads)
    evaluators = [row[0] for row in judges.tables(found)["panickssery"].rows]
    assert {*evaluators} == {"GPT-3.5", "GPT-4", "Llama-2"}
