"""Rows of tokens laid into batches: packed into one line with shared prefixes, or padded.

A pack is one line of tokens, at most `budget` of them. Its rows are sorted, so that a row follows
the one with which it shares the longest prefix; of each row only what the row before lacks is laid
down, and its *path* says where its tokens lie:

    rows    a b c d e      line   a b c d e | x y | q r
            a b c x y      path of the second row: 0 1 2 5 6
            q r

A token attends to its own path up to itself, whatever else is in the line. Where a model cannot be
told that (`selfpref.engines.local.attention`), rows are padded on the right instead, where causal
attention never looks. Either way a row's numbers do not depend on its batch, up to rounding.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

Ids = npt.NDArray[np.int64]

# Tokens that are attended to in one call. Short neighbours share a call, since calls cost more than
# masked products; a long row takes several, since no product is needed with what comes later.
GROUP = 128


@dataclass(frozen=True)
class Group:
    """Neighbouring tokens in a line that are attended to together.

    Attributes:
        queries: Where they stand in the line.
        keys: What they may attend to, by position in the line; groups of one row share the object.
        mask: Which of the first keys each of them may, 0 or -inf, `[1, 1, queries, keys]`.
    """

    queries: slice
    keys: slice | torch.Tensor
    mask: torch.Tensor


@dataclass(frozen=True)
class Batch:
    """One forward pass.

    Attributes:
        rows: Which rows it holds.
        paths: Of each row, where its tokens lie in `input_ids.flatten()`, `[length of the row]`.
        inputs: Of the model: `input_ids` `[lines, tokens]` and, of the same shape, for a packed
            line the `position_ids` of each token in its own row, for padded rows the
            `attention_mask`.
        groups: How a packed line attends; None for padded rows.
    """

    rows: list[int]
    paths: list[torch.Tensor]
    inputs: dict[str, torch.Tensor]
    groups: list[Group] | None = None

    @property
    def tokens(self) -> int:
        """Tokens that the model sees, padding included."""
        return self.inputs["input_ids"].numel()


def padded(rows: Sequence[Ids], budget: int) -> Iterator[Batch]:
    """Rows as lines padded on the right, longest first, at most `budget` tokens with padding.

    A row longer than the budget is a batch of its own.
    """
    order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
    start = 0
    while start < len(order):
        width = len(rows[order[start]])
        chosen = order[start : start + max(1, budget // max(width, 1))]
        start += len(chosen)
        ids, mask = (np.zeros((len(chosen), width), dtype=np.int64) for _ in range(2))
        for line, index in enumerate(chosen):
            ids[line, : len(rows[index])] = rows[index]
            mask[line, : len(rows[index])] = 1
        yield Batch(
            chosen,
            [torch.arange(len(rows[index])) + n * width for n, index in enumerate(chosen)],
            {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)},
        )


def packed(rows: Sequence[Ids], budget: int) -> Iterator[Batch]:
    """Rows packed into lines of at most `budget` tokens, shared prefixes once, longest first.

    A row longer than the budget is a line of its own.
    """
    order = sorted(range(len(rows)), key=lambda index: rows[index].tolist())
    ordered = [rows[index] for index in order]
    shared = [0, *map(_shared, ordered, ordered[1:])]
    spans = list(_spans([len(row) for row in ordered], shared, budget))
    spans.sort(key=lambda span: -max(len(row) for row in ordered[slice(*span)]))
    for start, stop in spans:
        yield _line(order[start:stop], ordered[start:stop], [0, *shared[start + 1 : stop]])


def _shared(one: Ids, other: Ids) -> int:
    """Length of the common prefix."""
    size = min(len(one), len(other))
    differ = np.flatnonzero(one[:size] != other[:size])
    return int(differ[0]) if len(differ) else size


def _spans(lengths: Sequence[int], shared: Sequence[int], budget: int) -> Iterator[tuple[int, int]]:
    """Neighbouring rows that share a line, as (start, stop).

    A line that is full ends in its second half where the least of a prefix has to be laid down
    again: between two prompts rather than between the responses to one.
    """
    start = 0
    while start < len(lengths):
        stop, tokens = start + 1, lengths[start]
        while stop < len(lengths) and tokens + lengths[stop] - shared[stop] <= budget:
            tokens += lengths[stop] - shared[stop]
            stop += 1
        if stop < len(lengths):
            ends = range(stop, (start + stop) // 2, -1)
            stop = min(ends, key=lambda end: shared[end])
        yield start, stop
        start = stop


def _line(indices: list[int], rows: Sequence[Ids], shared: Sequence[int]) -> Batch:
    """Rows in one line, each behind what it shares with the row before."""
    paths: list[Ids] = []
    tokens = 0
    for row, common in zip(rows, shared, strict=True):
        own = np.arange(tokens, tokens + len(row) - common)
        paths.append(np.concatenate([paths[-1][:common], own]) if common else own)
        tokens += len(own)
    fresh = [row[common:] for row, common in zip(rows, shared, strict=True)]
    depth = [np.arange(common, len(row)) for row, common in zip(rows, shared, strict=True)]
    return Batch(
        indices,
        [torch.from_numpy(path) for path in paths],
        {
            "input_ids": torch.from_numpy(np.concatenate(fresh))[None],
            "position_ids": torch.from_numpy(np.concatenate(depth))[None],
        },
        list(_groups(paths, shared)),
    )


def _groups(paths: Sequence[Ids], shared: Sequence[int]) -> Iterator[Group]:
    """Long rows block by block, short neighbours together."""
    start = 0
    while start < len(paths):
        stop, tokens = start + 1, len(paths[start]) - shared[start]
        while stop < len(paths) and tokens + len(paths[stop]) - shared[stop] <= GROUP:
            tokens += len(paths[stop]) - shared[stop]
            stop += 1
        if tokens:
            yield from _together(paths[start:stop], shared[start:stop], tokens)
        start = stop


def _together(paths: Sequence[Ids], shared: Sequence[int], tokens: int) -> Iterator[Group]:
    """Groups of neighbouring rows that hold so many tokens of their own."""
    keys = np.unique(np.concatenate(paths))
    first = int(keys[-1]) + 1 - tokens
    mask = np.full((tokens, len(keys)), -np.inf, dtype=np.float32)
    for path, common in zip(paths, shared, strict=True):
        seen = np.tri(len(path) - common, len(path), common, dtype=bool)
        mask[np.ix_(path[common:] - first, np.searchsorted(keys, path))] = np.where(
            seen, 0, -np.inf
        )
    # Most rows attend to nothing before them: a slice is no copy.
    where = torch.from_numpy(keys) if keys[0] < first else slice(first, first + tokens)
    before = len(keys) - tokens
    for start in range(0, tokens, GROUP):
        end = min(start + GROUP, tokens)
        yield Group(
            slice(first + start, first + end),
            where,
            torch.from_numpy(mask[None, None, start:end, : before + end]),
        )
