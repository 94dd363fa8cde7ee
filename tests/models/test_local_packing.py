"""Packed lines: every row is there, prefixes once, and nobody sees a stranger."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from selfpref.models.local.fast.packing import packed  # noqa: E402
from selfpref.models.local.states import padded  # noqa: E402


def rows(*texts):
    return [np.array([ord(letter) for letter in text]) for text in texts]


def letters(ids):
    return "".join(map(chr, ids.flatten().tolist()))


def lay(found, budget, read=None, step=1):
    """Lines whose rows are read whole, unless told."""
    return list(packed(found, read or [len(row) for row in found], budget, step))


def paths(line, found):
    """Of each row of a line that is read whole, where its tokens lie."""
    places = torch.split(line.read, [len(found[index]) for index in line.rows])
    return dict(zip(line.rows, (place.tolist() for place in places), strict=True))


def allowed(attention, count):
    """Of each of so many tokens that attend, the tokens of the line that it attends to."""
    seen = {}
    for tile in attention.tiles:
        for queries, keys, masks in zip(tile.queries, tile.keys, tile.mask[:, 0], strict=True):
            for query, mask in zip(queries.tolist(), masks, strict=True):
                sees = keys[mask == 0].tolist()
                # A token that fills a tile up is the same one again.
                assert seen.setdefault(int(attention.tokens[query]), sees) == sees
    assert sorted(seen) == attention.tokens[:count].tolist()
    return seen


def test_a_shared_prefix_is_laid_down_once():
    found = rows("qr", "abcde", "abcxy")
    (line,) = lay(found, 100)
    assert letters(line.inputs["input_ids"]) == "abcdexyqr"
    assert line.inputs["position_ids"].tolist() == [[0, 1, 2, 3, 4, 3, 4, 0, 1]]
    assert line.rows == [1, 2, 0]
    assert paths(line, found) == {1: [0, 1, 2, 3, 4], 2: [0, 1, 2, 5, 6], 0: [7, 8]}
    seen = allowed(line.attention, 9)
    assert seen[6] == [0, 1, 2, 5, 6]
    assert seen[4] == [0, 1, 2, 3, 4]
    assert seen[8] == [7, 8]


def test_a_row_within_another_and_the_same_row_again_cost_nothing():
    found = rows("abc", "abcde", "abc")
    (line,) = lay(found, 100)
    assert letters(line.inputs["input_ids"]) == "abcde"
    assert paths(line, found) == {0: [0, 1, 2], 1: [0, 1, 2, 3, 4], 2: [0, 1, 2]}


def test_in_the_last_layer_only_those_attend_whose_states_are_read():
    """Both responses read the prompt's last token, as the one that predicts their first."""
    (line,) = lay(rows("abcde", "abcxy"), 100, read=[3, 3])
    assert line.read.tolist() == [2, 3, 4, 2, 5, 6]
    assert line.last.tokens.tolist() == [2, 3, 4, 5, 6]
    assert line.last.tokens[line.within].tolist() == line.read.tolist()
    assert allowed(line.last, 5)[5] == [0, 1, 2, 5]


def test_lines_are_filled_up_to_whole_steps_that_nobody_sees():
    (line,) = lay(rows("abcde", "abcxy"), 100, read=[1, 1], step=4)
    assert line.inputs["input_ids"].shape == line.inputs["position_ids"].shape == (1, 8)
    assert (len(line.attention.tokens), len(line.last.tokens)) == (8, 4)
    assert max(map(max, allowed(line.attention, 7).values())) == 6
    assert line.read.tolist() == line.last.tokens[line.within].tolist() == [4, 6]


def test_a_full_line_ends_between_prompts_not_between_their_responses():
    texts = [f"{prompt * 6}{answer}" for prompt in "abcd" for answer in ("xx", "yy", "zz")]
    lines = lay(rows(*texts), 34)
    assert sorted(letters(line.inputs["input_ids"]) for line in lines) == [
        "aaaaaaxxyyzzbbbbbbxxyyzz", "ccccccxxyyzzddddddxxyyzz",
    ]  # fmt: skip


def test_the_longest_row_comes_first():
    lines = lay(rows("a" * 5, "b" * 40, "c" * 20), 20)
    assert [line.tokens for line in lines] == [40, 20, 5]


def test_a_line_is_filled_where_its_rows_share_next_to_nothing():
    texts = [letter * 10 for letter in "abcd"] + [f"x{letter * 9}" for letter in "abcd"]
    assert [line.tokens for line in lay(rows(*texts), 60)] == [59, 19]


def test_long_rows_attend_block_by_block_and_short_ones_together():
    found = [np.arange(size) + 1000 * size for size in (300, 10, 12, 11)]
    (line,) = lay(found, 1000)
    assert sorted(tuple(tile.mask.shape) for tile in line.attention.tiles) == [
        (1, 1, 44, 304), (1, 1, 128, 128), (1, 1, 128, 256), (3, 1, 12, 16),
    ]  # fmt: skip


texts = st.lists(st.text("ab", min_size=1, max_size=12), min_size=1, max_size=12)


@given(texts, st.integers(1, 40))
def test_every_row_reads_its_own_tokens_and_sees_its_own_past(found, budget):
    read = {}
    for line in lay(rows(*found), budget):
        seen = allowed(line.attention, line.tokens)
        for index, path in paths(line, found).items():
            read[index] = letters(line.inputs["input_ids"][0, path])
            assert line.inputs["position_ids"][0, path].tolist() == list(range(len(path)))
            for number, token in enumerate(path):
                assert seen[token] == path[: number + 1]
        assert line.tokens <= budget or len(line.rows) == 1
    assert read == dict(enumerate(found))


@given(texts, st.integers(1, 40), st.integers(1, 12), st.integers(1, 8))
def test_what_is_read_attends_in_the_last_layer_as_in_all(found, budget, size, step):
    sizes = [min(size + number % 3, len(text)) for number, text in enumerate(found)]
    for line in lay(rows(*found), budget, sizes, step):
        everything = allowed(line.attention, int(line.attention.tokens.argmax()) + 1)
        last = allowed(line.last, int(line.last.tokens.argmax()) + 1)
        assert line.last.tokens[line.within].tolist() == line.read.tolist()
        assert set(line.read.tolist()) <= set(last)
        assert all(everything[token] == seen for token, seen in last.items())
        ends = torch.split(line.read, [sizes[index] for index in line.rows])
        for index, places in zip(line.rows, ends, strict=True):
            assert letters(line.inputs["input_ids"][0, places]) == found[index][-sizes[index] :]


@given(texts, st.integers(1, 40))
def test_padded_rows_are_all_there(found, budget):
    read = {}
    for batch in padded(rows(*found), list(map(len, found)), budget):
        for index, path in paths(batch, found).items():
            read[index] = letters(batch.inputs["input_ids"].flatten()[path])
        assert batch.inputs["attention_mask"].sum() == len(batch.read)
        assert batch.tokens <= budget or len(batch.rows) == 1
    assert read == dict(enumerate(found))
