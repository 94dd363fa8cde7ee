"""The study "Self-bias in LLM as Judge" on LiveBench: from the tables to the plotted numbers.

Judges choose among the responses of all candidates and rate each by a rubric; a judge's own
responses are those of the responder of the same name. Any number of judges and candidates, any
orders: see `selfpref.studies.livebench.measure.panel`.
"""

import json
from collections.abc import Mapping

import pandas as pd

from selfpref.studies.livebench.measure.claims import claims
from selfpref.studies.livebench.measure.consensus import agreement
from selfpref.studies.livebench.measure.objective import objective, true_scores
from selfpref.studies.livebench.measure.orders import by_orders
from selfpref.studies.livebench.measure.panel import Panel, Settings, scopes
from selfpref.studies.livebench.measure.position import position
from selfpref.studies.livebench.measure.preferences import outcomes, preference_shares
from selfpref.studies.livebench.measure.ratings import score_ranks, scores, stated_totals
from selfpref.studies.livebench.measure.self_preference import excess
from selfpref.studies.livebench.measure.votes import VOTES, majority_votes

__all__ = ["TABLES", "Settings", "compute"]

Frames = dict[str, pd.DataFrame]
TABLES = ("items", "responses", "truths", "verdicts", "ratings", "audit")
CHECKS = ["item", "category", "task", "judge", "responder", "published", "recomputed", "difference"]


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
    return pd.DataFrame(rows)


def models(panel: Panel) -> pd.DataFrame:
    """Which model answered under each name: `category, responder, model`, where it is told."""
    items = panel.tables["items"]
    named = {
        (category, responder, model)
        for category, metadata in zip(items["category"], items["metadata"], strict=True)
        for responder, model in json.loads(metadata).get("models", {}).items()
    }
    return pd.DataFrame(sorted(named), columns=["category", "responder", "model"])


def checks(frames: Frames, published: pd.DataFrame) -> pd.DataFrame:
    """The percentages that the release prints beside the recomputed ones, in the columns `CHECKS`.

    Differences are in points; a printed percentage is rounded to a tenth.
    """
    key = ["category", "task", "judge", "responder"]
    votes = frames["majority_vote"].query("rule == 'released'").assign(task="all", judge="")
    sources = {"share": frames["preference_shares"], "vote": votes}
    printed = published.assign(judge=published["judge"].fillna(""))
    parts = [
        printed[printed["item"].eq(item)].merge(found[[*key, "share"]], on=key)
        for item, found in sources.items()
    ]
    table = pd.concat(parts, ignore_index=True).rename(columns={"value": "published"})
    table["recomputed"] = 100 * table["share"]
    table["difference"] = table["recomputed"] - table["published"]
    return table[CHECKS]


def compute(
    tables: Mapping[str, pd.DataFrame], published: pd.DataFrame, settings: Settings
) -> Frames:
    """Every frame of the study.

    Args:
        tables: Those of `TABLES`.
        published: What the release prints and claims, data/published/livebench.csv.
        settings: Margin of objective scores, intervals, seed.

    Returns:
        `items`, `models`, `preference_shares`, `outcomes`, `majority_vote`, `vote_intervals`,
        `vote_outcomes`, `excess`, `scores`, `score_ranks`, `stated_totals`, `position`,
        `by_orders`, `true_scores`, `objective`, `agreement`, `claims`, `checks` and `audit`.
    """
    panel = Panel(tables, settings)
    votes, ends = majority_votes(panel)
    frames = {
        "items": counted(panel),
        "models": models(panel),
        "preference_shares": preference_shares(panel),
        "outcomes": outcomes(panel),
        "majority_vote": votes[VOTES],
        "vote_intervals": votes,
        "vote_outcomes": ends,
        "excess": excess(panel),
        "scores": scores(panel),
        "score_ranks": score_ranks(panel),
        "stated_totals": stated_totals(panel),
        "position": position(panel),
        "by_orders": by_orders(panel),
        "true_scores": true_scores(panel),
        "objective": objective(panel),
        "agreement": agreement(panel),
    }
    frames["claims"] = claims(frames, published)
    frames["checks"] = checks(frames, published)
    frames["audit"] = tables["audit"].drop(columns="study")
    return frames
