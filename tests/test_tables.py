"""The tables: what a valid row is, and what is refused with which words."""

from functools import partial

import pandas as pd
import pytest

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.statistics.judged import COLUMNS
from selfpref.studies.wataoka import STUDY

KEY = {"study": "wataoka", "item_id": "set/1"}
VERDICT = KEY | {
    **{"judge": "j", "task": "preference", "variant": "plain", "candidates": ["b", "a"]},
    **{"order_known": True, "repeat": 0, "probabilities": [0.25, 0.75], "mass": 1.0},
    **{"choice": "a", "stored": None, "status": "ok"},
}
LABEL = KEY | {"responder_a": "a", "responder_b": "b", "annotator": "human"}
LABEL |= {"repeat": 0, "label": "a"}
RESPONSE = KEY | {"responder": "a", "step": 0, "sample": 0, "text": "so", "status": "ok"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data/recorded/wataoka"


def test_rows_come_back_sorted_by_key_with_lists_name_by_name_and_gaps_missing():
    names = [["b", "a"], ["a", "b", "c"], ["a", "c"], ["a", "b"], ["aa", "b"]]
    rows = [
        VERDICT | {"candidates": pair, "choice": pair[0], "probabilities": None} for pair in names
    ]
    gap = {"repeat": 1, "mass": None, "choice": None, "status": "refused", "probabilities": [0, 1]}
    table = tables.validate(pd.DataFrame([*rows, VERDICT | gap]), "verdicts", "here")
    wanted = [["a", "b"], ["a", "b", "c"], ["a", "c"], ["aa", "b"], ["b", "a"], ["b", "a"]]
    assert table["candidates"].tolist() == wanted
    assert table["probabilities"].tolist() == [None] * 5 + [[0.0, 1.0]]
    assert table["repeat"].tolist() == [0] * 5 + [1]
    assert table["choice"].isna().tolist() == table["mass"].isna().tolist() == [False] * 5 + [True]
    assert table["mass"].dtype == float


def test_writing_and_reading_undo_each_other_whatever_lies_beside_and_in_whatever_order(folder):
    rows = pd.DataFrame([VERDICT, VERDICT | {"repeat": 1, "probabilities": None}])
    for name, frame in (("set", rows[::-1]), ("two", rows)):
        tables.write(frame, "verdicts", folder / f"verdicts/{name}.parquet")
    one, two = ((folder / f"verdicts/{name}.parquet").read_bytes() for name in ("set", "two"))
    assert one == two
    (folder / "verdicts/stray.parquet").write_text("of a judge that was removed")
    read = tables.read("recorded", "verdicts", "wataoka", ["set"])
    pd.testing.assert_frame_equal(read, tables.validate(rows, "verdicts", "here"))


def test_what_is_not_wanted_is_not_read(folder):
    frame = pd.DataFrame([RESPONSE])
    tables.write(frame, "responses", folder / "responses/set.parquet")
    # Whoever reads the texts finds that one is missing.
    frame.assign(text=None).to_parquet(folder / "responses/set.parquet")
    read = partial(tables.read, "recorded", "responses", "wataoka", ["set"])
    wanted = {"item_id": ["set/1"], "responder": ["a"]}
    assert read(["responder", "item_id"]).to_dict("list") == wanted
    with pytest.raises(SelfprefError, match="column 'text' holds None"):
        read()


def test_statistics_get_the_lengths_of_texts_and_each_data_set_its_own(folder):
    for part, texts in (("one", {"one/1": "four"}), ("model", {"one/1": "", "two/1": "seven.."})):
        rows = [
            RESPONSE | {"item_id": item, "responder": part, "text": text}
            for item, text in texts.items()
        ]
        tables.write(pd.DataFrame(rows), "responses", folder / f"responses/{part}.parquet")
    # A data set is what has items; rows of another one are nobody's.
    item = {"study": "wataoka", "item_id": "one/1", "cluster": "one/1", "messages": []}
    for part, rows in (("one", [item]), ("read", [])):
        tables.write(tables.fill(rows, "items"), "items", folder / f"items/{part}.parquet")
    found = STUDY.by_dataset("recorded", {"responses": COLUMNS["responses"]})
    assert list(found) == ["one"]
    responses = found["one"]["responses"]
    assert "text" not in responses
    assert responses[["responder", "length"]].values.tolist() == [["model", 0], ["one", 4]]


def test_a_refused_table_leaves_the_earlier_file_as_it_was(tmp_path):
    path = tmp_path / "labels.parquet"
    tables.write(pd.DataFrame([LABEL]), "labels", path)
    before = path.read_bytes()
    told = r"labels\.parquet: duplicate key in labels: \('wataoka', 'set/1'"
    with pytest.raises(SelfprefError, match=told):
        tables.write(pd.DataFrame([LABEL, LABEL | {"label": "b"}]), "labels", path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["labels.parquet"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"choice": "c"}, "choice 'c', candidates ['b', 'a'] and status 'ok' contradict"),
        ({"choice": None}, "contradict each other"),
        ({"status": "failed"}, "contradict each other"),
        ({"status": "fine"}, "column 'status' holds 'fine'; wanted one of ok, unparsable"),
        ({"probabilities": [0.2]}, "contradict each other"),
        ({"probabilities": [0.5, 1.5]}, "wanted each in 0..1"),
        ({"probabilities": [-0.1, 0.5]}, "wanted each in 0..1"),
        ({"probabilities": [0.5, 0.6]}, "a sum of at most 1"),
        ({"mass": 1.5}, "column 'mass'"),
        ({"candidates": ["a"]}, "at least two different responders"),
        ({"candidates": ["a", "a"]}, "at least two different responders"),
        ({"candidates": ["a", None]}, "at least two different responders"),
        ({"candidates": None}, "column 'candidates' holds None; wanted not null"),
        ({"repeat": "first"}, "column 'repeat' is not int64"),
        ({"judge": None}, "column 'judge' holds"),
        ({"task": "poetry"}, "column 'task' holds 'poetry'"),
        ({"remark": "x"}, "unknown column 'remark'"),
    ],
)
def test_what_is_refused(change, told):
    with pytest.raises(SelfprefError) as failure:
        tables.validate(pd.DataFrame([VERDICT | change]), "verdicts", "here.parquet")
    assert str(failure.value).startswith("here.parquet: ")
    assert told in str(failure.value)


def test_a_missing_column_and_a_damaged_file_are_named(folder):
    with pytest.raises(SelfprefError, match=r"here: no column 'mass'"):
        tables.validate(pd.DataFrame([VERDICT]).drop(columns="mass"), "verdicts", "here")
    (folder / "labels").mkdir(parents=True)
    (folder / "labels/set.parquet").write_bytes(b"PAR1 not parquet")
    told = r"data/recorded/wataoka/labels/set\.parquet: not readable"
    with pytest.raises(SelfprefError, match=told):
        tables.read("recorded", "labels", "wataoka", ["set"])


def test_what_a_source_does_not_tell_apart_takes_the_tables_defaults():
    table = tables.fill([KEY | {"text": "so"}], "responses", responder="a", sample=2)
    wanted = [RESPONSE | {"sample": 2}]
    assert tables.validate(table, "responses", "here").to_dict("records") == wanted
    # What tells whether a row is an answer has no default.
    assert "status" not in tables.fill([{"choice": "a"}], "verdicts")
    assert list(tables.fill([], "labels")) == list(tables.empty("labels"))
