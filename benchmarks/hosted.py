"""Verdicts of a served judge against a scripted server: throughput, memory, and being killed.

    python benchmarks/hosted.py [--verdicts 5000] [--rounds 3] [--kills 10]

The server (tests/scripted.py, a process of its own) waits 50 ms before each answer and lets 3 % of
the requests meet a fault: 429 with Retry-After, 500, a connection that drops in mid-body, malformed
JSON, an error in a reply of status 200. 64 requests are under way at most.

Ideal is the time that the answers alone take: verdicts x 50 ms / 64. The rounds print their share
of it, for the whole and for the middle (from 1 % to 95 % of the answers: without start, and without
the end, where the last retries wait alone), CPU-seconds and peak memory, and check that there is
one row a verdict, each with the probabilities that the server's rule gives it. With faults no
client comes near the ideal, since the SDK's back-off is long beside the whole: what one that costs
nothing would reach is drawn at random and printed with its 10th and 90th percentile.

Then the same work is killed with SIGKILL at random moments, and the server's log is compared with
the store: what was stored is never asked again.

It takes one processor almost whole, and the server a third of another: other work on the machine
shows in the shares, and less so in the CPU-seconds.
"""

import argparse
import gc
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from scripted import share_of_a  # noqa: E402

from selfpref import tables  # noqa: E402
from selfpref.ask import judge_pairs  # noqa: E402
from selfpref.models import Answer, Call, Choose, Prompt, Raw  # noqa: E402
from selfpref.models.calls import Model  # noqa: E402
from selfpref.models.served import HostedModel  # noqa: E402
from selfpref.params import Hosted, Judge  # noqa: E402
from selfpref.prompts import LABELS, LAYOUTS, MARKER, Layout  # noqa: E402
from selfpref.store import Store, call_key  # noqa: E402

LATENCY, FAULTS, CONCURRENCY = 0.05, 0.03, 64
# About the length of a question with two answers.
FILLER = "and so the answer goes on for a while, as answers do. " * 30


def _prompt(question: str, first: str, second: str) -> Prompt:
    # The first word names the verdict in the server's log.
    return Prompt((("user", f"{question}/{first} {FILLER} {second}"),), MARKER)


LAYOUT = Layout(LAYOUTS["lab"].respond, _prompt, LAYOUTS["lab"].bare, LAYOUTS["lab"].content)


