"""Dialogues of two models with one user, and votes on them, as tables.

Each turn is an item of its own, `<dataset>/<dialogue>/<turn>`: its messages are the user's turns so
far, its responses the two models' answers to the last of them. The answers to earlier turns differ
by model; they are the responses to the earlier items. A vote belongs to the turn it was given on.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import pandas as pd

from selfpref import tables
from selfpref.formats.records import audited, numbered, written
from selfpref.tables.schemas import TIE

# The columns of a set of votes on dialogues.
VOTE = (
    "question_id",
    "model_a",
    "model_b",
    "winner",
    "judge",
    "conversation_a",
    "conversation_b",
)
# What a row says of a vote: the label, first of a and b.
LABELS = {"model_a": "a", "model_b": "b", "tie": TIE, "tie (bothbad)": TIE}

Turns = list[tuple[str, str]]


def turns(conversation: Sequence[Mapping[str, Any]]) -> Turns | None:
    """(user, assistant) of each turn; None where the roles do not alternate or a text is missing.

    >>> turns([{"role": "user", "content": "1 + 1?"}, {"role": "assistant", "content": "2"}])
    [('1 + 1?', '2')]
    """
    roles = [message["role"] for message in conversation]
    texts = [message["content"] for message in conversation]
    if not texts or None in texts or roles != ["user", "assistant"] * (len(texts) // 2):
        return None
    return list(zip(texts[::2], texts[1::2], strict=True))


def both(row: Mapping[str, Any]) -> tuple[Turns, Turns] | str:
    """The turns of both models; or why the row is no vote on one dialogue with two models."""
    if row["winner"] not in LABELS:
        return "left out: unknown winner"
    if row["model_a"] == row["model_b"]:
        return "left out: both responses of one model"
    first, second = turns(row["conversation_a"]), turns(row["conversation_b"])
    if first is None or second is None:
        return "left out: roles do not alternate, or a text is missing"
    if [question for question, _ in first] != [question for question, _ in second]:
        return "left out: the user's turns differ between the models"
    return first, second


def sampled(names: Iterable[str], size: int | None) -> list[str]:
    """Some of the names, drawn by their hash: the same ones wherever and in whatever order."""
    return sorted(names, key=lambda name: sha256(name.encode()).digest())[:size]


def stratified(
    models: Mapping[str, Collection[str]], wanted: Collection[str], size: int | None
) -> list[str]:
    """Some dialogues, drawn by their hash, with as many of each wanted model as of the others.

    Args:
        models: By dialogue, whose responses it holds.
        wanted: The models.
        size: How many dialogues; a larger draw holds a smaller one.

    >>> held = {"1": "ab", "2": "ab", "3": "ab", "4": "bc", "5": "cd"}
    >>> sorted(stratified(held, "cd", 2)), len(stratified(held, "ac", None))
    (['4', '5'], 5)
    """
    left = {name: [key for key in sampled(models, None) if name in models[key]] for name in wanted}
    drawn: dict[str, None] = {}
    counts = dict.fromkeys(wanted, 0)
    while any(left.values()) and (size is None or len(drawn) < size):
        # Whoever has the fewest so far; names decide between equals.
        name = min((name for name in left if left[name]), key=lambda name: (counts[name], name))
        if (key := left[name].pop(0)) not in drawn:
            drawn[key] = None
            for other in {*models[key]} & counts.keys():
                counts[other] += 1
    return list(drawn)


class Collected:
    """The tables, row by row, and what was found on the way.

    Args:
        study: The study the rows belong to.
        dataset: Prefix of the item ids.
    """

    def __init__(self, study: str, dataset: str) -> None:
        self._study, self._dataset = study, dataset
        self._items: dict[str, dict[str, Any]] = {}
        self._responses: dict[tuple[str, str], str] = {}
        self._labels: list[dict[str, Any]] = []
        self.found: Counter[str] = Counter()

    def add(
        self,
        row: Mapping[str, Any],
        said: tuple[Turns, Turns],
        voted: int,
        *,
        dialogue: str,
        cluster: str,
        category: str | None = None,
        references: Sequence[str] = (),
        **metadata: Any,
    ) -> None:
        """A vote, and the dialogue up to the turn that was voted on.

        Args:
            row: models, annotator and winner.
            said: The turns of both models.
            voted: The turn, from 1.
            dialogue: Its name in the data set.
            cluster: What a bootstrap resamples, within the data set.
            category: Of the dialogue.
            references: A reference answer a turn, where judges read one.
            metadata: Of each item, beside `turn` and `turns`.
        """
        models = (row["model_a"], row["model_b"])
        for turn in range(1, voted + 1):
            item = f"{self._dataset}/{dialogue}/{turn}"
            self._items[item] = {
                "item_id": item,
                "category": category,
                "cluster": f"{self._dataset}/{cluster}",
                "reference": json.dumps(references[:turn]) if len(references) >= turn else None,
                "messages": [{"role": "user", "content": text} for text, _ in said[0][:turn]],
                "metadata": json.dumps({"turn": turn, "turns": len(said[0]), **metadata}),
            }
            for responder, (_, answer) in zip(models, (own[turn - 1] for own in said), strict=True):
                known = self._responses.setdefault((item, responder), answer)
                self.found["kept the first: answers differ between rows"] += known != answer
        self._labels.append(
            {
                "study": self._study,
                "item_id": f"{self._dataset}/{dialogue}/{voted}",
                "responder_a": models[0],
                "responder_b": models[1],
                "annotator": row["judge"],
                "label": LABELS[row["winner"]],
            }
        )

    def tables(self, rows: int) -> dict[str, pd.DataFrame]:
        """items, responses, labels and audit.

        Args:
            rows: How many rows the set has.
        """
        self.found["kept: empty answers"] = sum(
            not text.strip() for text in self._responses.values()
        )
        answers = [(item, name, text) for (item, name), text in self._responses.items()]
        return {
            "items": tables.fill(self._items.values(), "items", study=self._study),
            "responses": written(answers, self._study),
            "labels": numbered(self._labels),
            "audit": audited(self._study, self._dataset, rows, self.found),
        }
