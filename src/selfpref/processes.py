"""Processes: their settings, and work beside each other that no number of them changes.

The settings stand in the environment of what the command line starts. Each is read when a process
starts or first needs it, so it is set before anything else is imported, for kernels and workers
alike; what the user's environment says stays.

    oneDNN's products      few are kept: a thousand, with their memory, are hundreds of megabytes
    glibc's heap           without this the memory of every state goes back to the system and the
                           next is cleared anew, a fifth of a small model's time: kept are 256 MB,
                           and blocks below 32 MB, in huge pages where the system has them (a
                           seventh of the time of training)
    compiled modules       are not written where next to no disk is left: Python 3.11 keeps a file
                           that a full disk cut short (python/cpython#126606), and no process
                           after it can import that
    OpenBLAS               sums do not depend on the number of processors
    Arrow's tables         come from that heap: Arrow's own keeps much of what is freed and cannot
                           be told to give it back
"""

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")
SETTINGS = {
    "OPENBLAS_NUM_THREADS": "1",
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "16",
    "LRU_CACHE_CAPACITY": "16",
    "MALLOC_TRIM_THRESHOLD_": str(2**28),
    "MALLOC_MMAP_THRESHOLD_": str(2**25),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
# Bytes: many times what the package takes when it is compiled.
LITTLE_DISK = 2**26


def settle() -> None:
    """Make the settings of this process and of all that it starts."""
    if shutil.disk_usage(Path(__file__).parent).free < LITTLE_DISK:
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    # jsonschema imports this package to check a format that no notebook uses, for two seconds;
    # without it jsonschema skips that check (`jupyter` asks for every format).
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


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

    def watch() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
