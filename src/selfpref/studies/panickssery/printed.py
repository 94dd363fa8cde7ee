"""What the release's notebook prints, and other code made of the same files, beside this study."""

from collections.abc import Mapping

import pandas as pd

CHECKS = [
    *("item", "where", "quantity", "published", "recomputed", "difference"),
    *("source", "place", "how_read"),
]


def checks(frames: Mapping[str, pd.DataFrame], published: pd.DataFrame) -> pd.DataFrame:
    """What is printed or was computed of the same release, beside what is recomputed here.

    Args:
        frames: The frames of the study, by name.
        published: data/published/panickssery.csv. A row names a frame (`item`), what of it
            (`where`: `column=value`, separated by blanks), the column that holds the value
            (`quantity`), where it comes from (`source`, `place`) and how it was read there
            (`how_read`): copied from a printed table, or a self-check of the reader, which is a
            number that other code made of the same files.

    Returns:
        The columns of `CHECKS`; a number without a counterpart, of another profile or without its
        data set, is left out.
    """
    parts = []
    for item, asked in published.groupby("item"):
        where = pd.DataFrame(
            [dict(part.split("=") for part in place.split()) for place in asked["where"]],
            asked.index,
        )
        keys = list(where)
        # A row of the frame alone: where several fit, none is meant.
        found = frames[str(item)].astype(dict.fromkeys(keys, "str"))
        found = found.drop_duplicates(keys, keep=False).set_index(keys)
        for quantity, rows in asked.groupby("quantity"):
            values = found[quantity].rename("recomputed")
            there = where.loc[rows.index].join(values, on=keys, how="inner")
            parts.append(rows.join(there["recomputed"], how="inner"))
    table = pd.concat(parts).sort_index().rename(columns={"value": "published"})
    table = table.astype({"published": float, "recomputed": float})
    difference = table["recomputed"] - table["published"]
    return table.assign(difference=difference)[CHECKS].reset_index(drop=True)
