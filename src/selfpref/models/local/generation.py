"""Continuations of a batch of prompts, each sampled by its own seed; and the labels in them.

Prompts are padded on the left. Of the raw next-token distribution p (temperature 1) the cumulative
sum at temperature T is inverted at one uniform draw a token and prompt, so that a batch-mate cannot
shift another's sample; T = 0 takes the most probable token. Where labels are to be read, p at
their tokens is kept at every step: which step follows the last marker is known only at the end.
Prompts go through the model's own pass, and so do the tokens that follow, one a step; where most of
a small model's time would go on what is not a product, a pass of this project's takes these.

A label is read after the last marker of the text, where tokens need not end with the marker:
`[[A` may be `[[` + `A`, `[` + `[` + `A`, ` [[` + ` A`, or `[[A` in one. The label token is the one
after the tokens that complete the marker or, where the marker's last token goes on beyond it, that
token itself; its candidates are then the tokens that begin in the same way (`[[A`, `[[B`). Where
some label has no such token, the labels cannot be compared at one position: there is no answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.functional import pad
from transformers import DynamicCache, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from selfpref.errors import SelfprefError
from selfpref.models import Choice
from selfpref.models.local.encoding import Encoder
from selfpref.models.local.fast.passes import begun, layer_pass, normed
from selfpref.models.local.loading import HELD
from selfpref.models.local.states import Ids

# The share of a batch's lines that is left when the finished ones are taken out.
LIVING = 0.75


@dataclass(frozen=True)
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
    watched: npt.NDArray[np.float64]


def continuations(
    model: PreTrainedModel,
    rows: Sequence[Ids],
    limits: Sequence[int],
    seeds: Sequence[int],
    *,
    temperature: float,
    stops: set[int],
    watched: Sequence[int],
    budget: int,
    followed: float = 0,
) -> Iterator[tuple[int, Continuation]]:
    """Continue every prompt, longest first.

    Args:
        model: What predicts.
        rows: Token ids of the prompts.
        limits: Most new tokens of each, at least 1.
        seeds: Of each prompt's own draws.
        temperature: 0 is greedy.
        stops: Tokens that end a continuation.
        watched: Tokens whose raw probability is kept at every step.
        budget: A batch holds at most `HELD` times so many tokens, new ones included.
        followed: Most tokens of a row, new ones included, that this project's own pass can
            continue; 0: none.
    """
    order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
    start = 0
    while start < len(order):
        longest = len(rows[order[start]]) + max(limits[index] for index in order[start:])
        chosen = order[start : start + max(1, HELD * budget // longest)]
        start += len(chosen)
        draws = [np.random.default_rng(seeds[index]).random(limits[index]) for index in chosen]
        room = max(map(len, draws)) - 1
        kind = _FastBatch if longest <= followed else _Batch
        batch = kind(model, [rows[index] for index in chosen], room)
        yield from zip(chosen, _continued(batch, draws, temperature, stops, watched), strict=True)


class _Batch:
    """Prompts that are continued together, by the model's own pass."""

    def __init__(self, model: PreTrainedModel, rows: Sequence[Ids], room: int) -> None:
        self._model = model
        width = max(map(len, rows))
        self._step = torch.tensor([[*[0] * (width - len(row)), *row.tolist()] for row in rows])
        self._mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
        self._cache = DynamicCache(config=model.config)

    def logits(self) -> torch.Tensor:
        """Raw logits of the next token of each line, `[lines, vocabulary]`."""
        device = self._model.device
        positions = (self._mask.cumsum(-1) - 1).clamp(min=0)[:, -self._step.shape[1] :]
        reply = self._model(
            input_ids=self._step.to(device),
            attention_mask=self._mask.to(device),
            position_ids=positions.to(device),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits: torch.Tensor = reply.logits[:, -1]
        return logits

    def advance(self, tokens: list[int], keep: list[int]) -> None:
        """Go on with the lines that are not finished, by a token each."""
        if len(keep) < len(self._mask):
            self._cache.batch_select_indices(torch.tensor(keep))
        self._step = torch.tensor(tokens)[:, None]
        self._mask = torch.cat([self._mask[keep], torch.ones_like(self._step)], dim=1)


class _FastBatch(_Batch):
    """The same of Llama and its kin on a CPU in fp32: after the prompts by this project's pass."""

    def __init__(self, model: PreTrainedModel, rows: Sequence[Ids], room: int) -> None:
        super().__init__(model, rows, room)
        # Of each layer keys and values `[lines, heads, tokens, width]`, with room for all to come.
        self._kept: list[list[torch.Tensor]] = []
        self._end, self._room = self._mask.shape[1], room
        self._positions = self._mask.sum(-1)
        hidden = torch.where(self._mask.bool(), 0.0, -torch.inf)
        self._hidden = pad(hidden, (0, room))[:, None, None]
        # A finished line goes on by a token that is in every vocabulary.
        self._living = torch.arange(len(rows))
        self._tokens = torch.zeros_like(self._living)

    def logits(self) -> torch.Tensor:
        """Raw logits of the next token of each line, `[lines, vocabulary]`."""
        if self._end == self._mask.shape[1]:
            found = super().logits()
            while self._cache.layers:
                layer: Any = self._cache.layers.pop(0)
                both = layer.keys, layer.values
                self._kept.append([pad(part, (0, 0, 0, self._room)) for part in both])
            self._end += 1
            return found
        body: Any = self._model.base_model
        head: Any = self._model.get_output_embeddings()  # type: ignore[no-untyped-call]
        x, turned = begun(self._model, self._tokens, self._positions[None])
        for layer, kept in zip(body.layers, self._kept, strict=True):
            x = layer_pass(layer, x, turned, partial(self._attend, kept))
        self._positions, self._end = self._positions + 1, self._end + 1
        logits: torch.Tensor = head(normed(body.norm, x)[self._living])
        return logits

    def _attend(self, kept: Sequence[torch.Tensor], *given: Any, scaling: float) -> torch.Tensor:
        """To all that was kept of a layer, and to what is new of it, which is kept too."""
        own, query, *new = given
        for part, states in zip(kept, new, strict=True):
            part[:, :, self._end - 1] = states
        keys, values = (part[:, :, : self._end] for part in kept)
        mask = self._hidden[..., : self._end]
        query = query[:, :, None]
        return sdpa_attention_forward(own, query, keys, values, mask, scaling=scaling)[0]

    def advance(self, tokens: list[int], keep: list[int]) -> None:
        """Go on with the lines that are not finished, by a token each."""
        self._living = self._living[keep]
        # Finished lines leave when they are many: to take the others apart costs a copy of them.
        if len(keep) <= LIVING * len(self._tokens):
            self._kept = [[part[self._living] for part in parts] for parts in self._kept]
            self._positions = self._positions[self._living]
            self._hidden = self._hidden[self._living]
            self._living = torch.arange(len(keep))
            self._tokens = self._living.clone()
        self._tokens[self._living] = torch.tensor(tokens)


def _continued(
    batch: _Batch,
    draws: Sequence[npt.NDArray[np.float64]],
    temperature: float,
    stops: set[int],
    watched: Sequence[int],
) -> list[Continuation]:
    """Continue each prompt by at most as many tokens as it has draws."""
    made: list[list[int]] = [[] for _ in draws]
    seen: list[list[list[float]]] = [[] for _ in draws]
    ended = [False] * len(draws)
    alive = list(range(len(draws)))
    while alive:
        logits = batch.logits().double()
        uniform = torch.tensor([draws[line][len(made[line])] for line in alive])
        tokens = _drawn(logits, uniform.to(logits.device), temperature).tolist()
        if watched:
            raw = (logits - logits.logsumexp(-1, keepdim=True))[:, list(watched)].exp()
            for line, values in zip(alive, raw.tolist(), strict=True):
                seen[line].append(values)
        keep = []
        for place, (line, token) in enumerate(zip(alive, tokens, strict=True)):
            ended[line] = token in stops
            if not ended[line]:
                made[line].append(token)
                if len(made[line]) < len(draws[line]):
                    keep.append(place)
        if keep:
            batch.advance([tokens[place] for place in keep], keep)
        alive = [alive[place] for place in keep]
    return [
        Continuation(ids, end, np.array(values).reshape(len(values), len(watched)))
        for ids, end, values in zip(made, ended, seen, strict=True)
    ]


def _drawn(logits: torch.Tensor, uniform: torch.Tensor, temperature: float) -> torch.Tensor:
    """One token a line: the first whose cumulative probability exceeds the uniform draw."""
    if temperature == 0:
        return logits.argmax(-1)
    reached = (logits / temperature).softmax(-1).cumsum(-1)
    wanted = uniform[:, None] * reached[:, -1:]
    return torch.searchsorted(reached, wanted, right=True)[:, 0]


class LabelReader:
    """Reads the labels after the last marker of a continuation.

    Args:
        encoder: The model's.
        marker: Such as `[[`; empty: nothing is to be read.
        labels: Such as `A` and `B`.

    Attributes:
        watched: The tokens whose probabilities have to be known at every step.

    Raises:
        SelfprefError: A label is no single token.
    """

    def __init__(self, encoder: Encoder, marker: str, labels: Sequence[str]) -> None:
        self._encoder, self._marker = encoder, marker
        self._forms: dict[str, list[list[int]]] = {}
        self.watched: list[int] = []
        if not marker:
            return
        self._forms[""] = label_forms(encoder, labels, [marker])
        for start in range(len(marker)):
            for lead in (marker[start:], f" {marker[start:]}"):
                forms = [encoder.forms(label, ["x", "x "], lead) for label in labels]
                if all(forms):
                    self._forms[lead] = forms
        self.watched = sorted(
            {token for forms in self._forms.values() for ids in forms for token in ids}
        )

    def choice(self, made: Continuation, text: str) -> Choice | None:
        """Probabilities of the labels after the last marker, None where they cannot be read."""
        begin = text.rfind(self._marker) if self._marker else -1
        if begin < 0:
            return None
        end = begin + len(self._marker)
        count = len(made.ids)
        while len(self._encoder.decode(made.ids[: count - 1])) >= end:
            count -= 1
        # The first `count` tokens complete the marker.
        lead, step = "", count
        if len(self._encoder.decode(made.ids[:count])) > end:
            step = count - 1
            before = self._encoder.decode(made.ids[:step])
            lead = text[len(before) : end] if text.startswith(before) else "unknown"
        if lead not in self._forms or step >= len(made.watched):
            return None
        shares = dict(zip(self.watched, made.watched[step].tolist(), strict=True))
        found = (sum(shares[token] for token in forms) for forms in self._forms[lead])
        return Choice(tuple(map(float, found)), "ok")


def label_forms(
    encoder: Encoder, labels: Sequence[str], contexts: Sequence[str]
) -> list[list[int]]:
    """Ids that spell each label after one of the contexts.

    Raises:
        SelfprefError: A label has none, or shares one with another label.
    """
    forms = [encoder.forms(label, contexts) for label in labels]
    for number, (label, ids) in enumerate(zip(labels, forms, strict=True)):
        if not ids:
            raise SelfprefError(
                f"label {label!r} is no single token of this model; use another label"
            )
        if set(ids) & {token for other in forms[:number] for token in other}:
            raise SelfprefError(f"label {label!r} is the same token as another; use another label")
    return forms
