"""The study "Self-bias in LLM as Judge" on LiveBench: from the tables to the plotted numbers.

Judges choose among the responses of all candidates and rate each by a rubric; a judge's own
responses are those of the responder of the same name. `panel` says what counts as a choice; the
frames are computed in `preferences`, `self_preference`, `ratings`, `votes` and `checks`.
"""

import json
from collections.abc import Mapping

import pandas as pd

from selfpref.studies.livebench.measure.checks import checks
from selfpref.studies.livebench.measure.panel import Panel, Settings, scopes
from selfpref.studies.livebench.measure.preferences import (
    by_orders,
    outcomes,
    position,
    preference_shares,
)
from selfpref.studies.livebench.measure.ratings import scores
from selfpref.studies.livebench.measure.self_preference import excess, objective, true_scores
from selfpref.studies.livebench.measure.votes import (
    VOTES,
    agreement,
    majority_votes,
    tie_breaks,
)

__all__ = ["TABLES", "Settings", "compute"]

ITEMS = ["category", "task", "items", "clusters", "keyed", "failed"]
TABLES = ("items", "responses", "truths", "verdicts", "ratings", "audit")


def counted(panel: Panel) -> pd.DataFrame:
    """How much data there is: `category, task, items, clusters, keyed, failed`.

    `keyed` are items with objective scores, `failed` ratings without a total.
    """
    keyed = set(panel.tables["truths"]["item_id"])
    ratings = panel.tables["ratings"]
    failed = ratings[ratings["status"].ne("ok")].groupby("item_id").size()
    rows = [
        {
            "category": category,
            "task": task,
            "items": len(part),
            "clusters": part["cluster"].nunique(),
            "keyed": int(part["item_id"].isin(keyed).sum()),
            "failed": int(failed.reindex(part["item_id"]).fillna(0).sum()),
        }
        for category, task, part in scopes(panel.items)
    ]
    return pd.DataFrame(rows, columns=ITEMS)


def models(panel: Panel) -> pd.DataFrame:
    """Which model answered under each name: `category, responder, model`, where it is told."""
    items = panel.tables["items"]
    named = {
        (category, responder, model)
        for category, metadata in zip(items["category"], items["metadata"], strict=True)
        for responder, model in json.loads(metadata).get("models", {}).items()
    }
    return pd.DataFrame(sorted(named), columns=["category", "responder", "model"])


def compute(
    tables: Mapping[str, pd.DataFrame], published: pd.DataFrame, settings: Settings
) -> dict[str, pd.DataFrame]:
    """Every frame of the study, by name.

    Args:
        tables: Those of `TABLES`.
        published: What the release prints, data/published/livebench.csv.
        settings: Margin of objective scores, intervals, seed.
    """
    panel = Panel(tables, settings)
    votes, ends = majority_votes(panel)
    frames = {
        "items": counted(panel),
        "models": models(panel),
        "preference_shares": preference_shares(panel),
        "outcomes": outcomes(panel),
        "choices": panel.choices,
        "tie_breaks": tie_breaks(panel),
        "majority_vote": votes[VOTES],
        "vote_intervals": votes,
        "vote_outcomes": ends,
        "excess": excess(panel),
        "scores": scores(panel),
        "position": position(panel),
        "by_orders": by_orders(panel),
        "true_scores": true_scores(panel),
        "objective": objective(panel),
        "agreement": agreement(panel),
        "audit": tables["audit"].drop(columns="study"),
    }
    return frames | {"checks": checks(frames, published)}
