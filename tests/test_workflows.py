"""The public repository's workflows: what a landing runs, and actions that cannot change."""

import re

from conftest import REPOSITORY
from ruamel.yaml import YAML

WORKFLOWS = REPOSITORY / ".github/workflows"


def test_actions_are_pinned_rights_are_named_and_ci_runs_what_a_landing_runs():
    for path in WORKFLOWS.glob("*.yml"):
        used = re.findall(r"uses: (.*)", path.read_text())
        assert used
        for action in used:
            assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)
        assert YAML(typ="safe").load(path)["permissions"] == {"contents": "read"}
    steps = YAML(typ="safe").load(WORKFLOWS / "ci.yml")["jobs"]["test"]["steps"]
    landing = (REPOSITORY / ".ci/run").read_text().splitlines()
    commands = [line for line in landing if line.startswith("make ")]
    assert commands == [step.get("run") for step in steps][-2:]
