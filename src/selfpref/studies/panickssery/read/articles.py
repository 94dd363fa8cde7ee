"""Articles to be summarised: XSum, CNN/DailyMail 3.0.0, or a user's own, with their summaries.

XSum (Narayan et al. 2018) and CNN/DailyMail: the texts are their publishers', downloaded to the
user's cache and never stored here.

- Articles are drawn by a hash of their ids, the same ones on every machine; the first of them train
  judges, the others are judged.
- Empty articles and summaries are left out, and counted in the audit.
- CNN/DailyMail: the highlights are one text, a line each.

A user's own articles are one JSONL file, one line an article; the order of the file counts.

| key | value |
|---|---|
| id | any id of the article; a text or a number |
| article | its text |
| summaries | optional: summaries that are there already, by who wrote them: `{"human": "..."}` |
"""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import pandas as pd
from pydantic import BaseModel, Field, ValidationError

from selfpref import tables
from selfpref.download.fetch import open_set
from selfpref.errors import SelfprefError
from selfpref.formats.datasets import audited, written
from selfpref.formats.records import Frames, json_lines
from selfpref.params import Articles
from selfpref.seeds import sampled
from selfpref.studies.panickssery import STUDY

# Reader to the columns of article and summary.
COLUMNS = {"xsum": ("document", "summary"), "cnn-dailymail": ("article", "highlights")}
HUMAN = "human"
_QUOTES = "\"'“”‘’"
Text = Annotated[str, Field(pattern=r"\S")]


class Article(BaseModel, extra="forbid", strict=True):
    """An article, as a line of a user's file has it."""

    id: Text | int
    article: Text
    summaries: dict[str, Text] = {}


def clean(text: str, reader: str) -> str:
    """A summary without what only tells how it was asked for.

    A first line that ends with a colon ("Here is ...:") goes. Highlights lose bullets, numbers and
    the full stop at a line's end, and empty lines; a single sentence loses the quotation marks
    around it.

    Args:
        text: The summary, a person's or a model's.
        reader: `xsum` (a sentence), `cnn-dailymail` (highlights), or another: left as it is.
    """
    if reader not in COLUMNS:
        return text
    body = re.sub(r"^[^\n]*:[ \t]*\n+", "", text.strip())
    if reader == "xsum":
        quoted = len(body) > 1 and body[0] in _QUOTES and body[-1] in _QUOTES
        return body.strip(_QUOTES).strip() if quoted else body
    bullet = r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+"
    lines = (re.sub(bullet, "", line).strip() for line in body.splitlines())
    return "\n".join(line.removesuffix(".").rstrip() for line in lines if line)


def article_items(dataset: str, ids: Sequence[str], articles: Iterable[str]) -> pd.DataFrame:
    """The items table of a data set's articles, each with its place as `index` in the metadata."""
    rows = pd.DataFrame({"item_id": ids, "cluster": ids}).assign(
        messages=[[{"role": "user", "content": text}] if text else [] for text in articles],
        metadata=[json.dumps({"index": number}) for number in range(len(ids))],
    )
    return tables.fill(rows, "items", study=STUDY.name, category=dataset)


def article_tables(dataset: str, entry: Articles, source: Path, found: Sequence[Article]) -> Frames:
    """Items, and the responses that are there already.

    Raises:
        SelfprefError: There are too few.
    """
    if len(found) < entry.articles:
        raise SelfprefError(
            f"{source}: {entry.articles} articles asked for, {len(found)} there; lower "
            f"panickssery.datasets.{dataset}.articles"
        )
    ids = [f"{dataset}/{one.id}" for one in found]
    said = [
        (item, author, clean(text, entry.kind))
        for item, one in zip(ids, found, strict=True)
        for author, text in one.summaries.items()
    ]
    items = article_items(dataset, ids, [one.article for one in found])
    return {"items": items, "responses": written(said, STUDY.name)}


def read(dataset: str, entry: Articles, source: Path) -> Frames:
    """Articles of the Hugging Face Hub with the person's summaries.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<id>`.
        entry: The set, a key of `COLUMNS`, and how many articles to draw.
        source: The file that pins the set.

    Returns:
        items (one article each, its place among the drawn as `index` in the metadata), responses
        of `human`, and audit.

    Raises:
        SelfprefError: The set has fewer articles, or as `selfpref.download.fetch.open_set`.
    """
    article, summary = COLUMNS[entry.reader]
    whole = open_set(source, (article, summary, "id"))
    places = {str(name): place for place, name in enumerate(whole["id"])}
    rows: list[Article] = []
    empty = 0
    for name in sampled(places, None):
        if len(rows) == entry.articles:
            break
        row = whole[places[name]]
        if row[article].strip() and row[summary].strip():
            rows.append(Article(id=name, article=row[article], summaries={HUMAN: row[summary]}))
        else:
            empty += 1
    left_out = {"left out: no article or no summary": empty}
    audit = audited(STUDY.name, dataset, len(rows) + empty, left_out)
    return article_tables(dataset, entry, source, rows) | {"audit": audit}


def read_own(dataset: str, entry: Articles, source: Path) -> Frames:
    """A user's articles with the summaries that the file has.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<id>`.
        entry: How many articles to read, from the first.
        source: The .jsonl file.

    Returns:
        items and responses.

    Raises:
        SelfprefError: A line breaks the rules above, or there are too few.
    """
    rows: list[Article] = []
    for place, record in json_lines(source):
        if len(rows) == entry.articles:
            break
        try:
            rows.append(Article.model_validate(record))
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(map(str, first["loc"]))
            raise SelfprefError(f"{place}: {key}: {first['msg']}") from error
    return article_tables(dataset, entry, source, rows)
