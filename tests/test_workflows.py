"""The public repository's workflows: what a landing runs, and actions that cannot change."""

import re

import pytest
from conftest import REPOSITORY
from ruamel.yaml import YAML

WORKFLOWS = sorted((REPOSITORY / ".github/workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_rights_are_named(path):
    text = path.read_text()
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used
    for action, version in used:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", action)
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", version)
    assert YAML(typ="safe").load(text)["permissions"] == {"contents": "read"}


def test_ci_runs_what_a_landing_runs():
    steps = YAML(typ="safe").load((REPOSITORY / ".github/workflows/ci.yml").read_text())
    commands = [step.get("run") for step in steps["jobs"]["test"]["steps"]]
    landing = (REPOSITORY / ".ci/run").read_text().splitlines()
    assert [line for line in landing if line.startswith("make ")] == commands[-2:]