def _tables(verdicts: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    items = [f"bench/{n}" for n in range(verdicts // 2)]
    responses = [
        {"study": "wataoka", "item_id": item, "responder": name, "text": name}
        for item in items
        for name in ("one", "two")
    ]
    labels = {"study": "wataoka", "item_id": items, "responder_a": "one", "responder_b": "two"}
    messages = [[{"role": "user", "content": item}] for item in items]
    return (
        pd.DataFrame({"item_id": items, "messages": messages, "reference": None}),
        pd.DataFrame(responses),
        pd.DataFrame(labels),
    )


TIMES: list[float] = []


class _Timed(HostedModel):
    """Notes when each reply came."""

    def answer(self, calls: Sequence[Call]) -> Iterator[tuple[int, Answer | Raw]]:
        for reply in super().answer(calls):
            TIMES.append(time.monotonic())
            yield reply


def _model(address: str) -> HostedModel:
    entry = Hosted(engine="openai", model="scripted", base_url=address, concurrency=CONCURRENCY)
    return _Timed("scripted", entry)


def _judge(address: str, store: Path, verdicts: int) -> pd.DataFrame:
    with Store(store) as kept:
        calls = Model(_model(address), kept, offline=False, title="judge")
        use = Judge(prompts="lab", min_mass=0.5)
        return judge_pairs(*_tables(verdicts), "scripted", calls, LAYOUT, use, seed=0)


def _check(made: pd.DataFrame, verdicts: int) -> None:
    """One row a verdict, each with its own probabilities."""
    made = tables.validate(made, "verdicts", "made")
    assert len(made) == verdicts
    assert (
        not made.assign(candidates=made["candidates"].map(tuple))
        .duplicated(["item_id", "candidates"])
        .any()
    )
    assert made["status"].eq("ok").all(), made["status"].value_counts()
    for item, names, found in made[["item_id", "candidates", "probabilities"]].itertuples(
        index=False
    ):
        (role, content), *_ = _prompt(item, *names).messages
        a = share_of_a({"messages": [{"role": role, "content": content}]})
        assert abs(found[0] - 0.9 * a) < 1e-9, (item, names, found)


@contextmanager
def _server(folder: Path, faults: float) -> Iterator[str]:
    command = [sys.executable, str(ROOT / "tests/scripted.py"), str(folder)]
    command += ["--latency", str(LATENCY), "--faults", str(faults)]
    with subprocess.Popen(command) as process:
        while not (folder / "address").exists():
            time.sleep(0.05)
        try:
            yield (folder / "address").read_text()
        finally:
            process.terminate()


def _round(folder: Path, verdicts: int) -> None:
    """In a process of its own: judge everything once, and print what it took."""
    address, store = (folder / "address").read_text(), folder / f"{os.getpid()}.sqlite"
    # As in a stage, which is a fork of a process that has done so.
    gc.freeze()
    cpu, began = time.process_time(), time.monotonic()
    made = _judge(address, store, verdicts)
    wall, cpu = time.monotonic() - began, time.process_time() - cpu
    _check(made, verdicts)
    ideal = verdicts * LATENCY / CONCURRENCY
    first, last = verdicts // 100, verdicts * 95 // 100
    middle = (last - first) / (TIMES[last] - TIMES[first])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{verdicts} verdicts: {wall:.2f} s, {verdicts / wall:.0f} a second, "
        f"{ideal / wall:.0%} of the ideal {ideal:.2f} s; in the middle {middle:.0f} a second, "
        f"{middle * LATENCY / CONCURRENCY:.0%}; "
        f"{1e3 * cpu / verdicts:.2f} ms of CPU a verdict; peak memory {peak:.0f} MB"
    )


def _costless(verdicts: int, faults: float, draw: random.Random) -> float:
    """Seconds that a client takes which takes none itself, with faults drawn as the server does."""
    # After the first call, which goes alone.
    places, again = [LATENCY] * CONCURRENCY, list[tuple[float, int]]()
    while verdicts or again:
        free, ready, tries = heappop(places), 0.0, 0
        if again and (not verdicts or again[0][0] <= free):
            ready, tries = heappop(again)
        else:
            verdicts -= 1
        end = max(free, ready) + LATENCY
        heappush(places, end)
        if draw.random() < faults:
            # One fault in five says when to try again; else the SDK doubles half a second up to
            # eight, less a quarter at random.
            wait = min(0.5 * 2**tries, 8) * (1 - draw.random() / 4)
            heappush(again, (end + (0.1 if draw.random() < 0.2 else wait), tries + 1))
    return max(places)


def _asked(folder: Path) -> list[str]:
    """The verdicts that the server answered, as often as it did."""
    return (folder / "answered").read_text().split()


def _kills(folder: Path, verdicts: int, kills: int) -> None:
    address, store = (folder / "address").read_text(), folder / "killed.sqlite"
    draw = random.Random(0)
    model = _model(address)
    names = {}
    for item in _tables(verdicts)[0]["item_id"]:
        for pair in (("one", "two"), ("two", "one")):
            prompt = _prompt(item, *pair)
            name = prompt.messages[0][1].partition(" ")[0]
            names[call_key(model.request(Choose(prompt, LABELS)))] = name

    def stored() -> set[str]:
        if not store.exists():
            return set()
        with Store(store) as kept:
            return {names[key] for key in kept.get(names)}

    command = [sys.executable, __file__, "--work", str(folder), "--verdicts", str(verdicts)]
    doubled = 0
    for kill in [True] * kills + [False]:
        kept, before = stored(), len(_asked(folder))
        # At a random answer and not at a random time: how long the start takes varies.
        enough = before + draw.randrange(1, 2 * verdicts // (kills + 1))
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            while kill and process.poll() is None and len(_asked(folder)) < enough:
                time.sleep(0.002)
            if kill:
                process.kill()
            process.wait()
        # What was under way when the process died may still arrive in the log.
        time.sleep(4 * LATENCY)
        doubled += len(kept & set(_asked(folder)[before:]))
    again = Counter(_asked(folder))
    lost = sum(count - 1 for count in again.values())
    print(
        f"killed {kills} times: {len(stored())} of {verdicts} calls stored, {doubled} stored calls "
        f"asked again, {lost} answers came twice: under way at a kill"
    )
    assert len(stored()) == verdicts
    assert not doubled


def main() -> None:
    """Time, then kill."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verdicts", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--round", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.round:
        return _round(given.round, given.verdicts)
    if given.work:
        address, store = (given.work / "address").read_text(), given.work / "killed.sqlite"
        return _check(_judge(address, store, given.verdicts), given.verdicts)
    for faults in (0.0, FAULTS):
        with tempfile.TemporaryDirectory() as scratch, _server(Path(scratch), faults):
            drawn = [_costless(given.verdicts, faults, random.Random(n)) for n in range(199)]
            _, low, *_, high, _ = statistics.quantiles(drawn, n=20)
            ideal = given.verdicts * LATENCY / CONCURRENCY
            print(
                f"faults: {faults:.0%}; a client that costs nothing: "
                f"{ideal / statistics.median(drawn):.0%} ({ideal / high:.0%} to {ideal / low:.0%})",
                flush=True,
            )
            for _ in range(given.rounds):
                command = [sys.executable, __file__, "--round", scratch]
                command += ["--verdicts", str(given.verdicts)]
                subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as scratch, _server(Path(scratch), FAULTS):
        _kills(Path(scratch), given.verdicts, given.kills)
    return None


if __name__ == "__main__":
    main()
