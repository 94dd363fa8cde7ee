"""LiveBench's questions, on parquet files of the same schema that are written here."""

import json

import pandas as pd
import pytest

pytest.importorskip("datasets", reason="the extra `models` is not installed")


from selfpref import tables
from selfpref.params import Dataset
from selfpref.studies.livebench.read import questions


def question(number, **changed):
    """One row of livebench/math, with the columns that are read and one more."""
    row = {"question_id": f"{number:064x}", "category": "math", "task": "AMPS_Hard"}
    row |= {"ground_truth": str(number), "turns": [f"What is {number}?"], "year": "2024"}
    return row | changed


@pytest.fixture
def read(tmp_path):
    def reading(rows, **options):
        folder = tmp_path / "hub" / "data"
        folder.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_parquet(folder / "test-00000-of-00001.parquet")
        source = tmp_path / "pinned.csv"
        source.write_text(f"repository,revision,split\n{folder.parent},0123abcd,test\n")
        entry = Dataset(study="livebench", reader="livebench-hub", source="pinned.csv", **options)
        found = questions("set", entry, source)
        return {name: tables.validate(frame, name, "set") for name, frame in found.items()}

    return reading


def test_a_question_is_an_item_with_its_key(read):
    (item,) = read([question(7)])["items"].itertuples()
    assert item.item_id == f"set/math/AMPS_Hard/{7:064x}"
    assert [message["content"] for message in item.messages] == ["What is 7?"]
    assert (item.category, item.reference) == ("math", "7")
    assert json.loads(item.metadata)["task"] == "AMPS_Hard"


def test_odd_rows_are_left_out_and_counted(read):
    rows = [question(1), question(1), question(2, turns=[]), question(3, turns=[" "]), question(4)]
    found = read(rows)
    assert len(found["items"]) == 2
    assert found["audit"].set_index("finding")["affected"].to_dict() == {
        "left out: a question that was there": 1,
        "left out: no question": 2,
        "ok": 2,
    }
