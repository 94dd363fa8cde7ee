"""LiveBench's questions, on parquet files of the same schema that are written here."""

import json

import pandas as pd
import pytest
from conftest import entry
from study_frames import equal, on_hub

pytest.importorskip("datasets", reason="the extra `models` is not installed")

from selfpref import tables
from selfpref.studies.livebench.read import questions


def test_a_question_is_an_item_with_its_key_and_odd_rows_are_left_out_and_counted(tmp_path):
    turns = [["What is 7?"], ["What is 7?"], [], [" "], ["What is 4?"]]
    rows = pd.DataFrame({"ground_truth": [*"77234"], "turns": turns})
    rows["question_id"] = "id-" + rows["ground_truth"]
    rows = rows.assign(category="math", task="AMPS_Hard", year="2024")
    found = questions("set", entry("livebench", "livebench-hub"), on_hub(tmp_path, rows, "test"))
    other, one = tables.validate(found["items"], "items", "set").itertuples()
    assert one.item_id == "set/math/AMPS_Hard/id-7"
    assert [message["content"] for message in one.messages] == ["What is 7?"]
    assert (one.category, one.reference, other.reference) == ("math", "7", "4")
    assert json.loads(one.metadata)["task"] == "AMPS_Hard"
    left_out = ("left out: no question", 2), ("left out: a question that was there", 1)
    equal(found["audit"], "finding affected", ("ok", 2), *left_out)
