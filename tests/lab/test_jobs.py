"""Recipes: each after the one that it builds on, the longest first, and an error ends them all."""

import time
from functools import partial
from pathlib import Path

import pytest
from in_place import InPlace

from selfpref.lab.examples import Recipe, Schedule
from selfpref.lab.tokenizer import WORLD
from selfpref.lab.training import run


def grow(folder: Path, recipe: Recipe) -> None:
    time.sleep(0.05)
    before = (folder / recipe.base).read_text() if recipe.base else ""
    (folder / recipe.name).write_text(before + recipe.name)


def fail(folder: Path, recipe: Recipe) -> None:
    if recipe.base is None:
        raise ValueError("no such model")
    grow(folder, recipe)


TREE = {"base": None, "other": None, "one": "base", "two": "base", "leaf": "two"}
STEPS = {"other": 3, "two": 2}
RECIPES = [
    Recipe(name, WORLD, (Schedule(0, STEPS.get(name, 1), ()),), base) for name, base in TREE.items()
]


def test_a_job_finds_what_the_one_before_it_left(tmp_path):
    told = []
    run(RECIPES, partial(grow, tmp_path), 2, told.append)
    assert sorted(told) == sorted(TREE)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "base": "base", "other": "other", "one": "baseone", "two": "basetwo",
        "leaf": "basetwoleaf",
    }  # fmt: skip


def test_of_jobs_that_can_begin_the_longest_is_first(tmp_path, monkeypatch):
    begun = []

    class Listening(InPlace):
        def submit(self, job, /, *arguments, **named):
            begun.append(arguments[0].name)
            return super().submit(job, *arguments, **named)

    monkeypatch.setattr("selfpref.lab.training.pool", Listening)
    run(RECIPES, partial(grow, tmp_path))
    assert begun[:2] == ["other", "base"]
    assert begun.index("two") + 1 == begun.index("one")


def test_an_error_is_raised_and_what_waits_is_not_begun(tmp_path):
    bad, waiting = (
        Recipe(name, WORLD, (), base) for name, base in (("bad", None), ("next", "bad"))
    )
    with pytest.raises(ValueError, match="no such model"):
        run([bad, waiting], partial(fail, tmp_path), 1)
    assert not list(tmp_path.iterdir())
