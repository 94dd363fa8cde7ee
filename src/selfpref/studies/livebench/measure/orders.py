"""Self-preference or position: the same judges by one drawn order, and by all their orders.

A judge that picks whatever stands first picks itself as often as it stands first. By one order an
item, drawn at random, that is 1 / candidates, and its excess over the others is their own share
taken from that. By all cyclic orders its choice never survives: it picks nobody. A judge that picks
itself for being itself keeps its share under both. Hence, over all categories:

- *own*: share of items on which the judge's choice is its own response;
- *excess*: as in `self_preference`;
- *first*: share of its choices, verdict by verdict, for the response read first.
"""

import dataclasses

import pandas as pd

from selfpref.statistics.bootstrap import bounds
from selfpref.studies.livebench.measure.panel import ALL, VOTE, Panel
from selfpref.studies.livebench.measure.position import FIRST, position
from selfpref.studies.livebench.measure.self_preference import paired

ONE, EVERY = "one drawn order", "all orders"
ORDERS = [
    *("judge", "orders", "own", "own_lo", "own_hi", "excess", "excess_lo", "excess_hi"),
    *("first", "first_lo", "first_hi", "n"),
]


def by_orders(panel: Panel) -> pd.DataFrame:
    """Own share, excess and leaning to the first place, in the columns `ORDERS`.

    A source with one order an item has no rows.
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
        for judge in sorted(set(one.judges) & set(one.responders)):
            pairs = paired(one.choices, judge)
            own = one.mean(pairs["own"], pairs["cluster"], "own", orders, judge)
            gap = pairs["own"] - pairs["others"]
            row = {"judge": judge, "orders": orders, "n": len(pairs)}
            row |= bounds("own", own)
            row |= bounds("excess", one.mean(gap, pairs["cluster"], "excess", orders, judge))
            first = places[places["judge"].eq(judge)]
            for name, column in (("first", "share"), ("first_lo", "lo"), ("first_hi", "hi")):
                row[name] = first[column].iloc[0] if len(first) else float("nan")
            rows.append(row)
    return pd.DataFrame(rows, columns=ORDERS)
