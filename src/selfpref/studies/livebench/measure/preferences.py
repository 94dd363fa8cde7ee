"""Whom each judge chose, and how its choices depend on the order in which it read the candidates.

    share(judge, responder) = rows on which the judge chose the responder / rows with a verdict

A tie is a verdict, so shares may sum to less than one; a verdict that failed is none. Of position:

- *first position*: share of choices for the candidate read first; by chance 1 / candidates.
- *earlier copy*: where m candidates say word for word the same (blanks aside) and the judge chose
  one of them, the share that chose the one read first; by chance 1 / m. Nothing but the position
  tells the copies apart.
- *changed with the order*: of items that a judge read in several orders, the share on which its
  choice did not survive them.

Self-preference or position? A judge that picks whatever it reads first picks itself as often as it
is read first: by one order an item, drawn at random, 1 / candidates; by all cyclic orders never. A
judge that picks itself for being itself keeps its share under both. So `by_orders` measures each
judge twice, by one drawn order and by all of them.

Intervals of shares are Wilson's, with the effective number of rows (`selfpref.statistics.shares`).
"""

import dataclasses
from collections import Counter
from collections.abc import Iterator

import pandas as pd

from selfpref.statistics.shares import share_interval
from selfpref.studies.livebench.measure.panel import ALL, VOTE, Panel, candidates, scopes
from selfpref.studies.livebench.measure.self_preference import paired

SHARES = ["category", "task", "judge", "responder", "share", "lo", "hi", "n"]
POSITION = ["category", "judge", "quantity", "share", "lo", "hi", "n", "items", "chance"]
FIRST, CHANGED = "first position", "changed with the order"
ONE, EVERY = "one drawn order", "all orders"
ORDERS = [
    *("judge", "orders", "own", "own_lo", "own_hi", "excess", "excess_lo", "excess_hi"),
    *("first", "first_lo", "first_hi", "n"),
]


def preference_shares(panel: Panel) -> pd.DataFrame:
    """The shares of every judge, by category and task, in the columns `SHARES`."""
    rows = []
    for category, task, part in scopes(panel.choices):
        for judge, own in part.groupby("judge", sort=True):
            names = candidates(own)
            valid = own[own["choice"].notna()]
            for name in names:
                chosen = valid["choice"].eq(name).astype(float)
                one = share_interval(chosen, valid["cluster"], panel.bootstrap.level)
                rows.append((category, task, judge, name, one.value, one.lo, one.hi, len(valid)))
    return pd.DataFrame(rows, columns=SHARES)


def outcomes(panel: Panel) -> pd.DataFrame:
    """What every row of every judge came to: `category, task, judge, outcome, n`."""
    rows = [
        (category, task, *names, count)
        for category, task, part in scopes(panel.choices)
        for names, count in part.groupby(["judge", "outcome"]).size().items()
    ]
    return pd.DataFrame(rows, columns=["category", "task", "judge", "outcome", "n"])


def _readings(panel: Panel) -> pd.DataFrame:
    """One row a verdict with a known order: what was chosen, and how many copies it has.

    Returns:
        `decided` (a candidate was chosen), `chance` of the first one, `first` (it was chosen),
        `identical` (how many candidates say the same, at most), `copies` (of the chosen one, itself
        among them) and `earlier` (it was the first of these); counts of one are 0.
    """
    responses = panel.tables["responses"]
    used = responses[responses["step"].eq(0) & responses["sample"].eq(0)]
    keys = zip(used["item_id"], used["responder"], strict=True)
    texts = {key: " ".join(text.split()) for key, text in zip(keys, used["text"], strict=True)}
    rows = panel.verdicts
    rows = rows[rows["variant"].eq(VOTE) & rows["order_known"] & rows["status"].eq("ok")]
    found = []
    for row in rows.itertuples():
        said = [texts.get((row.item_id, name), f"\0{name}") for name in row.candidates]
        same = Counter(said)
        decided = row.choice in row.candidates
        place = row.candidates.index(row.choice) if decided else 0
        copies = same[said[place]] if decided else 0
        most = max(same.values())
        earlier = decided and said.index(said[place]) == place
        of_copies = (most if most > 1 else 0, copies if copies > 1 else 0, float(earlier))
        found.append((decided, 1 / len(said), float(decided and place == 0), *of_copies))
    columns = ["decided", "chance", "first", "identical", "copies", "earlier"]
    read = pd.DataFrame(found, columns=columns, index=rows.index)
    return rows[["category", "judge", "item_id", "cluster"]].join(read)


