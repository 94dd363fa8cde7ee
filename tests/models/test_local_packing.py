"""Packed lines: every row is there, prefixes once, and nobody sees a stranger."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from selfpref.models.local.fast.packing import packed  # noqa: E402


def rows(*texts):
    return [np.array([ord(letter) for letter in text]) for text in texts]


def letters(ids):
    return "".join(map(chr, ids.flatten().tolist()))


def lay(texts, budget, read=None, step=1):
    """Lines whose rows are read whole, unless told."""
    return list(packed(rows(*texts), read or list(map(len, texts)), budget, step))


def paths(line, sizes):
    """Of each row of a line where its last tokens lie."""
    places = torch.split(line.read, [sizes[index] for index in line.rows])
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
    (line,) = lay(["qr", "abcde", "abcxy", "abc", "qr"], 100)
    assert letters(line.inputs["input_ids"]) == "abcdexyqr"
    assert line.inputs["position_ids"].tolist() == [[0, 1, 2, 3, 4, 3, 4, 0, 1]]
    assert line.rows == [3, 1, 2, 0, 4]
    assert paths(line, [2, 5, 5, 3, 2]) == {
        **{3: [0, 1, 2], 1: [0, 1, 2, 3, 4], 2: [0, 1, 2, 5, 6], 0: [7, 8], 4: [7, 8]}
    }
    seen = allowed(line.attention, 9)
    assert [seen[token] for token in (4, 6, 8)] == [[0, 1, 2, 3, 4], [0, 1, 2, 5, 6], [7, 8]]


def test_in_the_last_layer_only_those_attend_whose_states_are_read():
    """Both responses read the prompt's last token, as the one that predicts their first."""
    (line,) = lay(["abcde", "abcxy"], 100, read=[3, 3])
    assert line.read.tolist() == [2, 3, 4, 2, 5, 6]
    assert line.last.tokens.tolist() == [2, 3, 4, 5, 6]
    assert line.within.tolist() == [0, 1, 2, 0, 3, 4]
    assert allowed(line.last, 5)[5] == [0, 1, 2, 5]


def test_lines_are_filled_up_to_whole_steps_that_nobody_sees():
    (line,) = lay(["abcde", "abcxy"], 100, read=[1, 1], step=4)
    assert line.inputs["input_ids"].shape == line.inputs["position_ids"].shape == (1, 8)
    assert (len(line.attention.tokens), len(line.last.tokens)) == (8, 4)
    assert max(map(max, allowed(line.attention, 7).values())) == 6
    assert line.read.tolist() == line.last.tokens[line.within].tolist() == [4, 6]


def test_a_full_line_ends_between_prompts_not_between_their_responses():
    texts = [f"{prompt * 6}{answer}" for prompt in "abcd" for answer in ("xx", "yy", "zz")]
    lines = sorted(letters(line.inputs["input_ids"]) for line in lay(texts, 34))
    assert lines == ["aaaaaaxxyyzzbbbbbbxxyyzz", "ccccccxxyyzzddddddxxyyzz"]
    # The longest row comes first, and next to no prefix ends no line.
    assert [line.tokens for line in lay(["a" * 5, "b" * 40, "c" * 20], 20)] == [40, 20, 5]
    texts = [letter * 10 for letter in "abcd"] + [f"x{letter * 9}" for letter in "abcd"]
    assert [line.tokens for line in lay(texts, 60)] == [59, 19]
