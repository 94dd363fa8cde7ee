"""What dvc.yaml says a stage depends on covers its reader, its notebook and every definition."""

import ast
import inspect
import re
from pathlib import Path

import nbformat
import pytest
from conftest import REPOSITORY
from ruamel.yaml import YAML

from selfpref.studies import registry

SOURCE = REPOSITORY / "src"
STAGES = YAML(typ="safe").load((REPOSITORY / "dvc.yaml").read_text())["stages"]
STUDIES = (*registry.STUDIES, "beyond")
# What a stage that asks models or trains them runs; shared rooms below are listed as folders.
ROOMS = ("selfpref.studies", "selfpref.lab")
# They import every study, or name who fills its tables: both are for the runner.
RUNNERS = {
    SOURCE / "selfpref/studies/registry.py",
    *(SOURCE / f"selfpref/studies/{study}/__init__.py" for study in STUDIES),
}


def named(text, rooms):
    """The files of some rooms that a program names in its imports, anywhere in it."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("selfpref"):
            continue
        module = SOURCE.joinpath(*node.module.split("."))
        for name in [module, *(module / alias.name for alias in node.names)]:
            for file in (name.with_suffix(".py"), name / "__init__.py"):
                dotted = ".".join(file.relative_to(SOURCE).with_suffix("").parts)
                if file.is_file() and dotted.startswith(rooms):
                    yield file


def uncovered(starts, rooms, found, without=RUNNERS):
    """What these files need of some rooms, and a stage's dependencies lack."""
    needed, left = set(), set(starts) - without
    while left:
        needed |= left
        left = {file for path in left for file in named(path.read_text(), rooms)}
        left -= needed | without
    # A package of packages holds a docstring.
    return sorted(
        str(path.relative_to(SOURCE))
        for path in needed
        if len(ast.parse(path.read_text()).body) > 1 and not found & {path, *path.parents}
    )


def deps(stage, study=""):
    """The dependencies of a stage of this study; the source of the testbed's entries is the lab."""
    listed = STAGES[stage].get("do", STAGES[stage])["deps"]
    for name, value in (("study", study), ("source", "src/selfpref/lab")):
        listed = [dep.replace(f"${{item.{name}}}", value) for dep in listed]
    return {REPOSITORY / dep for dep in listed}


def imports(notebook, rooms):
    cells = [cell for cell in nbformat.read(notebook, 4).cells if cell.cell_type == "code"]
    return {file for cell in cells for file in named(cell.source, rooms)}


@pytest.mark.parametrize("study", STUDIES)
def test_a_stage_runs_again_when_a_statistic_of_its_changes(study):
    """What its notebook names, or its module `metrics`; no study reads what reads them all."""
    rooms = ("selfpref.statistics", "selfpref.studies")
    listed = deps("beyond-metrics") if study == "beyond" else deps("metrics", study)
    starts = imports(REPOSITORY / f"notebooks/{study}_metrics.ipynb", rooms)
    module = SOURCE / f"selfpref/studies/{study}/metrics.py"
    starts |= {module} if module.is_file() else set()
    assert not uncovered(starts, rooms, listed, {SOURCE / "selfpref/studies/registry.py"})
    beyond = SOURCE / "selfpref/studies/beyond"
    assert (beyond in listed) is (study == "beyond")


@pytest.mark.parametrize(
    "stage", ["wataoka-respond", "wataoka-judge", "wataoka-perplexity", "xu-refine"]
)
def test_a_stage_that_asks_runs_again_when_what_it_asks_changes(stage):
    """Of studies whose `stages` hold one task, or tasks that need the same."""
    stages = SOURCE / f"selfpref/studies/{stage.partition('-')[0]}/stages.py"
    assert not uncovered({stages}, ROOMS, deps(stage))


@pytest.mark.parametrize("study", sorted(registry.READERS))
def test_a_set_is_read_again_when_its_reader_or_its_pins_change(study):
    readers = {Path(inspect.getfile(read)) for read in registry.READERS[study].values()}
    rooms = ("selfpref.studies", "selfpref.formats", "selfpref.download")
    # The prompts of the testbed's refiners are laid out beside what draws its requests.
    own = {SOURCE / f"selfpref/studies/{study}/{name}.py" for name in ("__init__", "prompts")}
    assert not uncovered(readers, rooms, deps(f"{study}-items"), own)
    # The file that pins it is the entry's `source`.
    assert "${item.source}" in STAGES[f"{study}-items"]["do"]["deps"]


def test_a_stage_runs_again_when_its_notebook_or_what_that_imports_changes():
    checked = 0
    for stage, whole in STAGES.items():
        for name in re.findall(r"notebooks/\S+\.ipynb", whole.get("do", whole)["cmd"]):
            for study in registry.STUDIES if "item.study" in name else [""]:
                path = REPOSITORY / name.replace("${item.study}", study)
                assert path in deps(stage, study)
                assert not uncovered(imports(path, ROOMS), ROOMS, deps(stage, study)), stage
                checked += 1
    assert checked > len(STAGES)
