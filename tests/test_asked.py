"""Whoever has rows in a study's tables is counted, whatever came of them."""

from types import SimpleNamespace

import pandas as pd

from selfpref.tables.asked import asked
from selfpref.tables.parts import StudyTables

STUDY = StudyTables("s", {"verdicts": ["judge"], "responses": ["respond"], "ratings": ["rate"]})


def test_rows_are_counted_by_status_over_all_files_of_a_study(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    params = SimpleNamespace(
        profile="lab",
        datasets={"d": SimpleNamespace(study="s"), "other": SimpleNamespace(study="t")},
        judge=["j"], respond=["j"], rate=[],
    )  # fmt: skip
    verdicts = pd.DataFrame({"judge": ["j", "j", "k"], "responder": "r", "task": "preference"})
    written = {
        "verdicts/s/d": verdicts.assign(status=["ok", "refused", "ok"]),
        "verdicts/s/j": verdicts[:1].assign(status="ok"),
        "responses/s/j": pd.DataFrame({"responder": ["j"] * 2, "status": "ok"}),
        # Of another study, and of a judge that left the parameters.
        "verdicts/s/other": verdicts.assign(status="ok"),
        "verdicts/s/former": verdicts.assign(status="ok"),
    }
    for place, rows in written.items():
        path = tmp_path / f"data/lab/{place}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows.to_parquet(path)
    assert asked(STUDY, params).to_numpy().tolist() == [
        ["j", "responses", "", "ok", 2],
        ["j", "verdicts", "preference", "ok", 2],
        ["j", "verdicts", "preference", "refused", 1],
        ["k", "verdicts", "preference", "ok", 1],
    ]


def test_a_study_without_rows_has_none(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    params = SimpleNamespace(profile="lab", datasets={}, judge=[], respond=[], rate=[])
    assert asked(STUDY, params).empty
