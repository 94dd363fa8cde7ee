"""Time and memory of `selfpref measure` on a million verdicts.

    nice python benchmarks/measure.py [rows]

Five judges, who are the five responders, read every pair of 10,000 prompts in both orders; people
voted twice on each pair. The file is written to a temporary folder; the command runs in a process
of its own.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

JUDGES = ("ada", "bea", "cyd", "dot", "eve")
ROWS = 1_000_000


def write(path: Path, rows: int, rng: np.random.Generator) -> int:
    """Write about so many rows; how many."""
    pairs = [(one, two) for one in range(5) for two in range(one + 1, 5)]
    prompts = max(1, rows // (len(pairs) * len(JUDGES) * 2))
    with open(path, "w") as handle:
        for prompt in range(prompts):
            quality = rng.normal(np.arange(5) / 2)
            for one, two in pairs:
                gap = quality[one] - quality[two]
                labels = ["b" if noise > gap else "a" for noise in rng.normal(0, 1, 2)]
                verdicts = rng.normal(0, 1, (len(JUDGES), 2)) > gap
                for judge, sides in zip(JUDGES, verdicts, strict=True):
                    for number, (order, other) in enumerate(zip(("ab", "ba"), sides, strict=True)):
                        handle.write(
                            f'{{"item": {prompt}, "responder_a": "{JUDGES[one]}", '
                            f'"responder_b": "{JUDGES[two]}", "judge": "{judge}", '
                            f'"order": "{order}", "label": "{labels[number]}", '
                            f'"annotator": "p{number}", "verdict": "{"ab"[int(other)]}"}}\n'
                        )
    return prompts * len(pairs) * len(JUDGES) * 2


def main() -> None:
    """Print rows, seconds and memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "judgments.jsonl"
        rows = write(
            path, int(sys.argv[1]) if len(sys.argv) > 1 else ROWS, np.random.default_rng(0)
        )
        began = time.monotonic()
        subprocess.run(
            [sys.executable, "-m", "selfpref", "measure", str(path)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        seconds = time.monotonic() - began
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = used.ru_utime + used.ru_stime
        print(f"{rows} rows: {seconds:.1f} s, {cpu:.1f} CPU-s, {used.ru_maxrss / 2**20:.2f} GB")


if __name__ == "__main__":
    main()
