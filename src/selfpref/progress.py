"""Progress bars that reach the terminal and never an executed notebook.

A notebook's own output must be the same bytes on every run, so a kernel writes its bars to the
file that the runner names in `$SELFPREF_PROGRESS`; the runner copies that file to its terminal.
Without a runner (Jupyter Lab, plain Python) the bars go to standard error.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tqdm import tqdm

VARIABLE = "SELFPREF_PROGRESS"


@contextmanager
def bar(total: float, description: str, **options: Any) -> Iterator["tqdm[Any]"]:
    """A tqdm bar on the terminal; `options` go to tqdm."""
    target = os.environ.get(VARIABLE)
    with ExitStack() as stack:
        stream = sys.stderr
        if target:
            stream = stack.enter_context(open(target, "a", buffering=1, encoding="utf-8"))
        yield stack.enter_context(
            tqdm(total=total, desc=description, file=stream, mininterval=0.5, **options)
        )
