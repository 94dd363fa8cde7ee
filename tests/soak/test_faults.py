"""Runs that are killed, refused and starved end with the bytes of an undisturbed run.

`make soak` names the seed of every random moment in $SELFPREF_SOAK.
"""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import elobench_release
import llm_sp_release
import numpy as np
import psutil
import pytest
from clones import FAMILIES, cloned, of_wataoka, ran, without
from conftest import REPOSITORY, mt_bench_files, vicuna80_files
from ruamel.yaml import YAML, YAMLError
from scripted import Scripted

from selfpref.store import Store

sys.path.insert(0, str(REPOSITORY / "tools"))
from verify import made

pytestmark = pytest.mark.skipif(not os.environ.get("SELFPREF_SOAK"), reason="`make soak` runs this")
KILLS = 20
# Each call that is kept is written down by the database itself, in the same transaction.
LOG = """
CREATE TABLE kept (key TEXT);
CREATE TRIGGER keep AFTER INSERT ON replies BEGIN INSERT INTO kept VALUES (new.key); END;
"""
RELEASES = {
    "mt-bench": mt_bench_files(6),
    "vicuna80": vicuna80_files(6),
    "elobench": elobench_release.files(*elobench_release.rows()),
    "llm-sp": llm_sp_release.files(),
}


def reduced(params, url) -> None:
    """The first study alone: released verdicts, two trained families, or a served judge."""
    section = params["wataoka"]
    if params["profile"] == "lab":
        of_wataoka(params)
        params["lab"]["dialogues"].update(families=2, base_steps=40, tune_steps=5)
        params["lab"]["summaries"].update(base_steps=1, tune_steps=1)
        params["lab"]["refinement"].update(translator_steps=1, tune_steps=1, solver_steps=1)
        params["models"]["families"]["names"] = FAMILIES[:2]
        params["models"]["judges"]["names"] = FAMILIES[:1]
        section["datasets"]["seed-0"].update(prompts=20)
        section["label"]["seed-0"].update(pairs=20)
        section["perplexity"] = {"judges": section["perplexity"]["judges"]}
    if params["profile"] == "live":
        served = {"engine": "openai", "model": "served", "base_url": url, "key": "SERVED"}
        params["models"] = {"served": served}
        section.update(respond={}, label={}, perplexity={})
        section["judge"] = {"served": {"prompts": "chat", "min_mass": 0.5}}
        section["datasets"] = {"vicuna-80": section["datasets"]["vicuna-80"]}
    for study in ("livebench", "panickssery", "xu"):
        without(params, study)
    params["bootstrap"].update(resamples=100)


@pytest.fixture(scope="module")
def host():
    """The address of an endpoint that refuses, drops or garbles every fifth request."""
    with Scripted(faults=0.2, latency=0.02) as server:
        yield server.url


@contextmanager
def pipeline(top, profile, host):
    """A clone in which a reduced profile is ready to run."""
    with cloned(top, RELEASES) as clone:
        clone.profile = profile
        clone.environment |= {"OMP_NUM_THREADS": "1", "SERVED": "k"}
        assert clone.call("selfpref", "use", profile).returncode == 0
        clone.edit(lambda params: reduced(params, host))
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


def processes(clone) -> list[psutil.Process]:
    """Every process that works in a clone's folder."""
    every = psutil.process_iter(["cwd"])
    return [process for process in every if process.info["cwd"] == str(clone.folder)]


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


@pytest.fixture(scope="module", params=["recorded", "lab", "live"])
def undisturbed(request, tmp_path_factory, host):
    """One undisturbed run of a profile: its files, and the seconds that each stage took."""
    if request.param == "lab":
        pytest.importorskip("torch", reason="the extra `models` is not installed")
    with pipeline(tmp_path_factory.mktemp("undisturbed"), request.param, host) as clone:
        began = {}
        with started(clone) as process:
            while process.poll() is None:
                began = stages(clone, began)
                time.sleep(0.02)
        assert process.returncode == 0, told(clone)
        ends = [*list(began.values())[1:], time.monotonic()]
        lengths = dict(zip(began, np.subtract(ends, [*began.values()]), strict=True))
        yield request.param, made(clone.folder, request.param), lengths


