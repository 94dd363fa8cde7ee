"""Runs that are killed, starved, blocked and confused end with the bytes of an undisturbed run."""

import os
import re
import shutil
import sqlite3
import subprocess
import time
from collections import Counter
from contextlib import contextmanager

import pytest
from campaign import (
    PATIENCE,
    broken,
    finished,
    kill,
    made,
    pipeline,
    processes,
    rng,
    stages,
    started,
    told,
    wait_for,
)
from ruamel.yaml import YAML, YAMLError

from selfpref.errors import SelfprefError
from selfpref.store import Store, call_key

pytestmark = pytest.mark.skipif(not os.environ.get("SELFPREF_SOAK"), reason="`make soak` runs this")

KILLS = 20
# Who is killed: dvc alone, everything at once, or any one process (as for want of memory).
WHO = ("dvc", "all", "one")
# Each call that is kept is written down by the database itself, in the same transaction.
LOG = """
CREATE TABLE kept (key TEXT);
CREATE TRIGGER keep AFTER INSERT ON replies BEGIN INSERT INTO kept VALUES (new.key); END;
"""


@pytest.fixture(scope="module", params=["recorded", "lab"])
def undisturbed(request, tmp_path_factory):
    """One undisturbed run of a profile: its files, and the seconds that each stage took."""
    if request.param == "lab":
        pytest.importorskip("torch", reason="the extra `models` is not installed")
    with pipeline(tmp_path_factory.mktemp("undisturbed"), request.param) as clone:
        began = {}
        with started(clone) as process:
            while process.poll() is None:
                began = stages(clone, began)
                time.sleep(0.02)
        assert process.returncode == 0, told(clone)
        ends = [*list(began.values())[1:], time.monotonic()]
        lengths = {
            name: end - start for (name, start), end in zip(began.items(), ends, strict=True)
        }
        yield {
            "profile": request.param,
            "clone": clone,
            "made": made(clone.folder, request.param),
            "stages": lengths,
        }


def of_profile(undisturbed, profile):
    """Where one profile shows all there is, the time goes to others."""
    if undisturbed["profile"] != profile:
        pytest.skip(f"shown in the profile {profile}")


def moments(lengths, draw):
    """Moments drawn evenly from the undisturbed run, in its order: a stage, seconds into it."""
    for moment in sorted(draw.uniform(0, sum(lengths.values()), KILLS)):
        at = moment
        for name, length in lengths.items():
            if at < length:
                yield name, float(at)
                break
            at -= length


def run_and_kill(clone, later, stage, seconds, who, draw):
    """Kill a run so far into a stage, or where a later one has begun; False where it had ended."""
    began = {}
    with started(clone) as process:

        def reached():
            began.update(stages(clone, began))
            due = stage in began and time.monotonic() - began[stage] >= seconds
            return due or not later.isdisjoint(began) or process.poll() is not None

        wait_for(reached)
        if process.poll() is not None:
            assert process.returncode == 0, told(clone)
            return False
        running = processes(clone)
        one = running[int(draw.integers(len(running)))]
        kill({"dvc": [process], "all": running, "one": [one]}[who])
        # What is left has to notice, or goes on because the dead one was not needed.
        end = time.monotonic() + 1
        while processes(clone) and time.monotonic() < end:
            time.sleep(0.05)
        kill(processes(clone))
    return True


def mend_lock(clone):
    """DVC does not write dvc.lock at once: killed meanwhile it leaves a part, and git the whole."""
    try:
        lock = YAML(typ="safe").load(clone.folder / "dvc.lock")
    except YAMLError:
        lock = None
    if lock is None or "stages" not in lock:
        print("dvc.lock was cut short; `git checkout dvc.lock` brings it back", flush=True)
        assert clone.call("git", "checkout", "dvc.lock").returncode == 0


def test_killed_at_twenty_moments(undisturbed, tmp_path):
    profile, whole = undisturbed["profile"], undisturbed["made"]
    draw = rng(profile, "kills")
    with pipeline(tmp_path, profile) as clone:
        path = clone.folder / ".cache/store.sqlite"
        with Store(path):
            sqlite3.connect(path).executescript(LOG).close()
        names = list(undisturbed["stages"])
        for number, (stage, seconds) in enumerate(moments(undisturbed["stages"], draw), start=1):
            who, later = str(draw.choice(WHO)), set(names[names.index(stage) + 1 :])
            print(f"kill {number}, {profile}: {who}, {seconds:.1f} s into {stage}", flush=True)
            while not run_and_kill(clone, later, stage, seconds, who, draw):
                # The run was faster than the undisturbed one: its last stage runs once more.
                (clone.folder / "report" / profile / "judges.md").unlink()
                stage, seconds = names[-1], float(draw.uniform(0, 1))  # noqa: PLW2901
            assert broken(clone, whole) == []
            mend_lock(clone)
        finished(clone, whole)
        kept = [key for (key,) in sqlite3.connect(path).execute("SELECT key FROM kept")]
        assert len(kept) == len(set(kept))
        assert bool(kept) == (profile == "lab")


