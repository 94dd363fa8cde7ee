"""LiveBench's questions, on parquet files of the same schema that are written here."""

import json

import pandas as pd
import pytest

pytest.importorskip("datasets", reason="the extra `models` is not installed")


from selfpref import tables
from selfpref.params import Dataset
from selfpref.studies.livebench.read import questions


def test_a_question_is_an_item_with_its_key_and_odd_rows_are_left_out_and_counted(tmp_path):
    turns = [["What is 7?"], ["What is 7?"], [], [" "], ["What is 4?"]]
    rows = pd.DataFrame({"ground_truth": [*"77234"], "turns": turns})
    rows["question_id"] = "id-" + rows["ground_truth"]
    (tmp_path / "data").mkdir()
    rows = rows.assign(category="math", task="AMPS_Hard", year="2024")
    rows.to_parquet(tmp_path / "data/test-00000-of-00001.parquet")
    source = tmp_path / "pinned.csv"
    source.write_text(f"repository,revision,split\n{tmp_path},0123abcd,test\n")
    entry = Dataset(study="livebench", reader="livebench-hub", source="pinned.csv")
    found = questions("set", entry, source)
    other, one = tables.validate(found["items"], "items", "set").itertuples()
    assert one.item_id == "set/math/AMPS_Hard/id-7"
    assert [message["content"] for message in one.messages] == ["What is 7?"]
    assert (one.category, one.reference, other.reference) == ("math", "7", "4")
    assert json.loads(one.metadata)["task"] == "AMPS_Hard"
    assert found["audit"].set_index("finding")["affected"].to_dict() == {
        "left out: a question that was there": 1,
        "left out: no question": 2,
        "ok": 2,
    }
