"""What the soak tests share: small pipelines, and what their runs leave behind.

`make soak` names the seed of every random moment in $SELFPREF_SOAK.
"""

import os
import subprocess
import sys
import time
from contextlib import contextmanager

import elobench_release
import numpy as np
import psutil
from clones import ALONE, FAMILIES, cloned, small, without
from conftest import REPOSITORY, mt_bench_files, vicuna80_files

sys.path.insert(0, str(REPOSITORY / "tools"))
from verify import made

SEED = os.environ.get("SELFPREF_SOAK")
RELEASES = {
    "mt-bench": mt_bench_files(6),
    "vicuna80": vicuna80_files(6),
    "elobench": elobench_release.files(*elobench_release.rows()),
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
def started(clone, *command):
    """A command in a clone, by default `dvc repro`, its output in a file; killed in the end."""
    with open(clone.folder.parent / "told", "w") as output:
        process = subprocess.Popen(
            command or ("dvc", "repro"),
            cwd=clone.folder,
            env=clone.environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
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
    begun = [
        line.split("'")[1] for line in told(clone).splitlines() if line[:14] == "Running stage "
    ]
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
        try:
            if process.cwd() == str(clone.folder):
                found.append(process)
        except psutil.Error:
            continue
    return found


def kill(victims) -> None:
    for process in victims:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue


def broken(clone, whole) -> list[str]:
    """Files under a final name that are not what an undisturbed run made of them."""
    return [
        name
        for name, digest in made(clone.folder, clone.profile).items()
        if whole.get(name) != digest
    ]


def finished(clone, whole) -> None:
    """Run to the end: the same bytes as without the disturbance, and nothing left to do."""
    done = clone.repro()
    assert done.returncode == 0, done.stderr + done.stdout
    assert made(clone.folder, clone.profile) == whole
    assert clone.stale() == set()
