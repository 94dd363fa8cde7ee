"""Verdict rows from the release's two ways of storing an answer.

A *reading* is what a judge answered to the pairs of one file in one order:

- from probabilities (Llama): those of the tokens "1" and "2" among the whole vocabulary; the
  larger one decides, equal ones are a tie;
- from a token (GPT): the likeliest token decides. Its probability p, where the release holds it, is
  that label's, and 1 - p is given to the other label.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from selfpref.studies.panickssery.read.audit import Floats
from selfpref.studies.panickssery.read.files import LABELS, Rows, Texts, lists
from selfpref.tables.schemas import TIE

FIRST, SECOND, TIED, NOBODY = 0, 1, 2, -1


@dataclass(frozen=True)
class Reading:
    """The answers of one order.

    Attributes:
        choice: `FIRST`, `SECOND`, `TIED` or `NOBODY`, `[rows]`.
        probabilities: Of the response read first and second, `[rows, 2]`; NaN where unknown.
        mass: What both labels hold of the whole, `[rows]`; NaN where unknown.
        status: `[rows]`.
    """

    choice: npt.NDArray[np.int64]
    probabilities: Floats
    mass: Floats
    status: Texts

    @classmethod
    def of_probabilities(cls, rows: Rows, name: str) -> Self:
        """Read a field that maps the labels to their probabilities."""
        found = rows.labels(name)
        mass = found.sum(axis=1)
        there = np.array([isinstance(value, dict) for value in rows.column(name)])
        labelled = np.array([set(LABELS) <= set(value or ()) for value in rows.column(name)])
        status = np.select(
            [there & ~labelled, np.isnan(mass), mass == 0],
            ["unparsable", "failed", "low-mass"],
            "ok",
        ).astype(object)
        larger = np.select([found[:, 0] > found[:, 1], found[:, 0] < found[:, 1]], [0, 1], TIED)
        return cls(np.where(status == "ok", larger, NOBODY), found, mass, status)

    @classmethod
    def of_tokens(cls, rows: Rows, name: str, probability: str | None) -> Self:
        """Read a field that holds the likeliest token, and one that holds its probability."""
        tokens = rows.tokens(name)
        known = probability is not None and rows.has(probability)
        top = rows.numbers(probability) if probability and known else np.full(len(rows), np.nan)
        lost = pd.isna(tokens) | (np.isnan(top) if known else False)
        status = np.select([lost, ~np.isin(tokens, LABELS)], ["failed", "unparsable"], "ok").astype(
            object
        )
        ok = status == "ok"
        second = tokens == LABELS[1]
        # Rounding lets a released probability exceed 1 by a millionth.
        other = np.clip(1 - top, 0, 1)
        pair = np.column_stack([np.where(second, other, top), np.where(second, top, other)])
        pair[~ok] = np.nan
        choice = np.where(ok, np.where(second, SECOND, FIRST), NOBODY)
        return cls(choice, np.clip(pair, 0, 1), np.full(len(rows), np.nan), status)

    @classmethod
    def lost(cls, rows: int) -> Self:
        """Answers that cannot be used."""
        nothing = np.full(rows, np.nan)
        pair = np.column_stack([nothing, nothing])
        return cls(np.full(rows, NOBODY), pair, nothing, np.full(rows, "failed", dtype=object))

    def shares(self) -> Floats:
        """The probabilities as shares of their mass, `[rows, 2]`."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shares: Floats = self.probabilities / self.probabilities.sum(axis=1, keepdims=True)
        return shares

    def turned(self) -> Self:
        """The answers to the opposite question, where the release stored those."""
        choice = np.where(np.isin(self.choice, (FIRST, SECOND)), 1 - self.choice, self.choice)
        return type(self)(choice, self.probabilities[:, ::-1], self.mass, self.status)


@dataclass(frozen=True)
class Pairs:
    """The pairs of one file.

    Attributes:
        study: The study.
        judge: Who judged them.
        own: Whose text is the judge's own.
        others: The other source of each pair.
        item_ids: The item of each pair.
        known: Whether the article is one of the data set.
    """

    study: str
    judge: str
    own: str
    others: Texts
    item_ids: Texts
    known: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.others)

    def verdicts(
        self,
        task: str,
        variant: str | Texts,
        stored: Floats,
        *,
        forward: Reading | None = None,
        backward: Reading | None = None,
    ) -> list[pd.DataFrame]:
        """The verdict rows of one question: a frame an order, own text first and second."""
        return [
            self._order(task, variant, stored, reading, own_first=own_first)
            for reading, own_first in ((forward, True), (backward, False))
            if reading is not None
        ]

    def merged(self, task: str, variant: str, stored: Floats) -> list[pd.DataFrame]:
        """The verdict rows of pairs of which only the score over both orders is stored."""
        choice = np.select([stored > 0.5, stored < 0.5], [FIRST, SECOND], TIED)
        known, lost = ~np.isnan(stored), Reading.lost(len(stored))
        status = np.where(known, "ok", lost.status).astype(object)
        answers = replace(lost, choice=np.where(known, choice, NOBODY), status=status)
        rows = self._order(task, variant, stored, answers, own_first=True)
        return [rows.assign(order_known=False)]

    def _order(
        self, task: str, variant: str | Texts, stored: Floats, reading: Reading, *, own_first: bool
    ) -> pd.DataFrame:
        status = np.where(self.known, reading.status, "failed").astype(object)
        choice = np.where(status == "ok", reading.choice, NOBODY)
        own, other = (FIRST, SECOND) if own_first else (SECOND, FIRST)
        chosen = np.where(choice == TIED, TIE, np.array(None, dtype=object))
        chosen = np.where(choice == own, self.own, np.where(choice == other, self.others, chosen))
        # Few different pairs: their lists are shared.
        candidates = {
            name: [self.own, name] if own_first else [name, self.own]
            for name in pd.unique(self.others)
        }
        kept = ~np.isnan(reading.probabilities).any(axis=1) & np.isin(status, ("ok", "low-mass"))
        return pd.DataFrame(
            {
                "study": self.study,
                "item_id": self.item_ids,
                "judge": self.judge,
                "task": task,
                "variant": variant,
                "candidates": pd.Series([candidates[name] for name in self.others], dtype=object),
                "order_known": True,
                "repeat": _repeats(self.item_ids, self.others, variant),
                "probabilities": lists(reading.probabilities, kept),
                "mass": np.where(kept, reading.mass, np.nan),
                "choice": chosen,
                "stored": stored,
                "status": status,
            }
        )


def _repeats(items: Texts, others: Texts, variant: str | Texts) -> npt.NDArray[np.int64]:
    """Which occurrence of its pair a row is, from 0."""
    frame = pd.DataFrame({"item": items, "other": others, "variant": variant})
    found: npt.NDArray[np.int64] = frame.groupby(list(frame), sort=False).cumcount().to_numpy()
    return found
