"""Compare what a profile has made with what it made at another revision, or in another checkout.

    python tools/compare.py recorded --with 3ee10f4         # what is in git at that commit
    python tools/compare.py lab --with ../other/checkout    # what a run there made
    python tools/compare.py recorded --with ../other --study xu

Compared are the CSVs of the figures and the papers' claims and, with another checkout, also every
table and frame below data/<profile>. Rows are compared in their order. Numbers are equal within
`--tolerance` (absolute and relative): sums come out differently in the last digits on different
processors. Printed is each table that differs, with the first cell, and each table or column that
is only on one side. The exit status is 1 if a number or word differs, or a table or column is gone;
additions are told and allowed, and what `--dropped` lists (table, column or nothing, reason) may be
gone, and is counted; `column=value` in the place of a column are the rows that have it.
"""

import argparse
import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
DROPPED = ROOT / "tools" / "dropped.csv"
CLAIMS = "data/claims.csv"
# A table's file; of a revision a function that shows it.
Tables = dict[str, Path | Callable[[], str]]


def cells(text: str) -> pd.DataFrame:
    """A CSV as text cells; a table without columns is an empty line, which pandas does not read."""
    if not text.strip():
        return pd.DataFrame()
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)


def frame(table: Path | Callable[[], str]) -> pd.DataFrame:
    """A table or the headline of a study: numbers, and all else as text; missing text is empty."""
    if not isinstance(table, Path):
        return cells(table())
    if table.suffix == ".csv":
        return cells(table.read_text())
    if table.suffix == ".json":
        found = pd.json_normalize(json.loads(table.read_text()))
    else:
        found = pd.read_parquet(table)
    told = found.select_dtypes(exclude="number")
    return found.assign(**told.astype("str").where(told.notna(), ""))


def alike(old: Path | Callable[[], str], new: Path | Callable[[], str]) -> bool:
    """Whether two files are the same bytes: a million rows need not be read then."""
    both = isinstance(old, Path) and isinstance(new, Path)
    return both and old.read_bytes() == new.read_bytes()  # type: ignore[union-attr]


def in_folder(folder: Path, profile: str) -> Tables:
    """What a checkout holds of a profile, by `<study>/<figure>` and `metrics/<study>/<frame>`."""
    figures, data = folder / "figures" / profile, folder / "data" / profile
    found: Tables = {
        str(path.relative_to(figures).with_suffix("")): path for path in figures.rglob("*.csv")
    }
    for path in (*data.rglob("*.parquet"), *data.glob("headlines/*.json")):
        name = str(path.relative_to(data).with_suffix(""))
        found[f"metrics/{name}" if name.startswith("beyond/") else name] = path
    if profile == "recorded" and (folder / CLAIMS).is_file():
        found["claims"] = folder / CLAIMS
    return found


def in_git(revision: str, profile: str) -> Tables:
    """The CSVs of a profile's figures at a revision, by `<study>/<figure>`."""
    top = f"figures/{profile}/"

    def shown(*command: str) -> str:
        return subprocess.run(
            ["git", "-C", str(ROOT), *command], capture_output=True, text=True, check=True
        ).stdout

    names = shown("ls-tree", "-r", "--name-only", revision, top, CLAIMS).splitlines()
    return {
        name.removesuffix(".csv").removeprefix(top).removeprefix("data/"): (
            lambda name=name: shown("show", f"{revision}:{name}")  # type: ignore[misc]
        )
        for name in names
        if name.endswith(".csv") and (name != CLAIMS or profile == "recorded")
    }


def differences(old: pd.DataFrame, new: pd.DataFrame, tolerance: float) -> Iterator[str]:
    """What differs between two frames, in words; what begins with `+` is new."""
    yield from (f"column {name} is gone" for name in old.columns.difference(new.columns))
    yield from (f"+ column {name}" for name in new.columns.difference(old.columns))
    if len(old) != len(new):
        yield f"{len(old)} rows, now {len(new)}"
        return
    for name in old.columns.intersection(new.columns, sort=False):
        before, after = (
            pd.to_numeric(side[name], errors="coerce").astype(float) for side in (old, new)
        )
        same = np.isclose(before, after, rtol=tolerance, atol=tolerance)
        same |= old[name].eq(new[name]).to_numpy(dtype=bool, na_value=False)
        if not pd.api.types.is_string_dtype(old[name]):
            same |= (before.isna() & after.isna()).to_numpy()
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
    parser.add_argument("--dropped", type=Path, default=DROPPED, help="what may be gone (.csv)")
    args = parser.parse_args()
    with open(args.dropped, newline="", encoding="utf-8") as handle:
        listed = {(row["table"], row["column"]) for row in csv.DictReader(handle)}
    folder = Path(args.other)
    old = in_folder(folder, args.profile) if folder.is_dir() else in_git(args.other, args.profile)
    new = in_folder(ROOT, args.profile)
    if not folder.is_dir():
        new = {name: one for name, one in new.items() if not made(name)}
    old, new = (
        {name: one for name, one in side.items() if args.study in name} for side in (old, new)
    )
    if not old:
        print(f"{args.other}: nothing of {args.profile} {args.study}", file=sys.stderr)
        return 1
    told, failed, dropped = [f"{name}: new" for name in sorted(new.keys() - old.keys())], [], 0
    for name in sorted(old.keys() - new.keys()):
        dropped += (name, "") in listed
        failed += [f"{name}: gone"] * ((name, "") not in listed)
    for name in sorted(old.keys() & new.keys()):
        if alike(old[name], new[name]):
            continue
        before, after = frame(old[name]), frame(new[name])
        gone = [one for one in before if one not in after and (name, one) in listed]
        dropped += len(gone)
        for column, _, value in (one.partition("=") for of, one in listed if of == name):
            if value and not after.get(column, before[column].iloc[:0]).eq(value).any():
                dropped += before[column].eq(value).any()
                before = before[before[column].ne(value)].reset_index(drop=True)
        for line in differences(before.drop(columns=gone), after, args.tolerance):
            (told if line.startswith("+") else failed).append(f"{name}: {line}")
    print(*told, *failed, sep="\n", end="\n" if told or failed else "")
    print(
        f"{args.profile}: {len(old.keys() & new.keys())} tables compared, {len(failed)} "
        f"differences, {dropped} tables and columns dropped as listed"
    )
    return 1 if failed else 0


def made(name: str) -> bool:
    """Whether a table lies below data/<profile>, which is not in git."""
    return name.count("/") > 1


if __name__ == "__main__":
    sys.exit(main())
