"""Packed lines: every row is there, prefixes once, and nobody sees a stranger."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from selfpref.engines.local.packing import packed, padded  # noqa: E402


def rows(*texts):
    return [np.array([ord(letter) for letter in text]) for text in texts]


def letters(ids):
    return "".join(map(chr, ids.flatten().tolist()))


def allowed(batch):
    """Of each token in a line, the tokens that it attends to."""
    seen = {}
    for group in batch.groups:
        keys = range(batch.tokens)[group.keys] if isinstance(group.keys, slice) else group.keys
        for query in range(group.queries.start, group.queries.stop):
            mask = group.mask[0, 0, query - group.queries.start]
            seen[query] = [int(key) for key, bar in zip(keys, mask, strict=False) if bar == 0]
    return seen


def test_a_shared_prefix_is_laid_down_once():
    (line,) = packed(rows("qr", "abcde", "abcxy"), 100)
    assert letters(line.inputs["input_ids"]) == "abcdexyqr"
    assert line.inputs["position_ids"].tolist() == [[0, 1, 2, 3, 4, 3, 4, 0, 1]]
    assert line.rows == [1, 2, 0]
    assert [path.tolist() for path in line.paths] == [[0, 1, 2, 3, 4], [0, 1, 2, 5, 6], [7, 8]]
    assert allowed(line)[6] == [0, 1, 2, 5, 6]
    assert allowed(line)[4] == [0, 1, 2, 3, 4]
    assert allowed(line)[8] == [7, 8]


def test_a_row_within_another_and_the_same_row_again_cost_nothing():
    (line,) = packed(rows("abc", "abcde", "abc"), 100)
    assert letters(line.inputs["input_ids"]) == "abcde"
    assert [line.paths[line.rows.index(n)].tolist() for n in (0, 1, 2)] == [
        [0, 1, 2], [0, 1, 2, 3, 4], [0, 1, 2],
    ]  # fmt: skip


def test_a_full_line_ends_between_prompts_not_between_their_responses():
    texts = [f"{prompt * 6}{answer}" for prompt in "abcd" for answer in ("xx", "yy", "zz")]
    lines = list(packed(rows(*texts), 34))
    assert sorted(letters(line.inputs["input_ids"]) for line in lines) == [
        "aaaaaaxxyyzzbbbbbbxxyyzz", "ccccccxxyyzzddddddxxyyzz",
    ]  # fmt: skip


def test_the_longest_row_comes_first():
    lines = packed(rows("a" * 5, "b" * 40, "c" * 20), 20)
    assert [line.tokens for line in lines] == [40, 20, 5]


def test_long_rows_attend_block_by_block_and_short_ones_together():
    found = [np.arange(size) + 1000 * size for size in (300, 10, 12, 11)]
    (line,) = packed(found, 1000)
    assert sorted(group.mask.shape[2:] for group in line.groups) == [
        (33, 33), (44, 300), (128, 128), (128, 256),
    ]  # fmt: skip


texts = st.lists(st.text("ab", min_size=1, max_size=12), min_size=1, max_size=12)


@settings(deadline=None)
@given(texts, st.integers(1, 40))
def test_every_row_reads_its_own_tokens_and_sees_its_own_past(found, budget):
    read = {}
    for line in packed(rows(*found), budget):
        seen = allowed(line)
        for index, path in zip(line.rows, line.paths, strict=True):
            read[index] = letters(line.inputs["input_ids"][0, path])
            assert line.inputs["position_ids"][0, path].tolist() == list(range(len(path)))
            for number, token in enumerate(path.tolist()):
                assert seen[token] == path[: number + 1].tolist()
        assert line.tokens <= budget or len(line.rows) == 1
    assert read == dict(enumerate(found))


@settings(deadline=None)
@given(texts, st.integers(1, 40))
def test_padded_rows_are_all_there(found, budget):
    read = {}
    for batch in padded(rows(*found), budget):
        for index, path in zip(batch.rows, batch.paths, strict=True):
            read[index] = letters(batch.inputs["input_ids"].flatten()[path])
        assert batch.inputs["attention_mask"].sum() == sum(map(len, batch.paths))
        assert batch.tokens <= budget or len(batch.rows) == 1
    assert read == dict(enumerate(found))
