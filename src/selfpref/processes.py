"""Work in processes beside each other, whose outcome does not depend on how many there are."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from typing import TypeVar

Result = TypeVar("Result")


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with this one, and at once where the block fails."""
    # Spawned, not forked: torch's threads do not survive a fork.
    workers = ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=_end_with_parent
    )
    try:
        yield workers
    except BaseException:
        workers.shutdown(wait=False, cancel_futures=True)
        raise
    workers.shutdown()


def each(work: Callable[..., Result], calls: Sequence[tuple[object, ...]]) -> list[Result]:
    """The results of several calls of a function, in their order, as many at once as can be."""
    processes = min(len(calls), processors())
    if processes <= 1:
        return [work(*arguments) for arguments in calls]
    with pool(processes) as workers:
        return list(workers.map(work, *zip(*calls, strict=True)))


def _end_with_parent() -> None:
    """A killed stage must not leave workers behind."""
    parent = parent_process()
    if parent is None:
        return

    def watch(sentinel: int) -> None:
        wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, args=(parent.sentinel,), daemon=True).start()
