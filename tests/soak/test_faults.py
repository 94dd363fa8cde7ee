"""Runs that are killed, starved, blocked and confused end with the bytes of an undisturbed run.

`make soak` names the seed of every random moment in $SELFPREF_SOAK.
"""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress

import elobench_release
import llm_sp_release
import numpy as np
import psutil
import pytest
from clones import ALONE, FAMILIES, cloned, ran, small, without
from conftest import REPOSITORY, mt_bench_files, vicuna80_files
from ruamel.yaml import YAML, YAMLError

from selfpref.errors import SelfprefError
from selfpref.store import Store, call_key

sys.path.insert(0, str(REPOSITORY / "tools"))
import verify
from verify import made

pytestmark = pytest.mark.skipif(not os.environ.get("SELFPREF_SOAK"), reason="`make soak` runs this")
KILLS = 20
# Who is killed: dvc alone, everything at once, or any one process (as for want of memory).
WHO = ("dvc", "all", "one")
# Each call that is kept is written down by the database itself, in the same transaction.
LOG = """
CREATE TABLE kept (key TEXT);
CREATE TRIGGER keep AFTER INSERT ON replies BEGIN INSERT INTO kept VALUES (new.key); END;
"""
SEED = os.environ.get("SELFPREF_SOAK")
RELEASES = {
    "mt-bench": mt_bench_files(6),
    "vicuna80": vicuna80_files(6),
    "elobench": elobench_release.files(*elobench_release.rows()),
    "llm-sp": llm_sp_release.files(),
}
PATIENCE = 300


def rng(*names: object) -> np.random.Generator:
    """A generator of its own for these names."""
    assert SEED, "`make soak` names the seed"
    return np.random.default_rng([int(SEED), *"/".join(map(str, names)).encode()])


def reduced(params) -> None:
    """The first study alone, of few resamples; in the testbed two families and one onlooker."""
    if params["profile"] == "lab":
        small(params)
        params["lab"]["dialogues"].update(families=2, base_steps=40, tune_steps=5)
        params["models"]["families"]["names"] = FAMILIES[:2]
        params["models"]["judges"]["names"] = FAMILIES[:1]
        section = params["wataoka"]
        section["datasets"]["seed-0"].update(prompts=20)
        section["label"]["seed-0"].update(pairs=20)
        del section["perplexity"][ALONE]
    for study in ("livebench", "panickssery", "xu"):
        without(params, study)
    params["bootstrap"].update(resamples=100)


@contextmanager
def pipeline(top, profile):
    """A clone in which a reduced profile is ready to run."""
    with cloned(top, RELEASES) as clone:
        clone.profile = profile
        clone.environment["OMP_NUM_THREADS"] = "1"
        assert clone.call("selfpref", "use", profile).returncode == 0
        clone.edit(reduced)
        yield clone


@contextmanager
def started(clone):
    """`dvc repro` in a clone, its output in a file; killed in the end."""
    where = {"cwd": clone.folder, "env": clone.environment, "stderr": subprocess.STDOUT}
    with open(clone.folder.parent / "told", "w") as output:
        process = subprocess.Popen(["dvc", "repro"], **where, stdout=output)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def told(clone) -> str:
    """What the last command said so far."""
    return (clone.folder.parent / "told").read_text(errors="replace")


def stages(clone, known) -> dict[str, float]:
    """The stages that have begun, with the moment at which each was first seen here."""
    begun = re.findall("^Running stage '(.+)'", told(clone), re.MULTILINE)
    return {name: known.get(name, time.monotonic()) for name in begun}