@contextmanager
def small_disk(folder, megabytes):
    """A file system of its own, which `remount` enlarges; needs the right to mount."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {done.stderr.strip()}")
    try:
        yield lambda size: subprocess.run(
            ["mount", "-o", f"remount,size={size}m", str(folder)], check=True
        )
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def used(folder):
    return -(-shutil.disk_usage(folder).used // 2**20)


def test_a_full_disk(undisturbed, tmp_path):
    """The disk fills up, twice; each time the run says so, and goes on with more room."""
    of_profile(undisturbed, "recorded")
    profile, whole = undisturbed["profile"], undisturbed["made"]
    top = tmp_path / "disk"
    with small_disk(top, 200) as resize, pipeline(top, profile) as clone:
        failures = []
        for more in (1, 3, 400):
            resize(used(top) + more)
            done = clone.repro()
            assert broken(clone, whole) == []
            if done.returncode == 0:
                break
            failures.append(done.stderr)
            print(f"{profile}, {more} MiB free:", done.stderr.strip().splitlines()[-3:])
        assert failures
        assert all("No space left on device" in failure for failure in failures), failures
        assert not any("Traceback" in failure for failure in failures)
        finished(clone, whole)


@contextmanager
def read_only(folder):
    """A folder in which nothing can be written: root ignores modes, so it is mounted read-only."""
    if os.getuid():
        folder.chmod(0o555)
        yield
        folder.chmod(0o755)
        return
    commands = [["mount", "--bind", folder, folder], ["mount", "-o", "remount,ro,bind", folder]]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"root ignores modes, and no read-only mount here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_read_only_data_folder(undisturbed, tmp_path):
    of_profile(undisturbed, "recorded")
    profile, whole = undisturbed["profile"], undisturbed["made"]
    with pipeline(tmp_path, profile) as clone:
        with read_only(clone.folder / "data"):
            done = clone.repro()
        assert done.returncode != 0
        assert re.search("Read-only file system|Permission denied", done.stderr), done.stderr
        assert "Traceback" not in done.stderr
        print(profile, done.stderr.strip().splitlines())
        finished(clone, whole)


def test_two_at_once(undisturbed, tmp_path):
    """Two `dvc repro` of one folder: what one cannot do while the other is at it, it refuses."""
    of_profile(undisturbed, "lab")
    profile, whole = undisturbed["profile"], undisturbed["made"]
    with pipeline(tmp_path, profile) as clone:
        both = [
            subprocess.Popen(
                ["dvc", "repro"],
                cwd=clone.folder,
                env=clone.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        said = [process.communicate(timeout=PATIENCE)[1] for process in both]
        statuses = [process.returncode for process in both]
        assert 0 in statuses, said
        for status, stderr in zip(statuses, said, strict=True):
            if status:
                assert re.search("lock|busy", stderr), stderr
                print(profile, stderr.strip().splitlines()[-3:])
        assert broken(clone, whole) == []
        finished(clone, whole)


# Every Python of the run sees its clocks jump: a day forward or back, now and then.
JUMPING = """
import random, time
_time, _draw, _offset = time.time, random.Random(), 0.0
def jumping():
    global _offset
    if _draw.random() < 0.05:
        _offset = _draw.choice((-86400.0, 0.0, 86400.0))
    return _time() + _offset
time.time = jumping
"""


def test_a_clock_that_jumps(undisturbed, tmp_path):
    """The wall clock of every process jumps by days."""
    of_profile(undisturbed, "lab")
    with pipeline(tmp_path, "lab") as clone:
        (tmp_path / "site").mkdir()
        (tmp_path / "site/sitecustomize.py").write_text(JUMPING)
        honest = clone.environment["PYTHONPATH"]
        clone.environment["PYTHONPATH"] = f"{tmp_path / 'site'}{os.pathsep}{honest}"
        assert "jumping" in clone.call("python", "-c", "import time; print(time.time)").stdout
        finished(clone, undisturbed["made"])


def test_files_of_yesterday_and_tomorrow(undisturbed):
    clone, draw = undisturbed["clone"], rng(undisturbed["profile"], "clock")
    for path in clone.folder.rglob("*"):
        if ".dvc" not in path.parts and path.is_file():
            day = time.time() + int(draw.integers(-1, 2)) * 86400
            os.utime(path, (day, day))
    assert clone.stale() == set()
    finished(clone, undisturbed["made"])


def test_a_store_with_a_flipped_byte(undisturbed):
    """The stage that reads it stops and says what to do; done, the same bytes come out."""
    of_profile(undisturbed, "lab")
    clone, draw = undisturbed["clone"], rng("flip")
    path = clone.folder / ".cache/store.sqlite"
    body = bytearray(path.read_bytes())
    places = [found.start() for found in re.finditer(rb'"probabilities"', body)]
    body[places[int(draw.integers(len(places)))] + 20] ^= 1
    path.write_bytes(body)
    done = clone.repro(
        "--force", "--single-item", "wataoka-judge@judges", "wataoka-judge@onlooker-2"
    )
    assert done.returncode != 0
    assert "store.sqlite: damaged" in done.stderr
    assert "move it away to ask the models again" in done.stderr
    print(done.stderr.strip().splitlines()[-3:])
    path.unlink()
    finished(clone, undisturbed["made"])


def test_no_flipped_byte_of_a_store_changes_an_answer(tmp_path):
    """Every seventh byte, one bit each: refused, or not found, or right."""
    path, damaged = tmp_path / "store.sqlite", tmp_path / "damaged.sqlite"
    replies = {call_key({"n": n}): {"text": f"reply {n} " * 3} for n in range(40)}
    with Store(path) as store:
        store.put(replies)
    body = path.read_bytes()
    outcomes = Counter()
    for place in range(int(rng("bytes").integers(7)), len(body), 7):
        damaged.write_bytes(
            body[:place] + bytes([body[place] ^ 1 << place % 8]) + body[place + 1 :]
        )
        try:
            with Store(damaged) as store:
                found = store.get(replies)
        except SelfprefError:
            outcomes["refused"] += 1
        else:
            assert found.items() <= replies.items(), place
            outcomes["right" if len(found) == len(replies) else "asked again"] += 1
        for beside in tmp_path.glob("damaged.sqlite-*"):
            beside.unlink(missing_ok=True)
    print(dict(outcomes))
    assert outcomes["refused"]
