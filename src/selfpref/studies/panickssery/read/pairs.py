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

from typing import NamedTuple

import numpy as np
import pandas as pd

from selfpref.studies.panickssery.read.files import LABELS, Released, by_label, lists, numbers
from selfpref.tables.schemas import TIE

# Choices are places in what is offered: the text read first, the second, a tie, nobody.
TIED, NOBODY = 2, -1
ORDERS = ("forward", "backward")
# The variant of each condition of labels, and the word of the raw file for it.
CONDITIONS = {"correct": "labels-correct", "wrong": "labels-swapped", "random": "labels-random"}
RAW = {"correct": "correct", "wrong": "incorrect", "random": "random"}
PAIR = ["item_id", "other"]

# The scores of the files of one order, of each pair, by data set and condition.
Scores = dict[tuple[str, str], pd.Series]


class Answers(NamedTuple):
    """The answers of a file to one question.

    Attributes:
        task: Its task.
        variant: Its variant.
        score: The field of the release's score.
        fields: Those of the answers, one an order.
        tops: Those of the likeliest tokens' probabilities.
    """

    task: str
    variant: str
    score: str
    fields: tuple[str, ...]
    tops: tuple[str, ...]


def questions(file: Released) -> list[Answers]:
    """What a file asked."""

    def of_pairs(word: str, score: str, task: str, variant: str) -> Answers:
        fields = tuple(f"{order}_{word}" for order in ORDERS)
        return Answers(
            task, variant, score, fields, tuple(f"{name}_probability" for name in fields)
        )

    preference = "preference"
    if file.kind == "generations":
        return [Answers(preference, "generations", "new_preference", ORDERS, ORDERS)]
    if file.kind == "labels":
        asked = of_pairs("comparison", "self_preference", preference, CONDITIONS[file.condition])
        return [asked._replace(tops=tuple(f"{order}_probability" for order in ORDERS))]
    if file.kind == "raw-labels":
        return [
            Answers(preference, variant, name, (f"{RAW[name]}_label",), ("",))
            for name, variant in CONDITIONS.items()
        ]
    rerun, named = file.kind == "worse", f"others-named-{file.condition}"
    plain = named if file.kind == "named" else "plain"
    again, worse = ("rerun", "inferiority") if rerun else (plain, preference)
    return [
        of_pairs("detection", "detection_score", "recognition", again),
        of_pairs("comparison", "self_preference", worse, plain),
    ]


def answered(frame: pd.DataFrame, question: Answers) -> list[pd.DataFrame]:
    """The answers to a question, in whichever way the file stores them: a frame an order.

    Returns:
        `first` and `second` (probability of the text read first and second, NaN where unknown),
        `mass` (what both labels hold of the whole, NaN where unknown), `choice` (a place) and
        `status`. Where only the score of both orders is stored there is one frame, as if the own
        text had been first.
    """
    if question.fields[0] in frame or f"{question.fields[0]}_output" in frame:
        pairs = zip(question.fields, question.tops, strict=True)
        return [_of_field(frame, name, top) for name, top in pairs]
    stored = numbers(frame, question.score)
    side = np.select([stored > 0.5, stored < 0.5], [0, 1], TIED)
    nothing = dict.fromkeys(("first", "second", "mass"), np.nan)
    status = np.where(np.isnan(stored), "failed", "ok")
    return [pd.DataFrame(nothing, frame.index).assign(choice=side, status=status)]