def wait_for(condition, seconds=PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing came of it"
        time.sleep(0.02)


def processes(clone) -> list[psutil.Process]:
    """Every process that works in a clone's folder."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.cwd() == str(clone.folder):
                found.append(process)
    return found


def kill(victims) -> None:
    for process in victims:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def broken(clone, whole) -> list[str]:
    """Files under a final name that are not what an undisturbed run made of them."""
    there = made(clone.folder, clone.profile)
    return [name for name, digest in there.items() if whole.get(name) != digest]


def finished(clone, whole) -> None:
    """Run to the end: the same bytes as without the disturbance, and nothing left to do."""
    ran(clone.repro())
    assert made(clone.folder, clone.profile) == whole
    assert clone.stale() == set()


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
        pairs = zip(began, began.values(), ends, strict=True)
        lengths = {name: end - start for name, start, end in pairs}
        yield request.param, clone, made(clone.folder, request.param), lengths


def of_profile(undisturbed, profile):
    """The whole of a profile; where one shows all there is, the time goes to others."""
    if undisturbed[0] != profile:
        pytest.skip(f"shown in the profile {profile}")
    return undisturbed[2]


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
    profile, _, whole, lengths = undisturbed
    draw = rng(profile, "kills")
    with pipeline(tmp_path, profile) as clone:
        path = clone.folder / ".cache/store.sqlite"
        with Store(path):
            sqlite3.connect(path).executescript(LOG).close()
        names = list(lengths)
        for number, (stage, seconds) in enumerate(moments(lengths, draw), start=1):
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


def mounted(*options):
    """Mount a file system, which needs the right to."""
    command = ["mount", *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")


@contextmanager
def small_disk(folder, megabytes):
    """A file system of its own, which the yielded function enlarges."""
    folder.mkdir()
    mounted("-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder)
    try:
        yield lambda size: mounted("-o", f"remount,size={size}m", folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def used(folder):
    return -(-shutil.disk_usage(folder).used // 2**20)


def test_a_full_disk(undisturbed, tmp_path):
    """The disk fills up, twice; each time the run says so, and goes on with more room."""
    whole, top = of_profile(undisturbed, "recorded"), tmp_path / "disk"
    with small_disk(top, 200) as resize, pipeline(top, "recorded") as clone:
        failures = []
        for more in (1, 3, 400):
            resize(used(top) + more)
            done = clone.repro()
            assert broken(clone, whole) == []
            if done.returncode == 0:
                break
            failures.append(done.stderr)
            print(f"{more} MiB free:", done.stderr.strip().splitlines()[-3:])
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
    mounted("--bind", folder, folder)
    try:
        mounted("-o", "remount,ro,bind", folder)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_read_only_data_folder(undisturbed, tmp_path):
    whole = of_profile(undisturbed, "recorded")
    with pipeline(tmp_path, "recorded") as clone:
        with read_only(clone.folder / "data"):
            done = clone.repro()
        assert done.returncode != 0
        assert re.search("Read-only file system|Permission denied", done.stderr), done.stderr
        assert "Traceback" not in done.stderr
        print(done.stderr.strip().splitlines())
        finished(clone, whole)


def test_two_at_once(undisturbed, tmp_path):
    """Two `dvc repro` of one folder: what one cannot do while the other is at it, it refuses."""
    whole = of_profile(undisturbed, "lab")
    with pipeline(tmp_path, "lab") as clone:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        where = {"cwd": clone.folder, "env": clone.environment}
        both = [subprocess.Popen(["dvc", "repro"], **where, **pipes) for _ in range(2)]
        said = [process.communicate(timeout=PATIENCE)[1] for process in both]
        statuses = [process.returncode for process in both]
        assert 0 in statuses, said
        for status, stderr in zip(statuses, said, strict=True):
            if status:
                assert re.search("lock|busy", stderr), stderr
                print(stderr.strip().splitlines()[-3:])
        assert broken(clone, whole) == []
        finished(clone, whole)


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


def test_two_runs_from_scratch_are_the_same(tmp_path, monkeypatch, capfd):
    """`make verify` in small: two runs in folders of their own give the same bytes."""
    with pipeline(tmp_path, "recorded") as clone:
        for command in (["add", "-A"], ["commit", "-qm", "reduced"]):
            assert clone.call("git", *command).returncode == 0
        monkeypatch.setattr(verify, "ROOT", clone.folder)
        for name, value in clone.environment.items():
            monkeypatch.setenv(name, value)
        assert verify.main(["recorded"]) == 0
    said = capfd.readouterr().out
    assert "recorded: " in said
    assert " files the same, 0 not" in said
    assert "Not committed" not in said
