"""Majority votes of the judges, with and without a tie-breaker, and how far the judges agree.

A responder wins a vote of m judges with floor(m / 2) + 1 of their choices; a tie, a failed verdict
and a missing one are choices for nobody, and count in m. Four rules:

- `released`: without a majority, whom the release credited after asking its tie-breaker;
- `corrected`: without a majority, whom the tie-breaker chose (its number read in the order shown);
- `two-of-three`: no tie-breaker; a row without a majority is undecided;
- `leave-self-out`: a responder's own judge stays away from the vote on this responder.

Undecided is an outcome of its own, counted, never a win.

Agreement, for rows that all m judges of a category decided, with n_ij choices of option j on row i
(the responders, and a tie as an option of its own), is Fleiss' kappa:

    P_i = sum_j n_ij (n_ij - 1) / (m (m - 1))        P_e = sum_j (share of option j)^2
    kappa = (mean P_i - P_e) / (1 - P_e)                               (Fleiss 1971)

1 for unanimity and 0 for independent judges with these shares of options.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import Floats, bounded, share_interval
from selfpref.studies.livebench.panel import BREAK, PLACE, RELEASED, Panel, in_order, with_all
from selfpref.tables.schemas import TIE

# By rule, whose calls end what has no majority.
CALLS = {"released": RELEASED, "corrected": BREAK}
ALONE, WITHOUT = "two-of-three", "leave-self-out"
VOTES = ["category", "rule", "responder", "share", "n", "undecided", "lo", "hi"]
ENDS = ["category", "rule", "outcome", "n"]
AGREEMENT = [*PLACE, "judges", *bounded("kappa", "unanimous"), "n", "n_dropped"]
# How a vote ended.
MAJORITY, BROKEN = "majority", "tie-break"
NO_MAJORITY, NO_DECISION = "no majority", "tie-breaker failed"
# Where no tie-breaker is asked.
NOBODY = pd.Series(dtype="str")


def ended(votes: pd.DataFrame, calls: "pd.Series[str]") -> pd.DataFrame:
    """Who wins each item's vote, and how it ended.

    Args:
        votes: A row an item, a column a judge: a responder, `tie`, or missing.
        calls: By item the tie-breaker's choice where it was asked, missing where it failed.

    Returns:
        By item `winner` (missing: undecided) and `outcome`.
    """
    alike = votes.apply(lambda choice: votes.eq(choice, axis="index").sum(axis=1))
    most = votes.where(votes.ne(TIE) & alike.gt(votes.shape[1] / 2))
    winner = most.stack().groupby(level=0).first().reindex(votes.index)
    chosen = calls.where(calls.ne(TIE)).reindex(votes.index)
    how = [winner.notna(), ~votes.index.isin(calls.index), chosen.isna()]
    outcome = np.select(how, [MAJORITY, NO_MAJORITY, NO_DECISION], BROKEN)
    return pd.DataFrame({"winner": winner.fillna(chosen), "outcome": outcome})


def by_category(choices: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """The items of each category with candidates (`category, cluster`), and their votes.

    Args:
        choices: As `panel.settled` returns them.
    """
    for _, part in choices.groupby("category"):
        items = part.drop_duplicates("item_id").set_index("item_id")
        yield items, part.pivot(index="item_id", columns="judge", values="choice")


def _calls(panel: Panel) -> pd.DataFrame:
    """The tie-breaker's verdicts in both readings, `choice` missing where one failed."""
    rows = panel.verdicts[panel.verdicts["variant"].isin([*CALLS.values()])]
    return rows.assign(choice=rows["choice"].where(rows["status"].eq("ok")))


def _cast(panel: Panel) -> Iterator[pd.DataFrame]:
    """A vote on each responder of each item, by category and rule.

    Yields:
        Rows `item_id, category, cluster, rule, responder, winner, outcome`.
    """
    every = _calls(panel).drop_duplicates(["item_id", "variant"]).set_index("item_id")
    calls = {rule: every["choice"][every["variant"].eq(of)] for rule, of in CALLS.items()}
    # Only a release has a reading of its own.
    rules = {rule: call for rule, call in calls.items() if rule != "released" or len(call)}
    for items, votes in by_category(panel.choices):
        for name in sorted({name for some in items["candidates"] for name in some}):
            polls = {rule: (votes, call) for rule, call in (rules | {ALONE: NOBODY}).items()}
            polls[WITHOUT] = votes.drop(columns=name, errors="ignore"), NOBODY
            for rule, poll in polls.items():
                end = items[["category", "cluster"]].join(ended(*poll))
                yield end.assign(rule=rule, responder=name).reset_index()


