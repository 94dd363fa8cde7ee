"""Continuations of a batch of prompts, each sampled by its own seed; and the labels in them.

Prompts are padded on the left. Of the raw next-token distribution p (temperature 1) the cumulative
sum at temperature T is inverted at one uniform draw a token and prompt, so that a batch-mate cannot
shift another's sample; T = 0 takes the most probable token. Where labels are to be read, p at
their tokens is kept at every step: which step follows the last marker is known only at the end.

A label is the token after those that complete the last marker of the text, which may be cut anyhow
into tokens (`[[`, `[` + `[`). Where one token holds the end of the marker and more, the labels
cannot be compared at one position: there is no answer.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import DynamicCache, PreTrainedModel

from selfpref.models import Choice
from selfpref.models.local.encoding import Encoder
from selfpref.models.local.loading import HELD
from selfpref.models.local.passes import Ids


class Continuation(NamedTuple):
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
    """
    order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
    while order:
        longest = len(rows[order[0]]) + max(limits[index] for index in order)
        size = max(1, HELD * budget // longest)
        chosen, order = order[:size], order[size:]
        draws = [np.random.default_rng(seeds[index]).random(limits[index]) for index in chosen]
        some = [rows[index] for index in chosen]
        found = _continued(model, some, draws, temperature, stops, watched)
        yield from zip(chosen, found, strict=True)


def _continued(
    model: PreTrainedModel,
    rows: Sequence[Ids],
    draws: Sequence[npt.NDArray[np.float64]],
    temperature: float,
    stops: set[int],
    watched: Sequence[int],
) -> list[Continuation]:
    """Continue each prompt by at most as many tokens as it has draws."""
    cache, ids = DynamicCache(config=model.config), list(map(torch.from_numpy, rows))
    step = pad_sequence(ids, batch_first=True, padding_side="left")
    ones = list(map(torch.ones_like, ids))
    mask = pad_sequence(ones, batch_first=True, padding_side="left")
    made: list[list[int]] = [[] for _ in draws]
    seen: list[list[list[float]]] = [[] for _ in draws]
    ended, alive = [False] * len(draws), list(range(len(draws)))
    while alive:
        positions = (mask.cumsum(-1) - 1).clamp(min=0)[:, -step.shape[1] :]
        inputs = {"input_ids": step, "attention_mask": mask, "position_ids": positions}
        given: Any = {name: values.to(model.device) for name, values in inputs.items()}
        reply = model(**given, past_key_values=cache, use_cache=True, logits_to_keep=1)
        logits = reply.logits[:, -1].double()
        uniform = torch.tensor([draws[line][len(made[line])] for line in alive])
        tokens = _drawn(logits, uniform.to(logits.device), temperature)
        shares = (logits[:, list(watched)] - logits.logsumexp(-1, keepdim=True)).exp().tolist()
        keep = []
        for place, (line, token) in enumerate(zip(alive, tokens.tolist(), strict=True)):
            seen[line].append(shares[place])
            ended[line] = token in stops
            if not ended[line]:
                made[line].append(token)
                if len(made[line]) < len(draws[line]):
                    keep.append(place)
        if 0 < len(keep) < len(alive):
            cache.batch_select_indices(torch.tensor(keep))
        alive = [alive[place] for place in keep]
        step = tokens.cpu()[keep][:, None]
        mask = torch.cat([mask[keep], torch.ones_like(step)], dim=1)
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
    ends = np.cumsum([len(form) for form in forms])
    shares = np.split(made.watched[step], ends[:-1])
    return Choice(tuple(float(share.sum()) for share in shares), "ok")
