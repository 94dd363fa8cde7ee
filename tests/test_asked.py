"""Whoever has rows in a study's tables is counted, whatever came of them."""

from types import SimpleNamespace

import pandas as pd

from selfpref.tables.asked import asked
from selfpref.tables.parts import StudyTables

STUDY = StudyTables(
    "s",
    ("items", "verdicts"),
    {"verdicts": ["judge"], "ties": ["tie_break"], "labels": ["judge"]},
    {"ties": "verdicts"},
)


def params(**entries):
    section = SimpleNamespace(**{"datasets": {}, "judge": {}, "tie_break": {}} | entries)
    return SimpleNamespace(profile="lab", study=lambda name: section)


def test_rows_are_counted_by_status_over_all_files_and_a_stage_that_failed_is_named(
    tmp_path, monkeypatch
):
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    assert asked(STUDY, params()).empty
    verdicts = pd.DataFrame({"judge": ["j", "j", "k"], "responder": "r", "task": "preference"})
    written = {
        "s/verdicts/j": verdicts.assign(status=["ok", "refused", "ok"]),
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
    entries = {"datasets": {"d": None}, "judge": {"j": None, "l": None}, "tie_break": {"t": None}}
    assert asked(STUDY, params(**entries)).to_numpy().tolist() == [
        ["d", "items", "", "no table", 0],
        ["j", "responses", "", "ok", 2],
        ["j", "verdicts", "preference", "ok", 2],
        ["j", "verdicts", "preference", "refused", 1],
        ["k", "verdicts", "preference", "ok", 1],
        ["l", "verdicts", "", "no table", 0],
        ["t", "verdicts", "", "no table", 0],
    ]
