"""What the judges' page says of each judge, from the tables of the released data in git."""

import pandas as pd
import pytest
from conftest import STAGED

from selfpref.report import judges

TABLES = {
    "wataoka": ("fig1b_bias", "position", "asked"),
    "beyond": ("beyond", "placebo"),
    "xu": ("gains", "refined_by_noise", "asked"),
    "livebench": ("position", "excess", "asked"),
    "panickssery": ("evaluators", "fig1_recognition_vs_preference", "asked"),
}


@pytest.fixture
def found():
    folder = STAGED / "figures/recorded"
    return {
        (study, name): pd.read_csv(folder / f"{study}/{name}.csv")
        for study, names in TABLES.items()
        for name in names
    }


def test_a_judge_is_answered_by_the_regression_where_it_stands_beside_others(found):
    lines = judges.first_lines(found)
    told = dict(one.split(": ", 1) for one in lines["gpt-4"])
    assert told["On vicuna80"].startswith("cannot tell, because it adds +0.03")
    assert told["On mt-bench"].startswith("cannot tell, because it favours its own responses by")
    no_votes = "No answer, in livebench: no set of pairs of its own responses has votes."
    assert lines["o3-mini"] == [no_votes]
    assert {"gpt-4", "gpt4", "gemini", "claude-3-7-sonnet"} <= lines.keys()
    # Neither null judges nor people; tuned evaluators stand apart.
    assert not {"noise", "human", "cnn_10_ft_gpt35"} & lines.keys()
    assert "cnn_10_ft_gpt35" in judges.tuned(found)
    assert all(lines.values())
    rows = found["beyond", "beyond"]
    found["beyond", "beyond"] = rows[rows["statistic"].ne("regression_scaled")]
    assert judges.answers("gpt-4", found) == []


def test_a_judge_whose_endpoint_failed_says_so():
    asked = {"judge": ["gone", "gone", "half", "half"], "table": "verdicts"}
    asked |= {"status": ["failed", "no table", "failed", "ok"], "n": [7, 0, 1, 2]}
    told = judges.first_lines({("wataoka", "asked"): pd.DataFrame(asked)})
    assert told["gone"] == ["Nothing is known of it. Asked in wataoka: 7 failed, no table."]
    assert told["half"][0].startswith("No answer, in wataoka: ")


def test_a_table_has_the_numbers_of_the_figures_and_of_several_steps_the_last(found):
    table = judges.table("xu", found).set_index("judge")
    steps = found["xu", "refined_by_noise"].query(
        "convention == 'corrected' and language == 'average' and model == 'gpt-4'"
    )
    last = steps.sort_values("step").iloc[-1][["beyond", "beyond_hi"]]
    name = "its self-bias at the last step beyond that of a judge of noise (0)"
    assert table.loc["gpt-4", [name, f"{name}_hi"]].tolist() == last.tolist()
    found["xu", "gains"] = found["xu", "gains"].drop(columns="bias_change")
    with pytest.raises(KeyError, match="bias_change"):
        judges.table("xu", found)


def test_what_rests_on_too_few_pairs_is_not_quoted(found):
    bias = found["wataoka", "fig1b_bias"]
    bias.loc[bias["judge"].eq("bard"), "few"] = True
    shown, tuned = judges.tables(found)["wataoka"]
    heads = [name for name, _ in shown.heads]
    (row,) = (row for row in shown.rows if row[0] == "Bard")
    assert row[heads.index("bias towards its own responses")] == "too few"
    assert not any(name.endswith("few") for name in heads)
    assert tuned.rows == []
