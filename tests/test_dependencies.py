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
STUDIES = ("wataoka", "livebench", "panickssery", "xu", "beyond")
DEFINITIONS = ("selfpref.statistics", "selfpref.studies")
# What a stage that asks models or trains them runs; shared rooms below are listed as folders.
ROOMS = ("selfpref.studies", "selfpref.lab")
# It imports every study.
REGISTRY = SOURCE / "selfpref/studies/registry.py"
# Stages of studies whose `stages` hold one task, or tasks that need the same.
ASKING = ("wataoka-respond", "wataoka-judge", "wataoka-perplexity", "xu-refine")


def named(tree, rooms):
    """The files of some rooms that a program names in its imports, anywhere in it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("selfpref"):
            continue
        module = SOURCE.joinpath(*node.module.split("."))
        for name in [module, *(module / alias.name for alias in node.names)]:
            for file in (name.with_suffix(".py"), name / "__init__.py"):
                dotted = ".".join(file.relative_to(SOURCE).with_suffix("").parts)
                if file.is_file() and dotted.startswith(rooms):
                    yield file


def closure(starts, rooms=DEFINITIONS, without=()):
    found, left = set(), set(starts)
    while left:
        found |= left
        left = {file for path in left for file in named(ast.parse(path.read_text()), rooms)} - {
            *found,
            *without,
        }
    # A package of packages holds a docstring.
    return {path for path in found if len(ast.parse(path.read_text()).body) > 1}


def deps(stage, **item):
    """The dependencies of a stage, with what stands for a study filled in."""
    entry = STAGES[stage].get("do", STAGES[stage])
    filled = [re.sub(r"\$\{item\.(\w+)\}", lambda m: item.get(m[1], ""), d) for d in entry["deps"]]
    return {REPOSITORY / dep for dep in filled}


def uncovered(files, found):
    return sorted(
        str(path.relative_to(SOURCE)) for path in files if not found & {path, *path.parents}
    )


def listed(study):
    return deps("beyond-metrics") if study == "beyond" else deps("metrics", study=study)


def metrics(study):
    """What makes a study's numbers: what its notebook names, or its module `metrics`."""
    cells = nbformat.read(REPOSITORY / f"notebooks/{study}_metrics.ipynb", 4).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    starts = {file for cell in code for file in named(ast.parse(cell), DEFINITIONS)} - {REGISTRY}
    module = SOURCE / f"selfpref/studies/{study}/metrics.py"
    return closure(starts | ({module} if module.is_file() else set()))


@pytest.mark.parametrize("study", STUDIES)
def test_a_stage_runs_again_when_a_statistic_of_its_changes(study):
    assert not uncovered(metrics(study), listed(study))


@pytest.mark.parametrize("study", sorted(set(STUDIES) - {"beyond"}))
def test_no_study_depends_on_what_reads_them_all(study):
    beyond = SOURCE / "selfpref/studies/beyond"
    assert not [path for path in [*listed(study), *metrics(study)] if beyond in path.parents]


@pytest.mark.parametrize("stage", ASKING)
def test_a_stage_that_asks_runs_again_when_what_it_asks_changes(stage):
    """The study's `stages`, and what they need of the studies and the testbed."""
    study = stage.partition("-")[0]
    # The registry names all studies and `STUDY` who fills the tables: both are for the runner.
    needed = closure(
        {SOURCE / f"selfpref/studies/{study}/stages.py"},
        ROOMS,
        {REGISTRY, SOURCE / f"selfpref/studies/{study}/__init__.py"},
    )
    assert not uncovered(needed, deps(stage))


@pytest.mark.parametrize("study", sorted(registry.READERS))
def test_a_set_is_read_again_when_its_reader_or_its_pins_change(study):
    found = deps(f"{study}-items")
    readers = {Path(inspect.getfile(read)) for read in registry.READERS[study].values()}
    needed = closure(readers, ("selfpref.studies", "selfpref.formats", "selfpref.download"))
    own = SOURCE / f"selfpref/studies/{study}/__init__.py"
    assert not uncovered(needed - {own}, found)
    # The file that pins it is the entry's `source`.
    assert "${item.source}" in STAGES[f"{study}-items"]["do"]["deps"]


def notebooks():
    """Every stage that runs a notebook, with the notebook's file."""
    for name, stage in STAGES.items():
        entry = stage.get("do", stage)
        commands = [entry["cmd"]] if isinstance(entry["cmd"], str) else entry["cmd"]
        for path in re.findall(r"notebooks/\S+\.ipynb", " ".join(commands)):
            for study in STUDIES[:4] if "item.study" in path else [""]:
                yield name, study, REPOSITORY / path.replace("${item.study}", study)


@pytest.mark.parametrize(("stage", "study", "path"), list(notebooks()))
def test_a_stage_runs_again_when_its_notebook_or_what_that_imports_changes(stage, study, path):
    found = deps(stage, study=study)
    assert path in found
    cells = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    imported = {file for source in cells for file in named(ast.parse(source), ROOMS)}
    without = {REGISTRY, *(SOURCE / f"selfpref/studies/{name}/__init__.py" for name in STUDIES)}
    needed = closure(imported - without, ROOMS, without)
    assert not uncovered(needed, found)
