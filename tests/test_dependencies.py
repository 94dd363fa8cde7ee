"""What dvc.yaml says a stage depends on covers its reader, and of metrics every definition."""

import ast

import pytest
from conftest import REPOSITORY
from ruamel.yaml import YAML

SOURCE = REPOSITORY / "src"
STAGES = YAML(typ="safe").load((REPOSITORY / "dvc.yaml").read_text())["stages"]
STUDIES = ("wataoka", "livebench", "panickssery", "xu", "beyond")
DEFINITIONS = ("selfpref.statistics", "selfpref.studies")


def imported(path):
    """The files of statistics and studies that a module names in its imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(DEFINITIONS):
            continue
        module = SOURCE.joinpath(*node.module.split("."))
        for name in [module, *(module / alias.name for alias in node.names)]:
            yield from filter(
                lambda file: file.is_file(), (name.with_suffix(".py"), name / "__init__.py")
            )


def closure(study):
    found, left = set(), {SOURCE / f"selfpref/studies/{study}/metrics.py"}
    while left:
        found |= left
        left = {file for path in left for file in imported(path)} - found
    # A package of packages holds a docstring.
    return {path for path in found if len(ast.parse(path.read_text()).body) > 1}


def deps(stage):
    return {REPOSITORY / dep for dep in STAGES[stage]["do"]["deps"]}


def listed(study):
    return deps(f"metrics-{study}")


@pytest.mark.parametrize("study", STUDIES)
def test_a_stage_runs_again_when_a_statistic_of_its_changes(study):
    found = listed(study)
    assert not [path for path in closure(study) if not found & {path, *path.parents}]


@pytest.mark.parametrize("study", sorted(set(STUDIES) - {"beyond"}))
def test_no_study_depends_on_what_reads_them_all(study):
    beyond = SOURCE / "selfpref/studies/beyond"
    assert not [path for path in [*listed(study), *closure(study)] if beyond in path.parents]


@pytest.mark.parametrize(
    ("stage", "folder", "files"),
    [
        ("articles", "panickssery", ("articles.py", "xsum.csv", "cnn-dailymail.csv")),
        ("requests", "xu", ("requests.py", "flores.csv", "commongen-hard.csv", "math.csv")),
    ],
)
def test_a_set_is_read_again_when_its_reader_or_its_pins_change(stage, folder, files):
    found = deps(stage)
    for name in files:
        path = SOURCE / "selfpref/studies" / folder / "read" / name
        assert path.is_file()
        assert found & {path, *path.parents}
