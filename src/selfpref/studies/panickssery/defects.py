"""What is wrong with the release's scores, demonstrated on its own rows; and what others printed.

Each function takes the pairs that `confidences` returns and asks one question; nothing here knows
which files are at fault. `checks` puts what is printed of the release beside what comes out here.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from selfpref.studies.panickssery.pairs import data_set, plain

# Two computations of one number from the same probabilities do not differ.
EXACT = 1e-6
# What a stored score is, if it is so in more than this share of the rows.
MOST = 0.9
CONFIDENCE, POSITION, NEITHER = "confidence", "position bias", "neither"
# Answers of a broken model; a dropped row or an odd token is not one.
BROKEN = ("failed", "low-mass")
JUDGED = ["dataset", "evaluator", "task"]
CHECKS = [
    *("item", "where", "quantity", "published", "recomputed", "difference"),
    *("source", "place", "how_read"),
]


def statuses(verdicts: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame:
    """How many answers have which status: `dataset, evaluator, task, variant, status, n`."""
    columns = ["item_id", "judge", "task", "variant", "status"]
    rows = pd.concat([verdicts[columns], ratings[columns]]).rename(columns={"judge": "evaluator"})
    rows = rows.assign(dataset=data_set(rows["item_id"]).astype("str"))
    return rows.groupby([*JUDGED, "variant", "status"]).size().rename("n").reset_index()


def with_defects(evaluators: pd.DataFrame, found: pd.DataFrame, unusable: float) -> pd.DataFrame:
    """The judges with what is to be known before a number of theirs is believed.

    Args:
        evaluators: As `selfpref.studies.panickssery.evaluators` describes them.
        found: As `statuses` returns it.
        unusable: The share of broken answers above which a judge is degenerate, 0..1.

    Returns:
        The judges with `broken` (the largest share of answers of one task and data set that are
        not a number or without mass) and `degenerate` (whether that is too much).
    """
    lost = found["n"].where(found["status"].isin(BROKEN), 0)
    plainly = found.assign(lost=lost)[found["variant"].eq("plain")]
    share = plainly.groupby(JUDGED)[["lost", "n"]].sum().eval("lost / n")
    broken = evaluators["evaluator"].map(share.groupby("evaluator").max())
    return evaluators.assign(broken=broken, degenerate=broken.gt(unusable))


def stored_as(pairs: pd.DataFrame) -> pd.DataFrame:
    """What the stored scores are: the confidence in the own text, or position bias.

    With f and b the confidence in the own text in both orders, its mean is (f + b) / 2, and that
    in the text read first, which is position bias, (f + 1 - b) / 2.

    Returns:
        `dataset, evaluator, task`, of judges with stored scores and probabilities of both orders to
        both questions; the shares of rows in which the stored score is either number (`as_own`,
        `as_position`), `n` rows, and what follows, `reading`.
    """
    rows = plain(pairs[pairs["released"].notna()]).dropna(subset=["forward", "backward"])
    pair = [*JUDGED[:2], "other", "item_id", "repeat"]
    rows = rows[rows.groupby(pair, observed=True)["task"].transform("size").eq(2)]
    own = (rows["forward"] + rows["backward"]) / 2
    first = (rows["forward"] + 1 - rows["backward"]) / 2
    same = {"as_own": own, "as_position": first}
    same = {name: (of - rows["released"]).abs().lt(EXACT) for name, of in same.items()}
    grouped = rows.assign(**same).groupby(JUDGED, observed=True)
    table = grouped[[*same]].mean().assign(n=grouped.size()).reset_index()
    most = [table[name].gt(MOST) for name in same]
    return table.assign(reading=np.select(most, [CONFIDENCE, POSITION], NEITHER))


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
