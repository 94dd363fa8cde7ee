"""Collects what an experiment makes into the tables that every study reads."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from selfpref.models import Likelihood
from selfpref.studies.xu.feedback import Feedback
from selfpref.studies.xu.items import Item
from selfpref.studies.xu.refine.loop import Text
from selfpref.studies.xu.refine.rules import PLAIN
from selfpref.studies.xu.refine.truths import scores
from selfpref.tables.schemas import TABLES

BEST = "best-of-"


def under(condition: str, item_id: str) -> str:
    """The name of an item under a condition; the plain arm is none."""
    return item_id if condition == PLAIN else f"{condition}/{item_id}"


@dataclass(frozen=True)
class Kept:
    """A text that an arm held at a step.

    Attributes:
        item: The item without its condition.
        item_id: Its name under the condition.
        step: The step.
        text: The text.
    """

    item: Item
    item_id: str
    step: int
    text: str


class Rows:
    """The rows of one responder.

    Args:
        study: The study.
        responder: Who wrote the texts.
    """

    def __init__(self, study: str, responder: str) -> None:
        self._common = {"study": study, "responder": responder}
        self._responses: list[dict[str, object]] = []
        self._ratings: list[dict[str, object]] = []
        self._perplexities: list[dict[str, object]] = []
        self._kept: list[Kept] = []

    def add_text(self, condition: str, item: Item, step: int, sample: int, text: Text) -> str:
        """Add a response; returns the item's name under the condition."""
        item_id = under(condition, item.item_id)
        self._responses.append(
            {"item_id": item_id, "step": step, "sample": sample}
            | {"text": text.text, "status": "ok" if text.status == "ok" else "truncated"}
        )
        # Candidates at step 0 were only looked at.
        if not (condition.startswith(BEST) and step == 0):
            self._kept.append(Kept(item, item_id, step, text.text))
        return item_id

    def add_rating(
        self,
        item_id: str,
        step: int,
        sample: int,
        judge: str,
        variant: str,
        item: Item,
        reading: Feedback,
    ) -> None:
        """Add a rating of a response."""
        choice = reading.choice
        self._ratings.append(
            {"item_id": item_id, "step": step, "sample": sample, "judge": judge}
            | {"task": item.task, "variant": variant, "repeat": 0}
            | {"score": reading.score, "marks": reading.marks, "reply": reading.reply}
            | {"distribution": choice and list(choice.probabilities)}
            | {"mass": choice and choice.mass, "stored": None, "status": reading.status}
        )

    def add_score(self, kept: Kept, judge: str, score: Likelihood) -> None:
        """Add the log-likelihood of a kept text."""
        self._perplexities.append(
            {"item_id": kept.item_id, "step": kept.step, "judge": judge, "conditional": True}
            | {"sum_nll": score.sum_nll, "n_tokens": score.n_tokens, "status": score.status}
            | {"n_bytes": len(kept.text.encode())}
        )

    def kept(self) -> list[Kept]:
        """The texts that arms held, in the order in which they were added."""
        return list(self._kept)

    def tables(self) -> dict[str, pd.DataFrame]:
        """responses, ratings, truths (of the kept texts) and perplexities."""
        known = {
            pair: scores(item, pair[1])
            for pair, item in {(k.item.item_id, k.text): k.item for k in self._kept}.items()
        }
        truths = [
            {"item_id": kept.item_id, "step": kept.step, "metric": metric, "score": score}
            for kept in self._kept
            for metric, score in known[kept.item.item_id, kept.text].items()
        ]
        return {
            "responses": self._frame("responses", self._responses),
            "ratings": self._frame("ratings", self._ratings),
            "truths": self._frame("truths", truths),
            "perplexities": self._frame("perplexities", self._perplexities),
        }

    def _frame(self, name: str, rows: list[dict[str, object]]) -> pd.DataFrame:
        return pd.DataFrame(rows, columns=list(TABLES[name].columns)).assign(**self._common)
