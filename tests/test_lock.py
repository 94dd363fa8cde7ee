"""pyproject.toml, the locks and environment.yml agree."""

import ast
import re
import sys
import tomllib

import pytest
from conftest import REPOSITORY
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

sys.path.insert(0, str(REPOSITORY / "tools"))
import lock

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
GROUPS = PROJECT["dependency-groups"]
BASE = [*PROJECT["project"]["dependencies"], *GROUPS["build"]]
WANTED = {
    "base": BASE,
    "dev": [*BASE, *GROUPS["dev"]],
    "models": [*BASE, *PROJECT["project"]["optional-dependencies"]["models"]],
}
REQUIREMENTS = REPOSITORY / "requirements"
OPTIONAL = PROJECT["project"]["optional-dependencies"]
# Modules whose package has another name.
PACKAGES = {"PIL": "pillow", "ruamel": "ruamel-yaml"}
EVERY = [*BASE, *(line for extra in OPTIONAL.values() for line in extra)]


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


def test_the_locks_agree_with_each_other():
    versions = {}
    for name in WANTED:
        for pin in pinned(name):
            key = (pin.name, str(pin.marker))
            assert versions.setdefault(key, str(pin.specifier)) == str(pin.specifier), pin


def test_environment_yml_is_what_the_locks_give():
    assert (REPOSITORY / "environment.yml").read_text() == lock.environment(REQUIREMENTS)


def test_what_is_imported_is_declared():
    declared = {canonicalize_name(Requirement(line).name) for line in EVERY}
    imported = set()
    for path in (REPOSITORY / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    others = imported - set(sys.stdlib_module_names) - {"selfpref"}
    assert {canonicalize_name(PACKAGES.get(name, name)) for name in others} <= declared
