"""What the judges' page says of each judge, from the tables of the released data in git."""

import pandas as pd
import pytest
from conftest import STAGED

from selfpref.plots.save import tables
from selfpref.report import judges

UP = "marks its own mistakes up, equally wrong ones too"
NONE = "by at most 0.035, if at all"
TORN = "at most 0.16, stored as ties"


@pytest.fixture
def found():
    folders = (STAGED / "figures/recorded").iterdir()
    return {(one.name, name): frame for one in folders for name, frame in tables(one).items()}


def rows_of(found):
    """Verdict, order, agreement and evidence by judge and data."""
    rows = [row for part in judges.first(found) for row in part.itertuples(index=False, name=None)]
    return {(judge, data): told for judge, data, *told in rows}


def test_a_judge_is_answered_by_the_rule_of_measure(found):
    for judge, data, *wanted, begin in (
        ("GPT-4", "Vicuna-80", "cannot tell", "0.14", "0.63 / 0.64", "its own term is +0.03"),
        ("GPT-4", "MT-Bench", "cannot tell", TORN, "0.88 / 0.84", "its EO lies +"),
        ("Claude 1", "Vicuna-80", NONE, "0.31", "0.74 / 0.65", "its own term is"),
        # A judge of marks beside a key, by the third judge.
        ("o3-mini", "LiveBench", UP, "+0.92 [+0.60, +1.23]", "+0.62 [+0.28, +0.96]", "+0.78"),
    ):
        *told, last = rows_of(found)[judge, data]
        assert told == wanted
        assert last.startswith(begin)
    statistics = found["beyond", "beyond"]
    found["beyond", "beyond"] = statistics[statistics["statistic"].ne("regression_scaled")]
    assert judges.answers("gpt-4", "wataoka", found) == {}


def test_every_judge_has_a_row_under_a_known_name_and_those_without_an_answer_come_last(found):
    rows = rows_of(found)
    # Neither null judges nor people, nor what a study tuned.
    names = {name for judges, _ in rows for name in judges.split(", ")}
    assert {"GPT-4", "Gemini", "Claude 3.7", "Llama-2", "Gemma 2 27B"} <= names
    assert not {"noise", "human", "people", "cnn_10_ft_gpt35"} & names
    assert "cnn_10_ft_gpt35" in judges.tuned(found)
    # Of several judges and sets the least and the greatest share.
    assert ["0.28 to 1.00", judges.KEYED] in rows.values()
    pairs, marked, others = judges.first(found)
    verdicts = (frame.iloc[place, 2] for frame in (marked, pairs) for place in (1, -1))
    assert [*verdicts] == [UP, "cannot tell", "by at most 0.055, if at all", "cannot tell"]
    assert others.ne("").all(axis=None)


def test_a_judge_whose_endpoint_failed_says_so():
    asked = {"judge": ["gone", "gone", "half", "half"], "table": "verdicts"}
    asked |= {"status": ["failed", "no table", "failed", "ok"], "n": [7, 0, 1, 2]}
    told = rows_of({("wataoka", "asked"): pd.DataFrame(asked)})
    failed = "nothing is known of it: 7 failed, no table"
    assert told["gone", "wataoka"] == ["order not known", failed]
    assert told["half", "wataoka"] == ["order not known", judges.UNVOTED]
