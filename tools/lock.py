"""Write requirements/*.txt and environment.yml from pyproject.toml (`make lock`).

Three locks that agree with each other: `base` (what the pipeline runs on), `dev` (base and the
tools of `make test` and `make check`), `models` (what local weights and served models add).
All are universal: one file serves every platform and every Python from 3.11 on. torch is pinned
without hashes, in a file of its own, because its CPU and CUDA wheels carry one version number.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKS = {
    "base": ["--group", "build"],
    "dev": ["--group", "build", "--group", "dev"],
    "models": ["--extra", "models", "--group", "build"],
}


def pins(lock: str) -> list[str]:
    """Requirement lines of a lock: names, versions and markers without hashes and comments."""
    lines = lock.replace("\\\n", " ").splitlines()
    kept = (line.partition("#")[0].partition("--hash")[0].strip() for line in lines)
    return sorted({line for line in kept if line})


def environment(requirements: Path) -> str:
    """The conda environment: Python, and through pip exactly the pins of every lock."""
    wanted = sorted({pin for path in requirements.glob("*.txt") for pin in pins(path.read_text())})
    head = [
        "# Written by `make lock` from pyproject.toml; edit that file instead.",
        "name: selfpref",
        "channels: [conda-forge, nodefaults]",
        "dependencies:",
        "  - python=3.11",
        "  - pip",
        "  - pip:",
    ]
    entry = "      - "
    return "\n".join([*head, *(f"{entry}{pin}" for pin in wanted), f"{entry}-e .", ""])


def compile_lock(options: list[str], constraints: Path | None, *, hashes: bool) -> str:
    """One run of uv over pyproject.toml; returns the text of the lock."""
    command = ["uv", "pip", "compile", "pyproject.toml", "--universal", "--python-version", "3.11"]
    command += ["--quiet", "--no-header", "--annotation-style", "line", *options]
    command += ["--generate-hashes"] if hashes else []
    command += ["--constraints", str(constraints)] if constraints else []
    lock = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return lock.replace(f", -c {constraints}", "").replace(f"-c {constraints}, ", "")


def main() -> int:
    """Resolve everything once, then write each subset under that resolution."""
    requirements = ROOT / "requirements"
    with tempfile.TemporaryDirectory() as scratch:
        everything = Path(scratch) / "all.txt"
        options = ["--all-extras", "--group", "build", "--group", "dev"]
        everything.write_text(compile_lock(options, None, hashes=False))
        for name, extra in LOCKS.items():
            omit = ["--no-emit-package", "torch"] if name == "models" else []
            lock = compile_lock([*extra, *omit], everything, hashes=True)
            head = (
                f"# {name}: written by `make lock` from pyproject.toml; edit that file instead.\n"
            )
            (requirements / f"{name}.txt").write_text(head + lock)
        torch = next(pin for pin in pins(everything.read_text()) if pin.startswith("torch=="))
    (requirements / "torch.txt").write_text(
        "# No hashes: the CPU and the CUDA wheel share this version (README, Installation).\n"
        f"{torch}\n"
    )
    (ROOT / "environment.yml").write_text(environment(requirements))
    return 0


if __name__ == "__main__":
    sys.exit(main())
