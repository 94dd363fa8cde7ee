"""Agreement between a judge and human annotators, vote by vote (Zheng et al. 2023, Table 5).

Every annotator's vote on a pair is compared with the judge's outcome of that pair, so a pair with
three votes counts three times. *With ties* all votes count and a tie agrees with a tie; *without
ties* only votes in which both name a response. This is not the agreement with the majority.
"""

import pandas as pd

from selfpref.statistics.scores import PAIR, oriented_votes, turn


def agreement(items: pd.DataFrame, labels: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Agreement by judge, kind of annotator, turn and treatment of ties.

    Args:
        items: The items table; an item's metadata may hold `turn`.
        labels: The labels table; the kind of an annotator is what stands before `_` in its name.
        pairs: As `judged_pairs` returns them.

    Returns:
        `judge, annotators, turn, ties` (`with`, `without`), `n, agreement`.
    """
    turns = items[["item_id"]].assign(turn=turn(items))
    decided = pairs.loc[pairs["decision"].notna(), [*PAIR, "judge", "decision"]]
    judged = decided.merge(turns, on="item_id")
    votes = oriented_votes(labels)
    votes["annotators"] = votes["annotator"].str.partition("_")[0]
    both = votes.merge(judged, on=PAIR)
    both["agreement"] = both["vote"].eq(both["decision"])
    decided = both[both["vote"].ne(0.5) & both["decision"].ne(0.5)]
    parts = [
        rows.groupby(["judge", "annotators", "turn"])["agreement"]
        .agg(["size", "mean"])
        .rename(columns={"size": "n", "mean": "agreement"})
        .reset_index()
        .assign(ties=ties)
        for ties, rows in (("with", both), ("without", decided))
    ]
    columns = ["judge", "annotators", "turn", "ties", "n", "agreement"]
    return pd.concat(parts)[columns].sort_values(columns[:4]).reset_index(drop=True)


def win_rates(pairs: pd.DataFrame) -> pd.DataFrame:
    """Each responder's share of wins, a tie counting half, by judge and by the human majority.

    Args:
        pairs: As `judged_pairs` returns them; pairs without a human vote are left out.

    Returns:
        `judge, responder, n, win_rate, human_win_rate`. The judge's wins are mean scores (Eq. 3),
        not decisions.
    """
    known = pairs[pairs["human"].notna() & pairs["score"].notna()]
    sides = [known.assign(responder=known["first"])]
    turned = {name: 1 - known[name] for name in ("human", "score")}
    sides.append(known.assign(responder=known["second"], **turned))
    return (
        pd.concat(sides)
        .groupby(["judge", "responder"])
        .agg(n=("score", "size"), win_rate=("score", "mean"), human_win_rate=("human", "mean"))
        .reset_index()
    )
