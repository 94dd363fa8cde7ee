"""Majority votes of the judges, with and without a tie-breaker.

A responder wins a vote of m judges with floor(m / 2) + 1 of their choices; a tie, a failed verdict
and a missing one are choices for nobody, and count in m. Four rules:

- `released`: without a majority, whom the release credited after asking its tie-breaker;
- `corrected`: without a majority, whom the tie-breaker chose (its number read in the order shown);
- `two-of-three`: no tie-breaker; a row without a majority is undecided;
- `leave-self-out`: each contestant's own judge stays away from the vote on this contestant.

Undecided is an outcome of its own, counted, never a win.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

from selfpref.studies.livebench.measure.panel import BREAK, RELEASED, Panel
from selfpref.tables.schemas import TIE

RULES = {"released": RELEASED, "corrected": BREAK}
VOTES = ["category", "rule", "responder", "share", "n", "undecided"]
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


def _ended(votes: pd.DataFrame, calls: Mapping[str, list[str | None]]) -> pd.DataFrame:
    """Winner and outcome of every item's vote.

    Args:
        votes: Items as `[item_id, cluster]` in the index, one column a judge; null is no choice.
        calls: The tie-breaker's choices by item.
    """
    ended = [
        decide([None if pd.isna(vote) else vote for vote in row], calls.get(item, []))
        for (item, _), row in zip(votes.index, votes.to_numpy(), strict=True)
    ]
    found = votes.index.to_frame(index=False)
    return found.assign(winner=[name for name, _ in ended], outcome=[how for _, how in ended])


def majority_votes(panel: Panel) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every rule in every category.

    Returns:
        Shares of all rows in the columns `VOTES` with intervals `lo` and `hi`, `undecided` counting
        rows; and how the votes ended: `category, rule, outcome, n`. The rule `released` is there if
        the source has such calls.
    """
    calls = {rule: _calls(panel, variant) for rule, variant in RULES.items()}
    calls["two-of-three"] = {}
    if not calls["released"]:
        del calls["released"]
    shares, ends = [], []
    for category, part in panel.choices.groupby("category", sort=True):
        votes = part.pivot(index=["item_id", "cluster"], columns="judge", values="choice")
        contestants = sorted({name for names in part["candidates"] for name in names})
        cast = {rule: _ended(votes, called) for rule, called in calls.items()}
        for rule, ended in cast.items():
            shares += [_share(panel, str(category), rule, name, ended) for name in contestants]
            counted = ended.groupby("outcome").size()
            ends += [(category, rule, outcome, count) for outcome, count in counted.items()]
        for name in contestants:
            without = _ended(votes.drop(columns=name, errors="ignore"), {})
            shares.append(_share(panel, str(category), "leave-self-out", name, without))
    return (
        pd.DataFrame(shares, columns=[*VOTES, "lo", "hi"]),
        pd.DataFrame(ends, columns=["category", "rule", "outcome", "n"]),
    )


def _share(
    panel: Panel, category: str, rule: str, name: str, ended: pd.DataFrame
) -> tuple[str | float, ...]:
    won = panel.mean(ended["winner"].eq(name), ended["cluster"], "vote", category, rule, name)
    undecided = int(ended["winner"].isna().sum())
    return category, rule, name, won.value, len(ended), undecided, won.lo, won.hi
