"""Data sets of judged pairs, written by hand."""

import itertools
import json
from dataclasses import replace

import pandas as pd
from conftest import SETTINGS, counted

from selfpref import tables
from selfpref.statistics.judged import Judged

METADATA = json.dumps({"held_out": False, "turn": 1})


def data_set(name="set", votes=(), verdicts=(), changed=None, metadata=None, **more):
    """One data set, of rows whose first field is the number of an item; each is a cluster.

    Args:
        name: Its name.
        votes: (item, a, b, whose response is better or `tie`, annotator if there are several).
        verdicts: (item, judge, first read, second read, choice); None is an answer without verdict.
        changed: What differs from `SETTINGS`.
        metadata: Of items, by number.
        more: Rows of other tables as mappings, with `item`.
    """
    rows = {
        "labels": [
            {"item": item, "responder_a": a, "responder_b": b, "annotator": "".join(who) or "human"}
            | {"label": {a: "a", b: "b"}.get(label, label)}
            for item, a, b, label, *who in votes
        ],
        "verdicts": [
            {"item": item, "judge": judge, "candidates": [a, b], "choice": choice}
            | {"status": "ok" if choice else "unparsable", "order_known": True}
            for item, judge, a, b, choice in verdicts
        ],
        **more,
    }
    known = sorted({row["item"] for part in rows.values() for row in part})
    rows["items"] = [
        {"item": item, "cluster": f"{name}/{item}", "messages": []}
        | {"metadata": (metadata or {}).get(item, METADATA)}
        for item in known
    ]
    made = {table: tables.empty(table) for table in tables.TABLES}
    for table, lines in rows.items():
        if lines:
            whole = [{**row, "item_id": f"{name}/{row['item']}"} for row in lines]
            frame = pd.DataFrame(whole).drop(columns="item")
            made[table] = tables.fill(frame, table, study="wataoka")
    made["responses"] = counted(made["responses"])
    return Judged(name, made, replace(SETTINGS, **(changed or {})))


def by_chance(rng, names, judges, items, changed=None):
    """Three votes by chance on each pair of these names, and the first judges' verdicts on both."""
    votes, verdicts = [], []
    for item, pair in itertools.product(range(items), itertools.combinations(names, 2)):
        votes += [(item, *pair, str(rng.choice([*pair, "tie"])), who) for who in "pqr"]
        for judge, order in itertools.product(names[:judges], (pair, pair[::-1])):
            choice = str(rng.choice([*order, "tie"], p=[0.5, 0.4, 0.1]))
            verdicts.append((item, judge, *order, choice))
    return data_set("set", votes, verdicts, changed)


def said(judge, other, cells, start=0):
    """Votes, and verdicts in both orders, that make these counts of tp, fn, fp and tn."""
    sides = itertools.product((judge, other), repeat=2)
    pairs = [side for side, n in zip(sides, cells, strict=True) for _ in range(n)]
    numbered = list(enumerate(pairs, start))
    votes = [(item, judge, other, human) for item, (human, _) in numbered]
    orders = ((judge, other), (other, judge))
    return votes, [(item, judge, *o, choice) for item, (_, choice) in numbered for o in orders]
