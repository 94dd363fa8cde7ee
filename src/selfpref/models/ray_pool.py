"""The same engine in many workers: a Ray Data actor pool, on this machine or on a cluster.

Every worker opens the inner engine and answers whole batches of prompts; an answer depends on its
prompt alone, so it is the one that the inner engine alone would give, and is kept under the inner
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
from selfpref.models import Answer, Choice, Endpoint, Engine, Generation, Json, Prompt, Raw, Score
from selfpref.params import Ray

# Prompts of a batch at most: what a lost worker computes anew, and what an engine can pack.
ROWS = 64
# Batches a worker at least, so that none is left waiting for the last.
SHARE = 4


@dataclass(frozen=True)
class Batch:
    """Consecutive prompts: index of the first, and what the engine's method is called with."""

    start: int
    method: str
    arguments: dict[str, Any]


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

    def choose(
        self, prompts: Sequence[Prompt], labels: Sequence[str]
    ) -> Iterator[tuple[int, Choice | Raw]]:
        """Probabilities of the labels as the next token; see `Engine`."""
        return self._spread("choose", {"prompts": prompts}, labels=labels)

    def score(
        self, prompts: Sequence[Prompt], continuations: Sequence[str]
    ) -> Iterator[tuple[int, Score | Raw]]:
        """Log-likelihood of each continuation given its prompt; see `Engine`."""
        return self._spread("score", {"prompts": prompts, "continuations": continuations})

    def generate(
        self,
        prompts: Sequence[Prompt],
        *,
        max_tokens: int,
        temperature: float,
        seeds: Sequence[int],
        marker: str = "",
        labels: Sequence[str] = (),
    ) -> Iterator[tuple[int, Generation | Raw]]:
        """Continue each prompt, sampling by its own seed; see `Engine`."""
        return self._spread(
            "generate",
            {"prompts": prompts, "seeds": seeds},
            max_tokens=max_tokens,
            temperature=temperature,
            marker=marker,
            labels=labels,
        )

    def _spread(
        self, method: str, rows: dict[str, Sequence[Any]], **shared: Any
    ) -> Iterator[tuple[int, Any]]:
        """Answers of the pool as they come; `rows` holds one value a prompt."""
        n = len(rows["prompts"])
        size = min(ROWS, math.ceil(n / (SHARE * self._settings.workers)))
        batches = [
            Batch(
                start,
                method,
                {name: list(values[start : start + size]) for name, values in rows.items()}
                | shared,
            )
            for start in range(0, n, size or 1)
        ]
        if batches:
            yield from self._answers(batches)

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

    def request(self, call: Json) -> dict[str, Any]:
        """What is sent for a call; see `Endpoint`."""
        return self._reader.request(call)

    def read(self, call: Json, reply: Json) -> Answer:
        """The answer to a call that a raw reply holds; see `Endpoint`."""
        return self._reader.read(call, reply)

    def cost(self, reply: Json) -> float | None:
        """What a reply cost; see `Endpoint`."""
        return self._reader.cost(reply)