def _of_field(frame: pd.DataFrame, name: str, top: str) -> pd.DataFrame:
    """The answers of one order."""
    values = frame[f"{name}_output" if f"{name}_output" in frame else name]
    if values.map(lambda value: isinstance(value, dict)).any():
        pair = by_label(values, LABELS)
        mass = pair.sum(axis=1)
        odd = np.array([isinstance(v, dict) and not set(LABELS) <= set(v) for v in values])
        lost = np.isnan(mass) & ~odd
        choice = np.select([pair[:, 0] > pair[:, 1], pair[:, 0] < pair[:, 1]], [0, 1], TIED)
    else:
        choice, odd = values.eq(LABELS[1]).to_numpy(dtype=int), ~values.isin(LABELS).to_numpy()
        p = np.where(odd, np.nan, numbers(frame, top))
        lost = values.isna().to_numpy() | (np.isnan(numbers(frame, top)) & (top in frame))
        # Rounding lets a released probability exceed 1 by a millionth.
        pair = np.column_stack([p, 1 - p]).clip(0, 1)
        pair = np.where(choice[:, None] == 1, pair[:, ::-1], pair)
        mass = np.full(len(frame), np.nan)
    status = np.select([lost, odd, mass == 0], ["failed", "unparsable", "low-mass"], "ok")
    found = pd.DataFrame(pair, frame.index, ["first", "second"])
    return found.assign(mass=mass, choice=choice, status=status)


def _turned(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers to the opposite question."""
    turned = answers.rename(columns={"first": "second", "second": "first"})
    return turned.assign(choice=answers["choice"].map({0: 1, 1: 0, TIED: TIED}))


def read_pairs(file: Released, frame: pd.DataFrame, scores: Scores) -> list[pd.DataFrame]:
    """The verdicts of a file of pairs.

    Args:
        file: The file.
        frame: Its rows, with `item_id`, `own`, `other` and `known`.
        scores: Those of the files of one order, which raw probabilities lack.

    Returns:
        Verdict rows, a frame a question and order.
    """
    if file.kind == "raw-labels":
        for (dataset, condition), stored in scores.items():
            if dataset == file.dataset:
                frame = frame.join(stored.rename(condition), on=PAIR)
    frames = []
    for question in questions(file):
        given, variant = answered(frame, question), question.variant
        if question.task == "inferiority":
            # The release stores who is better; the judge was asked who is worse.
            given = [_turned(answers) for answers in given]
        if variant == CONDITIONS["random"] and "random_labels" in frame:
            # The first label is the one that the own text got.
            fallen = frame["random_labels"].str[0].eq(frame["own"])
            variant = variant + fallen.map({True: "-correct", False: "-swapped"})
        rows = frame.assign(
            task=question.task,
            variant=variant,
            stored=numbers(frame, question.score),
            order_known=file.kind == "labels" or len(given) == len(question.fields),
        )
        frames += verdicts(file, rows, given)
    return frames


def keep_scores(file: Released, frame: pd.DataFrame, scores: Scores) -> list[pd.DataFrame]:
    """Add the scores of a file of one order to `scores`; as `read_pairs`.

    Returns:
        Its rows of foreign articles, as failed verdicts.
    """
    (question,) = questions(file)
    stored = frame.assign(stored=numbers(frame, question.score)).drop_duplicates(PAIR)
    scores[file.dataset, file.condition] = stored.set_index(PAIR)["stored"]
    return read_pairs(file, frame[~frame["known"]], scores)


def verdicts(file: Released, rows: pd.DataFrame, given: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """The verdict rows of one question: a frame an order, own text first and second.

    Args:
        file: The file.
        rows: `item_id, own, other, known, task, variant, stored, order_known`, a row a pair.
        given: Their answers, as `answered` returns them.
    """
    repeat = rows.groupby([*PAIR, "variant"], sort=False).cumcount()
    frames = []
    for offered, found in zip((["own", "other"], ["other", "own"]), given, strict=False):
        pair, status = found[["first", "second"]], found["status"].where(rows["known"], "failed")
        named = rows[offered].assign(tie=TIE, nobody=None).to_numpy(dtype=object)
        kept = pair.notna().all(axis=1) & status.isin(["ok", "low-mass"])
        frames.append(
            rows[["item_id", "task", "variant", "stored", "order_known"]].assign(
                judge=file.evaluator,
                candidates=named[:, :2].tolist(),
                repeat=repeat,
                probabilities=lists(pair.to_numpy(), kept.to_numpy()),
                mass=found["mass"].where(kept),
                choice=named[np.arange(len(rows)), found["choice"].where(status.eq("ok"), NOBODY)],
                status=status,
            )
        )
    return frames
