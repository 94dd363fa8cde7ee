"""Continuations of a batch of prompts, each sampled by its own seed; and the labels in them.

Prompts are padded on the left. Of the raw next-token distribution p (temperature 1) the cumulative
sum at temperature T is inverted at one uniform draw a token and prompt, so that a batch-mate cannot
shift another's sample; T = 0 takes the most probable token. Where labels are to be read, p at
their tokens is kept at every step: which step follows the last marker is known only at the end.

A label is read after the last marker of the text, where tokens need not end with the marker:
`[[A` may be `[[` + `A`, `[` + `[` + `A` or ` [[` + ` A`. Its token is the one after those that
complete the marker; where one of these goes on beyond it, there is no answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from transformers import DynamicCache, PreTrainedModel

from selfpref.errors import SelfprefError
from selfpref.models import Choice
from selfpref.models.local.encoding import Encoder
from selfpref.models.local.states import Ids

Draws = npt.NDArray[np.float64]
# Tokens that a batch may hold in its cache, in units of the budget of one forward pass.
HELD = 4


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
    draws: Sequence[Draws],
    *,
    temperature: float,
    stops: set[int],
    watched: Sequence[int],
    budget: int,
) -> Iterator[tuple[int, Continuation]]:
    """Continue every prompt, longest first.

    Args:
        model: What predicts.
        rows: Token ids of the prompts.
        draws: Uniform draws of each, one for every new token that it may have, at least 1.
        temperature: 0 is greedy.
        stops: Tokens that end a continuation.
        watched: Tokens whose raw probability is kept at every step.
        budget: A batch holds at most `HELD` times so many tokens, new ones included.
    """
    order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
    start = 0
    while start < len(order):
        longest = len(rows[order[start]]) + max(len(draws[index]) for index in order[start:])
        chosen = order[start : start + max(1, HELD * budget // longest)]
        start += len(chosen)
        some = [rows[index].tolist() for index in chosen]
        drawn = [draws[index] for index in chosen]
        made = _continued(model, some, drawn, temperature, stops, watched)
        yield from zip(chosen, made, strict=True)


def _continued(
    model: PreTrainedModel,
    rows: Sequence[list[int]],
    draws: Sequence[Draws],
    temperature: float,
    stops: set[int],
    watched: Sequence[int],
) -> list[Continuation]:
    """Continue each prompt by at most as many tokens as it has draws."""
    made: list[list[int]] = [[] for _ in draws]
    seen: list[list[list[float]]] = [[] for _ in draws]
    ended = [False] * len(draws)
    alive = list(range(len(draws)))
    width = max(map(len, rows))
    step = torch.tensor([[*[0] * (width - len(row)), *row] for row in rows])
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
    cache = DynamicCache(config=model.config)
    while alive:
        positions = (mask.cumsum(-1) - 1).clamp(min=0)[:, -step.shape[1] :]
        reply = model(
            input_ids=step.to(model.device),
            attention_mask=mask.to(model.device),
            position_ids=positions.to(model.device),
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits = reply.logits[:, -1].double()
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
        if len(keep) < len(alive):
            cache.batch_select_indices(torch.tensor(keep, dtype=torch.long))
        step = torch.tensor([tokens[place] for place in keep])[:, None]
        mask = torch.cat([mask[keep], torch.ones_like(step)], dim=1)
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
        self._forms = label_forms(encoder, labels, [marker]) if marker else []
        self.watched = sorted({token for ids in self._forms for token in ids})

    def choice(self, made: Continuation, text: str) -> Choice | None:
        """Probabilities of the labels after the last marker, None where they cannot be read."""
        begin = text.rfind(self._marker) if self._marker else -1
        if begin < 0:
            return None
        end, count = begin + len(self._marker), len(made.ids)
        while len(self._encoder.decode(made.ids[: count - 1])) >= end:
            count -= 1
        # The first `count` tokens complete the marker.
        if count >= len(made.watched) or len(self._encoder.decode(made.ids[:count])) > end:
            return None
        shares = dict(zip(self.watched, made.watched[count].tolist(), strict=True))
        return Choice(tuple(sum(map(shares.__getitem__, ids)) for ids in self._forms), "ok")


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
