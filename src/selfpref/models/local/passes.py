"""From batches to the log-likelihoods of tokens.

Any model runs padded rows by its own pass. Llama, Mistral and Qwen2 on a CPU in fp32 run packed
lines by a pass of this module, since the library's spends most of a small model's time on what is
not a product. Weights and layers are the model's; written anew is how they follow one another:

    x <- x + O attend(rotated Q norm(x), rotated K norm(x), V norm(x))
    x <- x + D (act(G norm(x)) * U norm(x))

Sums and rotations are taken in place, and the wide inner states of the second line are held for a
part of the tokens only. Of the last layer, where nobody looks any more, only the keys and values of
every token are needed; all else is computed for the tokens whose states are read. Their logits,
[tokens x vocabulary], are made a few tokens at a time.

Products of states and fp32 weights are torch's own or oneDNN's, by the processor. torch leaves them
to MKL, which uses no AVX-512 on a processor that is not Intel's: there oneDNN, which multiplies the
weights as they lie, reaches twice its rate. Without AVX-512 there is no such gap. oneDNN compiles a
product for each number of states, in about a millisecond, and keeps it with its memory. So packed
lines are filled up to whole multiples of a step, a longer one where products are short; how many
products are kept, the environment says (`selfpref.processes`). Where texts are written, fewer lines
are left at almost every token: other numbers of states are torch's unless the product is long
beside its compilation.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional
from torch.nn.functional import pad, rms_norm
from transformers import PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from selfpref.models.local.packing import Attention, Batch

KIN = ("llama", "mistral", "qwen2")
# Numbers of one inner state at a time, 8 MB, by equal parts of whole steps of tokens.
INNER, STEP = 2**21, 128
# Logits at a time, 32 MB in fp32.
LOGITS = 2**23
# For oneDNN, states are filled up to whole multiples of at least so many.
LEAST = 32
# Multiplications that take about as long as the compilation of a product.
LONG = 2**25


# --- products -------------------------------------------------------------------------------------


def _fast_onednn() -> bool:
    """Whether oneDNN's fp32 product is the faster one on this processor."""
    available: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return available and torch.backends.cpu.get_cpu_capability() == "AVX512"


def _onednn(weight: torch.Tensor) -> bool:
    """Whether oneDNN's product is taken with a weight."""
    return weight.dtype == torch.float32 and weight.device.type == "cpu" and _fast_onednn()


