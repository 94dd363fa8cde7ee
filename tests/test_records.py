"""What a stage took is recorded, and told sorted with its total."""

import os
import re

import pandas as pd
import pytest
from asking import to_choose
from test_store import Counting, prompts, through

from selfpref import records
from selfpref.__main__ import main
from selfpref.errors import SelfprefError
from selfpref.store import Store


@pytest.fixture
def repository(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "params.yaml").write_text("profile: lab\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_stage_is_recorded_with_its_calls(repository):
    with records.recorded("lab", "judge@terse", warm=True):
        records.count_calls(asked=3, kept=4, usd=0.5)
        records.count_calls(asked=1, kept=0, usd=0.25)
        sum(range(3_000_000))
    (row,) = records.read("lab").to_dict("records")
    assert (row["stage"], row["start_up"]) == ("judge@terse", "warm")
    assert (row["asked"], row["kept"], row["usd"]) == (4, 4, 0.75)
    assert 0 < row["cpu_seconds"] <= row["seconds"] + 0.1
    assert 10 < row["peak_mib"] < 100_000
    assert records.VARIABLE not in os.environ


def test_what_a_model_answered_is_told_from_what_was_kept(repository):
    with records.recorded("lab", "judge@terse"), Store(repository / "store.sqlite") as store:
        for count in (5, 7):
            through(store, Counting()).ask(to_choose(prompts(count), ("A", "B")))
    (row,) = records.read("lab").to_dict("records")
    assert (row["asked"], row["kept"]) == (5 + 2, 5)


def test_a_stage_that_fails_keeps_the_record_of_its_last_run(repository):
    with records.recorded("lab", "world@0"):
        pass
    before = records.read("lab")
    with pytest.raises(SelfprefError), records.recorded("lab", "world@0"):
        raise SelfprefError("bad input")
    assert records.read("lab").equals(before)


def test_times_are_sorted_with_the_total_last(repository, capsys):
    for stage, seconds in (("a", 1.25), ("b", 20.0), ("c", 3.0)):
        with records.recorded("lab", stage):
            pass
        path = repository / f".cache/runs/lab/{stage}.json"
        took = re.sub(r'"seconds": [0-9.]+', f'"seconds": {seconds}', path.read_text())
        path.write_text(took)
    assert main(["times"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in told[2:6]] == ["b", "c", "a", "total"]
    assert "24.2" in told[5]


def test_stages_side_by_side_count_once_in_what_passed():
    table = pd.DataFrame(
        {
            "start": [f"2026-01-01 00:00:{second:02} UTC" for second in (30, 0, 5, 8)],
            "seconds": [7.5, 10.0, 2.0, 4.0],
        }
    )
    # 0 to 10 with 5 to 7 inside it and 8 to 12 beyond it, then 30 to 37.5.
    assert records.passed(table) == 12 + 7.5


def test_without_runs_the_remedy_is_named(repository, capsys):
    assert main(["times", "recorded"]) == 1
    assert "make repro PROFILE=recorded" in capsys.readouterr().err
