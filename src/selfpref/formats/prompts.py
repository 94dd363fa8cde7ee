"""Reader of a user's own prompts: one JSONL file, one line a prompt.

| key | value |
|---|---|
| id | any id of the prompt; a text or a number |
| prompt | what is asked |
| messages | instead of it a dialogue, a list of `{"role": ..., "content": ...}`, a turn each |
| category | optional |
| cluster | optional: what a bootstrap resamples; left out: the prompt |

The turns of a dialogue are `user`, `assistant`, `user`, ... and end with the user's: models respond
to it. What the assistant said before stands in the file.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.formats.records import json_lines
from selfpref.params import Dataset
from selfpref.seeds import sampled

KNOWN = ("id", "prompt", "messages", "category", "cluster")
TURNS = ("user", "assistant")


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The items of a user's file.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<id>`.
        entry: How many of them to read.
        source: The .jsonl file.

    Returns:
        items.

    Raises:
        SelfprefError: A line breaks the rules above; names file, line and key.
    """
    rows = {row["item_id"]: row for row in _rows(dataset, source)}
    wanted = set(sampled(rows, entry.sample))
    kept = [row for item, row in rows.items() if item in wanted]
    return {"items": tables.fill(kept, "items", study=entry.study)}


def _rows(dataset: str, source: Path) -> Iterator[dict[str, Any]]:
    if source.suffix != ".jsonl":
        raise SelfprefError(f"{source}: give a .jsonl file of prompts as `source`")
    lines: dict[str, int] = {}
    for number, record in json_lines(source):
        where = f"{source}, line {number}"
        if unknown := sorted(record.keys() - {*KNOWN}):
            raise SelfprefError(f"{where}: unknown key {unknown[0]!r}; remove it")
        name = _name(record, "id", where)
        if name is None:
            raise SelfprefError(f"{where}: no key 'id'; give every prompt one")
        if (first := lines.setdefault(name, number)) != number:
            raise SelfprefError(f"{where}: id {name!r} stands in line {first} too; rename one")
        yield {
            "item_id": f"{dataset}/{name}",
            "category": _name(record, "category", where),
            "cluster": f"{dataset}/{_name(record, 'cluster', where) or name}",
            "messages": _messages(record, where),
        }
    if not lines:
        raise SelfprefError(f"{source}: holds no prompt; add lines with `id` and `prompt`")


def _name(record: Mapping[str, Any], key: str, where: str) -> str | None:
    """A text, or a number written out; None where there is none."""
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).isprintable():
        raise SelfprefError(f"{where}: {key} {value!r}; give a printable text or a number")
    if not str(value):
        raise SelfprefError(f"{where}: {key} is empty; fill it or remove it")
    return str(value)


def _messages(record: Mapping[str, Any], where: str) -> list[dict[str, str]]:
    if ("prompt" in record) == ("messages" in record):
        raise SelfprefError(f"{where}: give either 'prompt' or 'messages'")
    if "prompt" in record:
        return [{"role": "user", "content": _text(record["prompt"], "prompt", where)}]
    given = record["messages"]
    if not isinstance(given, list) or len(given) % 2 == 0:
        raise SelfprefError(f"{where}: messages is no list of turns that ends with the user's")
    found = []
    for place, message in enumerate(given):
        key, role = f"messages[{place}]", TURNS[place % 2]
        if not isinstance(message, dict) or message.keys() != {"role", "content"}:
            raise SelfprefError(f"{where}: {key}: give a `role` and a `content`, nothing else")
        if message["role"] != role:
            raise SelfprefError(
                f"{where}: {key}.role {message['role']!r} where {role!r} is due; turns of user and "
                "assistant alternate (put a system prompt into the user's first turn)"
            )
        text = _text(message["content"], f"{key}.content", where)
        found.append({"role": role, "content": text})
    return found


def _text(value: Any, key: str, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise SelfprefError(f"{where}: {key} {value!r}; give a text")
    return value
