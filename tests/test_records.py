"""What a stage took is recorded, and said in one line."""

import json
import os
import time

import pytest
from asking import to_choose
from test_store import Counting, prompts, through

from selfpref import records
from selfpref.errors import SelfprefError
from selfpref.store import Store


@pytest.fixture
def repository(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "params.yaml").write_text("profile: lab\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(repository, stage):
    return json.loads((repository / f".cache/runs/lab/{stage}.json").read_text())


def test_a_stage_is_recorded_with_its_calls(repository, capsys):
    # Threads that other tests of this process left behind may work meanwhile; they count as well.
    outside = sum(os.times()[:4])
    with records.recorded("lab", "wataoka-judge@terse"):
        records.count_calls(asked=3, kept=4, usd=0.5)
        records.count_calls(asked=1, kept=0, usd=0.25)
        inside = time.thread_time()
        sum(range(3_000_000))
        inside = time.thread_time() - inside
        records.tell(products="of torch")
    outside = sum(os.times()[:4]) - outside
    row = read(repository, "wataoka-judge@terse")
    assert (row["stage"], row["products"]) == ("wataoka-judge@terse", "of torch")
    assert (row["asked"], row["kept"], row["usd"]) == (4, 4, 0.75)
    clock_tick = 0.03
    assert inside - clock_tick <= row["cpu_seconds"] <= outside + clock_tick
    assert 10 < row["peak_mib"] < 100_000
    assert records.VARIABLE not in os.environ
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith(f"wataoka-judge@terse: {row['seconds']:.1f} s, ")
    assert told.endswith("asked 4 calls, found 4")


def test_what_a_model_answered_is_told_from_what_was_kept(repository):
    with records.recorded("lab", "judge@terse"), Store(repository / "store.sqlite") as store:
        for count in (5, 7):
            through(store, Counting()).ask(to_choose(prompts(count), ("A", "B")))
    row = read(repository, "judge@terse")
    assert (row["asked"], row["kept"]) == (5 + 2, 5)


def test_a_stage_that_fails_keeps_the_record_of_its_last_run(repository):
    with records.recorded("lab", "train@0"):
        pass
    before = read(repository, "train@0")
    with pytest.raises(SelfprefError), records.recorded("lab", "train@0"):
        raise SelfprefError("bad input")
    assert read(repository, "train@0") == before
