"""From batches to final hidden states, and to the log-likelihoods that follow from them.

Any model runs padded rows by its own pass. Llama, Mistral and Qwen2 on a CPU in fp32 run packed
lines by a pass of this module, since the library's spends most of a small model's time on what is
not a product. Weights and layers are the model's; written anew is how they follow one another:

    x <- x + O attend(rotated Q norm(x), rotated K norm(x), V norm(x))
    x <- x + D (act(G norm(x)) * U norm(x))

Sums and rotations are taken in place, and the wide inner states of the second line are held for a
part of the tokens only. Of the last layer, where nobody looks any more, only the keys and values of
every token are needed; all else is computed for the tokens whose states are read.

Of the output layer no table [tokens x vocabulary] is made:

    ln p(y | h) = h w_y - ln sum over v of exp(h w_v)

It is taken a few tokens at a time. Logits are rounded to the model's own dtype, as its own forward
pass would; everything after that is fp32. A model whose logits are more than one linear layer
(soft-capped, scaled) computes them itself.

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

from selfpref.errors import SelfprefError
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


def padded_states(model: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """Final hidden states that are read from padded rows, `[read, width]`."""
    inputs = {name: values.to(model.device) for name, values in batch.inputs.items()}
    body: Any = model.base_model
    found: torch.Tensor = body(**inputs, use_cache=False).last_hidden_state.flatten(0, 1)
    return found[batch.read.to(found.device)]


def packed_states(model: PreTrainedModel, line: Batch) -> torch.Tensor:
    """The same from a packed line, of Llama and its kin."""
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
    del told
    found = _attend(attention, own, query, key, value)
    del query, key, value
    x += own.o_proj(found.flatten(1))
    parts = -(-x.shape[0] * wide.intermediate_size // INNER)
    for part in torch.split(x, -(-x.shape[0] // parts // STEP) * STEP):
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


# --- the output layer -----------------------------------------------------------------------------


class Head:
    """A model's output layer.

    Attributes:
        linear: Whether its logits are this one linear layer, neither capped nor scaled.

    Args:
        model: A causal language model.

    Raises:
        SelfprefError: Its logits do not follow from its final hidden states by its output layer.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._model, self._step = model, step(model)
        self._layer: Any = model.get_output_embeddings()  # type: ignore[no-untyped-call]
        ids = torch.arange(4, device=model.device)[None]
        states = model.base_model(input_ids=ids, use_cache=False).last_hidden_state[0]
        if not _close(self._own(states), model(input_ids=ids, use_cache=False).logits[0]):
            raise SelfprefError(
                f"{type(model).__name__}: its logits are not its output layer on its last hidden "
                "states; this architecture is not supported"
            )
        # Far from zero, where a soft cap shows.
        self.linear = _close(self._own(states * 100), self._plain(states * 100))

    def _plain(self, states: torch.Tensor) -> torch.Tensor:
        """The layer's logits `[n, vocabulary]`."""
        return linear(states.to(self._layer.weight.device), self._layer.weight, self._layer.bias)

    def _own(self, states: torch.Tensor) -> torch.Tensor:
        """The model's logits of given states, `[n, vocabulary]`: its forward pass with them."""
        given = states.to(self._layer.weight.device)[None]
        handle = self._layer.register_forward_pre_hook(lambda *_: (given,))
        try:
            ids = torch.zeros(1, 1, dtype=torch.long, device=self._model.device)
            logits: torch.Tensor = self._model(input_ids=ids, use_cache=False).logits[0]
        finally:
            handle.remove()
        return logits

    def log_softmax(self, states: torch.Tensor) -> torch.Tensor:
        """Log-probabilities of every token after each of a few states, fp32 `[n, vocabulary]`."""
        given = pad(states, (0, 0, 0, -len(states) % self._step))
        logits = self._plain(given) if self.linear else self._own(given)
        return logits[: len(states)].float().log_softmax(-1)

    def log_likelihoods(self, states: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Log-likelihood of one token after each state, in nats.

        Args:
            states: Final hidden states `[n, width]`.
            targets: Ids of the tokens `[n]`.

        Returns:
            fp32 `[n]`.
        """
        size = max(LOGITS // len(self._layer.weight) // LEAST, 1) * LEAST
        targets = targets.to(self._layer.weight.device)[:, None]
        parts = zip(torch.split(states, size), torch.split(targets, size), strict=True)
        return torch.cat([self.log_softmax(part).gather(1, ids)[:, 0] for part, ids in parts])


def _close(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Equal up to rounding in the coarsest dtype."""
    if found.shape != wanted.shape:
        return False
    gap, size = (found - wanted).float().norm(), wanted.float().norm()
    return bool(gap <= 0.02 * size.clamp(min=1e-6))
