"""What is printed or was computed of the same release, beside what is recomputed here.

A row of data/published/panickssery.csv names a frame (`item`), what of it (`where`: `column=value`,
separated by blanks) and the column that holds the value (`quantity`).
"""

from collections.abc import Mapping

import pandas as pd

CHECKS = [
    *("item", "where", "quantity", "published", "recomputed", "difference"),
    *("source", "place", "verified"),
]


def checks(frames: Mapping[str, pd.DataFrame], published: pd.DataFrame) -> pd.DataFrame:
    """Every published number of which the frames hold the counterpart.

    Args:
        frames: The frames of the study, by name.
        published: `item, where, quantity, value, source, place, verified`.

    Returns:
        The columns of `CHECKS`; a number without a counterpart, of another profile or without its
        data set, is left out.
    """
    found = []
    for row in published.itertuples():
        part = frames.get(row.item, pd.DataFrame())
        for condition in str(row.where).split():
            column, _, value = condition.partition("=")
            part = part[part[column].astype("str").eq(value)] if column in part else part[:0]
        if len(part) == 1:
            recomputed = float(part[row.quantity].iloc[0])
            found.append(
                {
                    "item": row.item,
                    "where": row.where,
                    "quantity": row.quantity,
                    "published": row.value,
                    "recomputed": recomputed,
                    "difference": recomputed - row.value,
                    "source": row.source,
                    "place": row.place,
                    "verified": row.verified,
                }
            )
    return pd.DataFrame(found, columns=CHECKS)
