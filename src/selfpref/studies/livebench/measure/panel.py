"""The panel: whom each judge chose on every item, from all orders in which it read the responses.

A judge's choice on an item counts if it survives the orders in which it read the candidates: within
an order the most frequent choice over repeats, and over orders one and the same. Otherwise the item
is a tie of this judge (`unstable` where the orders disagree). A verdict whose status is not ok
leaves the judge without a choice on that item. Any number of judges, candidates and orders.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.tables.schemas import TIE

STUDY = "livebench"
# The variants of a verdict: a judge's vote, and the tie-breaker's call in two readings.
VOTE, BREAK, RELEASED = "plain", "tie-break", "tie-break-released"
# A category as a whole, and all categories together.
ALL = "all"
# Candidates as presented, choice, status.
Verdict = tuple[tuple[str, ...], str | None, str]
CHOICES = ["item_id", "category", "task", "cluster", "judge", "candidates", "choice", "outcome"]


@dataclass(frozen=True)
class Settings:
    """How objective scores are compared, and how intervals are made.

    Attributes:
        margin: Two objective scores (0..1) within this are equal.
        few: Cells with fewer rows than this are drawn hollow.
        bootstrap: Of clusters.
    """

    margin: float
    few: int
    bootstrap: ClusterBootstrap


def most_frequent(choices: Sequence[str]) -> str:
    """The choice that occurs most often, a tie where two do."""
    counted = Counter(choices).most_common(2)
    return TIE if len(counted) == 2 and counted[0][1] == counted[1][1] else counted[0][0]


def settle(verdicts: Iterable[Verdict]) -> tuple[str | None, str]:
    """One judge's choice on one item, from all orders and repeats.

    Args:
        verdicts: Candidates in presented order, choice (None unless ok) and status of each.

    Returns:
        The choice (a responder, `tie` or None) and the outcome: `chosen`, `tie`, `unstable` or the
        status of the first verdict that failed.
    """
    orders: dict[tuple[str, ...], list[str]] = {}
    for candidates, choice, status in verdicts:
        if choice is None:
            return None, status
        orders.setdefault(candidates, []).append(choice)
    settled = {most_frequent(choices) for choices in orders.values()}
    if len(settled) > 1:
        return TIE, "unstable"
    (choice,) = settled
    return choice, "tie" if choice == TIE else "chosen"


@dataclass(frozen=True)
class Panel:
    """The tables of the study with what every frame reads of them."""

    tables: Mapping[str, pd.DataFrame]
    settings: Settings

    @cached_property
    def items(self) -> pd.DataFrame:
        """`item_id, cluster, category, task` of every item; without a task, the category is it."""
        items = self.tables["items"]
        tasks = [json.loads(metadata).get("task") for metadata in items["metadata"]]
        category = items["category"].fillna("uncategorised")
        task = pd.Series(tasks, index=items.index, dtype="str").fillna(category)
        return items[["item_id", "cluster"]].assign(category=category, task=task)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """Preferences among candidates, with category, task and cluster."""
        verdicts = self.tables["verdicts"]
        chosen = verdicts[verdicts["task"].eq("preference")].drop(columns="task")
        return chosen.merge(self.items, on="item_id")

    @cached_property
    def choices(self) -> pd.DataFrame:
        """One row an item and judge, in the columns `CHOICES`; candidates sorted."""
        votes = self.verdicts[self.verdicts["variant"].eq(VOTE)]
        readings: dict[tuple[str, ...], list[Verdict]] = {}
        for row in votes.itertuples():
            key = (row.item_id, row.category, row.task, row.cluster, row.judge)
            choice = row.choice if row.status == "ok" else None
            readings.setdefault(key, []).append((tuple(row.candidates), choice, row.status))
        rows = [
            (*key, sorted({name for names, *_ in found for name in names}), *settle(found))
            for key, found in sorted(readings.items())
        ]
        return pd.DataFrame(rows, columns=CHOICES)

    @cached_property
    def responders(self) -> list[str]:
        """Everyone whose response a judge could choose."""
        return candidates(self.choices)

    @cached_property
    def judges(self) -> list[str]:
        """Everyone who votes."""
        return sorted(set(self.choices["judge"]))

    @cached_property
    def bootstrap(self) -> ClusterBootstrap:
        """Intervals, with the study's streams."""
        return self.settings.bootstrap.within(STUDY)


def candidates(choices: pd.DataFrame) -> list[str]:
    """Everyone whose response stood to choice in these rows."""
    return sorted({name for names in choices["candidates"] for name in names})


def scopes(rows: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Each category as a whole (task `all`), then each of its tasks."""
    for category, part in rows.groupby("category", sort=True):
        yield str(category), ALL, part
        for task, one in part.groupby("task", sort=True):
            yield str(category), str(task), one
