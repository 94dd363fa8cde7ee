"""Models of this machine's own weights, as engines: in this process, or shared by several.

Weights come through `transformers`: tensors alone, no remote code; probabilities are fp32. Each of
several processes takes some consecutive calls at a time: an answer depends on its call alone, so it
is the one that a single process gives, and is kept under the same key.
"""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils import deterministic

from selfpref.models import Answer, Call, Choice, Choose, Generate, Likelihood, Score, Text
from selfpref.models.local import loading, passes
from selfpref.models.local.encoding import Encoder
from selfpref.models.local.generation import continuations, label_after
from selfpref.models.local.passes import Ids, packed, padded
from selfpref.params import Transformers
from selfpref.processes import pool

# Calls at a time: what is lost when a run is killed, and what a process can pack together.
ROWS = 10


class LocalModel:
    """A causal language model with its tokenizer.

    Attributes:
        identity: What distinguishes its answers from another model's.
        context: Most tokens that it can see.

    Args:
        entry: How it is loaded and run.
        root: The repository; a model that is neither of the Hub nor GGUF is a folder in it.
        dataset: What `{dataset}` in its path stands for.

    Raises:
        SelfprefError: It cannot be loaded safely, or does not fit the entry.
    """

    def __init__(self, entry: Transformers, root: Path, dataset: str = "") -> None:
        path = loading.model_path(entry, root, dataset)
        self.identity = loading.identity(entry, root, dataset)
        if entry.threads is not None:
            torch.set_num_threads(entry.threads)
        # Sums on a GPU have no deterministic kernel; there, runs agree up to rounding.
        torch.use_deterministic_algorithms(entry.device_map == "cpu")
        deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        self.tokenizer, self.model = loading.load(entry, path)
        self.model.train(False)
        passes.take_over(self.model)
        template = loading.template(entry.template, root)
        self._encoder = Encoder(self.tokenizer, template, fold=entry.system == "fold")
        self.encode, self.pairs = self._encoder.encode, self._encoder.pairs
        said = getattr(self.model.generation_config, "eos_token_id", None)
        ends = {*(said if isinstance(said, list) else [said]), self.tokenizer.eos_token_id}
        self._stops = self._encoder.stops | (ends - {None})
        config = self.model.config.get_text_config()
        limit = getattr(config, "max_position_embeddings", None)
        self.context = int(limit or self.tokenizer.model_max_length)
        # The longest row that this project's own pass reads: 0 where it reads none.
        window = getattr(config, "sliding_window", None) or math.inf
        self._packed = window if passes.packs(self.model) else 0
        usual = loading.USUAL if entry.device_map == "cpu" else loading.MANY
        # Where positions are scaled by the longest row of a batch, every row goes alone.
        rope = str(getattr(config, "rope_parameters", ""))
        scaled = any(f"'{kind}'" in rope for kind in ("dynamic", "longrope"))
        self._budget = 1 if scaled else entry.batch_tokens or usual

    def _read(
        self, rows: Sequence[Ids], wanted: Sequence[Sequence[Sequence[int]]], *, log: bool
    ) -> Iterator[tuple[int, torch.Tensor]]:
        """Likelihoods of some tokens after each of the last tokens of a row.

        Args:
            rows: Token ids.
            wanted: By row, a list of ids for each token that is read.
            log: Whether as logarithms.

        Yields:
            Index of a row, and the values `[read, n]`.
        """
        ways: Any = (True, partial(packed, step=passes.step(self.model))), (False, padded)
        for fits, lay in ways:
            some = [n for n, row in enumerate(rows) if (len(row) <= self._packed) == fits]
            read = [len(wanted[index]) for index in some]
            for batch in lay([rows[index] for index in some], read, self._budget):
                indices = [some[row] for row in batch.rows]
                ids = torch.tensor(list(chain(*(wanted[index] for index in indices))))
                found = passes.likelihoods(self.model, batch, ids, log=log).cpu()
                sizes = [len(wanted[index]) for index in indices]
                yield from zip(indices, torch.split(found, sizes), strict=True)

    @torch.no_grad()
    def answer(self, calls: Sequence[Call]) -> Iterator[tuple[int, Answer]]:
        """Answers as they are made; see `Engine`."""
        ways: dict[type[Call], Any]
        ways = {Choose: self._choose, Score: self._score, Generate: self._generate}
        yield from ways[type(calls[0])](calls)

    def _fitting(self, texts: Sequence[str], more: int) -> tuple[dict[int, Ids], list[int]]:
        """Token ids of the texts that leave room for so many more; and which texts do not."""
        found = enumerate(map(np.array, self._encoder.ids(texts)))
        rows = {index: row for index, row in found if len(row) + more <= self.context}
        return rows, [index for index in range(len(texts)) if index not in rows]

    def _choose(self, calls: Sequence[Choose]) -> Iterator[tuple[int, Choice]]:
        """Probabilities of the labels as the next token."""
        labels, prefill = calls[0].labels, calls[0].prompt.prefill
        texts = [self._encoder.before_label(call.prompt, labels) for call in calls]
        # Texts of one prefill end alike: any of them will do.
        forms = self._encoder.forms(labels, [prefill, texts[0]])
        rows, long = self._fitting(texts, 0)
        yield from ((index, Choice((), "truncated")) for index in long)
        fitting, watched = list(rows), list(chain(*forms))
        for place, found in self._read(list(rows.values()), [[watched]] * len(rows), log=False):
            shares = torch.split(found[0], list(map(len, forms)))
            yield fitting[place], Choice(tuple(share.sum().item() for share in shares), "ok")

    def _score(self, calls: Sequence[Score]) -> Iterator[tuple[int, Likelihood]]:
        """Log-likelihood of each continuation given its prompt."""
        given = [call.prompt for call in calls], [call.continuation for call in calls]
        pairs, asked = self.pairs(*given), []
        for index, (context, own) in enumerate(pairs):
            # The last token is predicted, not seen.
            if len(context) + len(own) > self.context + 1:
                yield index, Likelihood(math.nan, len(own), "truncated")
            elif not own:
                yield index, Likelihood(0.0, 0, "ok")
            else:
                asked.append(index)
        rows = [np.array([*pairs[index][0], *pairs[index][1]])[:-1] for index in asked]
        wanted = [[[token] for token in pairs[index][1]] for index in asked]
        for place, found in self._read(rows, wanted, log=True):
            yield asked[place], Likelihood(-found.double().sum().item(), len(found), "ok")

    def _generate(self, calls: Sequence[Generate]) -> Iterator[tuple[int, Text]]:
        """Continue each prompt, sampling by its own seed."""
        marker, labels, most = calls[0].marker, calls[0].labels, calls[0].max_tokens
        forms = self._encoder.forms(labels, [marker]) if marker else []
        rows, long = self._fitting([self._encoder.text(call.prompt) for call in calls], 1)
        yield from ((index, Text("", "truncated")) for index in long)
        fitting = list(rows)
        for place, made in continuations(
            self.model,
            list(rows.values()),
            [min(most, self.context - len(row)) for row in rows.values()],
            [calls[index].seed for index in fitting],
            temperature=calls[0].temperature,
            stops=self._stops,
            watched=list(chain(*forms)),
            budget=self._budget,
        ):
            text = self._encoder.decode(made.ids)
            choice = label_after(self._encoder, marker, forms, made) if forms else None
            yield fitting[place], Text(text, "ok" if made.ended else "cut", choice)


# In a process of the pool: the models that it has opened.
_opened = cache(LocalModel)


def shared(
    entry: Transformers, root: Path, dataset: str, calls: Sequence[Call]
) -> Iterator[tuple[int, Answer]]:
    """Answers of several processes as they are made, each with the index of its call.

    Args:
        entry: How the model is loaded and run, and in how many processes.
        root: The repository.
        dataset: What `{dataset}` in the model's path stands for.
        calls: As for `Engine.answer`.

    Raises:
        SelfprefError: There is no such model.
    """
    # What is fetched once is fetched before there are several.
    loading.model_path(entry, root, dataset)
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
