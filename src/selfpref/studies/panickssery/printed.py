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
    parts = [pd.DataFrame(columns=CHECKS)]
    conditions = [dict(part.split("=", 1) for part in text.split()) for text in published["where"]]
    rows = published.assign(
        names=[tuple(chosen) for chosen in conditions],
        key=[tuple(chosen.values()) for chosen in conditions],
    )
    for (item, names), part in rows.groupby(["item", "names"], sort=False):
        frame = frames[str(item)].astype(dict.fromkeys(names, "str")).set_index(list(names))
        frame = frame[~frame.index.duplicated(keep=False)]
        here = part[part["key"].isin(frame.index)]
        recomputed = [
            float(frame.at[key, column])
            for key, column in zip(here["key"], here["quantity"], strict=True)
        ]
        parts.append(here.rename(columns={"value": "published"}).assign(recomputed=recomputed))
    table = pd.concat(parts).sort_index().astype({"published": float, "recomputed": float})
    table["difference"] = table["recomputed"] - table["published"]
    return table[CHECKS].reset_index(drop=True)
