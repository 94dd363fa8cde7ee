"""Attention inside a packed line, as an attention function of `transformers`.

An architecture that takes its attention function from the library's registry, and positions as an
argument, can run on packed lines: Llama, Mistral, Qwen, Phi, GPT-NeoX, OPT and most others.
"""

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from transformers import AttentionInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward

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
    parts = []
    for group in _groups.get():
        own = group.keys if isinstance(group.keys, slice) else group.keys.to(key.device)
        mask = None if group.mask is None else group.mask.to(query.device, query.dtype)
        part, _ = sdpa_attention_forward(
            module, query[:, :, group.queries], key[:, :, own], value[:, :, own], mask, **options
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


def states(model: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """Final hidden states of a batch's tokens, `[lines x tokens, width]`."""
    device = model.device
    inputs = {"input_ids": batch.ids.to(device), "use_cache": False}
    body: Any = model.base_model
    if batch.mask is None:
        with _attending(model, batch.groups):
            reply = body(position_ids=batch.positions.to(device), **inputs)
    else:
        reply = body(attention_mask=batch.mask.to(device), **inputs)
    found: torch.Tensor = reply.last_hidden_state.flatten(0, 1)
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
