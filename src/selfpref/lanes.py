"""`dvc repro`, with studies that do not depend on each other side by side.

DVC runs one stage at a time, and most stages keep one processor busy. Two runs of DVC in one folder
do not get in each other's way as long as neither reads what the other writes: each holds the
repository's lock only while it looks at files, not while a stage runs. So the graph of the stages,
without those that join the studies, falls into parts that share nothing; a lane is such a part. At
most as many lanes as processors run at once; a last run does what joins them. The outcome is that
of `dvc repro`, byte for byte.
"""

import codecs
import ctypes
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from graphlib import TopologicalSorter

from dvc.exceptions import DvcException
from dvc.repo import Repo
from tqdm import tqdm

from selfpref.errors import SelfprefError
from selfpref.profiles import active

# The stage before all others, and those that read every study.
FIRST, LAST = "check", ("metrics-beyond", "beyond", "report")
# Models of these profiles are small, or there are none. Real ones would fight for memory.
SIDE_BY_SIDE = ("lab", "recorded")
DVC = (sys.executable, "-m", "dvc", "--wait-for-lock", "repro")
UTF8 = codecs.getincrementaldecoder("utf-8")
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
PR_SET_PDEATHSIG = 1


def _parts(needs: Mapping[str, Sequence[str]]) -> list[set[str]]:
    """Stages that hang together, whichever way."""
    parts: list[set[str]] = []
    for name, needed in needs.items():
        met = [part for part in parts if not part.isdisjoint({name, *needed})]
        parts = [part for part in parts if part not in met]
        parts.append({name, *needed}.union(*met))
    return parts


def lanes(needs: Mapping[str, set[str]], stale: set[str]) -> dict[str, list[str]]:
    """The parts of a pipeline that share nothing and have something to do.

    Args:
        needs: By a stage's address, those of the stages that it needs.
        stale: Addresses of stages that are not up to date.

    Returns:
        By name (the chapters that it ends in), a part's stages, each behind those that it needs;
        the largest part first.
    """
    joining = {name for name in needs if name.partition("@")[0] in (FIRST, *LAST)}
    within = {name: sorted(needs[name] - joining) for name in needs if name not in joining}
    needed = set().union(*within.values())
    order = list(TopologicalSorter(within).static_order())
    found = {}
    for part in sorted(_parts(within), key=lambda part: (-len(part), min(part))):
        if not stale.isdisjoint(part):
            ends = sorted({name.partition("@")[0] for name in part - needed})
            found["+".join(ends)] = [name for name in order if name in part]
    return found


def _state() -> tuple[dict[str, set[str]], set[str]]:
    """What each stage of the pipeline needs, and which are not up to date."""
    try:
        with Repo() as repo:
            graph = repo.index.graph
            needs = {
                stage.addressing: {needed.addressing for needed in graph.successors(stage)}
                for stage in graph
            }
            return needs, set(repo.status())
    except DvcException as error:
        reason = " ".join(str(error).split())
        # DVC writes its lock in place: killed meanwhile it leaves a part of it.
        remedy = "; `git checkout dvc.lock` brings it back" if "dvc.lock" in reason else ""
        raise SelfprefError(f"dvc: {reason}{remedy}") from error


def _die_with_parent() -> None:
    # A killed `make repro` leaves no lane behind; Linux only.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class _Terminal:
    """Lines of several lanes with their names before them, and below where each of them is."""

    def __init__(self) -> None:
        self._bar = tqdm(bar_format="{desc}", disable=None)
        self._decoders: dict[str, codecs.IncrementalDecoder] = {}
        self._rest: dict[str, str] = {}
        self._at: dict[str, str] = {}

    def feed(self, lane: str, body: bytes) -> None:
        """Take in what a lane wrote; progress that is to be written over is no line."""
        decoder = self._decoders.setdefault(lane, UTF8("replace"))
        text = self._rest.get(lane, "") + decoder.decode(body)
        *pieces, self._rest[lane] = re.split(r"(?<=[\r\n])", text)
        for piece in pieces:
            said = ESCAPES.sub("", piece).rstrip()
            if said and piece.endswith("\n"):
                self._bar.write(f"[{lane}] {said}", file=sys.stdout)
            elif said:
                self._at[lane] = said
        self._show()

    def end(self, lane: str) -> None:
        """A lane has come to its end."""
        self.feed(lane, b"\n")
        self._at.pop(lane, None)
        self._show()

    def close(self) -> None:
        """Take the lowest line away."""
        self._bar.close()

    def _show(self) -> None:
        share = shutil.get_terminal_size().columns // max(len(self._at), 1) - 3
        self._bar.set_description_str(" | ".join(said[:share] for said in self._at.values()))


def _side_by_side(todo: Mapping[str, list[str]], at_once: int) -> list[str]:
    """Run lanes, a few at once; the names of those that failed.

    Raises:
        KeyboardInterrupt: Ctrl-C, which reached the lanes as well; they have ended.
    """
    waiting, failed, interrupted = list(todo), [], False
    terminal = _Terminal()
    running: dict[str, subprocess.Popen[bytes]] = {}
    with selectors.DefaultSelector() as selector:
        while running or (waiting and not interrupted):
            try:
                while waiting and len(running) < at_once and not interrupted:
                    name = waiting.pop(0)
                    running[name] = process = subprocess.Popen(
                        # DVC would claim what a needed stage writes, even where it is up to date.
                        [*DVC, "--single-item", *todo[name]],
                        stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT,
                        preexec_fn=_die_with_parent,  # noqa: PLW1509  (no threads here)
                    )
                    assert process.stdout
                    selector.register(process.stdout, selectors.EVENT_READ, name)
                for key, _ in selector.select():
                    name = key.data
                    if body := os.read(key.fd, 1 << 16):
                        terminal.feed(name, body)
                        continue
                    selector.unregister(key.fileobj)
                    terminal.end(name)
                    if running.pop(name).wait():
                        failed.append(name)
            except KeyboardInterrupt:
                interrupted = True
    terminal.close()
    if interrupted:
        raise KeyboardInterrupt
    return failed


def repro() -> int:
    """Bring everything up to date; the exit status.

    Raises:
        SelfprefError: A lane failed (it has said why; the others went on to their ends), or DVC
            cannot read the pipeline.
    """
    graph, stale = _state()
    if not stale:
        print("Data and pipelines are up to date.")
        return 0
    todo, at_once = lanes(graph, stale), os.cpu_count() or 1
    if active() in SIDE_BY_SIDE and min(len(todo), at_once) > 1:
        if FIRST in stale and (status := subprocess.call([*DVC, FIRST])):
            return status
        print(f"{len(todo)} lanes, {min(len(todo), at_once)} at once: {', '.join(todo)}")
        if failed := _side_by_side(todo, at_once):
            raise SelfprefError(
                f"{', '.join(failed)}: a stage failed (see above); run again to go on from there"
            )
    with suppress(KeyboardInterrupt):
        return subprocess.call(DVC)
    return 130
