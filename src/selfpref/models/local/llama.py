"""The pass of Llama and its kin over a packed line, on a CPU in fp32.

Weights and layers are the model's own; written anew is how they follow one another, since the
library's pass spends most of a small model's time on what is not a product:

    x <- x + O attend(rotated Q norm(x), rotated K norm(x), V norm(x))
    x <- x + D (act(G norm(x)) * U norm(x))

Sums and rotations are taken in place, and the wide inner states of the second line are held for a
part of the tokens only. Of the last layer, where nobody looks any more, only the keys and values of
every token are needed; all else is computed for the tokens whose states are read.
"""

from typing import Any

import torch
from torch.nn.functional import rms_norm
from transformers import PreTrainedModel
from transformers.models.llama.modeling_llama import LlamaDecoderLayer
from transformers.models.mistral.modeling_mistral import MistralDecoderLayer
from transformers.models.qwen2.modeling_qwen2 import Qwen2DecoderLayer

from selfpref.models.local.attention import attend
from selfpref.models.local.packing import Attention, Batch

LAYERS = (LlamaDecoderLayer, MistralDecoderLayer, Qwen2DecoderLayer)
# Numbers of one inner state at a time, 8 MB, by equal parts of whole steps of tokens.
INNER, STEP = 2**21, 128


def supports(model: PreTrainedModel) -> bool:
    """Whether a model is such a one."""
    layers = getattr(model.base_model, "layers", ())
    return (
        model.device.type == "cpu"
        and model.dtype == torch.float32
        and {type(layer) for layer in layers} <= set(LAYERS)
        and len(layers) > 0
    )


def _normed(norm: Any, x: torch.Tensor) -> torch.Tensor:
    return rms_norm(x, norm.weight.shape, norm.weight, norm.variance_epsilon)


def _rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Pairs of numbers turned by their token's angles; `[tokens, heads, width]`."""
    half = x.shape[-1] // 2
    found = x * cos
    found[..., :half].addcmul_(x[..., half:], sin[..., :half], value=-1)
    found[..., half:].addcmul_(x[..., :half], sin[..., half:])
    return found


def _layer(
    layer: Any,
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    attention: Attention,
    *,
    some: bool = False,
) -> torch.Tensor:
    """One layer; where only some tokens attend, of those."""
    own, wide = layer.self_attn, layer.mlp

    def heads(states: torch.Tensor) -> torch.Tensor:
        return states.view(len(states), -1, own.head_dim)

    normed = _normed(layer.input_layernorm, x)
    key = _rotated(heads(own.k_proj(normed)), cos, sin)
    value = heads(own.v_proj(normed))
    if some:
        x, normed, cos, sin = (states[attention.tokens] for states in (x, normed, cos, sin))
    query = _rotated(heads(own.q_proj(normed)), cos, sin)
    del normed
    found = attend(own, query, key, value, attention, scaling=own.scaling)
    del query, key, value
    x += own.o_proj(found.flatten(1))
    parts = -(-x.shape[0] * wide.intermediate_size // INNER)
    size = -(-x.shape[0] // parts // STEP) * STEP
    for start in range(0, len(x), size):
        part = slice(start, start + size)
        normed = _normed(layer.post_attention_layernorm, x[part])
        x[part] += wide.down_proj(wide.act_fn(wide.gate_proj(normed)).mul_(wide.up_proj(normed)))
    return x


def packed_states(model: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """Final hidden states that are read from a packed line."""
    assert batch.attention
    assert batch.last
    body: Any = model.base_model
    x = body.embed_tokens(batch.inputs["input_ids"][0])
    cos, sin = (part[0, :, None] for part in body.rotary_emb(x, batch.inputs["position_ids"]))
    for layer in body.layers[:-1]:
        x = _layer(layer, x, cos, sin, batch.attention)
    x = _layer(body.layers[-1], x, cos, sin, batch.last, some=True)
    return _normed(body.norm, x)[batch.within]
