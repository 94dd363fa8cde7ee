"""Rebuild profiles twice from scratch and compare what they made byte by byte (`make verify`).

Each of the two runs is a clone of what is committed, in a folder of its own, without a lock,
figures or executed notebooks, with a DVC cache and a store of model calls of its own: nothing is
replayed. Downloads are shared. Compared are the figures and tables of every study, the tables and
model folders under data/, and the executed notebooks.

    python tools/verify.py [PROFILE ...]       default: lab recorded
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOPS = ("data", "figures", "report")


def made(root: Path, profile: str) -> dict[str, str]:
    """SHA-256 of every file that a profile has made, by its place.

    Left out: what is not under its final name yet, and pages, which follow from the notebooks.
    """
    paths = [path for top in TOPS for path in (root / top / profile).rglob("*") if path.is_file()]
    found = {str(path.relative_to(root)): path for path in sorted(paths)}
    left_out = re.compile(r".*(\.new$|/\.|\.failed\.)|report/.*(?<!\.ipynb)$")
    return {
        place: hashlib.sha256(path.read_bytes()).hexdigest()
        for place, path in found.items()
        if not left_out.match(place)
    }


def differences(one: dict[str, str], two: dict[str, str]) -> list[str]:
    """What differs between two runs, a line a file."""
    told = {(True, True): "differs", (True, False): "only in run 1", (False, True): "only in run 2"}
    return [
        f"{told[name in one, name in two]}: {name}"
        for name in sorted(one.keys() | two.keys())
        if one.get(name) != two.get(name)
    ]


def ran(folder: Path, *command: str) -> None:
    """Run a command in a clone, with its own code and store.

    Raises:
        CalledProcessError: It failed, and has said why.
    """
    own = {"PYTHONPATH": f"{folder}/src", "SELFPREF_STORE": f"{folder}/.cache/store.sqlite"}
    subprocess.run(command, cwd=folder, env=os.environ | own, check=True)


def rebuilt(folder: Path, profile: str) -> dict[str, str]:
    """What a profile makes from nothing in a clone of what is committed."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    ran(folder, "rm", "-rf", "dvc.lock", "figures", "report")
    ran(folder, "selfpref", "use", profile)
    ran(folder, "dvc", "repro")
    return made(folder, profile)


def main(profiles: list[str]) -> int:
    """Verify the named profiles; 1 if anything differs or nothing was made."""
    outcomes = []
    for profile in profiles:
        with tempfile.TemporaryDirectory(prefix="selfpref-verify-") as top:
            one, two = (rebuilt(Path(top, str(number)), profile) for number in (1, 2))
        different = differences(one, two)
        same = sum(two.get(name) == digest for name, digest in one.items())
        print(*different, f"{profile}: {same} files the same, {len(different)} not", sep="\n")
        outcomes.append(bool(same) and not different)
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["lab", "recorded"]))
