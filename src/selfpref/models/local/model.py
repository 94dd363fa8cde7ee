"""One model of this machine's own weights, as an engine."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch.utils import deterministic
from transformers import PreTrainedConfig

from selfpref.errors import SelfprefError
from selfpref.models import (
    Answer,
    Call,
    Choice,
    Choose,
    Generate,
    Likelihood,
    Prompt,
    Score,
    Text,
)
from selfpref.models.local import memory
from selfpref.models.local.encoding import Encoder
from selfpref.models.local.fast.packing import packed
from selfpref.models.local.fast.passes import llama_pass, packed_pass
from selfpref.models.local.fast.products import step, take_over
from selfpref.models.local.generation import LabelReader, continuations, label_forms
from selfpref.models.local.loading import load
from selfpref.models.local.states import Head, Ids, padded, padded_states
from selfpref.models.local.templates import chosen
from selfpref.models.local.weights import identity, model_path
from selfpref.params import Transformers


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
        path = model_path(entry, root, dataset)
        self.identity = identity(entry, root, dataset)
        if entry.threads is not None:
            torch.set_num_threads(entry.threads)
        # Sums on a GPU have no deterministic kernel; there, runs agree up to rounding.
        torch.use_deterministic_algorithms(entry.device_map == "cpu")
        deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        self.tokenizer, self.model = load(entry, path)
        self.model.train(False)
        take_over(self.model)
        config = self.model.config.get_text_config()
        self.context = int(
            getattr(config, "max_position_embeddings", None) or self.tokenizer.model_max_length
        )
        template = chosen(entry.template, root)
        self._encoder = Encoder(self.tokenizer, template, fold=entry.system == "fold")
        self._stops = self._encoder.stops | _ends(self.model, self.tokenizer)
        windows = (getattr(config, key, None) for key in ("sliding_window", "attention_chunk_size"))
        self._window = min((size for size in windows if size), default=math.inf)
        with torch.no_grad():
            # A packed line is laid out for one device.
            one = len(memory.devices(self.model)) == 1
            self._packed = packed_pass(self.model) if one else None
            self._head = Head(self.model)
        # Where positions are scaled by the longest row of a batch, every row goes alone.
        alone = 1 if _scaled_by_length(config) else None
        self._budget = alone or entry.batch_tokens or memory.batch_tokens(self.model)
        own = self._packed is llama_pass and self._head.linear
        self._followed = self._window if own else 0

    @property
    def packing(self) -> bool:
        """Whether it runs on packed lines with shared prefixes; else on padded rows."""
        return self._packed is not None

    def encode(self, prompt: Prompt) -> list[int]:
        """Token ids of a prompt, its prefill included."""
        return self._encoder.encode(prompt)

    def pairs(
        self, prompts: Sequence[Prompt], continuations: Sequence[str]
    ) -> list[tuple[list[int], list[int]]]:
        """Token ids of prompts and of given continuations; see `Encoder.pairs`."""
        return self._encoder.pairs(prompts, continuations)

    def _states(
        self, rows: Sequence[Ids], read: Sequence[int]
    ) -> Iterator[tuple[list[int], torch.Tensor]]:
        """Final hidden states of the last so many tokens of each row, in batches.

        Yields:
            Indices of the batch's rows, and the states of one after another, `[read, width]`.
        """
        packs = [
            index for index, row in enumerate(rows) if self._packed and len(row) <= self._window
        ]
        rest = sorted(set(range(len(rows))) - set(packs))
        if self._packed:
            asked = [rows[index] for index in packs], [read[index] for index in packs]
            for line in packed(*asked, self._budget, step(self.model)):
                yield [packs[row] for row in line.rows], self._packed(self.model, line)
        asked = [rows[index] for index in rest], [read[index] for index in rest]
        for batch in padded(*asked, self._budget):
            yield [rest[row] for row in batch.rows], padded_states(self.model, batch)

    @torch.no_grad()
    def answer(self, calls: Sequence[Call]) -> Iterator[tuple[int, Answer]]:
        """Answers as they are made; see `Engine`."""
        try:
            match calls:
                case [Choose(), *_]:
                    yield from self._choose(cast(Sequence[Choose], calls))
                case [Score(), *_]:
                    yield from self._score(cast(Sequence[Score], calls))
                case [Generate(), *_]:
                    yield from self._generate(cast(Sequence[Generate], calls))
        except torch.OutOfMemoryError as error:
            raise SelfprefError(
                f"{self.model.name_or_path}: out of memory with batches of {self._budget} tokens; "
                "set a lower `batch_tokens`. What was answered is kept"
            ) from error

    def _choose(self, calls: Sequence[Choose]) -> Iterator[tuple[int, Choice]]:
        """Probabilities of the labels as the next token."""
        prompts, labels = [call.prompt for call in calls], calls[0].labels
        texts = [self._encoder.before_label(prompt, labels) for prompt in prompts]
        forms: dict[str, list[list[int]]] = {}
        for prompt, text in zip(prompts, texts, strict=True):
            if prompt.prefill not in forms:
                forms[prompt.prefill] = label_forms(self._encoder, labels, [prompt.prefill, text])
        rows = list(map(np.array, self._encoder.ids(texts)))
        fitting = [index for index, row in enumerate(rows) if len(row) <= self.context]
        for index in sorted(set(range(len(rows))) - set(fitting)):
            yield index, Choice((), "truncated")
        for places, found in self._states([rows[index] for index in fitting], [1] * len(fitting)):
            p = self._head.log_softmax(found).exp().cpu()
            spelt = {
                prefill: torch.stack([p[:, ids].sum(-1) for ids in labelled], -1).tolist()
                for prefill, labelled in forms.items()
            }
            for line, index in enumerate(fitting[place] for place in places):
                yield index, Choice(tuple(spelt[prompts[index].prefill][line]), "ok")

    def _score(self, calls: Sequence[Score]) -> Iterator[tuple[int, Likelihood]]:
        """Log-likelihood of each continuation given its prompt."""
        pairs = [
            (np.array(context), np.array(continuation, dtype=np.int64))
            for context, continuation in self.pairs(
                [call.prompt for call in calls], [call.continuation for call in calls]
            )
        ]
        asked = []
        for index, (context, continuation) in enumerate(pairs):
            # The last token is predicted, not seen.
            if len(context) + len(continuation) > self.context + 1:
                yield index, Likelihood(math.nan, len(continuation), "truncated")
            elif len(continuation) == 0:
                yield index, Likelihood(0.0, 0, "ok")
            else:
                asked.append(index)
        rows = [np.concatenate(pairs[index])[:-1] for index in asked]
        for places, found in self._states(rows, [len(pairs[index][1]) for index in asked]):
            indices = [asked[place] for place in places]
            targets = [pairs[index][1] for index in indices]
            values = self._head.log_likelihoods(found, torch.from_numpy(np.concatenate(targets)))
            starts = np.cumsum([0, *map(len, targets[:-1])])
            sums = np.add.reduceat(values.double().cpu().numpy(), starts).tolist()
            for index, total, tokens in zip(indices, sums, targets, strict=True):
                yield index, Likelihood(-total, len(tokens), "ok")

    def _generate(self, calls: Sequence[Generate]) -> Iterator[tuple[int, Text]]:
        """Continue each prompt, sampling by its own seed."""
        options = calls[0]
        reader = LabelReader(self._encoder, options.marker, options.labels)
        texts = [self._encoder.text(call.prompt) for call in calls]
        rows = list(map(np.array, self._encoder.ids(texts)))
        fitting = [index for index, row in enumerate(rows) if len(row) < self.context]
        for index in sorted(set(range(len(rows))) - set(fitting)):
            yield index, Text("", "truncated")
        for place, made in continuations(
            self.model,
            [rows[index] for index in fitting],
            [min(options.max_tokens, self.context - len(rows[index])) for index in fitting],
            [calls[index].seed for index in fitting],
            temperature=options.temperature,
            stops=self._stops,
            watched=reader.watched,
            budget=self._budget,
            followed=self._followed,
        ):
            text = self._encoder.decode(made.ids)
            choice = reader.choice(made, text)
            yield fitting[place], Text(text, "ok" if made.ended else "cut", choice)


def _ends(model: Any, tokenizer: Any) -> set[int]:
    """Ids that end an answer, as model and tokenizer say."""
    said = model.generation_config.eos_token_id if model.generation_config else None
    ids = said if isinstance(said, list) else [said]
    return {token for token in (*ids, tokenizer.eos_token_id) if token is not None}


def _scaled_by_length(config: PreTrainedConfig) -> bool:
    """Whether a row's positions depend on the longest row beside it."""
    told = json.dumps(getattr(config, "rope_parameters", None))
    return any(f'"rope_type": "{kind}"' in told for kind in ("dynamic", "longrope"))
