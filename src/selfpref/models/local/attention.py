"""Attention inside a packed line, as an attention function of `transformers`.

An architecture that takes its attention function from the library's registry, and positions as an
argument, can run on packed lines: Llama, Mistral, Qwen, Phi, GPT-NeoX, OPT and most others.
"""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from transformers import AttentionInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from selfpref.models.local.packing import Attention, Batch, Tile

NAME = "selfpref-packed"
_attention: ContextVar[Attention] = ContextVar("attention")


def attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention: Attention,
    **options: Any,
) -> torch.Tensor:
    """Scaled dot-product attention, tile by tile.

    Args:
        module: The model's attention layer.
        query: Of a line, `[tokens, heads, width]`, as key and value.
        key: Of the same line.
        value: Of the same line.
        attention: What attends to what.
        options: As of an attention function of `transformers`.

    Returns:
        Of the tokens that attend, `[tokens, heads, width]`.
    """

    def laid(states: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        found = states.index_select(0, places.flatten())
        return found.view(*places.shape, *states.shape[1:]).transpose(1, 2)

    found = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for tile in attention.tiles:
        part, _ = sdpa_attention_forward(
            module,
            laid(query, tile.queries),
            laid(key, tile.keys),
            laid(value, tile.keys),
            tile.mask,
            **options,
        )
        # A token that is repeated has the same result again.
        found.index_copy_(0, tile.queries.flatten(), part.flatten(0, 1))
    return found


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """The same as an attention function; all `[1, heads, tokens, width]`."""
    query, key, value = (states[0].transpose(0, 1) for states in (query, key, value))
    return attend(module, query, key, value, _attention.get(), **options)[None], None


AttentionInterface.register(NAME, _attend)


@contextmanager
def _attending(model: PreTrainedModel, attention: Attention) -> Iterator[None]:
    """Let a model attend as a packed line says."""
    before = model.config._attn_implementation
    token = _attention.set(attention)
    model.config._attn_implementation = NAME
    try:
        yield
    finally:
        model.config._attn_implementation = before
        _attention.reset(token)


def _placed(attention: Attention, model: PreTrainedModel) -> Attention:
    """What attends to what, on the model's device and in its dtype."""
    device = model.device
    return Attention(
        attention.tokens,
        [
            Tile(tile.queries.to(device), tile.keys.to(device), tile.mask.to(device, model.dtype))
            for tile in attention.tiles
        ],
    )


def packed_states(model: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """Final hidden states that are read from a packed line, by the model's own pass."""
    assert batch.attention
    with _attending(model, _placed(batch.attention, model)):
        return padded_states(model, batch)


def padded_states(model: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """Final hidden states that are read from padded rows."""
    inputs = {name: values.to(model.device) for name, values in batch.inputs.items()}
    body: Any = model.base_model
    found: torch.Tensor = body(**inputs, use_cache=False).last_hidden_state.flatten(0, 1)
    return found[batch.read.to(found.device)]


def supports(model: PreTrainedModel) -> bool:
    """Whether its attention is `sdpa` of the library's registry, and it takes positions."""
    body: Any = model.base_model
    return (
        model.config._attn_implementation == "sdpa"
        and body._can_set_attn_implementation()
        and "position_ids" in inspect.signature(body.forward).parameters
    )
