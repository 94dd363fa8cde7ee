"""Models of this machine's own weights, as engines: in this process, or shared by several.

Weights come through `transformers`: tensors alone, no remote code; probabilities are fp32. Each of
several processes takes some consecutive calls at a time: an answer depends on its call alone, so it
is the one that a single process gives, and is kept under the same key.

Texts are written a batch of prompts at a time, padded on the left. Of the raw next-token
distribution p (temperature 1) the cumulative sum at temperature T is inverted at one uniform draw a
token and prompt, by the call's own seed, so that a batch-mate cannot shift another's sample; T = 0
takes the most probable token. Where labels are to be read, p at their tokens is kept at every step:
which step follows the last marker is known only at the end.

A label is the token after those that complete the last marker of the text, which may be cut anyhow
into tokens (`[[`, `[` + `[`). Where one token holds the end of the marker and more, the labels
cannot be compared at one position: there is no answer.
"""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from numpy.random import default_rng
from torch.nn.utils.rnn import pad_sequence
from torch.utils import deterministic
from transformers import DynamicCache, PreTrainedModel

from selfpref.errors import SelfprefError
from selfpref.models import Answers, Call, Choice, Choose, Generate, Likelihood, Score, Text
from selfpref.models.local import loading, passes
from selfpref.models.local.encoding import Encoder
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
        template, fold = self.identity.get("template"), entry.system == "fold"
        self._encoder = Encoder(self.tokenizer, template, fold=fold)
        self.pairs = self._encoder.pairs
        said = self.model.generation_config.eos_token_id
        ends = said if isinstance(said, list) else [said]
        self._stops = self._encoder.stops | {*ends, self.tokenizer.eos_token_id} - {None}
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
        self, rows: dict[int, Ids], wanted: dict[int, list[list[int]]], *, log: bool
    ) -> Iterator[tuple[int, torch.Tensor]]:
        """Likelihoods of some tokens after each of the last tokens of a row.

        Args:
            rows: Token ids, by index.
            wanted: By row, a list of ids for each token that is read.
            log: Whether as logarithms.

        Yields:
            Index of a row, and the values `[read, n]`.
        """
        for fits, lay in ((True, partial(packed, step=passes.step(self.model))), (False, padded)):
            some = [index for index, row in rows.items() if (len(row) <= self._packed) == fits]
            read = [len(wanted[index]) for index in some]
            for batch in lay([rows[index] for index in some], read, self._budget):
                indices = [some[row] for row in batch.rows]
                ids = torch.tensor(list(chain(*(wanted[index] for index in indices))))
                found = passes.likelihoods(self.model, batch, ids, log=log).cpu()
                parts = found.split([read[row] for row in batch.rows])
                yield from zip(indices, parts, strict=True)

    @torch.no_grad()
    def answer(self, calls: Sequence[Call]) -> Answers:
        """Answers as they are made; see `Engine`.

        Raises:
            SelfprefError: The GPU has no room for a batch.
        """
        ways: Any = {Choose: self._choose, Score: self._score, Generate: self._generate}
        try:
            yield from ways[type(calls[0])](calls)
        except torch.OutOfMemoryError as error:
            told = f"no room on the GPU for {self._budget} tokens at a time; lower `batch_tokens`"
            raise SelfprefError(f"{self.model.name_or_path}: {told}") from error

    def _fitting(self, texts: Sequence[str], more: int) -> tuple[dict[int, Ids], list[int]]:
        """Token ids of the texts that leave room for so many more; and which texts do not."""
        found = enumerate(map(np.array, self._encoder.ids(texts)))
        rows = {index: row for index, row in found if len(row) + more <= self.context}
        return rows, sorted({*range(len(texts))}.difference(rows))

    def _choose(self, calls: Sequence[Choose]) -> Answers:
        """Probabilities of the labels as the next token."""
        labels, prefill = calls[0].labels, calls[0].prompt.prefill
        texts = [self._encoder.text(call.prompt, labels) for call in calls]
        # Texts of one prefill end alike: any of them will do.
        forms = self._encoder.forms(labels, [prefill, texts[0]])
        rows, long = self._fitting(texts, 0)
        yield from ((index, Choice((), "truncated")) for index in long)
        watched = list(chain(*forms))
        wanted = {index: [watched] for index in rows}
        for index, found in self._read(rows, wanted, log=False):
            shares = found[0].split(list(map(len, forms)))
            yield index, Choice(tuple(share.sum().item() for share in shares), "ok")

    def _score(self, calls: Sequence[Score]) -> Answers:
        """Log-likelihood of each continuation given its prompt."""
        rows, wanted = {}, {}
        pairs = self.pairs([call.prompt for call in calls], [call.continuation for call in calls])
        for index, (context, own) in enumerate(pairs):
            # The last token is predicted, not seen.
            if len(context) + len(own) > self.context + 1:
                yield index, Likelihood(math.nan, len(own), "truncated")
            elif not own:
                yield index, Likelihood(0.0, 0, "ok")
            else:
                rows[index] = np.array([*context, *own])[:-1]
                wanted[index] = [[token] for token in own]
        for index, found in self._read(rows, wanted, log=True):
            yield index, Likelihood(-found.double().sum().item(), len(found), "ok")

    def _generate(self, calls: Sequence[Generate]) -> Answers:
        """Continue each prompt, longest first, sampling by its own seed."""
        asked, marker = calls[0], calls[0].marker
        forms = self._encoder.forms(asked.labels, [marker]) if marker else []
        rows, long = self._fitting([self._encoder.text(call.prompt) for call in calls], 1)
        yield from ((index, Text("", "truncated")) for index in long)
        most = asked.max_tokens
        limits = {index: min(most, self.context - len(row)) for index, row in rows.items()}
        order = sorted(rows, key=lambda index: -len(rows[index]))
        while order:
            longest = len(rows[order[0]]) + max(limits[index] for index in order)
            size = max(1, loading.HELD * self._budget // longest)
            chosen, order = order[:size], order[size:]
            draws = [default_rng(calls[index].seed).random(limits[index]) for index in chosen]
            some, watched = [rows[index] for index in chosen], list(chain(*forms))
            found = continued(self.model, some, draws, asked.temperature, self._stops, watched)
            for index, made in zip(chosen, found, strict=True):
                text = self._encoder.decode(made.ids)
                choice = label_after(self._encoder, marker, forms, made) if forms else None
                yield index, Text(text, "ok" if made.ended else "cut", choice)


# --- texts ----------------------------------------------------------------------------------------


@dataclass
class Continuation:
    """The tokens that follow one prompt.

    Attributes:
        ids: Without the one that ended it.
        ended: Whether one did; else it reached its limit.
        watched: Probability of each watched token at each step, `[steps, watched]`; the step that
            ended it included.
    """

    ids: list[int]
    ended: bool
    watched: list[list[float]]


def continued(
    model: PreTrainedModel,
    rows: Sequence[Ids],
    draws: Sequence[npt.NDArray[np.float64]],
    temperature: float,
    stops: set[int],
    watched: Sequence[int],
) -> list[Continuation]:
    """Continue each prompt by at most as many tokens as it has draws.

    Args:
        model: What predicts.
        rows: Token ids of the prompts.
        draws: Uniform draws of each, at least 1.
        temperature: 0 is greedy.
        stops: Tokens that end a continuation.
        watched: Tokens whose raw probability is kept at every step.
    """
    cache, ids = DynamicCache(config=model.config), list(map(torch.from_numpy, rows))
    laid = partial(pad_sequence, batch_first=True, padding_side="left")
    step, mask = laid(ids), laid(list(map(torch.ones_like, ids)))
    made = [Continuation([], False, []) for _ in draws]
    alive = list(zip(made, draws, strict=True))
    while alive:
        positions = (mask.cumsum(-1) - 1).clamp(min=0)[:, -step.shape[1] :]
        inputs = {"input_ids": step, "attention_mask": mask, "position_ids": positions}
        given: Any = {name: values.to(model.device) for name, values in inputs.items()}
        reply = model(**given, past_key_values=cache, use_cache=True, logits_to_keep=1)
        logits = reply.logits[:, -1].double()
        uniform = torch.tensor([drawn[len(one.ids)] for one, drawn in alive])
        tokens = _drawn(logits, uniform.to(logits.device), temperature).cpu()
        shares = (logits[:, list(watched)] - logits.logsumexp(-1, keepdim=True)).exp().tolist()
        keep = []
        for place, (one, drawn) in enumerate(alive):
            token = int(tokens[place])
            one.watched.append(shares[place])
            one.ended = token in stops
            if not one.ended:
                one.ids.append(token)
                if len(one.ids) < len(drawn):
                    keep.append(place)
        if 0 < len(keep) < len(alive):
            cache.batch_select_indices(torch.tensor(keep))
        alive = [alive[place] for place in keep]
        step = tokens[keep][:, None]
        mask = torch.cat([mask[keep], torch.ones_like(step)], dim=1)
    return made


def _drawn(logits: torch.Tensor, uniform: torch.Tensor, temperature: float) -> torch.Tensor:
    """One token a line: the first whose cumulative probability exceeds the uniform draw."""
    if temperature == 0:
        return logits.argmax(-1)
    reached = (logits / temperature).softmax(-1).cumsum(-1)
    wanted = uniform[:, None] * reached[:, -1:]
    return torch.searchsorted(reached, wanted, right=True)[:, 0]


def label_after(
    encoder: Encoder, marker: str, forms: Sequence[Sequence[int]], made: Continuation
) -> Choice | None:
    """Probabilities of the labels after the last marker, None where they cannot be read.

    Args:
        encoder: The model's.
        marker: Such as `[[`.
        forms: Of each label, the tokens that spell it; all of them were watched, one after another.
        made: What the model wrote.
    """
    text, step = encoder.decode(made.ids), len(made.ids)
    begun = text[: text.rfind(marker) + len(marker)]
    while step and len(encoder.decode(made.ids[: step - 1])) >= len(begun):
        step -= 1
    # The first `step` tokens complete the marker.
    whole = marker in text and encoder.decode(made.ids[:step]) == begun
    if not whole or step >= len(made.watched):
        return None
    shares = np.split(made.watched[step], np.cumsum(list(map(len, forms)))[:-1])
    return Choice(tuple(float(share.sum()) for share in shares), "ok")


# --- several processes ----------------------------------------------------------------------------

# In a process of the pool: the models that it has opened.
_opened = cache(LocalModel)


def shared(entry: Transformers, root: Path, dataset: str, calls: Sequence[Call]) -> Answers:
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
            workers.submit(_answers, calls[start : start + size], entry, root, dataset): start
            for start in range(0, len(calls), size)
        }
        for done in as_completed(begun):
            for position, answer in done.result():
                yield begun[done] + position, answer


def _answers(calls: Sequence[Call], *model: Any) -> list[tuple[int, Any]]:
    return list(_opened(*model).answer(calls))
