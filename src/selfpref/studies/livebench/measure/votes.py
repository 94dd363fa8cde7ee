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

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from selfpref.statistics.scores import Floats
from selfpref.statistics.shares import share_interval
from selfpref.studies.livebench.measure.panel import BREAK, RELEASED, Panel, candidates, scopes
from selfpref.tables.schemas import TIE

RULES = {"released": RELEASED, "corrected": BREAK}
VOTES = ["category", "rule", "responder", "share", "n", "undecided"]
AGREEMENT = [
    *("category", "task", "judges", "kappa", "kappa_lo", "kappa_hi"),
    *("unanimous", "unanimous_lo", "unanimous_hi", "n", "n_dropped"),
]
# How a vote ended.
MAJORITY, BROKEN = "majority", "tie-break"
NO_MAJORITY, NO_DECISION = "no majority", "tie-breaker failed"


def majority(votes: Sequence[str | None]) -> str | None:
    """Who has more than half of the votes, or None.

    Args:
        votes: One choice a judge: a responder, `tie`, or None where there is none.
    """
    counted = Counter(vote for vote in votes if vote is not None and vote != TIE)
    (winner, most), *_ = [*counted.most_common(1), (None, 0)]
    return winner if most > len(votes) // 2 else None


def decide(votes: Sequence[str | None], calls: Sequence[str | None]) -> tuple[str | None, str]:
    """The winner of a vote, and how it ended.

    Args:
        votes: As in `majority`.
        calls: The tie-breaker's choice; empty where it was not asked, None where it failed.
    """
    if (winner := majority(votes)) is not None:
        return winner, MAJORITY
    if not calls:
        return None, NO_MAJORITY
    if calls[0] is None or calls[0] == TIE:
        return None, NO_DECISION
    return calls[0], BROKEN


def _calls(panel: Panel, variant: str) -> dict[str, list[str | None]]:
    """The tie-breaker's choices by item, None where it failed."""
    rows = panel.verdicts[panel.verdicts["variant"].eq(variant)]
    calls: dict[str, list[str | None]] = {}
    for row in rows.itertuples():
        calls.setdefault(row.item_id, []).append(row.choice if row.status == "ok" else None)
    return calls


def tie_breaks(panel: Panel) -> pd.DataFrame:
    """The tie-breaker's calls: what it read, what it chose, and whom the release credited.

    Returns:
        `category, item_id, judge, shown` (responders in the order shown), `chosen` (missing where
        the verdict failed) and `credited` (missing but in a release that has its own reading).
    """
    key = ["category", "item_id", "judge"]
    usable = panel.verdicts["status"].eq("ok")
    rows = panel.verdicts.assign(choice=panel.verdicts["choice"].where(usable))
    calls, credited = (rows[rows["variant"].eq(variant)] for variant in (BREAK, RELEASED))
    table = calls.rename(columns={"candidates": "shown", "choice": "chosen"})
    credited = credited.rename(columns={"choice": "credited"})[[*key, "credited"]]
    table = table[[*key, "shown", "chosen"]].merge(credited, on=key, how="left")
    return table.sort_values(key, ignore_index=True)


def _ended(votes: pd.DataFrame, calls: Mapping[str, list[str | None]]) -> pd.DataFrame:
    """`winner` and `outcome` of every item's vote: items in rows, one column a judge."""
    ended = [
        decide([None if pd.isna(vote) else vote for vote in row], calls.get(item, []))
        for (item, _), row in zip(votes.index, votes.to_numpy(), strict=True)
    ]
    found = votes.index.to_frame(index=False)
    return found.assign(winner=[name for name, _ in ended], outcome=[how for _, how in ended])


def majority_votes(panel: Panel) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every rule in every category.

    Returns:
        Shares of all rows in the columns `VOTES` with Wilson's intervals `lo` and `hi`, `undecided`
        counting rows; and how the votes ended: `category, rule, outcome, n`. The rule `released` is
        there if the source has such calls.
    """
    calls = {rule: _calls(panel, variant) for rule, variant in RULES.items()}
    if not calls["released"]:
        del calls["released"]
    shares, ends = [], []
    for category, part in panel.choices.groupby("category", sort=True):
        votes = part.pivot(index=["item_id", "cluster"], columns="judge", values="choice")
        names = candidates(part)
        cast = {rule: _ended(votes, called) for rule, called in calls.items()}
        cast["two-of-three"] = _ended(votes, {})
        polls = [(rule, name, ended) for rule, ended in cast.items() for name in names]
        for name in names:
            without = votes.drop(columns=name, errors="ignore")
            polls.append(("leave-self-out", name, _ended(without, {})))
        for rule, name, ended in polls:
            won = ended["winner"].eq(name)
            one = share_interval(won.astype(float), ended["cluster"], panel.bootstrap.level)
            undecided = int(ended["winner"].isna().sum())
            key = (category, rule, name)
            shares.append((*key, one.value, len(ended), undecided, one.lo, one.hi))
        for rule, ended in cast.items():
            counted = ended.groupby("outcome").size()
            ends += [(category, rule, outcome, count) for outcome, count in counted.items()]
    return (
        pd.DataFrame(shares, columns=[*VOTES, "lo", "hi"]),
        pd.DataFrame(ends, columns=["category", "rule", "outcome", "n"]),
    )


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
    for category, task, part in scopes(panel.choices):
        judges = part["judge"].nunique()
        wide = part.pivot(index=["item_id", "cluster"], columns="judge", values="choice")
        complete = wide.dropna()
        if judges < 2 or complete.empty:
            continue
        options = sorted(set(complete.to_numpy().ravel()))
        counts = np.stack([complete.eq(name).sum(axis=1) for name in options], axis=-1)
        agreed = (counts * (counts - 1)).sum(axis=1) / (judges * (judges - 1))
        unanimous = (counts == judges).any(axis=1)
        values = np.column_stack([counts, agreed, np.ones(len(counts))])
        clusters = complete.index.to_frame(index=False)["cluster"]
        kappa = panel.bootstrap.estimate(values, clusters, fleiss, "agreement", category, task)
        same = share_interval(unanimous.astype(float), clusters, panel.bootstrap.level)
        row = {"category": category, "task": task, "judges": judges, "n": len(complete)}
        row |= kappa.columns("kappa") | same.columns("unanimous")
        rows.append(row | {"n_dropped": len(wide) - len(complete)})
    return pd.DataFrame(rows, columns=AGREEMENT)
