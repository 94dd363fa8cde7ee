"""Rows of tokens as batches: packed into lines with shared prefixes, or padded.

A line holds at most `budget` tokens. Its rows are sorted, so that a row follows the one with which
it shares the longest prefix; of each row only what the row before lacks is laid down, and its
*path* says where its tokens lie:

    rows    a b c d e      line   a b c d e | x y | q r
            a b c x y      path of the second row: 0 1 2 5 6
            q r

A token attends to its own path up to itself, whatever else is in the line. A model that cannot be
told so gets rows padded on the right, where causal attention never looks. Either way a row's
numbers do not depend on its batch, up to rounding.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.utils.rnn import pad_sequence

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
Tile = tuple[torch.Tensor, ...]
# Where the tokens that attend stand in a line, ascending, before those that fill it up; and tiles
# of all of them, some repeated to fill a tile up.
Attention = tuple[torch.Tensor, list[Tile]]


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
    read: torch.Tensor
    inputs: dict[str, torch.Tensor]
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
        width = len(rows[order[0]])
        size = max(1, budget // width)
        chosen, order = order[:size], order[size:]
        ids = pad_sequence([torch.from_numpy(rows[index]) for index in chosen], batch_first=True)
        ends = torch.tensor([[len(rows[index])] for index in chosen])
        firsts = ends - torch.tensor([[read[index]] for index in chosen])
        place = torch.arange(width)
        found = ((place >= firsts) & (place < ends)).flatten().nonzero()[:, 0]
        inputs = {"input_ids": ids, "attention_mask": (place < ends).long()}
        yield Batch(chosen, found, inputs)


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
    spans = list(_spans([len(row) for row in ordered], shared, budget))
    spans.sort(key=lambda span: -max(len(row) for row in ordered[slice(*span)]))
    for start, stop in spans:
        chosen, common = order[start:stop], np.array([0, *shared[start + 1 : stop]])
        yield _line(chosen, ordered[start:stop], common, [read[index] for index in chosen], step)


def _shared(one: Ids, other: Ids) -> int:
    """Length of the common prefix."""
    size = min(len(one), len(other))
    differ = np.flatnonzero(one[:size] != other[:size])
    return int(differ[0]) if len(differ) else size


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
    sizes = np.array([len(row) for row in rows])
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


def _filled(values: Ids, step: int) -> torch.Tensor:
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
