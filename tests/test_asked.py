"""Whoever has rows in a study's tables is counted, whatever came of them."""

from types import SimpleNamespace

import pandas as pd

from selfpref.tables.asked import asked
from selfpref.tables.parts import StudyTables

STUDY = StudyTables(
    "s",
    ("verdicts", "responses"),
    {"verdicts": ["judge"], "ties": ["tie_break"], "responses": ["respond"]},
    {"verdicts": ["verdicts", "ties"]},
)

NOBODY = SimpleNamespace(datasets={}, judge={}, tie_break={}, respond={})
PARAMS = SimpleNamespace(profile="lab", study=lambda name: NOBODY)


def test_rows_are_counted_by_status_over_all_files_of_a_study(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    verdicts = pd.DataFrame({"judge": ["j", "j", "k"], "responder": "r", "task": "preference"})
    written = {
        "s/verdicts/d": verdicts.assign(status=["ok", "refused", "ok"]),
        # Two folders of one table.
        "s/ties/j": verdicts[:1].assign(status="ok"),
        "s/responses/j": pd.DataFrame({"responder": ["j"] * 2, "status": "ok"}),
        # Of another study, and of a folder that is no table of models.
        "t/verdicts/other": verdicts.assign(status="ok"),
        "s/labels/d": verdicts.assign(status="ok"),
    }
    for place, rows in written.items():
        path = tmp_path / f"data/lab/{place}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows.to_parquet(path)
    assert asked(STUDY, PARAMS).to_numpy().tolist() == [
        ["j", "responses", "", "ok", 2],
        ["j", "verdicts", "preference", "ok", 2],
        ["j", "verdicts", "preference", "refused", 1],
        ["k", "verdicts", "preference", "ok", 1],
    ]


def test_a_study_without_rows_has_none(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    assert asked(STUDY, PARAMS).empty


def test_an_entry_whose_stage_failed_is_named(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "data/lab/s/verdicts/j.parquet"
    path.parent.mkdir(parents=True)
    pd.DataFrame({"judge": ["j"], "task": "preference", "status": "ok"}).to_parquet(path)
    section = SimpleNamespace(
        datasets={"d": None}, judge={"j": None, "k": None}, tie_break={"t": None}, respond={}
    )
    params = SimpleNamespace(profile="lab", study=lambda name: section)
    assert asked(STUDY, params).to_numpy().tolist() == [
        ["d", "items", "", "no table", 0],
        ["j", "verdicts", "preference", "ok", 1],
        ["k", "verdicts", "", "no table", 0],
        ["t", "verdicts", "", "no table", 0],
    ]
