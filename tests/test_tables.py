"""The tables: what a valid row is, and what is refused with which words."""

import pandas as pd
import pytest
from conftest import refused

from selfpref import tables
from selfpref.statistics.judged import TABLES
from selfpref.studies.wataoka import STUDY

KEY = {"study": "wataoka", "item_id": "set/1"}
VERDICT = KEY | {
    **{"judge": "j", "task": "preference", "variant": "plain", "candidates": ["b", "a"]},
    **{"order_known": True, "repeat": 0, "probabilities": [0.25, 0.75], "mass": 1.0},
    **{"choice": "a", "stored": None, "status": "ok"},
}
AGREE = "choice, candidates, probabilities and status agree"
RESPONSE = KEY | {"responder": "a", "step": 0, "sample": 0, "text": "so", "status": "ok"}


@pytest.fixture
def folder(repository):
    return repository / "data/recorded/wataoka"


def test_rows_come_back_sorted_by_key_with_lists_name_by_name_and_gaps_missing(folder):
    names = [[*pair] for pair in ("ba", "abc", "ac", "ab")] + [["aa", "b"]]
    rows = [VERDICT | {"candidates": c, "choice": c[0], "probabilities": None} for c in names]
    gap = {"repeat": 1, "mass": None, "choice": None, "status": "refused", "probabilities": [0, 1]}
    rows = pd.DataFrame([*rows, VERDICT | gap])
    table = tables.validate(rows, "verdicts", "here")
    wanted = [[*pair] for pair in ("ab", "abc", "ac")] + [["aa", "b"]] + [["b", "a"]] * 2
    assert table["candidates"].tolist() == wanted
    assert table["probabilities"].tolist() == [None] * 5 + [[0.0, 1.0]]
    assert table["repeat"].tolist() == [0] * 5 + [1]
    assert table["choice"].isna().tolist() == table["mass"].isna().tolist() == [False] * 5 + [True]
    # What is written is read again, and the same bytes whatever the order was.
    for name, frame in (("set", rows[::-1]), ("two", rows)):
        tables.write(frame, "verdicts", folder / f"verdicts/{name}.parquet")
    one, two = ((folder / f"verdicts/{name}.parquet").read_bytes() for name in ("set", "two"))
    assert one == two
    (folder / "verdicts/stray.parquet").write_text("of a judge that was removed")
    pd.testing.assert_frame_equal(tables.read("recorded", "verdicts", "wataoka", ["set"]), table)


def test_only_what_is_wanted_is_read_and_a_damaged_file_is_named(folder):
    tables.write(pd.DataFrame([RESPONSE]), "responses", folder / "responses/set.parquet")
    args = ("recorded", "responses", "wataoka", ["set"])
    wanted = {"item_id": ["set/1"], "responder": ["a"]}
    assert tables.read(*args, ["responder", "item_id"]).to_dict("list") == wanted
    (folder / "responses/set.parquet").write_bytes(b"PAR1 not parquet")
    with refused(match=r"responses/set\.parquet: not readable"):
        tables.read(*args)


def test_statistics_get_the_lengths_of_texts_and_each_data_set_its_own(folder):
    for part, texts in (("one", {"one/1": "four"}), ("model", {"one/1": "", "two/1": "seven.."})):
        rows = pd.DataFrame({"item_id": texts.keys(), "text": texts.values(), "responder": part})
        verdicts = pd.DataFrame([VERDICT | {"item_id": "one/1", "judge": part}])
        responses = tables.fill(rows, "responses", study="wataoka")
        STUDY.write("recorded", part, verdicts=verdicts, responses=responses)
    # A data set is what has items; rows of another one are nobody's.
    item = {"study": "wataoka", "item_id": "one/1", "cluster": "one/1", "messages": []}
    for part, rows in (("one", [item]), ("read", [])):
        STUDY.write("recorded", part, items=tables.fill(rows, "items"))
    found = STUDY.by_dataset("recorded", TABLES)
    assert list(found) == ["one"]
    responses = found["one"]["responses"]
    assert "text" not in responses
    assert responses[["responder", "length"]].values.tolist() == [["model", 0], ["one", 4]]
    # What came with the data set was released, what a model's file holds was asked here.
    verdicts = found["one"]["verdicts"]
    assert verdicts[["judge", "released"]].values.tolist() == [["model", False], ["one", True]]


REFUSED = [
    ({"choice": "c"}, f"verdicts breaks `{AGREE}`"),
    ({"choice": None}, f"verdicts breaks `{AGREE}`"),
    ({"status": "failed"}, f"verdicts breaks `{AGREE}`"),
    ({"probabilities": [0.2]}, f"verdicts breaks `{AGREE}`"),
    ({"status": "fine"}, "status breaks `isin("),
    ({"probabilities": [0.5, 1.5]}, "probabilities breaks `each in 0..1"),
    ({"probabilities": [0.5, 0.6]}, "a sum of at most 1"),
    ({"mass": 1.5}, "mass breaks"),
    ({"candidates": ["a"]}, "candidates breaks `two or more"),
    ({"candidates": ["a", "a"]}, "candidates breaks `two or more"),
    ({"candidates": ["a", None]}, "candidates breaks `two or more"),
    ({"repeat": "first"}, "column repeat"),
    ({"judge": None}, "judge breaks `not_nullable`"),
    ({"remark": "x"}, "column 'remark' is missing, or unknown"),
]


@pytest.mark.parametrize(("change", "told"), REFUSED)
def test_what_is_refused_leaves_the_earlier_file_as_it_was(tmp_path, change, told):
    path = tmp_path / "here.parquet"
    tables.write(pd.DataFrame([VERDICT]), "verdicts", path)
    before = path.read_bytes()
    with refused() as failure:
        tables.write(pd.DataFrame([VERDICT | change]), "verdicts", path)
    assert str(failure.value).startswith("here.parquet: ")
    assert told in str(failure.value)
    assert "'verdicts'" not in str(failure.value)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [before]


def test_no_key_stands_twice_and_no_column_is_missing():
    with refused(match=r"here: duplicate key in verdicts: \('wataoka', 'set/1', 'j'"):
        tables.validate(pd.DataFrame([VERDICT, VERDICT | {"mass": 0.5}]), "verdicts", "here")
    with refused(match=r"here: column 'mass' is missing"):
        tables.validate(pd.DataFrame([VERDICT]).drop(columns="mass"), "verdicts", "here")
    assert tables.TABLES["verdicts"].nullable == ["probabilities", "mass", "choice", "stored"]


def test_what_a_source_does_not_tell_apart_takes_the_tables_defaults():
    table = tables.fill([KEY | {"text": "so"}], "responses", responder="a", sample=2)
    wanted = [RESPONSE | {"sample": 2}]
    assert tables.validate(table, "responses", "here").to_dict("records") == wanted
    # What tells whether a row is an answer has no default.
    assert "status" not in tables.fill([{"choice": "a"}], "verdicts")
    assert list(tables.fill([], "labels")) == list(tables.empty("labels"))
