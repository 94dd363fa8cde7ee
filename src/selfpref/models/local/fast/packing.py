"""Rows of tokens packed into lines with shared prefixes.

A line holds at most `budget` tokens. Its rows are sorted, so that a row follows the one with which
it shares the longest prefix; of each row only what the row before lacks is laid down, and its
*path* says where its tokens lie:

    rows    a b c d e      line   a b c d e | x y | q r
            a b c x y      path of the second row: 0 1 2 5 6
            q r

A token attends to its own path up to itself, whatever else is in the line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import torch

from selfpref.models.local.states import Batch, Ids

Size = TypeVar("Size", int, Ids)

# Tokens of one row that are attended to in one product: of a long row several blocks, since no
# product is needed with what comes later.
BLOCK = 128
# Blocks share a call, since calls cost: those of as many tokens, up to these steps, with as many
# keys, filled up to them. A call gathers at most so many keys.
QUERY_STEP, KEY_STEP, KEYS = 32, 16, 3072
# Tokens of a line's budget that a token is worth which has to be laid down again.
FREE = 16


class Tile(NamedTuple):
    """Tokens of a line that are attended to in one call: a block of one row in each of its lines.

    Attributes:
        queries: Which of the tokens that attend, `[blocks, queries]`.
        keys: The path of each block's row up to its last token, `[blocks, keys]`.
        mask: Which of them each token may attend to, 0 or -inf, `[blocks, 1, queries, keys]`.
    """

    queries: torch.Tensor
    keys: torch.Tensor
    mask: torch.Tensor

    def to(self, device: torch.device, dtype: torch.dtype) -> "Tile":
        """The same on a device, the mask in a dtype."""
        return Tile(self.queries.to(device), self.keys.to(device), self.mask.to(device, dtype))


class Attention(NamedTuple):
    """What some tokens of a line attend to.

    Attributes:
        tokens: Where they stand in the line; ascending, before those that fill it up.
        tiles: All of them, some repeated to fill a tile up.
    """

    tokens: torch.Tensor
    tiles: list[Tile]


@dataclass(frozen=True)
class Line(Batch):
    """A packed line.

    Attributes:
        attention: How all its tokens attend.
        last: The same of those whose states are read, and of some more.
        within: Where among the latter the states stand that are read, row by row.
    """

    attention: Attention
    last: Attention
    within: torch.Tensor


def packed(rows: Sequence[Ids], read: Sequence[int], budget: int, step: int = 1) -> Iterator[Line]:
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
        chosen = order[start:stop]
        yield _line(
            chosen,
            ordered[start:stop],
            np.array([0, *shared[start + 1 : stop]]),
            [read[index] for index in chosen],
            step,
        )


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
    start = 0
    while start < len(lengths):
        stop, tokens = start + 1, lengths[start]
        filled = [tokens]
        while stop < len(lengths) and tokens + lengths[stop] - shared[stop] <= budget:
            tokens += lengths[stop] - shared[stop]
            filled.append(tokens)
            stop += 1
        if stop < len(lengths):
            ends = range(stop, (start + stop) // 2, -1)
            stop = max(ends, key=lambda end: filled[end - start - 1] - FREE * shared[end])
        yield start, stop
        start = stop


def _line(
    indices: list[int], rows: Sequence[Ids], shared: Ids, read: Sequence[int], step: int
) -> Line:
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
    return Line(
        indices,
        torch.from_numpy(places),
        {name: _filled(values, step)[None] for name, values in inputs.items()},
        _attention(paths, starts - shared, starts, starts + own, step),
        _attention(paths, starts - shared, first, starts + own, step),
        torch.from_numpy(behind[places]),
    )


def _filled(values: Ids, step: int) -> torch.Tensor:
    """With zeros at the end, up to a whole multiple of a step."""
    return torch.from_numpy(np.pad(values, (0, -len(values) % step)))


def _up(size: Size, step: int) -> Size:
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
    tiles = []
    for place, seen in enumerate(kinds[0]):
        members = np.flatnonzero(kind == place)
        most = max(1, KEYS // seen)
        for part in (members[start : start + most] for start in range(0, len(members), most)):
            # A block of fewer tokens repeats its last.
            count = np.minimum(np.arange(size[part].max()), size[part, None] - 1)
            queries = (before[row] + begin)[part, None] + count
            later = np.arange(seen) > (depth[part, None] + count)[:, None, :, None]
            tiles.append(
                Tile(
                    torch.from_numpy(queries),
                    torch.from_numpy(paths[row[part], :seen]),
                    torch.from_numpy(np.where(later, np.float32(-np.inf), np.float32(0))),
                )
            )
    tokens = np.arange(asked.sum()) + np.repeat(starts - before, asked)
    return Attention(_filled(tokens, step), tiles)
