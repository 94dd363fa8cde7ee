"""Ray's process and its workers; `selfpref.models.ray_pool` starts it."""

import math
import os
import pickle
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from textwrap import shorten
from typing import Any

import psutil
import ray
import ray.data
from ray.exceptions import RayError

from selfpref.errors import SelfprefError
from selfpref.models import Engine
from selfpref.models.ray_pool import Batch, Job
from selfpref.settings import settle

# Of each worker: lost nodes must not end a run, a batch that kills every worker must.
RESTARTS = 5
# Starts of Ray on this machine: it gives its own processes 30 s, which a busy machine exceeds.
STARTS = 3

# Of one batch, each with the index of its call; and what kept the rest from being answered.
Answers = tuple[list[tuple[int, Any]], SelfprefError | None]


def _first(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def _last(error: RayError) -> str:
    """Ray's errors end in their cause."""
    return shorten(str(error).strip().rpartition("\n")[-1], 200, placeholder=" ...")


class Worker:
    """The inner engine in a worker. What fails is told beside the answers, in one line.

    Args:
        root: The working directory.
        open_inner: Opens the engine.
    """

    def __init__(self, root: Path, open_inner: Callable[[], Engine]) -> None:
        self._fault: SelfprefError | None = None
        self._attempt(lambda: self._open(root, open_inner))

    def _open(self, root: Path, open_inner: Callable[[], Engine]) -> None:
        if not root.is_dir():
            raise SelfprefError(f"{root}: not on every node; put it on a file system they share")
        os.chdir(root)
        # A node of a cluster has an environment of its own.
        settle()
        self._engine = open_inner()

    def _attempt(self, work: Callable[[], None]) -> None:
        try:
            work()
        except SelfprefError as error:
            self._fault = error
        # The boundary of a process: anything else would arrive as Ray's forty lines.
        except Exception as error:
            traceback.print_exc()
            self._fault = SelfprefError(f"a Ray worker failed: {_first(error)}")

    def __call__(self, row: dict[str, bytes]) -> dict[str, bytes]:
        """Answer one batch."""
        batch: Batch = pickle.loads(row["batch"])
        answers: list[tuple[int, Any]] = []

        def work() -> None:
            # One by one: what was answered before a fault is kept.
            for index, answer in self._engine.answer(batch.calls):
                answers.append((batch.start + index, answer))

        if self._fault is None:
            self._attempt(work)
        return {"answers": pickle.dumps((answers, self._fault))}


def connect(job: Job) -> None:
    """Start Ray on this machine, or join a cluster with room for the workers.

    Raises:
        SelfprefError: There is none, or no room.
    """
    settings, cpus = job.settings, job.cpus
    # Nothing is reported to anybody.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    options: dict[str, Any] = {}
    if settings.address == "local":
        # One more than the workers hold: Ray Data stalls without a word where none is free.
        options = {"num_cpus": settings.workers * cpus + 1, "include_dashboard": False}
    for left in reversed(range(STARTS)):
        try:
            ray.init(address=settings.address, **options)
            break
        # Ray has no class of its own for a start that fails.
        except Exception as error:
            traceback.print_exc()
            _end_children()
            if left and settings.address == "local":
                continue
            raise SelfprefError(
                f"Ray did not start (address: {settings.address}): {_first(error)}\nsee {job.log}"
            ) from error
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    check_room(nodes, settings.workers, cpus, settings.gpus)


def _end_children() -> None:
    """What a start that failed, or a stop, leaves behind."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            child.kill()


def check_room(nodes: Sequence[Mapping[str, float]], workers: int, cpus: int, gpus: float) -> None:
    """Refuse workers for which Ray would wait for ever.

    Args:
        nodes: Resources of each node.
        workers: How many; each has to fit on one node.
        cpus: CPUs of each.
        gpus: GPUs of each.

    Raises:
        SelfprefError: They do not fit, or leave no CPU free.
    """
    places = sum(
        min(node.get("CPU", 0) // cpus, node.get("GPU", 0) // gpus if gpus else math.inf)
        for node in nodes
    )
    total = {kind: sum(node.get(kind, 0) for node in nodes) for kind in ("CPU", "GPU")}
    if places < workers or total["CPU"] - workers * cpus < 1:
        raise SelfprefError(
            f"workers: {workers} of {cpus} CPUs and {gpus:g} GPUs each, and one CPU left free, do "
            f"not fit on {len(nodes)} nodes with {total['CPU']:g} CPUs and {total['GPU']:g} GPUs; "
            "ask for fewer"
        )


def _run(job: Job) -> Iterator[Answers]:
    """Answers of each batch as its worker is done with it."""
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    rows = [{"batch": pickle.dumps(batch)} for batch in job.batches]
    answered = ray.data.from_items(rows, override_num_blocks=len(rows)).map(
        Worker,
        fn_constructor_args=(job.root, job.open_inner),
        compute=ray.data.ActorPoolStrategy(size=job.settings.workers),
        num_cpus=job.cpus,
        num_gpus=job.settings.gpus,
        max_restarts=RESTARTS,
    )
    for row in answered.iter_rows():
        yield pickle.loads(row["answers"])


class Remote:
    """The driver on the cluster: Ray Data does not run through a Ray client (2.60)."""

    def __init__(self, job: Job) -> None:
        self._answers = _run(job)

    def next(self) -> Answers | None:
        """The next batch's answers; None at the end."""
        return next(self._answers, None)


def _from_cluster(job: Job) -> Iterator[Answers]:
    remote = ray.remote(num_cpus=0)(Remote).remote(job)
    while (answers := ray.get(remote.next.remote())) is not None:
        yield answers


def drive(connection: Connection, job: Job) -> None:
    """Send the answers of every batch, then None; or the error that ended the run."""
    job.log.parent.mkdir(parents=True, exist_ok=True)
    with open(job.log, "w", encoding="utf-8") as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
    try:
        connect(job)
        client = job.settings.address.startswith("ray://")
        for answers, fault in _from_cluster(job) if client else _run(job):
            connection.send(answers)
            if fault:
                raise fault
        connection.send(None)
    except SelfprefError as error:
        connection.send(error)
    except RayError as error:
        traceback.print_exc()
        connection.send(SelfprefError(f"Ray gave up: {_last(error)}\nsee {job.log}"))
    finally:
        ray.shutdown()
        _end_children()
