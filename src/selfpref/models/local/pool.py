"""One model of this machine's own weights in several processes, which share its calls.

A process takes some consecutive calls at a time: an answer depends on its call alone, so it is the
one that a single process gives, and is kept under the same key.
"""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from functools import cache
from pathlib import Path

from selfpref.models import Answer, Call
from selfpref.models.local.model import LocalModel
from selfpref.models.local.weights import model_path
from selfpref.params import Transformers
from selfpref.processes import pool

# Calls at a time: what is lost when a run is killed, and what a process can pack together.
ROWS = 10

# In a process of the pool: the models that it has opened.
_opened = cache(LocalModel)


def shared(
    entry: Transformers, root: Path, dataset: str, calls: Sequence[Call]
) -> Iterator[tuple[int, Answer]]:
    """Answers as they are made, each with the index of its call.

    Args:
        entry: How the model is loaded and run, and in how many processes.
        root: The repository.
        dataset: What `{dataset}` in the model's path stands for.
        calls: As for `Engine.answer`.

    Raises:
        SelfprefError: There is no such model.
    """
    # What is fetched once is fetched before there are several.
    model_path(entry, root, dataset)
    size = min(ROWS, math.ceil(len(calls) / (2 * entry.processes)))
    with pool(entry.processes) as workers:
        begun = {
            workers.submit(_answers, entry, root, dataset, calls[start : start + size]): start
            for start in range(0, len(calls), size)
        }
        for done in as_completed(begun):
            for position, answer in done.result():
                yield begun[done] + position, answer


def _answers(
    entry: Transformers, root: Path, dataset: str, calls: Sequence[Call]
) -> list[tuple[int, Answer]]:
    return list(_opened(entry, root, dataset).answer(calls))