def majority_votes(panel: Panel) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every rule in every category.

    Returns:
        Shares of all rows in the columns `VOTES`, `undecided` counting rows; and how the votes
        ended: `category, rule, outcome, n`. The rule `released` is there if the source has such
        calls.
    """
    if panel.choices.empty:
        return pd.DataFrame(columns=VOTES), pd.DataFrame(columns=ENDS)
    cast = pd.concat(_cast(panel), ignore_index=True)
    cast["rule"] = pd.Categorical(cast["rule"], [*CALLS, ALONE, WITHOUT])
    cast["won"] = cast["winner"].eq(cast["responder"]).astype(float)
    cast["open"] = cast["winner"].isna()
    table = panel.shares(cast, VOTES[:3], "won")
    table["undecided"] = cast.groupby(VOTES[:3], observed=True)["open"].sum().to_numpy()
    whole = cast[cast["rule"].ne(WITHOUT)].drop_duplicates(["item_id", "rule"])
    ends = whole.groupby(ENDS[:3], observed=True).size().reset_index(name="n")
    return table[VOTES], ends.astype({"rule": "str"})


def tie_breaks(panel: Panel) -> pd.DataFrame:
    """The tie-breaker's calls: what it read, what it chose, and whom the release credited.

    Returns:
        `category, item_id, judge, shown` (responders in the order shown), `chosen` (missing where
        the verdict failed) and `credited` (missing but in a release that has its own reading).
    """
    key, rows = ["category", "item_id", "judge"], _calls(panel)
    calls, credited = (rows[rows["variant"].eq(variant)] for variant in (BREAK, RELEASED))
    table = calls.rename(columns={"candidates": "shown", "choice": "chosen"})
    credited = credited.rename(columns={"choice": "credited"})[[*key, "credited"]]
    table = table[[*key, "shown", "chosen"]].merge(credited, on=key, how="left")
    return table.sort_values(key, ignore_index=True)


def fleiss(totals: Floats) -> Floats:
    """From sums over rows to kappa.

    Args:
        totals: `[..., options + 2]`: choices of each option, sum of P_i, rows.

    Returns:
        `[...]`; NaN where all choices are of one option.
    """
    options, (agreed, rows) = totals[..., :-2], np.moveaxis(totals[..., -2:], -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = options / options.sum(axis=-1, keepdims=True)
        chance = (parts**2).sum(axis=-1)
        kappa: Floats = np.where(chance < 1, (agreed / rows - chance) / (1 - chance), np.nan)
    return kappa


def agreement(panel: Panel) -> pd.DataFrame:
    """Kappa and unanimity by category and task, in the columns `AGREEMENT`.

    The interval of the share of unanimous rows is Wilson's.
    """
    rows = []
    for key, part in with_all(panel.choices, "task").groupby(PLACE):
        wide = part.pivot(index=["item_id", "cluster"], columns="judge", values="choice")
        complete, judges = wide.dropna(), wide.shape[1]
        if judges < 2 or complete.empty:
            continue
        counts = pd.get_dummies(complete.stack()).groupby(level=["item_id", "cluster"]).sum()
        agreed = (counts * (counts - 1)).sum(axis=1) / (judges * (judges - 1))
        clusters = counts.index.get_level_values("cluster")
        values = counts.assign(agreed=agreed, rows=1.0)
        kappa = panel.bootstrap.estimate(values, clusters, fleiss, "agreement", *map(str, key))
        same = share_interval(agreed.eq(1).astype(float), clusters, panel.bootstrap.level)
        row = dict(zip(PLACE, key, strict=True)) | {"judges": judges, "n": len(complete)}
        row |= kappa.columns("kappa") | same.columns("unanimous")
        rows.append(row | {"n_dropped": len(wide) - len(complete)})
    return in_order(pd.DataFrame(rows, columns=AGREEMENT))
