"""Compare the CSVs of a profile's figures with those of another revision, or of another checkout.

    python tools/compare.py recorded --with 3ee10f4         # what is in git at that commit
    python tools/compare.py lab --with ../other/checkout    # what a run there made
    python tools/compare.py recorded --with ../other --study xu

Rows are compared in their order. Numbers are equal within `--tolerance` (absolute and relative):
sums come out differently in the last digits on different processors. Printed is each file that
differs, with the first cell, and each file or column that is only on one side. The exit status is
1 if a number or word differs, or a file or column is gone; additions are told and allowed.
"""

import argparse
import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]


def in_folder(folder: Path, top: str) -> dict[str, Callable[[], str]]:
    """The CSVs below `top` of a checkout, by path; each is read when it is called."""
    return {
        str(path.relative_to(folder)): path.read_text
        for path in sorted((folder / top).rglob("*.csv"))
    }


def in_git(revision: str, top: str) -> dict[str, Callable[[], str]]:
    """The CSVs below `top` at a revision, by path."""

    def shown(*command: str) -> str:
        return subprocess.run(
            ["git", "-C", str(ROOT), *command], capture_output=True, text=True, check=True
        ).stdout

    names = shown("ls-tree", "-r", "--name-only", revision, top).splitlines()
    return {
        name: lambda name=name: shown("show", f"{revision}:{name}")  # type: ignore[misc]
        for name in names
        if name.endswith(".csv")
    }


def differences(old: pd.DataFrame, new: pd.DataFrame, tolerance: float) -> Iterator[str]:
    """What differs between two frames of text cells, in words; what begins with `+` is new."""
    yield from (f"column {name} is gone" for name in old.columns.difference(new.columns))
    yield from (f"+ column {name}" for name in new.columns.difference(old.columns))
    if len(old) != len(new):
        yield f"{len(old)} rows, now {len(new)}"
        return
    for name in old.columns.intersection(new.columns, sort=False):
        before, after = (pd.to_numeric(side[name], errors="coerce") for side in (old, new))
        close = np.isclose(before, after, rtol=tolerance, atol=tolerance)
        same = close | old[name].eq(new[name]).to_numpy()
        if not same.all():
            row = int(np.argmin(same))
            yield (
                f"{name}: {(~same).sum()} of {len(old)} rows, first in row {row + 1}: "
                f"{old[name].iloc[row]} is now {new[name].iloc[row]}"
            )


def main() -> int:
    """Compare, print and tell by the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("profile")
    parser.add_argument("--with", dest="other", required=True, help="a revision or a folder")
    parser.add_argument("--study", default="", help="one study alone")
    parser.add_argument("--tolerance", type=float, default=1e-9)
    args = parser.parse_args()
    top = f"figures/{args.profile}/{args.study}".rstrip("/")
    folder = Path(args.other)
    old = in_folder(folder, top) if folder.is_dir() else in_git(args.other, top)
    new = in_folder(ROOT, top)
    if not old:
        print(f"{args.other}: no CSV below {top}", file=sys.stderr)
        return 1
    failed = [f"{name}: gone" for name in old if name not in new]
    told = [f"{name}: new" for name in new if name not in old]
    for name in sorted(old.keys() & new.keys()):
        texts = [side[name]() for side in (old, new)]
        # A table without columns is an empty line, which pandas does not read.
        if texts[0] == texts[1]:
            continue
        frames = [
            pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False) for text in texts
        ]
        for line in differences(*frames, args.tolerance):
            (told if line.startswith("+") else failed).append(f"{name}: {line}")
    print(*told, *failed, sep="\n", end="\n" if told or failed else "")
    print(f"{top}: {len(old.keys() & new.keys())} files compared, {len(failed)} differences")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
