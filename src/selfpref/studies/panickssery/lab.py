"""The testbed's side of the study: its articles, with a rule in the place of the person."""

from pathlib import Path

import pandas as pd

from selfpref.formats.datasets import written
from selfpref.lab import summaries
from selfpref.params import Articles
from selfpref.studies.panickssery import STUDY
from selfpref.studies.panickssery.read.articles import article_items


def read(dataset: str, entry: Articles, source: Path) -> dict[str, pd.DataFrame]:
    """Articles, their summaries by the rule, and what is true of these.

    Args:
        dataset: Its key, which is the kind of article.
        entry: Seed and number.
        source: The testbed's folder in `src`, which makes them.

    Raises:
        SelfprefError: There is no such kind.
    """
    drawn = summaries.draw_articles(dataset, entry.articles, entry.seed)
    ids = [f"{dataset}/{number}" for number in range(len(drawn))]
    items = article_items(dataset, ids, [article.question for article in drawn])
    items["reference"] = [article.right for article in drawn]
    texts = summaries.human_texts(drawn, dataset, entry.seed)
    said = [(item, summaries.HUMAN, text) for item, text in zip(ids, texts, strict=True)]
    responses = written(said, STUDY.name)
    return {"items": items, "responses": responses, "truths": truths(items, responses)}


def truths(items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """The quality of every response."""
    facts = items.set_index("item_id")["reference"].str.split()
    pairs = zip(responses["item_id"], responses["text"], strict=True)
    return responses[["study", "item_id", "responder", "step"]].assign(
        metric="quality", score=[summaries.quality(facts[item], text) for item, text in pairs]
    )
