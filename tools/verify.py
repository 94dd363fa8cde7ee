"""Rebuild profiles twice from scratch and compare what they made byte by byte (`make verify`).

Each of the two runs is a clone of what is committed, in a folder of its own, without a lock,
figures or executed notebooks, with a DVC cache and a store of model calls of its own: nothing is
replayed. Downloads are shared. Compared are the figures and tables of every study, the tables and
model folders under data/, and the executed notebooks.

    python tools/verify.py [PROFILE ...]       default: lab recorded
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROFILES = ("lab", "recorded")
MADE = ("data/{}", "figures/{}", "report/{}")


def made(root: Path, profile: str) -> dict[str, str]:
    """SHA-256 of every file that a profile has made, by its place.

    Left out: what is not under its final name yet, and pages, which follow from the notebooks (the
    report's tell how long each stage took).
    """
    found = {}
    for folder in MADE:
        for path in sorted((root / folder.format(profile)).rglob("*")):
            place = path.relative_to(root)
            unfinished = path.suffix == ".new" or any(part.startswith(".") for part in place.parts)
            page = place.parts[0] == "report" and path.suffix != ".ipynb"
            if path.is_file() and not (unfinished or page or ".failed." in path.name):
                found[str(place)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def differences(one: dict[str, str], two: dict[str, str]) -> list[str]:
    """What differs between two runs, a line a file."""
    told = {(True, True): "differs", (True, False): "only in run 1", (False, True): "only in run 2"}
    return [
        f"{told[name in one, name in two]}: {name}"
        for name in sorted(one.keys() | two.keys())
        if one.get(name) != two.get(name)
    ]


def rebuild(folder: Path, profile: str) -> None:
    """Clone what is committed into a folder and reproduce a profile there from nothing.

    Raises:
        CalledProcessError: A command failed; it has said why.
    """
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    (folder / "dvc.lock").unlink(missing_ok=True)
    for name in ("figures", "report"):
        shutil.rmtree(folder / name, ignore_errors=True)
    own = {
        "PYTHONPATH": str(folder / "src"),
        "SELFPREF_STORE": str(folder / ".cache" / "store.sqlite"),
    }
    for command in (["selfpref", "use", profile], ["dvc", "repro"]):
        subprocess.run(command, cwd=folder, env=os.environ | own, check=True)


def verify(profile: str, top: Path) -> bool:
    """Rebuild a profile twice below a folder and print what came out; whether all is the same."""
    runs, began = [], time.monotonic()
    for number in (1, 2):
        folder = top / f"{profile}-{number}"
        rebuild(folder, profile)
        runs.append(made(folder, profile))
        shutil.rmtree(folder)
    different = differences(*runs)
    print(*different, sep="\n", end="\n" if different else "")
    same = len(runs[0].keys() & runs[1].keys()) - sum(line[0] == "d" for line in different)
    minutes = (time.monotonic() - began) / 60
    print(f"{profile}: {same} files the same, {len(different)} not; two runs in {minutes:.1f} min")
    return not different and bool(same)


def main(profiles: list[str]) -> int:
    """Verify the named profiles; 1 if anything differs or nothing was made."""
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    if changed:
        print("Not committed, and so not verified:", changed, sep="\n", end="")
    with tempfile.TemporaryDirectory(prefix="selfpref-verify-") as top:
        try:
            outcomes = [verify(profile, Path(top)) for profile in profiles]
        except subprocess.CalledProcessError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(PROFILES)))
