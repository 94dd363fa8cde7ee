"""A user's file of true scores."""

import pytest
from conftest import entry

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.formats import scores

HEADER = "item,responder,step,metric,score\n"
GOOD = HEADER + "yor-en/1,gpt-4,0,bleurt-mqm,-5.5\nyor-en/1,gpt-4,1,bleurt-mqm,-2\n"


def read(path, text, judges=None):
    path.write_text(text)
    return scores.read("mine", entry("xu", "scores", judges), path)


def test_scores_become_truths(tmp_path):
    found = read(tmp_path / "scores.csv", GOOD)
    assert set(found) == {"truths"}
    truths = tables.validate(found["truths"], "truths", "mine")
    assert truths[["item_id", "step", "score"]].values.tolist() == [
        ["yor-en/1", 0, -5.5],
        ["yor-en/1", 1, -2.0],
    ]
    record = '{"item": "a/1", "responder": "m", "step": 0, "metric": "x", "score": 1}\n'
    assert len(read(tmp_path / "scores.jsonl", record)["truths"]) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (GOOD.replace("score", "value", 1), "line 2: no 'score'"),
        (GOOD.replace("-5.5", "good"), "line 2: score 'good' is no number"),
        (GOOD.replace("-5.5", "nan"), "line 2: score 'nan' is no number"),
        (GOOD.replace("4,1,", "4,1.5,"), "line 3: step '1.5' is not a number from 0"),
        (GOOD.replace("4,1,", "4,0,"), "line 3: a second 'bleurt-mqm' of item 'yor-en/1'"),
        (GOOD.replace("4,1,", "4,,"), "line 3: no 'step'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, told):
    with pytest.raises(SelfprefError) as raised:
        read(tmp_path / "scores.csv", text)
    assert told in str(raised.value)
    assert "scores.csv" in str(raised.value)


def test_a_truth_has_no_judge(tmp_path):
    with pytest.raises(SelfprefError, match=r"datasets.mine.judges"):
        read(tmp_path / "scores.csv", GOOD, ["gpt-4"])
    with pytest.raises(SelfprefError, match=r"give a .jsonl, .csv, .tsv or .parquet"):
        read(tmp_path / "scores.txt", GOOD)
