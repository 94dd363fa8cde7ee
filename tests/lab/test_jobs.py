"""Jobs: each after the one that it builds on, the longest first, and an error ends them all."""

import time
from pathlib import Path

import pytest
from in_place import InPlace

from selfpref.lab.jobs import Job, run_jobs


def fail() -> None:
    raise ValueError("no such model")


def grow(folder: Path, name: str, parent: str | None) -> None:
    time.sleep(0.05)
    before = (folder / parent).read_text() if parent else ""
    (folder / name).write_text(before + name)


TREE = {"base": None, "other": None, "one": "base", "two": "base", "leaf": "two"}


def tree(folder: Path) -> list[Job]:
    work = {"other": 3.0, "two": 2.0}
    return [
        Job(name, work.get(name, 1.0), grow, (folder, name, after), after)
        for name, after in TREE.items()
    ]


def test_a_job_finds_what_the_one_before_it_left(tmp_path):
    told = []
    run_jobs(tree(tmp_path), 2, told.append)
    assert sorted(told) == sorted(TREE)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "base": "base", "other": "other", "one": "baseone", "two": "basetwo",
        "leaf": "basetwoleaf",
    }  # fmt: skip


def test_of_jobs_that_can_begin_the_longest_is_first(tmp_path, monkeypatch):
    begun = []

    class Listening(InPlace):
        def submit(self, job, /, *arguments, **named):
            begun.append(arguments[1])
            return super().submit(job, *arguments, **named)

    monkeypatch.setattr("selfpref.lab.jobs.pool", Listening)
    run_jobs(tree(tmp_path))
    assert begun[:2] == ["other", "base"]
    assert begun.index("two") + 1 == begun.index("one")


def test_an_error_is_raised_and_what_waits_is_not_begun(tmp_path):
    jobs = [Job("bad", 9.0, fail, ()), Job("next", 1.0, grow, (tmp_path, "next", None), "bad")]
    with pytest.raises(ValueError, match="no such model"):
        run_jobs(jobs, 1)
    assert not list(tmp_path.iterdir())
