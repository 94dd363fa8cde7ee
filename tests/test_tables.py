"""The tables: what a valid row is, and what is refused with which words."""

from functools import partial

import pandas as pd
import pytest

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.statistics.judged import COLUMNS
from selfpref.studies.wataoka import STUDY

VERDICT = {
    "study": "wataoka",
    "item_id": "set/1",
    "judge": "j",
    "task": "preference",
    "variant": "plain",
    "candidates": ["b", "a"],
    "order_known": True,
    "repeat": 0,
    "probabilities": [0.25, 0.75],
    "mass": 1.0,
    "choice": "a",
    "stored": None,
    "status": "ok",
}
LABEL = {
    "study": "wataoka",
    "item_id": "set/1",
    "responder_a": "a",
    "responder_b": "b",
    "annotator": "human",
    "repeat": 0,
    "label": "a",
}


def test_rows_come_back_sorted_by_key_with_the_types_of_the_schema():
    swapped = VERDICT | {"candidates": ["a", "b"], "probabilities": None, "mass": None}
    failed = swapped | {"repeat": 1, "choice": None, "status": "refused"}
    table = tables.validate(pd.DataFrame([VERDICT, failed, swapped]), "verdicts", "here")
    assert table["candidates"].tolist() == [["a", "b"], ["a", "b"], ["b", "a"]]
    assert table["choice"].isna().tolist() == [False, True, False]
    assert table["mass"].dtype == float


def test_lists_sort_by_their_names_one_after_another():
    names = [["b", "a"], ["a", "b", "c"], ["a", "c"], ["a", "b"], ["aa", "b"]]
    rows = [
        VERDICT | {"candidates": pair, "choice": pair[0], "probabilities": None} for pair in names
    ]
    wanted = [["a", "b"], ["a", "b", "c"], ["a", "c"], ["aa", "b"], ["b", "a"]]
    table = tables.validate(pd.DataFrame(rows), "verdicts", "here")
    assert table["candidates"].tolist() == wanted


def test_lists_keep_their_values_and_missing_ones_are_missing():
    rows = [
        VERDICT,
        VERDICT | {"repeat": 1, "probabilities": None},
        VERDICT | {"repeat": 2, "probabilities": [0.0, 1.0]},
    ]
    table = tables.validate(pd.DataFrame(rows), "verdicts", "here")
    assert table["probabilities"].tolist() == [[0.25, 0.75], None, [0.0, 1.0]]


def test_writing_and_reading_undo_each_other(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    frame = tables.validate(pd.DataFrame([VERDICT]), "verdicts", "here")
    folder = tmp_path / "data/recorded/wataoka/verdicts"
    tables.write(frame, "verdicts", folder / "set.parquet")
    (folder / "stray.parquet").write_text("of a judge that was removed")
    pd.testing.assert_frame_equal(tables.read("recorded", "verdicts", "wataoka", ["set"]), frame)


def test_what_is_not_wanted_is_not_read(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "data/recorded/wataoka/responses/set.parquet"
    row = {"study": "wataoka", "item_id": "set/1", "responder": "a", "step": 0, "sample": 0}
    frame = pd.DataFrame([row | {"text": "so", "status": "ok"}])
    tables.write(frame, "responses", place)
    # Whoever reads the texts finds that one is missing.
    frame.assign(text=None).to_parquet(place)
    read = partial(tables.read, "recorded", "responses", "wataoka", ["set"])
    assert read(["responder", "item_id"]).to_dict("list") == {
        "item_id": ["set/1"],
        "responder": ["a"],
    }
    with pytest.raises(SelfprefError, match="column 'text' holds None"):
        read()


def test_statistics_get_the_lengths_of_texts_and_each_data_set_its_own(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    row = {"study": "wataoka", "step": 0, "sample": 0, "status": "ok"}
    for part, texts in (("one", {"one/1": "four"}), ("model", {"one/1": "", "two/1": "seven.."})):
        tables.write(
            pd.DataFrame(
                row | {"item_id": item, "responder": part, "text": text}
                for item, text in texts.items()
            ),
            "responses",
            tmp_path / f"data/live/wataoka/responses/{part}.parquet",
        )
    # A data set is what has items; rows of another one are nobody's.
    item = {"study": "wataoka", "item_id": "one/1", "cluster": "one/1", "messages": []}
    for part, rows in (("one", [item]), ("read", [])):
        there = tmp_path / f"data/live/wataoka/items/{part}.parquet"
        tables.write(tables.fill(rows, "items"), "items", there)
    found = STUDY.by_dataset("live", {"responses": COLUMNS["responses"]})
    assert list(found) == ["one"]
    responses = found["one"]["responses"]
    assert "text" not in responses
    assert responses[["responder", "length"]].values.tolist() == [["model", 0], ["one", 4]]


def test_the_same_rows_in_another_order_are_the_same_file(tmp_path):
    rows = [LABEL | {"annotator": name} for name in "pqr"]
    for name, order in (("one", rows), ("two", rows[::-1])):
        tables.write(pd.DataFrame(order), "labels", tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_refused_table_leaves_the_earlier_file_as_it_was(tmp_path):
    path = tmp_path / "labels.parquet"
    tables.write(pd.DataFrame([LABEL]), "labels", path)
    before = path.read_bytes()
    with pytest.raises(SelfprefError):
        tables.write(pd.DataFrame([LABEL, LABEL]), "labels", path)
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
        ({"mass": 1.5}, "column 'mass'"),
        ({"candidates": ["a"]}, "at least two different responders"),
        ({"candidates": ["a", "a"]}, "at least two different responders"),
        ({"candidates": ["a", None]}, "at least two different responders"),
        ({"candidates": None}, "column 'candidates' holds None; wanted not null"),
        ({"probabilities": [0.5, 0.6]}, "a sum of at most 1"),
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


def test_a_missing_column_is_named():
    with pytest.raises(SelfprefError, match=r"here: no column 'mass'"):
        tables.validate(pd.DataFrame([VERDICT]).drop(columns="mass"), "verdicts", "here")


def test_a_duplicate_key_is_named():
    with pytest.raises(SelfprefError, match=r"here: duplicate key in labels: \('wataoka', 'set/1'"):
        tables.validate(pd.DataFrame([LABEL, LABEL | {"label": "b"}]), "labels", "here")


@pytest.mark.parametrize("body", [b"", b"PAR1 not parquet"])
def test_a_damaged_file_is_named(tmp_path, monkeypatch, body):
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "data/recorded/wataoka/labels/set.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(body)
    with pytest.raises(
        SelfprefError, match=r"data/recorded/wataoka/labels/set\.parquet: not readable"
    ):
        tables.read("recorded", "labels", "wataoka", ["set"])


def test_what_a_source_does_not_tell_apart_takes_the_tables_defaults():
    rows = [{"study": "wataoka", "item_id": "set/1", "text": "so"}]
    table = tables.fill(rows, "responses", responder="a", sample=2)
    assert tables.validate(table, "responses", "here").to_dict("records") == [
        rows[0] | {"responder": "a", "step": 0, "sample": 2, "status": "ok"}
    ]
    # What tells whether a row is an answer has no default.
    assert "status" not in tables.fill([{"choice": "a"}], "verdicts")
    assert list(tables.fill([], "labels")) == list(tables.empty("labels"))
