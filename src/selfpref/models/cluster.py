"""The same model in many workers: Ray Data's map over rows, on this machine or on a cluster.

A row is a batch of what is asked. Every worker opens the model and answers whole batches; an answer
depends on its call alone, so it is the one that the model alone would give, and is kept under the
model's own identity. A batch whose worker is lost runs again on another; what has come is not asked
again. Ray runs in a process of its own, since it prints from threads of its own and a notebook's
output must be the same bytes on every run; what it and its workers print is in the log.
"""

import math
import multiprocessing
import os
import pickle
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import ray
import ray.data

from selfpref.errors import SelfprefError
from selfpref.models import Answers, Call, Engine
from selfpref.params import Ray
from selfpref.processes import settle

# Calls of a batch at most: what a lost worker computes anew, and what an engine can pack. Batches a
# worker at least, so that none is left waiting for the last.
ROWS, SHARE = 64, 4


@dataclass
class Worker:
    """A model in a worker. What fails is told in the place of a batch's answers, in one line.

    Attributes:
        root: The working directory; it must be there on every node.
        open_inner: Opens the model.
    """

    root: Path
    open_inner: Callable[[], Engine]

    @cached_property
    def _engine(self) -> Engine:
        os.chdir(self.root)
        # A node of a cluster has an environment of its own.
        settle()
        return self.open_inner()

    def __call__(self, row: dict[str, bytes]) -> dict[str, bytes]:
        """Answer one batch, or say why not."""
        start, asked = pickle.loads(row["batch"])
        try:
            told = [(start + index, answer) for index, answer in self._engine.answer(asked)], ""
        # The boundary of a process: anything would arrive as Ray's forty lines.
        except Exception as error:
            told = [], _told("a Ray worker failed", error)
        return {"answers": pickle.dumps(told)}


def _told(what: str, error: Exception) -> str:
    """An error in a line; the whole of one that was not foreseen is printed, into the log."""
    if isinstance(error, SelfprefError):
        return str(error)
    traceback.print_exc()
    first = str(error).strip().partition("\n")[0]
    return f"{what}: {type(error).__name__}: {first}"


def answer(
    settings: Ray, open_inner: Callable[[], Engine], root: Path, log: Path, asked: Sequence[Call]
) -> Answers:
    """Answers as they come, each with its index.

    Args:
        settings: Where the workers run, and how many.
        open_inner: Opens the model; every worker calls it.
        root: The repository; every node of a cluster has it under the same path.
        log: Where Ray prints.
        asked: Calls of the model.

    Raises:
        SelfprefError: Ray did not start, has no room for the workers, or gave up; or a worker
            cannot answer.
    """
    size = min(ROWS, math.ceil(len(asked) / (SHARE * settings.workers)))
    starts = range(0, len(asked), size)
    rows = [{"batch": pickle.dumps((at, asked[at : at + size]))} for at in starts]
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    given = there, log, settings, rows, root, open_inner
    process = context.Process(target=_drive, args=given, daemon=True)
    process.start()
    there.close()
    try:
        while (came := here.recv()) is not None:
            answers, fault = came
            yield from answers
            if fault:
                raise SelfprefError(fault)
    except EOFError as error:
        raise SelfprefError(f"Ray's process ended early; see {log}") from error
    finally:
        here.close()
        process.terminate()
        process.join()


def _drive(
    connection: Connection, log: Path, settings: Ray, rows: list[dict[str, bytes]], *worker: Any
) -> None:
    """Send the answers of every batch and its fault, then None; or what ended the run."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w", encoding="utf-8") as told:
        os.dup2(told.fileno(), sys.stdout.fileno())
        os.dup2(told.fileno(), sys.stderr.fileno())
    try:
        for row in _mapped(settings, rows, worker):
            connection.send(pickle.loads(row["answers"]))
        connection.send(None)
    except Exception as error:
        connection.send(([], _told(f"see {log}: Ray gave up", error)))
    finally:
        ray.shutdown()


def _mapped(settings: Ray, rows: list[dict[str, bytes]], worker: tuple[Any, ...]) -> Iterator[Any]:
    """Rows with the answers of each batch as its worker is done with it."""
    cpus = settings.inner.threads or 1
    # Ray Data stalls without a word where its workers hold every CPU.
    needed = settings.workers * cpus + 1
    # Nothing is reported to anybody.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    here = {"num_cpus": needed, "include_dashboard": False}
    ray.init(settings.address, **(here if settings.address == "local" else {}))
    total, gpus = ray.cluster_resources(), settings.workers * settings.gpus
    if total.get("CPU", 0) < needed or total.get("GPU", 0) < gpus:
        raise SelfprefError(
            f"workers: {settings.workers} need {needed} CPUs, one of them left free, and {gpus:g} "
            "GPUs, and these are not there; ask for fewer"
        )
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    # Until there is room for every worker.
    context.wait_for_min_actors_s = 600
    answered = ray.data.from_items(rows, override_num_blocks=len(rows)).map(
        Worker,
        fn_constructor_args=worker,
        compute=ray.data.ActorPoolStrategy(size=settings.workers),
        num_cpus=cpus,
        num_gpus=settings.gpus,
        # Lost nodes must not end a run, a batch that kills every worker must.
        max_restarts=5,
    )
    yield from answered.iter_rows()
