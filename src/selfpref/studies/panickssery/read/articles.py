"""News articles with a person's summary: XSum (Narayan et al. 2018) and CNN/DailyMail 3.0.0.

The texts are their publishers': they are downloaded to the user's cache and never stored here.

- Articles are drawn by a hash of their ids, the same ones on every machine; the first of them train
  judges, the others are judged.
- Empty articles and summaries are left out, and counted in the audit.
- CNN/DailyMail: the highlights are one text, a line each.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from selfpref import tables
from selfpref.download.hub import open_set
from selfpref.errors import SelfprefError
from selfpref.formats.datasets import audited, written
from selfpref.params import Articles
from selfpref.seeds import sampled

# Reader to the columns of article, summary and id.
COLUMNS = {"xsum": ("document", "summary", "id"), "cnn-dailymail": ("article", "highlights", "id")}
STUDY = "panickssery"
HUMAN = "human"
_PREAMBLE = re.compile(r"^[^\n]*:[ \t]*\n+")
_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+")
_QUOTES = "\"'“”‘’"


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
    body = _PREAMBLE.sub("", text.strip())
    if reader == "xsum":
        quoted = len(body) > 1 and body[0] in _QUOTES and body[-1] in _QUOTES
        return body.strip(_QUOTES).strip() if quoted else body
    lines = (_BULLET.sub("", line).strip() for line in body.splitlines())
    return "\n".join(line.removesuffix(".").rstrip() for line in lines if line)


def article_items(
    study: str, dataset: str, ids: Sequence[str], messages: Sequence[list[dict[str, str]]]
) -> pd.DataFrame:
    """The items table of a data set's articles, each with its place as `index` in the metadata."""
    places = [json.dumps({"index": number}) for number in range(len(ids))]
    items = {"item_id": ids, "cluster": ids, "messages": messages, "metadata": places}
    return tables.fill(pd.DataFrame(items), "items", study=study, category=dataset)


def read(dataset: str, entry: Articles, source: Path) -> dict[str, pd.DataFrame]:
    """Articles with the person's summaries.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<id>`.
        entry: The set, a key of `COLUMNS`, and how many articles to draw.
        source: The file that pins the set.

    Returns:
        items (one article each, its place among the drawn as `index` in the metadata), responses
        of `human`, and audit.

    Raises:
        SelfprefError: The set has fewer articles, or as `selfpref.download.hub.open_set`.
    """
    whole = open_set(source, COLUMNS[entry.reader])
    article, summary, identifier = COLUMNS[entry.reader]
    places = {str(name): place for place, name in enumerate(whole[identifier])}
    rows: list[tuple[str, str, str]] = []
    empty = 0
    for name in sampled(places, None):
        if len(rows) == entry.articles:
            break
        row = whole[places[name]]
        if not (row[article].strip() and row[summary].strip()):
            empty += 1
            continue
        rows.append((f"{dataset}/{name}", row[article], clean(row[summary], entry.reader)))
    if len(rows) < entry.articles:
        raise SelfprefError(
            f"{source}: {entry.articles} articles asked for, {len(rows)} there; lower "
            f"panickssery.datasets.{dataset}.articles"
        )
    ids = [item for item, _, _ in rows]
    messages = [[{"role": "user", "content": text}] for _, text, _ in rows]
    items = article_items(STUDY, dataset, ids, messages)
    responses = written(((item, HUMAN, text) for item, _, text in rows), STUDY)
    left_out = {"left out: no article or no summary": empty}
    audit = audited(STUDY, dataset, len(rows) + empty, left_out)
    return {"items": items, "responses": responses, "audit": audit}
