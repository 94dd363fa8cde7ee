"""Reader of a user's own articles: one JSONL file, one line an article.

| key | value |
|---|---|
| id | any id of the article; a text or a number |
| article | its text |
| summaries | optional: summaries that are there already, by who wrote them: `{"human": "..."}` |

The order of the file counts: the first articles are for tuning, the others are judged.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.formats.datasets import written
from selfpref.formats.records import json_lines
from selfpref.params import Articles
from selfpref.studies.panickssery.read.articles import STUDY, article_items, clean

KNOWN = {"id", "article", "summaries"}


def read(dataset: str, entry: Articles, source: Path) -> dict[str, pd.DataFrame]:
    """Articles with the summaries that the file has.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<id>`.
        entry: How many articles to read, from the first.
        source: The .jsonl file.

    Returns:
        items and responses.

    Raises:
        SelfprefError: A line breaks the rules above, or there are too few.
    """
    texts: dict[str, str] = {}
    said: list[tuple[str, str, str]] = []
    for number, record in json_lines(source):
        if len(texts) == entry.articles:
            break
        where = f"{source}, line {number}"
        if unknown := sorted(record.keys() - KNOWN):
            raise SelfprefError(f"{where}: unknown key {unknown[0]!r}; remove it")
        name = record.get("id")
        if isinstance(name, bool) or not isinstance(name, str | int) or not str(name).strip():
            raise SelfprefError(f"{where}: id {name!r}; give every article a text or a number")
        item = f"{dataset}/{name}"
        if item in texts:
            raise SelfprefError(f"{where}: id {name!r} stands twice; rename one")
        texts[item] = _text(record.get("article"), "article", where)
        for author, text in _summaries(record, where).items():
            given = _text(text, f"summaries.{author}", where)
            said.append((item, author, clean(given, entry.kind)))
    if len(texts) < entry.articles:
        raise SelfprefError(
            f"{source}: {entry.articles} articles asked for, {len(texts)} there; lower "
            f"panickssery.datasets.{dataset}.articles"
        )
    messages = [[{"role": "user", "content": text}] for text in texts.values()]
    return {
        "items": article_items(STUDY, dataset, list(texts), messages),
        "responses": written(said, STUDY),
    }


def _summaries(record: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    found = record.get("summaries", {})
    if not isinstance(found, dict):
        raise SelfprefError(f"{where}: summaries is no mapping of names to texts")
    return found


def _text(value: Any, key: str, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise SelfprefError(f"{where}: {key} {value!r}; give a text")
    return value
