"""Verdicts of SmolLM2, by this project's engine and by llama.cpp's server, in turns.

    make test-servers                                        # once: the server's environment
    python benchmarks/llamacpp.py [--rounds 5] [--items 12]

Both read the same file (Q4_1), one thread each: the engine unpacks it to fp32, the server runs it
as `pip` gives it. An item is a question of 40 words and two answers of 160, drawn at random and
judged in both orders. Printed are the CPU-seconds for a thousand tokens of each round, and the
server's over the engine's: medians with their range.
"""

import argparse
import platform
import random
import statistics
import subprocess
import time
from pathlib import Path

import numpy as np
import psutil
import requests

from selfpref.models import Choose, Prompt
from selfpref.models.local import LocalModel
from selfpref.models.local.loading import model_path
from selfpref.params import load

ROOT = Path(__file__).resolve().parents[1]
SERVER = ROOT / ".cache" / "servers" / "venv" / "bin" / "python"
WORDS = ["the", "of", "a", "to", "and", "in", "is", "that", "for", "it", "as", "was", "with"]
LAYOUT = "Which answer is better?\nQuestion: {}\nAnswer A: {}\nAnswer B: {}\nThe better answer is"


def drawn(items: int, rng: random.Random) -> list[str]:
    """The prompts of so many items, each in both orders."""
    found = []
    for _ in range(items):
        question, one, two = (" ".join(rng.choices(WORDS, k=n)) for n in (40, 160, 160))
        found += [LAYOUT.format(question, one, two), LAYOUT.format(question, two, one)]
    return found


def served(prompts: list[str], address: str, process: psutil.Process) -> tuple[float, int]:
    """CPU-seconds of the server, and the tokens of the prompts."""
    start, tokens = sum(process.cpu_times()[:2]), 0
    for prompt in prompts:
        body = {"prompt": prompt, "n_predict": 1, "n_probs": 20, "cache_prompt": True}
        reply = requests.post(f"{address}/completion", json=body, timeout=300)
        tokens += reply.json()["tokens_evaluated"]
    return sum(process.cpu_times()[:2]) - start, tokens


def main() -> None:
    """Run the rounds and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--items", type=int, default=12)
    given = parser.parse_args()
    entry = load(ROOT / "profiles" / "live.yaml").models["smollm2"]
    engine = LocalModel(entry.model_copy(update={"threads": 1}), ROOT)
    command = [
        SERVER,
        ROOT / "tests" / "servers" / "serve.py",
        model_path(entry, ROOT, ""),
        "plain",
    ]
    rng, rows = random.Random(1), []
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **piped, text=True) as server:
        address, process = server.stdout.readline().strip(), psutil.Process(server.pid)
        for _ in range(given.rounds):
            prompts = drawn(given.items, rng)
            theirs, tokens = served(prompts, address, process)
            start = time.process_time()
            asked = [Choose(Prompt((("user", prompt),)), ("A", "B")) for prompt in prompts]
            assert len(dict(engine.answer(asked))) == len(prompts)
            ours = time.process_time() - start
            rows.append((1000 * ours / tokens, 1000 * theirs / tokens, theirs / ours))
        server.stdin.close()
    print(f"{platform.processor() or platform.machine()}, {tokens} tokens a round")
    for name, values in zip(
        ("engine", "server", "server / engine"), np.transpose(rows), strict=True
    ):
        print(f"{name:16s} {statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})")


if __name__ == "__main__":
    main()
