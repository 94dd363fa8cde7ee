"""Position: how choices hang on the order in which the candidates were read.

- *first position*: share of choices for the candidate read first; by chance 1 / candidates.
- *earlier copy*: where m candidates say word for word the same (blanks aside) and the judge chose
  one of them, the share that chose the one read first; by chance 1 / m. Nothing but the position
  tells the copies apart.
- *changed with the order*: of items that a judge read in several orders, the share on which its
  choice did not survive them.
"""

from collections import Counter

import pandas as pd

from selfpref.studies.livebench.measure.panel import ALL, VOTE, Panel

POSITION = ["category", "judge", "quantity", "share", "lo", "hi", "n", "items", "chance"]
FIRST, CHANGED = "first position", "changed with the order"


def _texts(panel: Panel) -> dict[tuple[str, str], str]:
    responses = panel.tables["responses"]
    rows = responses[responses["step"].eq(0) & responses["sample"].eq(0)]
    return {
        (item, responder): " ".join(text.split())
        for item, responder, text in zip(
            rows["item_id"], rows["responder"], rows["text"], strict=True
        )
    }


def _readings(panel: Panel) -> pd.DataFrame:
    """One row a verdict with a choice: `first`, and among how many copies it chose, which first."""
    rows = panel.verdicts
    rows = rows[rows["variant"].eq(VOTE) & rows["order_known"] & rows["status"].eq("ok")]
    texts = _texts(panel)
    found = []
    for row in rows.itertuples():
        said = [texts.get((row.item_id, name), f"\0{name}") for name in row.candidates]
        most = max(Counter(said).values())
        place = row.candidates.index(row.choice) if row.choice in row.candidates else None
        copies = 0 if place is None else said.count(said[place])
        found.append(
            {
                "category": row.category,
                "judge": row.judge,
                "item_id": row.item_id,
                "cluster": row.cluster,
                "candidates": len(said),
                "decided": place is not None,
                "first": float(place == 0),
                "identical": most if most > 1 else 0,
                "copies": copies if copies > 1 else 0,
                "earlier": float(place is not None and said.index(said[place]) == place),
            }
        )
    columns = ["category", "judge", "item_id", "cluster", "candidates", "decided", "first"]
    return pd.DataFrame(found, columns=[*columns, "identical", "copies", "earlier"])


def _row(
    panel: Panel, part: pd.DataFrame, value: str, quantity: str, items: int, chance: float
) -> dict[str, object]:
    category, judge = part["category"].iloc[0], part["judge"].iloc[0]
    one = panel.mean(part[value], part["cluster"], quantity, category, judge)
    return {
        "category": category,
        "judge": judge,
        "quantity": quantity,
        "share": one.value,
        "lo": one.lo,
        "hi": one.hi,
        "n": len(part),
        "items": items,
        "chance": chance,
    }


def position(panel: Panel) -> pd.DataFrame:
    """Every quantity by category and judge, and over all categories, in the columns `POSITION`.

    `n` counts verdicts, `items` the items that they are about (for copies: all with so many).
    """
    readings = _readings(panel)
    several = panel.verdicts[panel.verdicts["variant"].eq(VOTE)]
    orders = several.groupby(["item_id", "judge"])["candidates"].agg(
        lambda lists: len({tuple(names) for names in lists})
    )
    settled = panel.choices.set_index(["item_id", "judge"])
    changed = settled[orders.reindex(settled.index).gt(1) & settled["choice"].notna()]
    changed = changed.assign(unstable=changed["outcome"].eq("unstable").astype(float)).reset_index()
    rows = []
    for scope in ("category", ALL):
        pooled = {} if scope == "category" else {"category": ALL}
        for _, part in readings.assign(**pooled).groupby(["category", "judge"], sort=True):
            decided = part[part["decided"]]
            if len(decided):
                chance = float((1 / decided["candidates"]).mean())
                items = decided["item_id"].nunique()
                rows.append(_row(panel, decided, "first", FIRST, items, chance))
            for number, copies in part[part["copies"].gt(0)].groupby("copies", sort=True):
                items = part.loc[part["identical"].eq(number), "item_id"].nunique()
                quantity = f"earliest of {number} copies"
                rows.append(_row(panel, copies, "earlier", quantity, items, 1 / int(number)))
        for _, part in changed.assign(**pooled).groupby(["category", "judge"], sort=True):
            rows.append(_row(panel, part, "unstable", CHANGED, len(part), 0.0))
    return pd.DataFrame(rows, columns=POSITION)
