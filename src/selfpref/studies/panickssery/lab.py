"""The testbed's side of the study: its articles, with a rule in the place of the person."""

from pathlib import Path

import pandas as pd

from selfpref.formats.records import Frames
from selfpref.lab import summaries
from selfpref.params import Articles
from selfpref.studies.panickssery.read.articles import Article, article_tables


def read(dataset: str, entry: Articles, source: Path) -> Frames:
    """Articles, their summaries by the rule, and what is true of these.

    Args:
        dataset: Its key, which is the kind of article.
        entry: Seed and number.
        source: The testbed's folder in `src`, which makes them.

    Raises:
        SelfprefError: There is no such kind, or there are too few.
    """
    drawn = summaries.draw_articles(dataset, entry.articles, entry.seed)
    texts = summaries.human_texts(drawn, dataset, entry.seed)
    found = [
        Article.model_construct(
            id=number, article=article.question, summaries={summaries.HUMAN: text}
        )
        for number, (article, text) in enumerate(zip(drawn, texts, strict=True))
    ]
    made = article_tables(dataset, entry, source, found)
    made["items"]["reference"] = [article.right for article in drawn]
    return made | {"truths": truths(made["items"], made["responses"])}


def truths(items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """The quality of every response."""
    facts = items.set_index("item_id")["reference"].str.split()
    pairs = zip(responses["item_id"], responses["text"], strict=True)
    return responses[["study", "item_id", "responder", "step"]].assign(
        metric="quality", score=[summaries.quality(facts[item], text) for item, text in pairs]
    )
