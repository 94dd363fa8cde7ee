"""From rows of tokens to the log-likelihoods of tokens: packed into lines, or padded.

A line holds at most `budget` tokens. Its rows are sorted, so that a row follows the one with which
it shares the longest prefix; of each row only what the row before lacks is laid down, and its
*path* says where its tokens lie:

    rows    a b c d e      line   a b c d e | x y | q r
            a b c x y      path of the second row: 0 1 2 5 6
            q r

A token attends to its own path up to itself, whatever else is in the line. A model that cannot be
told so gets rows padded on the right, where causal attention never looks. Either way a row's
numbers do not depend on its batch, up to rounding.

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

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import pad, rms_norm
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward

Ids = npt.NDArray[np.int64]

# Tokens of one row that are attended to in one product: of a long row several blocks, since no
# product is needed with what comes later.
BLOCK = 128
# Blocks share a call, since calls cost: those of as many tokens, up to these steps, with as many
# keys, filled up to them. A call gathers at most so many keys.
QUERY_STEP, KEY_STEP, KEYS = 32, 16, 3072
# Tokens of a line's budget that a token is worth which has to be laid down again.
FREE = 16
# Tokens that are attended to in one call: which of those that attend, `[blocks, queries]`; the path
# of each block's row up to its last token, `[blocks, keys]`; and which of these each token may
# attend to, 0 or -inf, `[blocks, 1, queries, keys]`.
Tile = tuple[Tensor, ...]
# Where the tokens that attend stand in a line, ascending, before those that fill it up; and tiles
# of all of them, some repeated to fill a tile up.
Attention = tuple[Tensor, list[Tile]]

# Numbers of one inner state at a time, 8 MB, by equal parts of whole steps of tokens.
INNER, STEP = 2**21, 128
# Logits at a time, 32 MB in fp32.
LOGITS = 2**23
# For oneDNN, states are filled up to whole multiples of at least so many.
LEAST = 32
# Multiplications that take about as long as the compilation of a product.
LONG = 2**25


# --- batches --------------------------------------------------------------------------------------


class Batch(NamedTuple):
    """One forward pass.

    Attributes:
        rows: Which rows it holds.
        read: Where among its final states those stand that are read, row by row.
        inputs: Of the model: `input_ids` `[lines, tokens]` and, of the same shape, for padded rows
            the `attention_mask`, for a packed line the `position_ids` of each token in its own row.
        attend: How all tokens of a packed line attend, and how those do whose states are read (and
            some more), which alone have a final state.
    """

    rows: list[int]
    read: Tensor
    inputs: dict[str, Tensor]
    attend: tuple[Attention, ...] = ()


def padded(rows: Sequence[Ids], read: Sequence[int], budget: int) -> Iterator[Batch]:
    """Rows as lines padded on the right, longest first, at most `budget` tokens with padding.

    A row longer than the budget is a batch of its own.

    Args:
        rows: Token ids.
        read: Of how many tokens at the end of each row the states are read.
        budget: Of tokens.
    """
    order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
    while order:
        size = max(1, budget // len(rows[order[0]]))
        chosen, order = order[:size], order[size:]
        some = [torch.from_numpy(rows[index]) for index in chosen]
        ids = pad_sequence(some, batch_first=True)
        # Of each row, how many tokens are left from here on.
        left = torch.tensor(list(map(len, some)))[:, None] - torch.arange(ids.shape[1])
        last = torch.tensor([[read[index]] for index in chosen])
        found = ((left > 0) & (left <= last)).flatten().nonzero()[:, 0]
        yield Batch(chosen, found, {"input_ids": ids, "attention_mask": (left > 0).long()})


def packed(rows: Sequence[Ids], read: Sequence[int], budget: int, step: int = 1) -> Iterator[Batch]:
    """Rows packed into lines of at most `budget` tokens, shared prefixes once, longest first.

    A row longer than the budget is a line of its own.

    Args:
        rows: Token ids.
        read: Of how many tokens at the end of each row the states are read.
        budget: Of tokens.
        step: Lines are filled up with tokens of no row to whole multiples of so many.
    """
    order = sorted(range(len(rows)), key=lambda index: rows[index].tolist())
    ordered = [rows[index] for index in order]
    shared = [0, *map(_shared, ordered, ordered[1:])]
    lengths = list(map(len, ordered))
    spans = _spans(lengths, shared, budget)
    for start, stop in sorted(spans, key=lambda span: -max(lengths[slice(*span)])):
        chosen, common = order[start:stop], np.array([0, *shared[start + 1 : stop]])
        yield _line(chosen, ordered[start:stop], common, [read[index] for index in chosen], step)


def _shared(one: Ids, other: Ids) -> int:
    """Length of the common prefix."""
    size = min(len(one), len(other))
    return int(np.append(one[:size] == other[:size], False).argmin())


def _spans(lengths: Sequence[int], shared: Sequence[int], budget: int) -> Iterator[tuple[int, int]]:
    """Neighbouring rows that share a line, as (start, stop).

    A line that is full ends in its second half where little of a prefix has to be laid down again:
    between two prompts rather than between the responses to one. For each such token up to `FREE`
    are left free.
    """
    start, laid = 0, np.cumsum(np.subtract(lengths, shared))
    while start < len(lengths):
        # Tokens of the line up to the end of each row.
        filled = laid - laid[start] + lengths[start]
        stop = max(start + 1, int(np.searchsorted(filled, budget, side="right")))
        if stop < len(lengths):
            ends = range(stop, (start + stop) // 2, -1)
            stop = max(ends, key=lambda end: filled[end - 1] - FREE * shared[end])
        yield start, stop
        start = stop


def _line(
    indices: list[int], rows: Sequence[Ids], shared: Ids, read: Sequence[int], step: int
) -> Batch:
    """Rows in one line, each behind what it shares with the row before."""
    sizes = np.array(list(map(len, rows)))
    own = sizes - shared
    starts = np.cumsum(own) - own
    everything = np.arange(own.sum())
    # Rows of the table are paths; a tile takes whole steps of them.
    paths = np.zeros((len(rows), _up(int(sizes.max()), KEY_STEP)), dtype=np.int64)
    for row, (common, size, start) in enumerate(zip(shared, sizes, starts, strict=True)):
        paths[row, :common] = paths[row - 1, :common]
        paths[row, common:size] = everything[start : start + size - common]
    places = np.concatenate(
        [path[size - n : size] for path, size, n in zip(paths, sizes, read, strict=True)]
    )
    # In the last layer a row's own tokens attend from the first on whose state is read.
    wanted = np.append(np.unique(places), len(everything))
    first = np.minimum(wanted[np.searchsorted(wanted, starts)], starts + own)
    behind = np.cumsum(everything >= np.repeat(first, own)) - 1
    inputs = {
        "input_ids": np.concatenate([row[n:] for row, n in zip(rows, shared, strict=True)]),
        "position_ids": everything - np.repeat(starts - shared, own),
    }
    filled = {name: _filled(values, step)[None] for name, values in inputs.items()}
    zeros, ends = starts - shared, starts + own
    attend = [_attention(paths, zeros, begin, ends, step) for begin in (starts, first)]
    return Batch(indices, torch.from_numpy(behind[places]), filled, tuple(attend))


def _filled(values: Ids, step: int) -> Tensor:
    """With zeros at the end, up to a whole multiple of a step."""
    return torch.from_numpy(np.pad(values, (0, -len(values) % step)))


def _up(size: Any, step: int) -> Any:
    """The next whole multiple of a step."""
    return -(-size // step) * step


def _attention(paths: Ids, zeros: Ids, starts: Ids, ends: Ids, step: int) -> Attention:
    """How tokens attend.

    Args:
        paths: Of each row, filled up on the right.
        zeros: Where in the line each row would begin if all of it were its own.
        starts: Of each row, the first of its own tokens that attend.
        ends: And the end of them.
        step: Tokens are filled up to whole multiples of so many.
    """
    asked = ends - starts
    before = np.cumsum(asked) - asked
    blocks = _up(asked, BLOCK) // BLOCK
    row = np.repeat(np.arange(len(paths)), blocks)
    begin = BLOCK * (np.arange(len(row)) - np.repeat(np.cumsum(blocks) - blocks, blocks))
    size = np.minimum(asked[row] - begin, BLOCK)
    depth = (starts - zeros)[row] + begin
    steps = np.stack([_up(depth + size, KEY_STEP), _up(size, QUERY_STEP)])
    kinds, kind = np.unique(steps, axis=1, return_inverse=True)
    tiles: list[Tile] = []
    for place, seen in enumerate(kinds[0]):
        members = np.flatnonzero(kind == place)
        most = max(1, KEYS // seen)
        for part in (members[start : start + most] for start in range(0, len(members), most)):
            # A block of fewer tokens repeats its last.
            count = np.minimum(np.arange(size[part].max()), size[part, None] - 1)
            queries = (before[row] + begin)[part, None] + count
            later = np.arange(seen) > (depth[part, None] + count)[:, None, :, None]
            mask = np.where(later, np.float32(-np.inf), np.float32(0))
            tiles.append(tuple(map(torch.from_numpy, (queries, paths[row[part], :seen], mask))))
    tokens = np.arange(asked.sum()) + np.repeat(starts - before, asked)
    return _filled(tokens, step), tiles


# --- products -------------------------------------------------------------------------------------


def _onednn(weight: Tensor) -> bool:
    """Whether oneDNN's product is taken with a weight: the faster one in fp32, by the processor."""
    available: bool = torch.backends.mkldnn.is_available()
    fast = available and torch.backends.cpu.get_cpu_capability() == "AVX512"
    return fast and weight.dtype == torch.float32 and weight.device.type == "cpu"


