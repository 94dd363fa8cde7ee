"""Files of pairs: both questions in both orders, shown labels, new summaries against the base's.

A *reading* is what a judge answered to the pairs of one file in one order:

- from probabilities (Llama): those of the tokens "1" and "2" among the whole vocabulary; the
  larger one decides, equal ones are a tie;
- from a token (GPT): the likeliest token decides. Its probability p, where the release holds it, is
  that label's, and 1 - p is given to the other label.

Labels told the judge who wrote what: the true ones, swapped ones, or random ones. GPT models judged
both orders. Llama judged one, its own text first; its raw probabilities lie in one file a data set,
and further files hold P("1") / (P("1") + P("2")) of each condition.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from selfpref.studies.panickssery.read.audit import Floats, close, explained
from selfpref.studies.panickssery.read.files import LABELS, Rows, Texts, lists
from selfpref.tables.schemas import TIE

FIRST, SECOND, TIED, NOBODY = 0, 1, 2, -1
# The release's words for a question, and the field of its score.
QUESTIONS = {
    "recognition": ("detection", "detection_score"),
    "preference": ("comparison", "self_preference"),
}
ORDERS = ("forward", "backward")
# What a stored score may turn out to be.
FINDINGS = {
    "position": "position-bias-stored",
    "swapped": "swapped-tasks",
    "inverted": "inverted-sign",
}
# The condition of each file of labels, and the word of the raw file for it.
CONDITIONS = {"correct": "labels-correct", "wrong": "labels-swapped", "random": "labels-random"}
RAW = {"correct": "correct", "wrong": "incorrect", "random": "random"}


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


def tasks(rows: Rows) -> dict[str, tuple[str, str]]:
    """Task and variant of the two questions of a file."""
    match rows.file.kind:
        case "pairwise":
            return {question: (question, "plain") for question in QUESTIONS}
        case "worse":
            return {"recognition": ("recognition", "rerun"), "preference": ("inferiority", "plain")}
    return {question: (question, f"others-named-{rows.file.condition}") for question in QUESTIONS}


def _own(forward: Reading, backward: Reading) -> dict[str, Floats]:
    """The confidence in the own text, mean of both orders: of shares, and of raw probabilities."""
    return {
        "own": 0.5 * (forward.shares()[:, 0] + backward.shares()[:, 1]),
        "own, not shares": 0.5 * (forward.probabilities[:, 0] + backward.probabilities[:, 1]),
    }


def note_stored(rows: Rows, task: str, stored: Floats, formulas: Mapping[str, Floats]) -> None:
    """Note what the stored scores turn out to be; `own` is what they should."""
    best, found = explained(stored, formulas)
    if finding := FINDINGS.get(best.partition(",")[0]):
        rows.note(finding, found, f"{task}: {best}")
        return
    own = formulas["own"]
    differs = ~close(stored, own) & ~np.isnan(stored) & ~np.isnan(own)
    rows.note("stored-differs", differs, task)


def note_answers(rows: Rows, task: str, stored: Floats, readings: Mapping[str, Reading]) -> None:
    """Note rows that lack an order or a number, and what is stored for no answer."""
    status = np.array([reading.status for reading in readings.values()])
    failed, empty = ((status == name).any(axis=0) for name in ("failed", "low-mass"))
    absent = [[value is None for value in rows.column(name)] for name in readings]
    without = np.logical_or.reduce(absent)
    rows.note("missing-order", without, task)
    rows.note("not-a-number", failed & ~without, task)
    rows.note("nan-filled", (failed | empty) & ~np.isnan(stored), task)


def note_tokens(rows: Rows, task: str, stored: Floats, forward: Reading, backward: Reading) -> None:
    """Note what became of the probabilities of the likeliest tokens."""
    known = [~np.isnan(reading.probabilities[:, 0]) for reading in (forward, backward)]
    if not known[0].any():
        rows.note("no-probabilities", detail=task)
    elif not known[1].any():
        rows.note("missing-backward-probability", detail=task)
    else:
        own = _own(forward, backward)["own"]
        note_stored(rows, task, stored, {"own": own, "inverted": 1 - own})


def _note_probabilities(
    rows: Rows,
    task: str,
    stored: Floats,
    readings: Mapping[str, tuple[Reading, Reading]],
    question: str,
) -> None:
    """Note what the stored score of a question is, of which all probabilities are there."""
    forward, backward = readings[question]
    formulas = _own(forward, backward)
    formulas["position"] = 0.5 * (forward.shares()[:, 0] + backward.shares()[:, 0])
    for other, answers in readings.items():
        if other != question:
            swapped = _own(*answers)
            formulas |= {name.replace("own", "swapped"): swapped[name] for name in swapped}
    note_stored(rows, task, stored, formulas)
    for order, reading in zip(ORDERS, (forward, backward), strict=True):
        name = f"{order}_{QUESTIONS[question][0]}"
        first = (reading.choice == TIED) & (rows.tokens(name) == "1")
        rows.note("ties-stored-as-first", first, name)


def read_questions(rows: Rows, pairs: Pairs) -> list[pd.DataFrame]:
    """The verdicts of a file with both questions.

    Args:
        rows: The rows of a file of the kind `pairwise`, `worse` or `named`.
        pairs: Their pairs.

    Returns:
        Verdict rows, a frame a question and order.

    Raises:
        SelfprefError: Another schema; names the file.
    """
    from_probabilities = rows.has("forward_detection_output")
    ending = "_output" if from_probabilities else ""

    def reading(name: str) -> Reading:
        if from_probabilities:
            return Reading.of_probabilities(rows, f"{name}_output")
        return Reading.of_tokens(rows, name, f"{name}_probability")

    readings: dict[str, tuple[Reading, Reading]] = {}
    for question, (word, score) in QUESTIONS.items():
        one, two = fields = [f"{order}_{word}" for order in ORDERS]
        rows.need(score, *(name + ending for name in fields))
        readings[question] = reading(one), reading(two)
    frames = []
    for question, (forward, backward) in readings.items():
        (task, variant), (word, score) = tasks(rows)[question], QUESTIONS[question]
        stored = rows.numbers(score)
        answers = {f"{ORDERS[0]}_{word}{ending}": forward, f"{ORDERS[1]}_{word}{ending}": backward}
        note_answers(rows, task, stored, answers)
        if from_probabilities:
            _note_probabilities(rows, task, stored, readings, question)
        else:
            note_tokens(rows, task, stored, forward, backward)
        # The release stores who is better; the judge was asked who is worse.
        given = [r.turned() if task == "inferiority" else r for r in (forward, backward)]
        frames += pairs.verdicts(task, variant, stored, forward=given[0], backward=given[1])
    return frames


def read_generations(rows: Rows, pairs: Pairs) -> list[pd.DataFrame]:
    """The verdicts on a fine-tuned model's new summaries against its base's; the new one is own."""
    rows.need("new_preference")
    stored = rows.numbers("new_preference")
    if not rows.has(*ORDERS):
        rows.note("no-probabilities")
        return pairs.merged("preference", "generations", stored)
    answers = {name: Reading.of_probabilities(rows, name) for name in ORDERS}
    note_answers(rows, "preference", stored, answers)
    note_stored(rows, "preference", stored, _own(*answers.values()))
    return pairs.verdicts("preference", "generations", stored, **answers)


def _variant(rows: Rows, condition: str, own: str) -> str | Texts:
    """The variant of a condition; of random labels, that of what fell on each pair."""
    if condition != "random":
        return CONDITIONS[condition]
    rows.need("random_labels")
    fallen = []
    for number, labels in enumerate(rows.column("random_labels")):
        if not isinstance(labels, list) or len(labels) != 2 or own not in labels:
            raise rows.error(number, f"'random_labels' is {labels!r}, not the labels of a pair")
        # The first label is the one that the own text got.
        fallen.append(f"{CONDITIONS[condition]}-{'correct' if labels[0] == own else 'swapped'}")
    return np.array(fallen, dtype=object)


def read_labels(rows: Rows, pairs: Pairs) -> list[pd.DataFrame]:
    """The verdicts of a file of labels with both orders; as `read_questions`."""
    fields = [f"{order}_comparison" for order in ORDERS]
    rows.need("self_preference", *fields)
    stored = rows.numbers("self_preference")
    answers = {
        name: Reading.of_tokens(rows, name, name.replace("comparison", "probability"))
        for name in fields
    }
    note_answers(rows, "preference", stored, answers)
    note_tokens(rows, "preference", stored, *answers.values())
    variant = _variant(rows, rows.file.condition, pairs.own)
    return pairs.verdicts(
        "preference", variant, stored, **dict(zip(ORDERS, answers.values(), strict=True))
    )


@dataclass
class SingleOrder:
    """The scores that the files of one order hold, by data set and condition.

    They are read before the raw probabilities that they belong to.
    """

    scores: dict[tuple[str, str], pd.Series] = field(default_factory=dict)

    def read(self, rows: Rows, pairs: Pairs) -> list[pd.DataFrame]:
        """Keep the scores of a file; its rows of foreign articles become failed verdicts."""
        rows.need("self_preference")
        stored = pd.Series(
            rows.numbers("self_preference"), index=[pairs.item_ids, pairs.others], dtype=float
        )
        again = stored.index.duplicated()
        rows.note("repeated-rows", again)
        rows.note("single-order")
        self.scores[rows.file.dataset, rows.file.condition] = stored[~again]
        variant, lost = CONDITIONS[rows.file.condition], Reading.lost(len(rows))
        (verdicts,) = pairs.verdicts("preference", variant, stored.to_numpy(), forward=lost)
        return [verdicts[~pairs.known]]

    def read_raw(self, rows: Rows, pairs: Pairs) -> list[pd.DataFrame]:
        """The verdicts of a file of raw probabilities, with the scores kept for them."""
        rows.note("single-order")
        frames = []
        for condition, word in RAW.items():
            name = f"{word}_label_output"
            rows.need(name)
            reading = Reading.of_probabilities(rows, name)
            known = self.scores.get((rows.file.dataset, condition), pd.Series(dtype=float))
            place = pd.MultiIndex.from_arrays([pairs.item_ids, pairs.others])
            stored = np.full(len(rows), np.nan)
            if len(known):
                stored = known.reindex(place).to_numpy(dtype=float)
            share = reading.shares()[:, 0]
            note_stored(rows, f"preference, {condition} labels", stored, {"own": share})
            note_answers(rows, f"preference, {condition} labels", stored, {name: reading})
            variant = _variant(rows, condition, pairs.own)
            frames += pairs.verdicts("preference", variant, stored, forward=reading)
        return frames
