"""How a judge's choices depend on the order in which it read the candidates.

- *first position*: share of choices for the candidate read first; by chance 1 / candidates.
- *earliest of m copies*: where m candidates say word for word the same (blanks aside) and the judge
  chose one of them, the share that chose the one read first; by chance 1 / m. Nothing but the
  position tells the copies apart.
- *changed with the order*: of items that a judge read in several orders, the share on which its
  choice did not survive them.
"""

import pandas as pd

from selfpref.studies.livebench.panel import ALL, Panel

FIRST, CHANGED = "first position", "changed with the order"
BY = ["category", "judge"]
POSITION = [*BY, "quantity", "share", "lo", "hi", "n", "items", "chance"]


def _readings(panel: Panel) -> pd.DataFrame:
    """One row a verdict in a known order and candidate (`responder`), with its place in the order.

    Returns:
        `copies` (candidates that say the same, itself among them), `picked`, and of a candidate
        that was chosen whether it stood `first`, and was the `earliest` of its copies (0 or 1).
    """
    responses, votes = panel.tables["responses"], panel.votes
    votes = votes[votes["order_known"] & votes["status"].eq("ok")].reset_index(drop=True)
    rows = votes.rename_axis("verdict").explode("candidates").reset_index()
    rows = rows.rename(columns={"candidates": "responder"})
    texts = responses[responses["step"].eq(0) & responses["sample"].eq(0)]
    texts = texts.set_index(["item_id", "responder"])["text"].str.split().str.join(" ")
    # What is not known is nobody's copy.
    unknown = "\0" + rows["responder"].astype("str")
    keys = pd.MultiIndex.from_frame(rows[["item_id", "responder"]])
    said = pd.Series(texts.reindex(keys).to_numpy(), rows.index, dtype="str").fillna(unknown)
    by_verdict = rows.groupby("verdict")
    place = by_verdict.cumcount()
    same = place.groupby([rows["verdict"], said])
    return rows.assign(
        copies=same.transform("size"),
        picked=rows["choice"].eq(rows["responder"]),
        first=place.eq(0).astype(float),
        earliest=place.eq(same.transform("min")).astype(float),
        chance=1 / by_verdict["responder"].transform("size"),
    )


def position(panel: Panel) -> pd.DataFrame:
    """Every quantity by category and judge, and over all categories, in the columns `POSITION`.

    `n` counts verdicts, `items` the items that they are about (for copies: all with so many).
    """
    read, choices = _readings(panel), panel.choices
    several = choices[choices["orders"].gt(1) & choices["choice"].notna()]
    moved = several.assign(quantity=CHANGED, hit=several["outcome"].eq("unstable").astype(float))
    chosen = read[read["picked"]].assign(quantity=FIRST, hit=lambda rows: rows["first"])
    copies = read[read["copies"].gt(1)]
    copies = copies.assign(
        quantity="earliest of " + copies["copies"].astype(str) + " copies",
        hit=copies["earliest"].where(copies["picked"]),
        chance=1 / copies["copies"],
    )
    places = pd.concat([chosen.assign(copies=1), copies])
    by, found = [*BY, "copies", "quantity"], []
    for scope in ({}, {"category": ALL}):
        rows = places.assign(**scope)
        groups = rows.groupby(by).agg(items=("item_id", "nunique"), chance=("chance", "mean"))
        shares = panel.shares(rows, by, "hit").assign(**groups.reset_index()[["items", "chance"]])
        changed = panel.shares(moved.assign(**scope), [*BY, "quantity"], "hit")
        found += [shares[shares["n"].gt(0)], changed.assign(items=changed["n"], chance=0.0)]
    return pd.concat(found, ignore_index=True)[POSITION]
