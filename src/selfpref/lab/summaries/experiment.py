"""The laboratory's articles as tables: items, the human's summaries, and what is true of summaries.

One kind of article is one data set. The rule of `writers` stands for the human. A summary's truth
is its `quality`, the share of the article's key facts that it gives.
"""

import json

import numpy as np
import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.lab.summaries.articles import KINDS, Article, draw_articles, quality, read_article
from selfpref.lab.summaries.writers import HUMAN, draw_error_rates, write


def draw(dataset: str, n: int, seed: int) -> list[Article]:
    """The articles of a data set, always the same first ones.

    Raises:
        SelfprefError: The laboratory has no such kind of article.
    """
    if dataset not in KINDS:
        raise SelfprefError(
            f"params.yaml: articles.{dataset}: the laboratory has {' and '.join(KINDS)}"
        )
    return draw_articles(dataset, n, seed)


def tables(study: str, dataset: str, articles: list[Article], seed: int) -> dict[str, pd.DataFrame]:
    """items, the human's responses, and their truths."""
    ids = [f"{dataset}/{number}" for number in range(len(articles))]
    items = pd.DataFrame(
        {
            "study": study,
            "item_id": ids,
            "category": dataset,
            "cluster": ids,
            "messages": [[{"role": "user", "content": article.text}] for article in articles],
            "reference": [" ".join(article.facts) for article in articles],
            "metadata": [json.dumps({"index": number}) for number in range(len(articles))],
        }
    )
    rng = np.random.default_rng(np.random.SeedSequence([seed, KINDS.index(articles[0].kind), 23]))
    rate = draw_error_rates(seed)[HUMAN]
    responses = pd.DataFrame(
        {
            "study": study,
            "item_id": ids,
            "responder": HUMAN,
            "step": 0,
            "sample": 0,
            "text": [" ".join(write(article, HUMAN, rate, rng)) for article in articles],
            "status": "ok",
        }
    )
    return {"items": items, "responses": responses, "truths": truths(items, responses)}


def truths(items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """The quality of every response."""
    articles = {
        item: read_article(messages[0]["content"])
        for item, messages in zip(items["item_id"], items["messages"], strict=True)
    }
    return responses[["study", "item_id", "responder", "step"]].assign(
        metric="quality",
        score=[
            quality(articles[item], text)
            for item, text in zip(responses["item_id"], responses["text"], strict=True)
        ],
    )
