"""The testbed's side of the study: its articles, with a rule in the place of the person."""

from pathlib import Path

import pandas as pd

from selfpref.lab.summaries import articles
from selfpref.params import Articles
from selfpref.studies.panickssery import STUDY


def read(dataset: str, entry: Articles, source: Path) -> dict[str, pd.DataFrame]:
    """Articles, their summaries by the rule, and what is true of these.

    Args:
        dataset: Its key, which is the kind of article.
        entry: Seed and number.
        source: The testbed's folder in `src`, which makes them.

    Raises:
        SelfprefError: There is no such kind, or it has too few articles.
    """
    drawn = articles.draw_articles(dataset, entry.articles, entry.seed)
    return articles.tables(STUDY.name, dataset, drawn, entry.seed)
