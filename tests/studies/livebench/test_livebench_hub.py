"""LiveBench's questions, on parquet files of the same schema that are written here."""

import json

import pandas as pd
import pytest

pytest.importorskip("datasets", reason="the extra `models` is not installed")


from selfpref import tables
from selfpref.params import Dataset
from selfpref.studies.livebench.read import questions


def question(number, *turns):
    """One row of livebench/math, with the columns that are read and one more."""
    row = {"question_id": f"{number:064x}", "category": "math", "task": "AMPS_Hard"}
    return row | {"ground_truth": str(number), "turns": [*turns], "year": "2024"}


def test_a_question_is_an_item_with_its_key_and_odd_rows_are_left_out_and_counted(tmp_path):
    asked = [(7, "What is 7?"), (7, "What is 7?"), (2,), (3, " "), (4, "What is 4?")]
    (tmp_path / "data").mkdir()
    rows = pd.DataFrame(question(*one) for one in asked)
    rows.to_parquet(tmp_path / "data/test-00000-of-00001.parquet")
    source = tmp_path / "pinned.csv"
    source.write_text(f"repository,revision,split\n{tmp_path},0123abcd,test\n")
    entry = Dataset(study="livebench", reader="livebench-hub", source="pinned.csv")
    found = questions("set", entry, source)
    other, one = tables.validate(found["items"], "items", "set").itertuples()
    assert one.item_id == f"set/math/AMPS_Hard/{7:064x}"
    assert [message["content"] for message in one.messages] == ["What is 7?"]
    assert (one.category, one.reference, other.reference) == ("math", "7", "4")
    assert json.loads(one.metadata)["task"] == "AMPS_Hard"
    assert found["audit"].set_index("finding")["affected"].to_dict() == {
        "left out: a question that was there": 1,
        "left out: no question": 2,
        "ok": 2,
    }
