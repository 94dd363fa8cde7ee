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
    rows = []
    for row in published.rename(columns={"value": "published"}).to_dict("records"):
        found = frames[row["item"]]
        for part in row["where"].split():
            name, _, value = part.partition("=")
            found = found[found[name].astype("str").eq(value)]
        if len(found) == 1:
            rows.append(row | {"recomputed": float(found[row["quantity"]].iloc[0])})
    table = pd.DataFrame(rows, columns=CHECKS).astype({"published": float, "recomputed": float})
    return table.assign(difference=table["recomputed"] - table["published"])
