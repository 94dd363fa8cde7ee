"""Passes over a packed line: the fastest way that gives rows the states they have alone.

An architecture that takes its attention function from the registry of `transformers`, and positions
as an argument, runs packed lines by its own pass: Llama, Mistral, Qwen, Phi, GPT-NeoX, OPT and most
others. Llama and its kin have a pass of their own on a CPU in fp32, since the library's spends most
of a small model's time on what is not a product. Weights and layers are the model's; written anew
is how they follow one another:

    x <- x + O attend(rotated Q norm(x), rotated K norm(x), V norm(x))
    x <- x + D (act(G norm(x)) * U norm(x))

Sums and rotations are taken in place, and the wide inner states of the second line are held for a
part of the tokens only. Of the last layer, where nobody looks any more, only the keys and values of
every token are needed; all else is computed for the tokens whose states are read.

Where texts are written by Llama and its kin, their lines are given one token more in the same way.
"""

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn.functional import rms_norm
from transformers import AttentionInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.models.llama.modeling_llama import LlamaDecoderLayer
from transformers.models.mistral.modeling_mistral import MistralDecoderLayer
from transformers.models.qwen2.modeling_qwen2 import Qwen2DecoderLayer

from selfpref.models.local.fast.packing import Attention, Line, packed
from selfpref.models.local.states import padded, padded_states

NAME = "selfpref-packed"
LAYERS = (LlamaDecoderLayer, MistralDecoderLayer, Qwen2DecoderLayer)
# Numbers of one inner state at a time, 8 MB, by equal parts of whole steps of tokens.
INNER, STEP = 2**21, 128

# From a batch to the final hidden states that are read, `[read, width]`.
Pass = Callable[[PreTrainedModel, Line], torch.Tensor]


def packed_pass(model: PreTrainedModel) -> Pass | None:
    """A model's pass over packed lines; None where its rows have to be padded."""
    ways = ((_is_llama, llama_pass), (_takes_attention, own_pass))
    agreeing = (run for supports, run in ways if supports(model) and _agrees(model, run))
    return next(agreeing, None)


def _agrees(model: PreTrainedModel, run: Pass) -> bool:
    """Whether packed rows have the states of rows alone, tried on three short ones."""
    size = model.config.get_text_config().vocab_size
    tokens = np.arange(18) * 7 % size
    rows = [tokens[:9], np.concatenate([tokens[:5], tokens[9:14]]), tokens[14:]]
    sizes = [len(row) for row in rows]
    (line,) = packed(rows, sizes, len(tokens))
    found = torch.split(run(model, line).float(), [sizes[index] for index in line.rows])
    for together, index in zip(found, line.rows, strict=True):
        (row,) = padded([rows[index]], [sizes[index]], 1)
        alone = padded_states(model, row).float()
        gap = (together.to(alone.device) - alone).norm() / alone.norm()
        if gap > (1e-4 if model.dtype == torch.float32 else 0.02):
            return False
    return True


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
    attention: Attention,
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    _: torch.Tensor | None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """The same as an attention function, without a mask; all `[1, heads, tokens, width]`."""
    query, key, value = (states[0].transpose(0, 1) for states in (query, key, value))
    return attend(module, query, key, value, attention, **options)[None], None


def own_pass(model: PreTrainedModel, line: Line) -> torch.Tensor:
    """Final hidden states that are read from a line, by the model's own pass."""
    tiles = [tile.to(model.device, model.dtype) for tile in line.attention.tiles]
    placed = Attention(line.attention.tokens, tiles)
    AttentionInterface.register(NAME, partial(_attend, placed))
    before = model.config._attn_implementation
    model.config._attn_implementation = NAME
    try:
        return padded_states(model, line)
    finally:
        model.config._attn_implementation = before


def _takes_attention(model: PreTrainedModel) -> bool:
    """Whether its attention is `sdpa` of the library's registry, and it takes positions."""
    body: Any = model.base_model
    return (
        model.config._attn_implementation == "sdpa"
        and body._can_set_attn_implementation()
        and "position_ids" in inspect.signature(body.forward).parameters
    )


def _is_llama(model: PreTrainedModel) -> bool:
    """Whether all its layers are Llama's or its kin's, on a CPU in fp32."""
    layers = getattr(model.base_model, "layers", ())
    return (
        model.device.type == "cpu"
        and model.dtype == torch.float32
        and {type(layer) for layer in layers} <= set(LAYERS)
        and len(layers) > 0
    )


def normed(norm: Any, x: torch.Tensor) -> torch.Tensor:
    """States as one of the model's norms leaves them."""
    return rms_norm(x, norm.weight.shape, norm.weight, norm.variance_epsilon)


def _rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Pairs of numbers turned by their token's angles; `[tokens, heads, width]`."""
    half = x.shape[-1] // 2
    found = x * cos
    found[..., :half].addcmul_(x[..., half:], sin[..., :half], value=-1)
    found[..., half:].addcmul_(x[..., :half], sin[..., half:])
    return found


def layer_pass(
    layer: Any,
    x: torch.Tensor,
    turned: Sequence[torch.Tensor],
    attend: Callable[..., torch.Tensor],
    some: torch.Tensor | None = None,
) -> torch.Tensor:
    """One layer of Llama and its kin.

    Args:
        layer: Which.
        x: States of tokens, `[tokens, width]`; changed in place.
        turned: `begun`'s angles.
        attend: From the attention layer, query, key and value, `[tokens, heads, width]`, to what
            each token finds.
        some: Which tokens attend; None: all. The states are then of those.
    """
    own = layer.self_attn

    def heads(states: torch.Tensor) -> torch.Tensor:
        return states.view(len(states), -1, own.head_dim)

    told = normed(layer.input_layernorm, x)
    key, value = _rotated(heads(own.k_proj(told)), *turned), heads(own.v_proj(told))
    if some is not None:
        x, told, *turned = (states[some] for states in (x, told, *turned))
    query = _rotated(heads(own.q_proj(told)), *turned)
    del told
    found = attend(own, query, key, value, scaling=own.scaling)
    del query, key, value
    x += own.o_proj(found.flatten(1))
    return _widened(layer, x)


def _widened(layer: Any, x: torch.Tensor) -> torch.Tensor:
    """The second line of a layer, in place."""
    wide = layer.mlp
    parts = -(-x.shape[0] * wide.intermediate_size // INNER)
    size = -(-x.shape[0] // parts // STEP) * STEP
    for start in range(0, len(x), size):
        part = slice(start, start + size)
        told = normed(layer.post_attention_layernorm, x[part])
        x[part] += wide.down_proj(wide.act_fn(wide.gate_proj(told)).mul_(wide.up_proj(told)))
    return x


def begun(model: PreTrainedModel, ids: torch.Tensor, positions: torch.Tensor) -> tuple[Any, ...]:
    """Of so many tokens the first states, and the angles by which their positions turn them."""
    body: Any = model.base_model
    x = body.embed_tokens(ids)
    return x, [part[0, :, None] for part in body.rotary_emb(x, positions)]


def llama_pass(model: PreTrainedModel, line: Line) -> torch.Tensor:
    """Final hidden states that are read from a line, by the pass of Llama and its kin."""
    body: Any = model.base_model
    x, turned = begun(model, line.inputs["input_ids"][0], line.inputs["position_ids"])
    for layer in body.layers[:-1]:
        x = layer_pass(layer, x, turned, partial(attend, attention=line.attention))
    last = partial(attend, attention=line.last)
    x = layer_pass(body.layers[-1], x, turned, last, line.last.tokens)
    return normed(body.norm, x)[line.within]