def _changed(panel: Panel) -> pd.DataFrame:
    """One row an item that a judge read in several orders: whether its choice is `unstable`."""
    votes = panel.verdicts[panel.verdicts["variant"].eq(VOTE)]
    orders = votes.assign(order=votes["candidates"].map(tuple)).groupby(["item_id", "judge"])
    several = orders["order"].nunique().gt(1).rename("several").reset_index()
    rows = panel.choices.merge(several, on=["item_id", "judge"])
    rows = rows[rows["several"] & rows["choice"].notna()]
    return rows.assign(unstable=rows["outcome"].eq("unstable").astype(float))


def position(panel: Panel) -> pd.DataFrame:
    """Every quantity by category and judge, and over all categories, in the columns `POSITION`.

    `n` counts verdicts, `items` the items that they are about (for copies: all with so many).
    """
    read, changed = _readings(panel), _changed(panel)

    def measured(
        part: pd.DataFrame, value: str, quantity: str, items: int, chance: float
    ) -> tuple[object, ...]:
        category, judge = part["category"].iloc[0], part["judge"].iloc[0]
        one = share_interval(part[value], part["cluster"], panel.bootstrap.level)
        share = (one.value, one.lo, one.hi)
        return category, judge, quantity, *share, len(part), items, chance

    def rows(scope: dict[str, str]) -> Iterator[tuple[object, ...]]:
        for _, part in read.assign(**scope).groupby(["category", "judge"], sort=True):
            decided = part[part["decided"]]
            if len(decided):
                items, chance = decided["item_id"].nunique(), float(decided["chance"].mean())
                yield measured(decided, "first", FIRST, items, chance)
            for number, copies in part[part["copies"].gt(0)].groupby("copies", sort=True):
                items = part.loc[part["identical"].eq(number), "item_id"].nunique()
                name = f"earliest of {number} copies"
                yield measured(copies, "earlier", name, items, 1 / int(number))
        for _, part in changed.assign(**scope).groupby(["category", "judge"], sort=True):
            yield measured(part, "unstable", CHANGED, len(part), 0.0)

    return pd.DataFrame([*rows({}), *rows({"category": ALL})], columns=POSITION)


def by_orders(panel: Panel) -> pd.DataFrame:
    """Each judge by one drawn order and by all orders, over all categories.

    Returns:
        The columns `ORDERS`: share of items on which the judge chose itself (`own`), its excess
        over the other judges (`self_preference`), and its share of choices, verdict by verdict, for
        the response read first. A source with one order an item has no rows.
    """
    verdicts = panel.tables["verdicts"]
    votes = verdicts["variant"].eq(VOTE)
    # The orders of an item are numbered, the drawn one 0.
    if not (votes & verdicts["repeat"].gt(0)).any():
        return pd.DataFrame(columns=ORDERS)
    drawn = {**panel.tables, "verdicts": verdicts[~votes | verdicts["repeat"].eq(0)]}
    rows = []
    for orders, one in ((ONE, dataclasses.replace(panel, tables=drawn)), (EVERY, panel)):
        places = position(one)
        places = places[places["quantity"].eq(FIRST) & places["category"].eq(ALL)]
        first = places.set_index("judge")[["share", "lo", "hi"]]
        first.columns = pd.Index(["first", "first_lo", "first_hi"])
        for judge in sorted(set(one.judges) & set(one.responders)):
            pairs = paired(one.choices, judge)
            gap = pairs["own"] - pairs["others"]
            row: dict[str, object] = {"judge": judge, "orders": orders, "n": len(pairs)}
            own = share_interval(pairs["own"], pairs["cluster"], one.bootstrap.level)
            beyond = one.bootstrap.mean(gap, pairs["cluster"], "excess", orders, judge)
            row |= own.columns("own") | beyond.columns("excess")
            rows.append(row | first.reindex([judge]).iloc[0].to_dict())
    return pd.DataFrame(rows, columns=ORDERS)
