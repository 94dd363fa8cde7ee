"""Settings of whole processes, as the environment of what the command line starts.

Each is read when a process starts or first needs it, so it is set before anything else is imported,
for kernels and workers alike; what the user's environment says stays.

    oneDNN's products      few are kept: a thousand, with their memory, are hundreds of megabytes
    glibc's heap           without this the memory of every state goes back to the system and the
                           next is cleared anew, a fifth of a small model's time: kept are 256 MB,
                           and blocks below 32 MB, in huge pages where the system has them (a
                           seventh of the time of training)
    OpenBLAS               sums do not depend on the number of processors
    compiled modules       are not written where next to no disk is left: Python 3.11 keeps a file
                           that a full disk cut short (python/cpython#126606), and no process
                           after it can import that
    Arrow's tables         come from that heap: Arrow's own keeps much of what is freed and cannot
                           be told to give it back
"""

import os
import shutil
import sys
from pathlib import Path

SETTINGS = {
    "OPENBLAS_NUM_THREADS": "1",
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "16",
    "LRU_CACHE_CAPACITY": "16",
    "MALLOC_TRIM_THRESHOLD_": str(2**28),
    "MALLOC_MMAP_THRESHOLD_": str(2**25),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
# jsonschema imports this package to check a format that no notebook uses, for two seconds; without
# it jsonschema skips that check (it is there only because `jupyter` asks for every format).
UNWANTED = "rfc3987_syntax"
# Bytes: many times what the package takes when it is compiled.
LITTLE_DISK = 2**26


def settle() -> None:
    """Make the settings of this process and of all that it starts."""
    if shutil.disk_usage(Path(__file__).parent).free < LITTLE_DISK:
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    sys.modules.setdefault(UNWANTED, None)  # type: ignore[arg-type]
