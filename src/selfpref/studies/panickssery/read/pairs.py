"""Files of pairs: both questions in both orders, shown labels, new summaries against the base's.

Whatever a file stores of an answer becomes probabilities of the labels "1" and "2", and a choice:

- from probabilities (Llama): those of the two tokens among the whole vocabulary; the larger one
  decides, equal ones are a tie;
- from a token (GPT): the likeliest token decides. Its probability p, where the release holds it, is
  that label's, and 1 - p is given to the other label;
- from the score of both orders alone, where it is all there is: the larger side decides.

Labels told the judge who wrote what: the true ones, swapped ones, or random ones. GPT models judged
both orders. Llama judged one, its own text first; its raw probabilities lie in one file a data set,
and further files hold P("1") / (P("1") + P("2")) of each condition.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from selfpref.studies.panickssery.read.audit import Floats, close, explained
from selfpref.studies.panickssery.read.files import LABELS, Released, by_label, lists, numbers
from selfpref.tables.schemas import TIE

# Choices are places in what is offered: the text read first, the second, a tie, nobody.
TIED, NOBODY = 2, -1
TURNED = np.array([1, 0, TIED, NOBODY])
ORDERS = ("forward", "backward")
# What a stored score may turn out to be.
FINDINGS = {
    "position": "position-bias-stored",
    "swapped": "swapped-tasks",
    "inverted": "inverted-sign",
}
# The variant of each condition of labels, and the word of the raw file for it.
CONDITIONS = {"correct": "labels-correct", "wrong": "labels-swapped", "random": "labels-random"}
RAW = {"correct": "correct", "wrong": "incorrect", "random": "random"}
PAIR = ["item_id", "other"]

# The scores of the files of one order, of each pair, by data set and condition.
Scores = dict[tuple[str, str], pd.Series]


class Question(NamedTuple):
    """One question of a file.

    Attributes:
        task: Its task.
        variant: Its variant.
        score: The field of the release's score.
        fields: Those of the answers, one an order.
        tops: Those of the likeliest tokens' probabilities.
        told: The question in words, for the audit.
    """

    task: str
    variant: str
    score: str
    fields: tuple[str, ...]
    tops: tuple[str, ...]
    told: str


class Answers(NamedTuple):
    """The answers to a question, orders by rows.

    Attributes:
        probabilities: Of the text read first and second, `[orders, rows, 2]`; NaN where unknown.
        mass: What both labels hold of the whole, `[orders, rows]`; NaN where unknown.
        choice: A place: `[orders, rows]`.
        status: `[orders, rows]`.
        absent: Where the file holds nothing, `[orders, rows]`.
    """

    probabilities: Floats
    mass: Floats
    choice: npt.NDArray[np.int64]
    status: npt.NDArray[np.object_]
    absent: npt.NDArray[np.bool_]

    def turned(self) -> "Answers":
        """The answers to the opposite question."""
        reverse = self.probabilities[..., ::-1]
        return self._replace(probabilities=reverse, choice=TURNED[self.choice])


def questions(file: Released) -> list[Question]:
    """What a file asked."""

    def of_pairs(word: str, score: str, task: str, variant: str) -> Question:
        fields = tuple(f"{order}_{word}" for order in ORDERS)
        tops = tuple(f"{name}_probability" for name in fields)
        return Question(task, variant, score, fields, tops, task)

    preference, variant = "preference", CONDITIONS.get(file.condition, "")
    if file.kind == "generations":
        return [Question(preference, "generations", "new_preference", ORDERS, ORDERS, preference)]
    if file.kind == "labels":
        asked = of_pairs("comparison", "self_preference", preference, variant)
        return [asked._replace(tops=tuple(f"{order}_probability" for order in ORDERS))]
    if file.kind == "raw-labels":
        told = f"{preference}, {{}} labels"
        return [
            Question(preference, variant, name, (f"{RAW[name]}_label",), ("",), told.format(name))
            for name, variant in CONDITIONS.items()
        ]
    rerun, named = file.kind == "worse", f"others-named-{file.condition}"
    plain = named if file.kind == "named" else "plain"
    again, worse = ("rerun", "inferiority") if rerun else (plain, preference)
    return [
        of_pairs("detection", "detection_score", "recognition", again),
        of_pairs("comparison", "self_preference", worse, plain),
    ]


def answered(frame: pd.DataFrame, question: Question) -> Answers:
    """The answers to a question, in whichever way the file stores them."""
    if question.fields[0] not in frame and f"{question.fields[0]}_output" not in frame:
        return _of_score(numbers(frame, question.score))
    orders = [
        _of_field(frame, name, top)
        for name, top in zip(question.fields, question.tops, strict=True)
    ]
    return Answers(*map(np.stack, zip(*orders, strict=True)))


def _of_field(frame: pd.DataFrame, name: str, top: str) -> Iterable[npt.NDArray[np.generic]]:
    """The answers of one order."""
    values = frame[f"{name}_output" if f"{name}_output" in frame else name]
    absent = values.isna().to_numpy()
    if values.map(lambda value: isinstance(value, dict)).any():
        pair = by_label(values, LABELS)
        mass = pair.sum(axis=1)
        odd = np.array([isinstance(v, dict) and not set(LABELS) <= set(v) for v in values])
        lost = np.isnan(mass) & ~odd
        choice = np.select([pair[:, 0] > pair[:, 1], pair[:, 0] < pair[:, 1]], [0, 1], TIED)
    else:
        second = values.eq(LABELS[1]).to_numpy()
        odd = ~values.isin(LABELS).to_numpy()
        first = np.where(odd, np.nan, numbers(frame, top))
        lost = absent | (np.isnan(numbers(frame, top)) & (top in frame))
        # Rounding lets a released probability exceed 1 by a millionth.
        pair = np.column_stack([first, 1 - first]).clip(0, 1)
        pair = np.where(second[:, None], pair[:, ::-1], pair)
        mass, choice = np.full(len(frame), np.nan), second.astype(int)
    status = np.select([lost, odd, mass == 0], ["failed", "unparsable", "low-mass"], "ok")
    return pair, mass, np.where(status == "ok", choice, NOBODY), status.astype(object), absent


def _of_score(stored: Floats) -> Answers:
    """The choices of pairs of which only the score over both orders is stored, as one order."""
    lost = np.isnan(stored)[None]
    side = np.select([stored > 0.5, stored < 0.5], [0, 1], TIED)[None]
    nothing = np.full((1, len(stored), 2), np.nan)
    status = np.where(lost, "failed", "ok").astype(object)
    return Answers(nothing, nothing[..., 0], np.where(lost, NOBODY, side), status, lost)


def _confidence(sides: Floats) -> Floats:
    """The confidence in the own text, read first in the first order and second in the second."""
    found: Floats = np.mean([side[:, place] for place, side in enumerate(sides)], axis=0)
    return found


def formulas(asked: Answers, others: Iterable[Answers]) -> dict[str, Floats]:
    """What stored scores may be, by name: `own`, as they should, and what they turn out to be.

    Args:
        asked: The answers to the question, of which the score is.
        others: Those to the other questions of the file.
    """

    def shares(answers: Answers) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = answers.probabilities / answers.probabilities.sum(axis=2, keepdims=True)
        return found

    own = _confidence(shares(asked))
    found = {"own": own, "own, not shares": _confidence(asked.probabilities)}
    found |= {"inverted": 1 - own, "position": shares(asked)[..., 0].mean(axis=0)}
    for other in others:
        found["swapped"] = _confidence(shares(other))
        found["swapped, not shares"] = _confidence(other.probabilities)
    return found


def _note_stored(
    note: Callable[..., None], told: str, stored: Floats, given: dict[str, Floats]
) -> None:
    """Note what the stored scores turn out to be."""
    best, found = explained(stored, given)
    if finding := FINDINGS.get(best.partition(",")[0]):
        note(finding, found, f"{told}: {best}")
        return
    missing = np.isnan(stored) | np.isnan(given["own"])
    note("stored-differs", ~close(stored, given["own"]) & ~missing, told)


def _note_answers(
    note: Callable[..., None], frame: pd.DataFrame, question: Question, answers: Answers
) -> None:
    """Note rows that lack an order or a number, and what is stored for no answer."""
    stored = numbers(frame, question.score)
    failed, empty = ((answers.status == name).any(axis=0) for name in ("failed", "low-mass"))
    without = answers.absent.any(axis=0)
    note("missing-order", without, question.told)
    note("not-a-number", failed & ~without, question.told)
    note("nan-filled", (failed | empty) & ~np.isnan(stored), question.told)
    for name, choice in zip(question.fields, answers.choice, strict=True):
        first = frame.reindex(columns=[name])[name].eq("1")
        note("ties-stored-as-first", (choice == TIED) & first, name)


def read_pairs(
    file: Released, frame: pd.DataFrame, scores: Scores, note: Callable[..., None]
) -> list[pd.DataFrame]:
    """The verdicts of a file of pairs.

    Args:
        file: The file.
        frame: Its rows, with `item_id`, `own`, `other` and `known`.
        scores: Those of the files of one order, which raw probabilities lack.
        note: Takes a finding, what it affects, and a detail.

    Returns:
        Verdict rows, a frame a question and order.
    """
    every, asked = np.ones(len(frame), dtype=bool), questions(file)
    if file.kind == "raw-labels":
        note("single-order", every)
        for (dataset, condition), stored in scores.items():
            if dataset == file.dataset:
                frame = frame.join(stored.rename(condition), on=PAIR)
    answers = [answered(frame, question) for question in asked]
    frames = []
    for question, given in zip(asked, answers, strict=True):
        stored, told, variant = numbers(frame, question.score), question.told, question.variant
        merged = len(given.status) < len(question.fields)
        bare = ((given.status == "ok") & np.isnan(given.probabilities[..., 0])).any(axis=1)
        if merged:
            note("no-probabilities", every)
        else:
            _note_answers(note, frame, question, given)
            if bare.any():
                lacking = "no-probabilities" if bare[0] else "missing-backward-probability"
                note(lacking, every, told)
            else:
                others = [other for other in answers if other is not given and len(bare) > 1]
                _note_stored(note, told, stored, formulas(given, others))
        if variant == CONDITIONS["random"]:
            # The first label is the one that the own text got.
            fallen = frame["random_labels"].str[0].eq(frame["own"])
            variant = variant + fallen.map({True: "-correct", False: "-swapped"})
        rows = frame.assign(task=question.task, variant=variant, stored=stored)
        # The release stores who is better; the judge was asked who is worse.
        named = given.turned() if question.task == "inferiority" else given
        frames += verdicts(file, rows.assign(order_known=not merged), named, note)
    return frames


def keep_scores(
    file: Released, frame: pd.DataFrame, scores: Scores, note: Callable[..., None]
) -> list[pd.DataFrame]:
    """Add the scores of a file of one order to `scores`; as `read_pairs`.

    Returns:
        Its rows of foreign articles, as failed verdicts.
    """
    (question,) = questions(file)
    note("single-order", np.ones(len(frame), dtype=bool))
    rows = frame.assign(
        task=question.task,
        variant=question.variant,
        stored=numbers(frame, question.score),
        order_known=True,
    )
    scores[file.dataset, file.condition] = rows.drop_duplicates(PAIR).set_index(PAIR)["stored"]
    (failed,) = verdicts(file, rows, _of_score(np.full(len(frame), np.nan)), note)
    return [failed[~frame["known"]]]


def verdicts(
    file: Released, rows: pd.DataFrame, answers: Answers, note: Callable[..., None]
) -> list[pd.DataFrame]:
    """The verdict rows of one question: a frame an order, own text first and second.

    Args:
        file: The file.
        rows: `item_id, own, other, known, task, variant, stored, order_known`, a row a pair.
        answers: Theirs.
        note: As `read_pairs`.
    """
    repeat = rows.groupby([*PAIR, "variant"], sort=False).cumcount()
    note("repeated-rows", repeat.gt(0))
    frames = []
    for place, offered in enumerate((["own", "other"], ["other", "own"])[: len(answers.status)]):
        pair, status = answers.probabilities[place], answers.status[place]
        status = np.where(rows["known"], status, "failed")
        choice = np.where(status == "ok", answers.choice[place], NOBODY)
        named = rows[offered].assign(tie=TIE, nobody=None).to_numpy(dtype=object)
        # Few different pairs: their lists are shared.
        lists_of = {names: list(names) for names in set(map(tuple, named[:, :2]))}
        kept = ~np.isnan(pair).any(axis=1) & np.isin(status, ("ok", "low-mass"))
        frames.append(
            rows[["item_id", "task", "variant", "stored", "order_known"]].assign(
                judge=file.evaluator,
                candidates=[lists_of[names] for names in map(tuple, named[:, :2])],
                repeat=repeat,
                probabilities=lists(pair, kept),
                mass=np.where(kept, answers.mass[place], np.nan),
                choice=named[np.arange(len(rows)), choice],
                status=status,
            )
        )
    return frames
