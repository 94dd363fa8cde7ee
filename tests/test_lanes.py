"""`selfpref repro` on pipelines of two studies that a third stage joins."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from dvc.repo import Repo

from selfpref import lanes
from selfpref.errors import SelfprefError

# Each study waits until the other has begun, which one behind the other would never come to.
MEET = "touch {0}.here; for i in $(seq 300); do test -e {1}.here && break; sleep 0.1; done; "
PIPELINE = {
    "check": {"cmd": "echo valid > checked", "deps": ["params.yaml"], "outs": ["checked"]},
    "metrics-xu": {
        "cmd": MEET.format("xu", "wataoka") + "test -e wataoka.here && echo 1 > xu.csv",
        "deps": ["checked"],
        "outs": ["xu.csv"],
    },
    "xu": {"cmd": "cp xu.csv xu.svg", "deps": ["xu.csv"], "outs": ["xu.svg"]},
    "wataoka": {
        "cmd": MEET.format("wataoka", "xu") + "test -e xu.here && cp given wataoka.svg",
        "deps": ["checked"],
        "outs": ["wataoka.svg"],
    },
    "report": {
        "cmd": "cat xu.svg wataoka.svg > index.html",
        "deps": ["xu.svg", "wataoka.svg"],
        "outs": ["index.html"],
    },
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    Repo.init(no_scm=True).close()
    (tmp_path / "params.yaml").write_text("profile: lab\n")
    (tmp_path / "dvc.yaml").write_text(json.dumps({"stages": PIPELINE}))
    return tmp_path


def test_what_shares_nothing_is_a_lane():
    needs = {
        "check": set(),
        "train@0": {"check"},
        "judge@terse": {"train@0"},
        "wataoka@lab": {"judge@terse", "train@0"},
        "contest@0": {"train@0"},
        "livebench@lab": {"contest@0"},
        "requests@lab": {"check"},
        "xu@lab": {"requests@lab"},
        "beyond@lab": {"wataoka@lab", "xu@lab"},
        "report@lab": {"beyond@lab", "xu@lab"},
    }
    found = lanes.lanes(needs, {"check", "contest@0", "requests@lab"})
    assert list(found) == ["livebench+wataoka", "xu"]
    assert found["xu"] == ["requests@lab", "xu@lab"]
    together = found["livebench+wataoka"]
    assert sorted(together) == [
        *("contest@0", "judge@terse", "livebench@lab", "train@0", "wataoka@lab")
    ]
    assert all(
        together.index(needed) < together.index(name)
        for name in together
        for needed in needs[name] - {"check"}
    )
    assert list(lanes.lanes(needs, {"requests@lab"})) == ["xu"]
    assert lanes.lanes(needs, {"check"}) == {}


def test_studies_run_side_by_side_and_then_what_joins_them(folder, capfd):
    (folder / "given").write_text("2\n")
    assert lanes.repro() == 0
    assert (folder / "index.html").read_text() == "1\n2\n"
    told = capfd.readouterr().out
    assert "[wataoka] Running stage 'wataoka':" in told
    assert "[xu] Running stage 'xu':" in told
    assert lanes.repro() == 0
    assert capfd.readouterr().out == "Data and pipelines are up to date.\n"
    with Repo() as repo:
        assert repo.status() == {}


def test_a_lane_that_fails_is_named_and_stops_no_other(folder, capfd):
    with pytest.raises(SelfprefError, match=r"^wataoka: a stage failed .* run again"):
        lanes.repro()
    assert "[wataoka] ERROR: " in capfd.readouterr().out
    assert (folder / "xu.svg").exists()
    assert not (folder / "index.html").exists()
    (folder / "given").write_text("2\n")
    assert lanes.repro() == 0
    assert "Running stage 'metrics-xu'" not in capfd.readouterr().out
    assert (folder / "index.html").read_text() == "1\n2\n"


def test_a_lock_cut_short_is_told_with_the_remedy(folder):
    (folder / "dvc.lock").touch()
    with pytest.raises(
        SelfprefError, match=r"dvc\.lock' .* `git checkout dvc.lock` brings it back"
    ):
        lanes.repro()


def test_models_of_the_live_profile_are_never_loaded_side_by_side(folder, capfd):
    (folder / "params.yaml").write_text("profile: live\n")
    (folder / "wataoka.here").touch()
    (folder / "given").write_text("2\n")
    assert lanes.repro() == 0
    assert "[xu]" not in capfd.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_what_is_interrupted_or_killed_leaves_no_lane_behind(folder, number):
    slow = {name: stage | {"cmd": f"sleep 300; {stage['cmd']}"} for name, stage in PIPELINE.items()}
    slow["check"] = PIPELINE["check"]
    (folder / "dvc.yaml").write_text(json.dumps({"stages": slow}))
    (folder / "given").write_text("2\n")
    code = "import os, sys; os.cpu_count = lambda: 2; from selfpref.__main__ import main; "
    with open(folder / "told", "w") as told:
        process = subprocess.Popen(
            [sys.executable, "-c", code + "sys.exit(main(['repro']))"],
            stdout=told,
            stderr=told,
            start_new_session=True,
        )

    def lanes_begun():
        return (folder / "told").read_text().count("] > sleep 300")

    def members():
        group = subprocess.run(
            ["ps", "-o", "args=", "-g", str(process.pid)],
            capture_output=True,
            text=True,
            check=False,
        )
        return [line for line in group.stdout.splitlines() if "dvc" in line]

    end = time.monotonic() + 240
    while lanes_begun() < 2:
        assert time.monotonic() < end, (folder / "told").read_text()
        time.sleep(0.1)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.kill()
    status = process.wait(240)
    while members():
        assert time.monotonic() < end, members()
        time.sleep(0.1)
    # What the stages' own shells began is not the project's to end.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    assert status == (130 if number == signal.SIGINT else -number)
    assert not (folder / "xu.csv").exists()
