"""What each stage's last run took: seconds, processor time, memory, and calls to models.

One small JSON file a stage, outside DVC's outputs and outside git: it differs from run to run, and
nothing that is reproduced may depend on it.
"""

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from selfpref import files, paths

# The file to which models add a line for every batch of calls, and for how they run.
VARIABLE = "SELFPREF_CALLS"
COUNTS = ("asked", "kept", "usd")
MOMENT = "%Y-%m-%d %H:%M:%S UTC"


def tell(**facts: object) -> None:
    """Tell the runner of something that the record of the stage under way shall hold."""
    if path := os.environ.get(VARIABLE):
        with open(path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(facts) + "\n")


def count_calls(asked: int, kept: int, usd: float) -> None:
    """Tell the runner of calls that were asked, found in the store, and paid for."""
    tell(asked=asked, kept=kept, usd=usd)


def spent(profile: str) -> float:
    """What served models have cost a profile so far, in USD, by the prices of the parameters."""
    path = paths.spent_file(profile)
    return float(json.loads(path.read_text(encoding="utf-8"))["usd"]) if path.exists() else 0.0


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
def recorded(profile: str, stage: str) -> Iterator[None]:
    """Record what the block takes, if it succeeds, and say so in one line.

    Args:
        profile: Whose stage.
        stage: Its address, such as `wataoka-judge@terse`.
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
            counts = {name: sum(line.pop(name, 0) for line in told) for name in COUNTS}
            # A stage that failed has spent its money all the same.
            if counts["usd"]:
                written = json.dumps({"usd": spent(profile) + counts["usd"]})
                files.write_text(paths.spent_file(profile), written + "\n")
    entry = {
        "stage": stage,
        "start": start.strftime(MOMENT),
        "end": datetime.now(UTC).strftime(MOMENT),
        "seconds": round(time.monotonic() - began, 2),
        "cpu_seconds": round(_cpu() - cpu, 2),
        "peak_mib": round(_peak()),
        **counts,
        # What is left are facts, such as how a model's products were computed.
        **{name: fact for line in told for name, fact in line.items()},
    }
    path = paths.runs_dir(profile) / f"{stage}.json"
    files.write_text(path, json.dumps(entry, indent=1) + "\n")
    print(
        f"{stage}: {entry['seconds']:.1f} s, {entry['cpu_seconds']:.1f} processor seconds, "
        f"{entry['peak_mib']} MiB; asked {counts['asked']} calls, found {counts['kept']}",
        file=sys.stderr,
    )
