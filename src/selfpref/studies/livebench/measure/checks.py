"""The percentages that the release prints, beside what the data give.

They were read off its pies, and stand in data/published/livebench.csv with the picture of each; a
pie without a slice for a responder prints a share of zero.
"""

from collections.abc import Mapping

import pandas as pd

from selfpref.studies.livebench.measure.panel import ALL

CHECKS = [
    *("item", "category", "task", "judge", "responder", "published", "recomputed", "difference"),
    *("source", "place", "how_read"),
]


def checks(frames: Mapping[str, pd.DataFrame], published: pd.DataFrame) -> pd.DataFrame:
    """The percentages that the release prints beside the recomputed ones, in the columns `CHECKS`.

    Args:
        frames: `preference_shares` and `majority_vote`.
        published: data/published/livebench.csv.

    Returns:
        A row a percentage whose judge and responder are in the data; differences are in points, and
        a printed percentage is rounded to a tenth.
    """
    key = ["category", "task", "judge", "responder"]
    votes = frames["majority_vote"].query("rule == 'released'").assign(task=ALL, judge="")
    sources = {"share": frames["preference_shares"], "vote": votes}
    printed = published.assign(judge=published["judge"].fillna(""))
    parts = [
        printed[printed["item"].eq(item)].merge(found[[*key, "share"]], on=key)
        for item, found in sources.items()
    ]
    table = pd.concat(parts, ignore_index=True).rename(columns={"value": "published"})
    table["recomputed"] = 100 * table["share"]
    table["difference"] = table["recomputed"] - table["published"]
    return table[CHECKS]
