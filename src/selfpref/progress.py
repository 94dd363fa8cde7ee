"""Progress bars that reach the terminal and never an executed notebook.

A notebook's own output must be the same bytes on every run, so a kernel writes its bars to the
standard error that it has from the runner, which sets `$SELFPREF_PROGRESS`. Without a runner
(Jupyter Lab, plain Python) they go where the cell's standard error goes.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

VARIABLE = "SELFPREF_PROGRESS"


@contextmanager
def bar(total: float, description: str, **options: Any) -> Iterator["tqdm[Any]"]:
    """A tqdm bar on the terminal; `options` go to tqdm."""
    stream = sys.__stderr__ if VARIABLE in os.environ else sys.stderr
    with tqdm(total=total, desc=description, file=stream, mininterval=0.5, **options) as made:
        yield made
