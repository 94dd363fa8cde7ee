"""Attention inside a packed line, as an attention function of `transformers`.

An architecture that takes its attention function from the library's registry, and positions as an
argument, can run on packed lines: Llama, Mistral, Qwen, Phi, GPT-NeoX, OPT and most others.
"""

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.nn.functional import pad
from transformers import AttentionInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from selfpref.engines.local.linear import STEP
from selfpref.engines.local.packing import Batch, Group, packed, padded

NAME = "selfpref-packed"
_groups: ContextVar[Sequence[Group]] = ContextVar("groups")


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """Scaled dot-product attention, group by group; all `[1, heads, tokens, width]`."""
    parts, gathered = [], None
    for group in _groups.get():
        if group.keys is not gathered:
            gathered = group.keys
            own = gathered if isinstance(gathered, slice) else gathered.to(key.device)
            keys, values = key[:, :, own], value[:, :, own]
        seen = group.mask.shape[-1]
        part, _ = sdpa_attention_forward(
            module,
            query[:, :, group.queries],
            keys[:, :, :seen],
            values[:, :, :seen],
            group.mask.to(query.device, query.dtype),
            **options,
        )
        parts.append(part)
    return torch.cat(parts, dim=1), None


AttentionInterface.register(NAME, _attend)


@contextmanager
def _attending(model: PreTrainedModel, groups: Sequence[Group]) -> Iterator[None]:
    """Let a model attend as the groups of a packed line say."""
    before = model.config._attn_implementation
    token = _groups.set(groups)
    model.config._attn_implementation = NAME
    try:
        yield
    finally:
        model.config._attn_implementation = before
        _groups.reset(token)


def _placed(groups: Sequence[Group], model: PreTrainedModel) -> list[Group]:
    """Groups on the model's device; those that shared their keys still do."""
    keys = {
        id(group.keys): group.keys if isinstance(group.keys, slice) else group.keys.to(model.device)
        for group in groups
    }
    return [
        Group(group.queries, keys[id(group.keys)], group.mask.to(model.device, model.dtype))
        for group in groups
    ]


def _filled(batch: Batch) -> Batch:
    """A packed line with tokens of no row at its end, up to a whole number of steps."""
    if batch.groups is None:
        return batch
    more = -batch.tokens % STEP
    end = slice(batch.tokens, batch.tokens + more)
    return replace(
        batch,
        inputs={name: pad(values, (0, more)) for name, values in batch.inputs.items()},
        groups=[*batch.groups, *([Group(end, end, torch.zeros(1, 1, more, more))] if more else [])],
    )


def states(model: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """Final hidden states of a batch's tokens, `[lines x tokens, width]`, and maybe of more."""
    batch = _filled(batch)
    inputs = {name: values.to(model.device) for name, values in batch.inputs.items()}
    body: Any = model.base_model
    groups = batch.groups
    with nullcontext() if groups is None else _attending(model, _placed(groups, model)):
        found: torch.Tensor = body(**inputs, use_cache=False).last_hidden_state.flatten(0, 1)
    return found


def supports_packing(model: PreTrainedModel) -> bool:
    """Whether a model attends as it is told, tried on three short rows.

    Its attention is `sdpa` of the library's registry, it takes positions, and packed rows have the
    states of rows alone.
    """
    body: Any = model.base_model
    if (
        model.config._attn_implementation != "sdpa"
        or not body._can_set_attn_implementation()
        or "position_ids" not in inspect.signature(body.forward).parameters
    ):
        return False
    size = model.config.get_text_config().vocab_size
    tokens = np.arange(18) * 7 % size
    rows = [tokens[:9], np.concatenate([tokens[:5], tokens[9:14]]), tokens[14:]]
    (line,) = packed(rows, len(tokens))
    together = states(model, line)
    for path, index in zip(line.paths, line.rows, strict=True):
        alone = states(model, next(padded([rows[index]], 1))).float()
        gap = (together[path.to(together.device)].float() - alone).norm() / alone.norm()
        if gap > (1e-4 if model.dtype == torch.float32 else 0.02):
            return False
    return True
