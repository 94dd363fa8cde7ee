"""What dvc.yaml says a stage of metrics depends on covers every statistic that it imports."""

import ast

import pytest
from conftest import REPOSITORY
from ruamel.yaml import YAML

SOURCE = REPOSITORY / "src"
STAGES = YAML(typ="safe").load((REPOSITORY / "dvc.yaml").read_text())["stages"]
# What `selfpref.studies` calls for each study.
ENTRIES = {
    "wataoka": ["wataoka.py"],
    "livebench": ["livebench/__init__.py"],
    "panickssery": ["panickssery/__init__.py"],
    "xu": ["xu/study.py", "xu/rows.py"],
    "beyond": ["beyond/__init__.py"],
}


def imported(path):
    """The files of `selfpref.metrics` that a module names in its imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(
            "selfpref.metrics"
        ):
            continue
        module = SOURCE.joinpath(*node.module.split("."))
        for name in [module, *(module / alias.name for alias in node.names)]:
            for file in (name.with_suffix(".py"), name / "__init__.py"):
                # The package itself holds a docstring.
                if file.is_file() and file != SOURCE / "selfpref/metrics/__init__.py":
                    yield file


def closure(files):
    found, left = set(), set(files)
    while left:
        found |= left
        left = {file for path in left for file in imported(path)} - found
    return found


@pytest.mark.parametrize("study", ENTRIES)
def test_a_stage_runs_again_when_a_statistic_of_its_changes(study):
    listed = {REPOSITORY / dep for dep in STAGES[f"metrics-{study}"]["do"]["deps"]}
    needed = closure(SOURCE / "selfpref/metrics" / entry for entry in ENTRIES[study])
    missing = [path for path in needed if not listed & {path, *path.parents}]
    assert not missing


@pytest.mark.parametrize("study", sorted(set(ENTRIES) - {"beyond"}))
def test_no_study_depends_on_what_reads_them_all(study):
    beyond = SOURCE / "selfpref/metrics/beyond"
    listed = {REPOSITORY / dep for dep in STAGES[f"metrics-{study}"]["do"]["deps"]}
    assert not listed & {beyond, *beyond.parents}
    needed = closure(SOURCE / "selfpref/metrics" / entry for entry in ENTRIES[study])
    assert not [path for path in needed if beyond in path.parents]
