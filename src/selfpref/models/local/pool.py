"""One model of this machine's own weights in several processes, which share its calls.

A process takes some consecutive calls at a time: an answer depends on its call alone, so it is the
one that a single process gives, and is kept under the same key.
"""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from pathlib import Path

from selfpref.models import Answer, Call
from selfpref.models.local.model import LocalModel
from selfpref.models.local.weights import identity, model_path
from selfpref.params import Transformers
from selfpref.processes import pool

# Calls at a time: what is lost when a run is killed, and what a process can pack together.
ROWS = 10

_opened: dict[str, LocalModel] = {}


class LocalPool:
    """An engine in several processes.

    Attributes:
        identity: That of the model: where it runs does not change its answers.

    Args:
        entry: How the model is loaded and run, and in how many processes.
        root: The repository.
        dataset: What `{dataset}` in the model's path stands for.

    Raises:
        SelfprefError: There is no such model.
    """

    def __init__(self, entry: Transformers, root: Path, dataset: str = "") -> None:
        # What is fetched once is fetched before there are several.
        model_path(entry, root, dataset)
        self.identity = identity(entry, root, dataset)
        self._entry, self._root, self._dataset = entry, root, dataset

    def answer(self, calls: Sequence[Call]) -> Iterator[tuple[int, Answer]]:
        """Answers as they are made; see `Engine`."""
        size = min(ROWS, math.ceil(len(calls) / (2 * self._entry.processes)))
        with pool(self._entry.processes) as workers:
            begun = {
                workers.submit(_answers, self._entry, self._root, self._dataset, some): start
                for start in range(0, len(calls), size)
                for some in [calls[start : start + size]]
            }
            for done in as_completed(begun):
                for position, answer in done.result():
                    yield begun[done] + position, answer


def _answers(
    entry: Transformers, root: Path, dataset: str, calls: Sequence[Call]
) -> list[tuple[int, Answer]]:
    """In a process of the pool: answers to some calls, of the model that it has opened."""
    key = f"{entry.model_dump_json()}\n{dataset}"
    if key not in _opened:
        _opened[key] = LocalModel(entry, root, dataset)
    return list(_opened[key].answer(calls))
