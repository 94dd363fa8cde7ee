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

from selfpref.metrics.livebench.panel import BREAK, RELEASED, Panel
from selfpref.schemas import TIE

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
    """The tie-breaker's choices by item; none where its rows are not ok."""
    rows = panel.verdicts[panel.verdicts["variant"].eq(variant)]
    known = rows["choice"].where(rows["status"].eq("ok"))
    calls: dict[str, list[str | None]] = {}
    for item, choice in zip(rows["item_id"], known, strict=True):
        calls.setdefault(item, []).append(None if pd.isna(choice) else choice)
    return calls


def _ballots(panel: Panel) -> dict[str, dict[str, dict[str, str | None]]]:
    """By category and item, each judge's choice; every judge of the category is there."""
    choices = panel.choices
    ballots: dict[str, dict[str, dict[str, str | None]]] = {}
    for category, part in choices.groupby("category", sort=True):
        wide = part.pivot(index="item_id", columns="judge", values="choice").astype(object)
        wide = wide.where(wide.notna(), None)
        ballots[str(category)] = {item: dict(row) for item, row in wide.iterrows()}
    return ballots


def _ended(
    ballots: Mapping[str, Mapping[str, str | None]], calls: Mapping[str, list[str | None]]
) -> pd.DataFrame:
    """Winner and outcome of every item's vote."""
    ended = [decide(list(ballot.values()), calls.get(item, [])) for item, ballot in ballots.items()]
    return pd.DataFrame(ended, columns=["winner", "outcome"])


def majority_votes(panel: Panel) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every rule in every category.

    Returns:
        Shares of all rows in the columns `VOTES`, `undecided` counting rows; and how the votes
        ended: `category, rule, outcome, n`. `released` is there if the source has such calls.
    """
    calls = {rule: _calls(panel, variant) for rule, variant in RULES.items()}
    calls["two-of-three"] = {}
    if not calls["released"]:
        del calls["released"]
    shares, ends = [], []
    for category, ballots in _ballots(panel).items():
        n = len(ballots)
        responders = _contestants(panel, category)
        for rule, called in calls.items():
            ended = _ended(ballots, called)
            undecided = int(ended["winner"].isna().sum())
            for name in responders:
                share = float(ended["winner"].eq(name).mean())
                shares.append((category, rule, name, share, n, undecided))
            counted = ended.groupby("outcome").size()
            ends += [(category, rule, outcome, count) for outcome, count in counted.items()]
        for name in responders:
            others = {
                item: {judge: vote for judge, vote in ballot.items() if judge != name}
                for item, ballot in ballots.items()
            }
            winners = _ended(others, {})["winner"]
            undecided = int(winners.isna().sum())
            share = float(winners.eq(name).mean())
            shares.append((category, "leave-self-out", name, share, n, undecided))
    return (
        pd.DataFrame(shares, columns=VOTES),
        pd.DataFrame(ends, columns=["category", "rule", "outcome", "n"]),
    )


def _contestants(panel: Panel, category: str) -> list[str]:
    candidates = panel.choices.loc[panel.choices["category"].eq(category), "candidates"]
    return sorted({name for names in candidates for name in names})
