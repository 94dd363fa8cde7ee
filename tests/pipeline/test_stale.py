"""What a changed parameter makes stale.

Nothing runs here. Every output of the testbed is a file of a few bytes that DVC is told to take
for the stage's own, and its status is asked for after each change.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from clones import Clone, cloned

# What every change of params.yaml touches.
ALWAYS = {"check", "report@lab"}
STUDIES = ("wataoka", "livebench", "panickssery", "xu")


@pytest.fixture(scope="module")
def committed(tmp_path_factory) -> Iterator[Clone]:
    """The testbed as git has it, with outputs that nobody has computed."""
    with cloned(tmp_path_factory.mktemp("committed"), {}) as clone:
        # In git, but no output of this profile.
        (clone.folder / "figures/recorded").mkdir(parents=True)
        with clone.dvc() as repo:
            for stage in repo.index.stages:
                for out in stage.outs:
                    path = Path(out.fs_path)
                    path = path if path.suffix else path / "file"
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(stage.addressing)
            repo.commit(force=True)
        yield clone


def of(*studies):
    """The metrics and the chapters of these studies."""
    return {f"{part}@{study}-lab" for study in studies for part in ("metrics", "chapter")}


def assign(path, value):
    """A change of one value."""

    def change(params):
        *outer, last = path.split(".")
        for name in outer:
            params = params[name]
        params[last] = value

    return change


TUNING = {"panickssery-finetune@readers", "panickssery-recognise-tuned@readers"}
READING = {
    *("panickssery-items@notes", "panickssery-respond@writers", "panickssery-recognise@readers"),
    "panickssery-recognise-tuned@readers",
}
ASKING = (TUNING | READING) - {"panickssery-items@notes"} | {
    *("wataoka-respond@families", "wataoka-judge@judges", "livebench-respond@contestants"),
    *("livebench-judge@contestants", "livebench-tie-break@umpire"),
    *("xu-refine@translators", "xu-refine@solver"),
}
BEYOND = {"beyond-metrics@lab"}


CHANGES = {
    "wataoka.threshold": (0.8, {*of("wataoka")} | BEYOND),
    "bootstrap.resamples": (500, {*of(*STUDIES), "beyond@lab"} | BEYOND),
    "lab.seeds": ([0, 1], {"train@1"}),
    "models.translators.names": (["fair", "small"], {"xu-refine@translators"}),
    "xu.refine.translators.steps": (9, {"xu-refine@translators", *of("xu")} | BEYOND),
    "panickssery.datasets.notes.articles": (91, {*READING, *of("panickssery")}),
    "panickssery.finetune.readers.rate": (0.002, {*TUNING, *of("panickssery")}),
    "wataoka.datasets.seed-0.prompts": (25, {"wataoka-items@seed-0", *of("wataoka")} | BEYOND),
    "seed": (1, ASKING | {f"metrics@{study}-lab" for study in STUDIES} | BEYOND),
    "offline": (True, ASKING | {"wataoka-perplexity@judges"}),
    "studies": (["wataoka", "xu"], BEYOND),
}


def test_of_some_values_this_becomes_stale(committed):
    assert committed.stale() == set()
    for path, (value, stale) in CHANGES.items():
        with committed.edited(assign(path, value)):
            assert committed.stale() == ALWAYS | stale, path
