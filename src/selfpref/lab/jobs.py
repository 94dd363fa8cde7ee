"""Jobs on a pool of processes, each as soon as the one that it builds on is done.

A job leaves its result in files and depends on its arguments and on the files of the job before it
alone: not on which process does it, when, or how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

from selfpref.processes import pool, processors


@dataclass(frozen=True, slots=True)
class Job:
    """A function to be called in some process.

    Attributes:
        name: What it makes.
        work: How long it takes, in any unit that is the same for all.
        call: The function; a module's own, since it is sent to another process by name.
        arguments: What it is called with.
        after: Name of the job that has to be done before; None: it can begin at once.
    """

    name: str
    work: float
    call: Callable[..., object]
    arguments: tuple[Any, ...]
    after: str | None = None


def run_jobs(
    jobs: Sequence[Job],
    processes: int | None = None,
    progress: Callable[[str], object] = lambda name: None,
) -> None:
    """Do all jobs, of those that can begin the longest first.

    Args:
        jobs: No two of one name.
        processes: How many jobs are done at a time; None: as many as this process has processors.
        progress: Called with the name of each job that is done.
    """
    with pool(processes or processors()) as workers:
        running: dict[Future[object], str] = {}

        def begin(after: str | None) -> None:
            ready = [job for job in jobs if job.after == after]
            for job in sorted(ready, key=lambda job: -job.work):
                running[workers.submit(job.call, *job.arguments)] = job.name

        begin(None)
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(future)
                future.result()
                progress(name)
                begin(name)
