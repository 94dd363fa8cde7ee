"""Compare what a profile has made with what it made at another revision, or in another checkout.

    python tools/compare.py recorded --with 3ee10f4         # what is in git at that commit
    python tools/compare.py lab --with ../other/checkout    # what a run there made
    python tools/compare.py recorded --with ../other --study xu

Compared are the CSVs of the figures and the papers' claims and, with another checkout, also every
table and frame below data/<profile>. Rows are compared in their order. Numbers are equal within
1e-9 (absolute and relative): sums come out differently in the last digits on different
processors. Printed is each table that differs, with the first cell, and each table or column that
is only on one side. The exit status is 1 if a number or word differs, or a table or column is gone;
additions are told and allowed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]


def frame(table: Path) -> pd.DataFrame:
    """A table or the headline of a study: numbers, and all else as text; missing text is empty."""
    if table.suffix == ".csv":
        # A table without columns is an empty line, which pandas does not read.
        written = bool(table.read_text().strip())
        return pd.read_csv(table, dtype=str, keep_default_na=False) if written else pd.DataFrame()
    if table.suffix == ".json":
        found = pd.json_normalize(json.loads(table.read_text()))
    else:
        found = pd.read_parquet(table)
    told = found.select_dtypes(exclude="number")
    return found.assign(**told.astype("str").where(told.notna(), ""))


def tables(folder: Path, profile: str, study: str) -> dict[str, Path]:
    """What a checkout holds of a profile, by `<study>/<figure>` and `metrics/<study>/<frame>`."""
    figures, data = folder / "figures" / profile, folder / "data" / profile
    found = {path.relative_to(figures): path for path in figures.rglob("*.csv")}
    for path in (*data.rglob("*.parquet"), *data.glob("headlines/*.json")):
        name = path.relative_to(data)
        found[Path("metrics", name) if name.parts[0] == "beyond" else name] = path
    claims = folder / "data/claims.csv"
    found |= {Path(claims.name): claims} if profile == "recorded" and claims.is_file() else {}
    named = {str(name.with_suffix("")): path for name, path in found.items()}
    return {name: path for name, path in named.items() if study in name}


def differences(old: pd.DataFrame, new: pd.DataFrame) -> Iterator[str]:
    """What differs between two frames, in words; what begins with `+` is new."""
    yield from (f"column {name} is gone" for name in old.columns.difference(new.columns))
    yield from (f"+ column {name}" for name in new.columns.difference(old.columns))
    if len(old) != len(new):
        yield f"{len(old)} rows, now {len(new)}"
        return
    for name in old.columns.intersection(new.columns, sort=False):
        numbers = (pd.to_numeric(one[name], errors="coerce").astype(float) for one in (old, new))
        gaps = not pd.api.types.is_string_dtype(old[name])
        same = np.isclose(*numbers, rtol=1e-9, atol=1e-9, equal_nan=gaps)
        same |= old[name].eq(new[name]).to_numpy(dtype=bool, na_value=False)
        if not same.all():
            row = int(np.argmin(same))
            told = f"{old[name].iloc[row]} is now {new[name].iloc[row]}"
            yield f"{name}: {(~same).sum()} of {len(old)} rows, first in row {row + 1}: {told}"


def compared(old: dict[str, Path], new: dict[str, Path]) -> list[str]:
    """What differs, a line each."""
    told = [f"+ {name}: new" for name in sorted(new.keys() - old.keys())]
    told += [f"{name}: gone" for name in sorted(old.keys() - new.keys())]
    for name in sorted(old.keys() & new.keys()):
        # A million rows need not be read.
        if old[name].read_bytes() != new[name].read_bytes():
            found = differences(frame(old[name]), frame(new[name]))
            told += [f"{'+ ' * (one[0] == '+')}{name}: {one}" for one in found]
    return told


def main() -> int:
    """Compare, print and tell by the exit status."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("profile")
    parser.add_argument("--with", dest="other", required=True, help="a revision or a folder")
    parser.add_argument("--study", default="", help="one study alone")
    args = parser.parse_args()
    folder, new = Path(args.other), tables(ROOT, args.profile, args.study)
    with tempfile.TemporaryDirectory() as scratch:
        if not folder.is_dir():
            folder = Path(scratch)
            wanted = ["git", "-C", str(ROOT), "archive", args.other, "figures", "data/claims.csv"]
            packed = subprocess.check_output(wanted)
            subprocess.run(["tar", "-x", "-C", scratch], input=packed, check=True)
            # Git has nothing of data/<profile>.
            made = ROOT / "data" / args.profile
            new = {name: path for name, path in new.items() if not path.is_relative_to(made)}
        old = tables(folder, args.profile, args.study)
        told = compared(old, new)
    failed = sum(line[0] != "+" for line in told)
    counted = f"{len(old.keys() & new.keys())} tables compared, {failed} differences"
    print(*told, f"{args.profile}: {counted}", sep="\n")
    return int(failed > 0 or not old)


if __name__ == "__main__":
    sys.exit(main())