def step(model: PreTrainedModel) -> int:
    """To whole multiples of how many states products are filled up."""
    layer = getattr(model.base_model, "layers", [model])[0]
    if not _onednn(next(layer.parameters())):
        return 1
    work = sum(int(weights.numel()) for weights in layer.parameters())
    return min(max(2**24 // work // LEAST, 1), 4) * LEAST


def linear(
    states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """`states @ weight.T + bias`, without a gradient."""
    count = states.numel() // weight.shape[1]
    compiled = count % LEAST == 0 or count * weight.numel() >= LONG
    if not compiled or not _onednn(weight):
        return functional.linear(states, weight, bias)
    found: torch.Tensor = torch.ops.mkldnn._linear_pointwise(states, weight, bias, "none", [], "")
    return found


class Linear(torch.nn.Linear):
    """A linear layer whose product is `linear` where no gradient is wanted."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """The layer's product."""
        # oneDNN's product has no gradient; a model that is tuned needs one.
        if torch.is_grad_enabled():
            return super().forward(input)
        return linear(input, self.weight, self.bias)


def take_over(model: torch.nn.Module) -> None:
    """Let every linear layer of a model compute by `linear`, where that is not torch's."""
    for layer in model.modules():
        if type(layer) is torch.nn.Linear and _onednn(layer.weight):
            layer.__class__ = Linear


# --- states ---------------------------------------------------------------------------------------


def packs(model: PreTrainedModel) -> bool:
    """Whether it is of Llama's kin, on a CPU in fp32."""
    fit = model.device.type == "cpu" and model.dtype == torch.float32
    return fit and model.config.model_type in KIN


def likelihoods(
    model: PreTrainedModel, batch: Batch, wanted: torch.Tensor, *, log: bool
) -> torch.Tensor:
    """Likelihoods of tokens after those that are read.

    Args:
        model: A causal language model.
        batch: What is read: a packed line, or padded rows.
        wanted: Ids of some tokens after each of those that are read, `[read, n]`.
        log: Whether as logarithms, in nats.

    Returns:
        fp32 `[read, n]`.
    """
    layer: Any = model.get_output_embeddings()  # type: ignore[no-untyped-call]
    if batch.attend:
        found = _packed_states(model, batch)
    else:
        inputs: Any = {name: values.to(model.device) for name, values in batch.inputs.items()}
        found = model(**inputs, use_cache=False).logits.flatten(0, 1)
        found = found[batch.read.to(found.device)]
    whole, parts = step(model), []
    size = max(LOGITS // len(layer.weight) // LEAST, 1) * LEAST
    for some, tokens in zip(torch.split(found, size), torch.split(wanted, size), strict=True):
        logits = layer(pad(some, (0, 0, 0, -len(some) % whole))) if batch.attend else some
        logits, ids = logits[: len(some)].float(), tokens.to(logits.device)
        if log:
            # Of a long text errors add up: this sum is exacter than that of `log_softmax`.
            parts.append(logits.gather(1, ids) - logits.logsumexp(-1, keepdim=True))
        else:
            parts.append(logits.log_softmax(-1).exp().gather(1, ids))
    return torch.cat(parts)


def _packed_states(model: PreTrainedModel, line: Batch) -> torch.Tensor:
    """Final hidden states that are read from a packed line of Llama or its kin, `[read, width]`."""
    body: Any = model.base_model
    every, last = line.attend
    x = body.embed_tokens(line.inputs["input_ids"][0])
    turned = [part[0, :, None] for part in body.rotary_emb(x, line.inputs["position_ids"])]
    for layer in body.layers[:-1]:
        x = _layer_states(layer, x, turned, every)
    x = _layer_states(body.layers[-1], x, turned, last, last[0])
    return _normed(body.norm, x)[line.read]


def _normed(norm: Any, x: torch.Tensor) -> torch.Tensor:
    """States as one of the model's norms leaves them."""
    return rms_norm(x, norm.weight.shape, norm.weight, norm.variance_epsilon)


def _layer_states(
    layer: Any,
    x: torch.Tensor,
    turned: Sequence[torch.Tensor],
    attention: Attention,
    some: torch.Tensor | None = None,
) -> torch.Tensor:
    """States after one layer.

    Args:
        layer: Which.
        x: States of tokens, `[tokens, width]`; changed in place.
        turned: The angles by which their positions turn queries and keys.
        attention: What attends to what.
        some: Which tokens attend; None: all. The states are then of those.
    """
    own, wide = layer.self_attn, layer.mlp

    def heads(states: torch.Tensor) -> torch.Tensor:
        return states.view(len(states), -1, own.head_dim)

    told = _normed(layer.input_layernorm, x)
    key, value = _rotated(heads(own.k_proj(told)), *turned), heads(own.v_proj(told))
    if some is not None:
        x, told, *turned = (states[some] for states in (x, told, *turned))
    query = _rotated(heads(own.q_proj(told)), *turned)
    x += own.o_proj(_attend(attention, own, query, key, value).flatten(1))
    # The wide inner states are those of some tokens at a time.
    for part in torch.split(x, -(-INNER // wide.intermediate_size // STEP) * STEP):
        told = _normed(layer.post_attention_layernorm, part)
        part.add_(wide.down_proj(wide.act_fn(wide.gate_proj(told)).mul_(wide.up_proj(told))))
    return x


def _rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Pairs of numbers turned by their token's angles; `[tokens, heads, width]`."""
    half = x.shape[-1] // 2
    found = x * cos
    found[..., :half].addcmul_(x[..., half:], sin[..., :half], value=-1)
    found[..., half:].addcmul_(x[..., :half], sin[..., half:])
    return found


def _attend(
    attention: Attention, own: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
) -> torch.Tensor:
    """Scaled dot-product attention, tile by tile; all `[tokens, heads, width]`."""

    def laid(states: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        found = states.index_select(0, places.flatten())
        return found.view(*places.shape, *states.shape[1:]).transpose(1, 2)

    found = torch.zeros_like(query)
    for queries, keys, mask in attention[1]:
        given = laid(query, queries), laid(key, keys), laid(value, keys)
        part, _ = sdpa_attention_forward(own, *given, mask, scaling=own.scaling)
        # A token that is repeated has the same result again.
        found.index_copy_(0, queries.flatten(), part.flatten(0, 1))
    return found
