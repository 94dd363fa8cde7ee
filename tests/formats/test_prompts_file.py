"""A user's own prompts: items, and what a line must not be."""

import json

import pytest

from selfpref.errors import SelfprefError
from selfpref.formats.prompts import read
from selfpref.params import Dataset

ENTRY = Dataset(reader="prompts", source="mine.jsonl")
DIALOGUE = [
    {"role": "user", "content": "1 + 1?"},
    {"role": "assistant", "content": "2"},
    {"role": "user", "content": "And 1 more?"},
]


def items(tmp_path, *records, entry=ENTRY):
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return read("mine", entry, path)["items"]


def test_a_prompt_or_a_dialogue_is_an_item(tmp_path):
    found = items(
        tmp_path,
        {"id": 7, "prompt": "Why is the sky blue?", "category": "physics"},
        {"id": "sums", "messages": DIALOGUE, "cluster": "arithmetic"},
    ).set_index("item_id")
    assert found.loc["mine/7", "messages"] == [{"role": "user", "content": "Why is the sky blue?"}]
    assert found.loc["mine/sums", "messages"] == DIALOGUE
    assert found["category"].fillna("").to_list() == ["physics", ""]
    assert list(found["cluster"]) == ["mine/7", "mine/arithmetic"]


def test_a_sample_is_drawn_by_id_and_grows(tmp_path):
    records = [{"id": number, "prompt": f"{number}?"} for number in range(20)]

    def some(size, rows):
        entry = ENTRY.model_copy(update={"sample": size})
        return set(items(tmp_path, *rows, entry=entry)["item_id"])

    assert len(some(5, records)) == 5
    assert some(5, records) < some(8, records[::-1])


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        ({"prompt": "x"}, "line 2: no key 'id'"),
        ({"id": 1, "prompt": "x"}, "line 2: id '1' stands in line 1 too"),
        ({"id": 2}, "line 2: give either 'prompt' or 'messages'"),
        ({"id": 2, "prompt": "x", "messages": DIALOGUE}, "line 2: give either"),
        ({"id": 2, "prompt": " "}, "line 2: prompt ' '; give a text"),
        ({"id": 2, "promt": "x"}, "line 2: unknown key 'promt'; remove it"),
        ({"id": [2], "prompt": "x"}, r"line 2: id \[2\]; give a printable text or a number"),
        ({"id": "", "prompt": "x"}, "line 2: id is empty"),
        ({"id": 2, "messages": DIALOGUE[:2]}, "line 2: messages is no list of turns that ends"),
        ({"id": 2, "messages": "x"}, "line 2: messages is no list of turns"),
    ],
)
def test_an_error_names_file_line_and_field(tmp_path, record, wanted):
    with pytest.raises(SelfprefError, match=rf"mine\.jsonl, {wanted}"):
        items(tmp_path, {"id": 1, "prompt": "a"}, record)


@pytest.mark.parametrize(
    ("turn", "wanted"),
    [
        ({"role": "user"}, ": give a `role`"),
        ({"role": "system", "content": "x"}, ".role 'system' where 'user' is due"),
        ({"role": "user", "content": None}, ".content None; give a text"),
    ],
)
def test_a_turn_that_is_none_is_named(tmp_path, turn, wanted):
    with pytest.raises(SelfprefError, match=rf"line 1: messages\[0\]{wanted}"):
        items(tmp_path, {"id": 2, "messages": [turn]})


def test_a_file_without_prompts_is_refused(tmp_path):
    with pytest.raises(SelfprefError, match=r"mine\.jsonl: holds no prompt"):
        items(tmp_path)
