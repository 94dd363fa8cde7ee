"""The same engine in many workers: a Ray Data actor pool, on this machine or on a cluster.

Every worker opens the inner engine and answers whole batches of calls; an answer depends on its
call alone, so it is the one that the inner engine alone would give, and is kept under the inner
engine's identity. A batch whose worker is lost runs again on another; what has come is not asked
again.

Ray runs in a process of its own: it prints from threads of its own, and a notebook's output must
be the same bytes on every run. What Ray and its workers print is in the log.
"""

import math
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from selfpref.errors import SelfprefError
from selfpref.models import Answer, Call, Endpoint, Engine, Json, Raw
from selfpref.params import Ray

# Calls of a batch at most: what a lost worker computes anew, and what an engine can pack.
ROWS = 64
# Batches a worker at least, so that none is left waiting for the last.
SHARE = 4


@dataclass(frozen=True)
class Batch:
    """Consecutive calls, and the index of the first."""

    start: int
    calls: Sequence[Call]


@dataclass(frozen=True)
class Job:
    """What Ray's process is told.

    Attributes:
        settings: Where the workers run, and how many.
        cpus: CPUs of one worker.
        open_inner: Opens the inner engine; every worker calls it.
        root: The working directory of a worker; it must be there on every node.
        log: Where Ray prints.
        batches: What is asked.
    """

    settings: Ray
    cpus: int
    open_inner: Callable[[], Engine]
    root: Path
    log: Path
    batches: list[Batch]


def _drive(connection: Connection, job: Job) -> None:
    # Imports Ray, which only this process may.
    from selfpref.models.ray_driver import drive  # noqa: PLC0415

    drive(connection, job)


class RayPool:
    """An engine on many workers.

    Args:
        settings: Where the workers run, and how many.
        open_inner: Opens the inner engine; it is pickled.
        identity: That of the inner engine: where a model runs does not change its answers.
        root: The repository; every node of a cluster has it under the same path.
        log: Where Ray prints.

    Raises:
        SelfprefError: Ray is not installed.
    """

    def __init__(
        self,
        settings: Ray,
        open_inner: Callable[[], Engine],
        identity: dict[str, Any],
        root: Path,
        log: Path,
    ) -> None:
        if find_spec("ray") is None:
            raise SelfprefError("engine: ray needs the extra `ray`: pip install -e '.[ray]'")
        self._settings, self._open_inner, self._root, self._log = settings, open_inner, root, log
        self.identity = identity

    def answer(self, calls: Sequence[Call]) -> Iterator[tuple[int, Answer | Raw]]:
        """Answers of the pool as they come; see `Engine`."""
        size = min(ROWS, math.ceil(len(calls) / (SHARE * self._settings.workers)))
        starts = range(0, len(calls), size or 1)
        if calls:
            yield from self._answers(
                [Batch(start, calls[start : start + size]) for start in starts]
            )

    def _answers(self, batches: list[Batch]) -> Iterator[tuple[int, Any]]:
        threads = getattr(self._settings.inner, "threads", None)
        job = Job(self._settings, threads or 1, self._open_inner, self._root, self._log, batches)
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=_drive, args=(there, job), daemon=True)
        process.start()
        there.close()
        try:
            while (answers := self._receive(here)) is not None:
                yield from answers
        finally:
            here.close()
            process.terminate()
            process.join()

    def _receive(self, connection: Connection) -> list[tuple[int, Any]] | None:
        try:
            answers: list[tuple[int, Any]] | SelfprefError | None = connection.recv()
        except EOFError as error:
            raise SelfprefError(f"Ray's process ended early; see {self._log}") from error
        if isinstance(answers, SelfprefError):
            raise answers
        return answers


class RayEndpoint(RayPool):
    """A served model asked by many workers; its replies are read here.

    Args:
        settings: As for `RayPool`.
        open_inner: As for `RayPool`.
        reader: The served model, which is asked nothing here.
        root: As for `RayPool`.
        log: As for `RayPool`.
    """

    def __init__(
        self,
        settings: Ray,
        open_inner: Callable[[], Engine],
        reader: Endpoint,
        root: Path,
        log: Path,
    ) -> None:
        super().__init__(settings, open_inner, reader.identity, root, log)
        self._reader = reader

    def request(self, call: Call) -> dict[str, Any]:
        """What is sent for a call; see `Endpoint`."""
        return self._reader.request(call)

    def read(self, call: Call, reply: Json) -> Answer:
        """The answer to a call that a raw reply holds; see `Endpoint`."""
        return self._reader.read(call, reply)