def run_and_kill(clone, later, stage, seconds, draw):
    """Kill a run so far into a stage, or where a later one has begun; False where it had ended."""
    began = {}
    with started(clone) as process:
        while process.poll() is None and later.isdisjoint(began):
            began = stages(clone, began)
            if stage in began and time.monotonic() - began[stage] >= seconds:
                break
            time.sleep(0.02)
        if process.poll() is not None:
            assert process.returncode == 0, told(clone)
            return False
        # dvc alone, everything at once, or any one process, as for want of memory.
        running = processes(clone)
        one = running[int(draw.integers(len(running)))]
        kill(([process], running, [one])[int(draw.integers(3))])
        # What is left has to notice, or goes on because the dead one was not needed.
        time.sleep(1)
        kill(processes(clone))
    return True


def mend_lock(clone):
    """DVC does not write dvc.lock at once: killed meanwhile it leaves a part, and git the whole."""
    with suppress(YAMLError):
        if "stages" in (YAML(typ="safe").load(clone.folder / "dvc.lock") or ()):
            return
    print("dvc.lock was cut short; `git checkout dvc.lock` brings it back", flush=True)
    assert clone.call("git", "checkout", "dvc.lock").returncode == 0


def test_killed_at_twenty_moments(undisturbed, tmp_path, host):
    profile, whole, lengths = undisturbed
    draw = np.random.default_rng([int(os.environ["SELFPREF_SOAK"]), *profile.encode()])
    with pipeline(tmp_path, profile, host) as clone:
        path = clone.folder / ".cache/store.sqlite"
        with Store(path):
            sqlite3.connect(path).executescript(LOG).close()
        names, lasted = [*lengths], np.array([*lengths.values()])
        # Moments drawn evenly from the undisturbed run, its stages in order.
        for place in sorted(draw.choice(len(names), KILLS, p=lasted / lasted.sum())):
            stage, seconds = names[place], float(draw.uniform(0, lasted[place]))
            later = set(names[place + 1 :])
            print(f"kill {profile}: {seconds:.1f} s into {stage}", flush=True)
            while not run_and_kill(clone, later, stage, seconds, draw):
                # The run was faster than the undisturbed one: its last stage runs once more.
                (clone.folder / "report" / profile / "judges.md").unlink()
                stage, seconds = names[-1], float(draw.uniform(0, 1))
            assert broken(clone, whole) == []
            mend_lock(clone)
        finished(clone, whole)
        kept = [key for (key,) in sqlite3.connect(path).execute("SELECT key FROM kept")]
        # Nothing is asked twice, however often an endpoint refused.
        assert len(kept) == len(set(kept))
        assert bool(kept) == (profile != "recorded")


def mounted(*options):
    """Mount a file system, which needs the right to."""
    command = ["mount", *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")


def test_a_full_disk(undisturbed, tmp_path, host):
    """The disk fills up, twice; each time the run says so, and goes on with more room."""
    profile, whole, _ = undisturbed
    if profile != "recorded":
        pytest.skip("shown with the released data")
    top = tmp_path / "disk"
    top.mkdir()
    mounted("-t", "tmpfs", "-o", "size=200m", "tmpfs", top)
    try:
        with pipeline(top, profile, host) as clone:
            for more in (1, 3, 400):
                room = -(-shutil.disk_usage(top).used // 2**20) + more
                mounted("-o", f"remount,size={room}m", top)
                if more < 400:
                    failed = clone.repro().stderr
                    assert "No space left on device" in failed
                    assert "Traceback" not in failed
                    assert broken(clone, whole) == []
            finished(clone, whole)
    finally:
        subprocess.run(["umount", "--lazy", str(top)], check=True)
