"""What each stage's last run took: seconds, processor time, memory, and calls to models.

One small JSON file a stage, outside DVC's outputs and outside git: it differs from run to run, and
nothing that is reproduced may depend on it.
"""

import json
import os
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref import files, paths
from selfpref.errors import SelfprefError

# The file to which models add a line for every batch of calls, and for how they run.
VARIABLE = "SELFPREF_CALLS"
MOMENT = "%Y-%m-%d %H:%M:%S UTC"
COLUMNS = {
    "stage": "str",
    "start": "str",
    "seconds": "float64",
    "cpu_seconds": "float64",
    "peak_mib": "int64",
    "start_up": "str",
    "asked": "int64",
    "kept": "int64",
    "usd": "float64",
}


def tell(**facts: object) -> None:
    """Tell the runner of something that the record of the stage under way shall hold."""
    if path := os.environ.get(VARIABLE):
        with open(path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(facts) + "\n")


def count_calls(asked: int, kept: int, usd: float) -> None:
    """Tell the runner of calls that were asked, found in the store, and paid for."""
    tell(asked=asked, kept=kept, usd=usd)


def _cpu() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def _peak() -> float:
    """MiB of the largest process so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(kind).ru_maxrss for kind in kinds) * unit / 2**20


@contextmanager
def recorded(profile: str, stage: str, *, warm: bool = False) -> Iterator[None]:
    """Record what the block takes, if it succeeds.

    Args:
        profile: Whose stage.
        stage: Its address, such as `judge@terse`.
        warm: Whether the libraries were there already.
    """
    began, cpu, start = time.monotonic(), _cpu(), datetime.now(UTC)
    with tempfile.TemporaryDirectory(prefix="selfpref-") as scratch:
        calls = Path(scratch) / "calls"
        calls.touch()
        os.environ[VARIABLE] = str(calls)
        try:
            yield
        finally:
            del os.environ[VARIABLE]
        told = [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()]
    counts = {name: sum(line.pop(name, 0) for line in told) for name in ("asked", "kept", "usd")}
    entry = {
        "stage": stage,
        "start": start.strftime(MOMENT),
        "end": datetime.now(UTC).strftime(MOMENT),
        "seconds": round(time.monotonic() - began, 2),
        "cpu_seconds": round(_cpu() - cpu, 2),
        "peak_mib": round(_peak()),
        "start_up": "warm" if warm else "cold",
        **counts,
        # What is left are facts, such as how a model's products were computed.
        **{name: fact for line in told for name, fact in line.items()},
    }
    path = paths.runs_dir(profile) / f"{stage}.json"
    files.write_text(path, json.dumps(entry, indent=1) + "\n")


def read(profile: str) -> pd.DataFrame:
    """The last run of every stage, the longest first.

    Returns:
        One row a stage with the columns of `COLUMNS`; none where nothing has run.
    """
    found = sorted(paths.runs_dir(profile).glob("*.json"))
    rows: list[dict[str, Any]] = [json.loads(path.read_text(encoding="utf-8")) for path in found]
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    return table.sort_values(["seconds", "stage"], ascending=[False, True], ignore_index=True)


def passed(table: pd.DataFrame) -> float:
    """Seconds in which at least one stage ran: those side by side count once."""
    starts = pd.to_datetime(table["start"], format=MOMENT).to_numpy()
    spans = sorted(zip(starts, starts + pd.to_timedelta(table["seconds"], unit="s"), strict=True))
    seconds, until = pd.Timedelta(0), pd.Timestamp.min
    for start, end in spans:
        seconds += max(end - max(start, until), pd.Timedelta(0))
        until = max(until, end)
    return float(seconds.total_seconds())


def total(table: pd.DataFrame) -> dict[str, float]:
    """Sums over stages; of memory the greatest."""
    sums = {name: table[name].sum() for name in ("seconds", "cpu_seconds", "asked", "kept", "usd")}
    return sums | {"peak_mib": table["peak_mib"].max()}


def machine() -> str:
    """What the times were taken on."""
    return f"{os.cpu_count()} processors, {platform.system()} {platform.machine()}"


def text(profile: str) -> str:
    """Where time went, for the terminal.

    Raises:
        SelfprefError: Nothing has run.
    """
    table = read(profile)
    if table.empty:
        raise SelfprefError(
            f"{profile}: no stage has run here, so there are no times; run "
            f"`make repro PROFILE={profile}` first"
        )
    last = pd.DataFrame([{"stage": "total", **total(table)}])
    shown = pd.concat([table, last], ignore_index=True)
    formats = {"seconds": "{:.1f}", "cpu_seconds": "{:.1f}", "peak_mib": "{:.0f}", "usd": "{:.2f}"}
    for name, style in formats.items():
        shown[name] = shown[name].map(style.format)
    for name in ("asked", "kept"):
        shown[name] = shown[name].astype(int)
    names = {"cpu_seconds": "cpu s", "seconds": "s", "peak_mib": "peak MiB", "start_up": "start-up"}
    body: str = (
        shown.astype(object)
        .where(shown.notna(), "")
        .rename(columns=names)
        .to_markdown(
            index=False,
            tablefmt="simple",
            disable_numparse=True,
            colalign=("left", "left", *["right"] * 3, "left", *["right"] * 3),
        )
    )
    return (
        f"{body}\n\nThe last run of each stage of the profile {profile}, on {machine()}. asked: "
        "calls that a model answered; kept: answers found in the store. In "
        f"{passed(table):.0f} s at least one stage ran; some ran side by side."
    )