def step(model: PreTrainedModel) -> int:
    """To whole multiples of how many states products are filled up."""
    layer = getattr(model.base_model, "layers", [model])[0]
    if not _onednn(next(layer.parameters())):
        return 1
    work = sum(int(weights.numel()) for weights in layer.parameters())
    return min(max(2**24 // work // LEAST, 1), 4) * LEAST


def linear(states: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`states @ weight.T + bias`, without a gradient."""
    count = states.numel() // weight.shape[1]
    compiled = count % LEAST == 0 or count * weight.numel() >= LONG
    if not compiled or not _onednn(weight):
        return functional.linear(states, weight, bias)
    found: Tensor = torch.ops.mkldnn._linear_pointwise(states, weight, bias, "none", [], "")
    return found


class Linear(torch.nn.Linear):
    """A linear layer whose product is `linear` where no gradient is wanted."""

    def forward(self, input: Tensor) -> Tensor:
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
    return fit and model.config.model_type in ("llama", "mistral", "qwen2")


def likelihoods(model: PreTrainedModel, batch: Batch, wanted: Tensor, *, log: bool) -> Tensor:
    """Likelihoods of tokens after those that are read.

    Args:
        model: A causal language model.
        batch: What is read: a packed line, or padded rows.
        wanted: Ids of some tokens after each of those that are read, `[read, n]`.
        log: Whether as logarithms, in nats.

    Returns:
        fp32 `[read, n]`.
    """
    layer: Any = model.get_output_embeddings()
    if batch.attend:
        found = _packed_states(model, batch)
    else:
        inputs: Any = {name: values.to(model.device) for name, values in batch.inputs.items()}
        found = model(**inputs, use_cache=False).logits.flatten(0, 1)
        found = found[batch.read.to(found.device)]
    whole, parts = step(model), []
    size = max(LOGITS // len(layer.weight) // LEAST, 1) * LEAST
    for some, ids in zip(found.split(size), wanted.to(found.device).split(size), strict=True):
        logits = layer(pad(some, (0, 0, 0, -len(some) % whole))) if batch.attend else some
        logits = logits[: len(some)].float()
        if log:
            # Of a long text errors add up: this sum is exacter than that of `log_softmax`.
            parts.append(logits.gather(1, ids) - logits.logsumexp(-1, keepdim=True))
        else:
            parts.append(logits.log_softmax(-1).exp().gather(1, ids))
    return torch.cat(parts)


def _packed_states(model: PreTrainedModel, line: Batch) -> Tensor:
    """Final hidden states that are read from a packed line of Llama or its kin, `[read, width]`."""
    body: Any = model.base_model
    every, last = line.attend
    x = body.embed_tokens(line.inputs["input_ids"][0])
    turned = [part[0, :, None] for part in body.rotary_emb(x, line.inputs["position_ids"])]
    for layer in body.layers[:-1]:
        x = _layer_states(layer, x, turned, every)
    x = _layer_states(body.layers[-1], x, turned, last, last[0])
    return _normed(body.norm, x)[line.read]


def _normed(norm: Any, x: Tensor) -> Tensor:
    """States as one of the model's norms leaves them."""
    return rms_norm(x, norm.weight.shape, norm.weight, norm.variance_epsilon)


def _layer_states(
    layer: Any, x: Tensor, turned: Sequence[Tensor], attention: Attention, some: Any = ...
) -> Tensor:
    """States after one layer.

    Args:
        layer: Which.
        x: States of tokens, `[tokens, width]`; changed in place.
        turned: The angles by which their positions turn queries and keys.
        attention: What attends to what.
        some: Which tokens attend, where not all do. The states are then of those.
    """
    own, wide = layer.self_attn, layer.mlp

    def heads(states: Tensor) -> Tensor:
        return states.view(len(states), -1, own.head_dim)

    told = _normed(layer.input_layernorm, x)
    key, value = _rotated(heads(own.k_proj(told)), *turned), heads(own.v_proj(told))
    x, told, *turned = (states[some] for states in (x, told, *turned))
    query = _rotated(heads(own.q_proj(told)), *turned)
    x += own.o_proj(_attend(attention, own, query, key, value).flatten(1))
    # The wide inner states are those of some tokens at a time.
    for part in torch.split(x, -(-INNER // wide.intermediate_size // STEP) * STEP):
        told = _normed(layer.post_attention_layernorm, part)
        part.add_(wide.down_proj(wide.act_fn(wide.gate_proj(told)).mul_(wide.up_proj(told))))
    return x


def _rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Pairs of numbers turned by their token's angles; `[tokens, heads, width]`."""
    half = x.shape[-1] // 2
    found = x * cos
    found[..., :half].addcmul_(x[..., half:], sin[..., :half], value=-1)
    found[..., half:].addcmul_(x[..., :half], sin[..., half:])
    return found


def _attend(attention: Attention, own: Any, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Scaled dot-product attention, tile by tile; all `[tokens, heads, width]`."""

    def laid(states: Tensor, places: Tensor) -> Tensor:
        found = states.index_select(0, places.flatten())
        return found.view(*places.shape, *states.shape[1:]).transpose(1, 2)

    found = torch.zeros_like(query)
    for queries, keys, mask in attention[1]:
        given = laid(query, queries), laid(key, keys), laid(value, keys)
        part, _ = sdpa_attention_forward(own, *given, mask, scaling=own.scaling)
        # A token that is repeated has the same result again.
        found.index_copy_(0, queries.flatten(), part.flatten(0, 1))
    return found
