"""The answers in the release's files as rows of verdicts and ratings.

Files of pairs: both questions in both orders, shown labels, new summaries against the base's.
Whatever a file stores of an answer becomes probabilities of the labels "1" and "2", and a choice:

- from probabilities (Llama): those of the two tokens among the whole vocabulary; the larger one
  decides, equal ones are a tie;
- from a token (GPT): the likeliest token decides. Its probability p, where the release holds it, is
  that label's, and 1 - p is given to the other label;
- from the score of both orders alone, where it is all there is: the larger side decides.

Labels told the judge who wrote what: the true ones, swapped ones, or random ones. GPT models judged
both orders. Llama judged one, its own text first; its raw probabilities lie in one file a data set,
and further files hold P("1") / (P("1") + P("2")) of each condition.

Files of single summaries, "did you write this?" and a quality from 1 to 5:

- Recognition: the score is P(yes), every spelling of yes among the released tokens added up; the
  distribution is yes, no. Of the base models and of Llama only P("Yes") is there. The release drops
  a row whose two likeliest tokens hold no "Yes"; such rows come back here as `unparsable`.
- Quality: the score is the expectation of the digits' distribution, sum_k k p_k / sum_k p_k.

A file is a JSON list of objects, where a bare `NaN` stands for a missing number; a value that a row
lacks is missing in its column. All files are pinned by their checksums: what they hold is known.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from selfpref.tables.schemas import TIE

Floats = npt.NDArray[np.float64]
LABELS, GRADES = ("1", "2"), ("1", "2", "3", "4", "5")
# Choices are places in what is offered: the text read first, the second, a tie, nobody.
TIED, NOBODY = 2, -1
ORDERS = {"forward": ["own", "other"], "backward": ["other", "own"]}
# The variant of each condition of labels, and the word of the raw file for it.
CONDITIONS = {"correct": "labels-correct", "wrong": "labels-swapped", "random": "labels-random"}
RAW = {"correct": "correct", "wrong": "incorrect", "random": "random"}
PAIR, TEXT = ["item_id", "other"], ["item_id", "responder"]
# The scores of the files of one order, of each pair, by data set and condition.
Scores = dict[tuple[str, str], pd.Series]


class Released(NamedTuple):
    """One file and what its path says.

    Attributes:
        path: In the repository.
        local: On this machine.
        kind: Which kind of file.
        evaluator: Who judged; of summaries, who wrote.
        dataset: `xsum` or `cnn`.
        condition: Of labels and wordings, which.
    """

    path: str
    local: Path
    kind: str
    evaluator: str
    dataset: str = "xsum"
    condition: str = ""


class Question(NamedTuple):
    """What a file asked: task and variant, and in which fields the answers are.

    Attributes:
        task: Its task.
        variant: Its variant.
        score: The field of the release's score.
        answer: Those of the answers, one an order.
        top: Those of the likeliest tokens' probabilities.
    """

    task: str
    variant: str
    score: str
    answer: str
    top: str


def _questions(file: Released) -> list[Question]:
    preference, condition = "preference", file.condition
    match file.kind:
        case "generations":
            return [Question(preference, "generations", "new_preference", "{}", "{}")]
        case "labels":
            fields = ("self_preference", "{}_comparison", "{}_probability")
            return [Question(preference, CONDITIONS[condition], *fields)]
        case "raw-labels":
            return [
                Question(preference, variant, name, f"{RAW[name]}_label", "")
                for name, variant in CONDITIONS.items()
            ]
    worse = file.kind == "worse"
    plain = f"others-named-{condition}" if file.kind == "named" else "plain"
    detected = ("detection_score", "{}_detection", "{}_detection_probability")
    compared = ("self_preference", "{}_comparison", "{}_comparison_probability")
    return [
        Question("recognition", "rerun" if worse else plain, *detected),
        Question("inferiority" if worse else preference, plain, *compared),
    ]


def _numbers(frame: pd.DataFrame, name: str) -> Floats:
    """The numbers of a field that the release or a row may lack: NaN there."""
    found: Floats = frame.reindex(columns=[name])[name].to_numpy(dtype=float, na_value=np.nan)
    return found


def _by_label(values: pd.Series, labels: Sequence[str]) -> Floats:
    """Probabilities `[rows, labels]` of a field that maps labels to them; NaN where missing."""
    maps = [value if isinstance(value, dict) else {} for value in values]
    return np.array([[found.get(label) for label in labels] for found in maps], dtype=float)


def _lists(values: Floats, kept: npt.ArrayLike) -> list[list[float] | None]:
    """A column of lists from `[rows, values]`, missing where not kept."""
    rows = zip(values.tolist(), np.asarray(kept), strict=True)
    return [row if known else None for row, known in rows]


def _answers(frame: pd.DataFrame, question: Question) -> list[pd.DataFrame]:
    """The answers to a question, in whichever way the file stores them: a frame an order.

    Returns:
        `first` and `second` (probability of the text read first and second, NaN where unknown),
        `mass` (what both labels hold of the whole, NaN where unknown), `choice` (a place) and
        `status`. Where only the score of both orders is stored there is one frame, as if the own
        text had been first.
    """
    found = []
    for order in ORDERS if "{}" in question.answer else ["forward"]:
        name, top = question.answer.format(order), question.top.format(order)
        name = f"{name}_output" if f"{name}_output" in frame else name
        if name in frame:
            found.append(_of_field(frame, name, top, question.task == "inferiority"))
    if found:
        return found
    stored = _numbers(frame, question.score)
    side = np.select([stored > 0.5, stored < 0.5], [0, 1], TIED)
    status = np.where(np.isnan(stored), "failed", "ok")
    nothing = dict.fromkeys(("first", "second", "mass"), np.nan)
    return [pd.DataFrame(nothing, frame.index).assign(choice=side, status=status)]


def _of_field(frame: pd.DataFrame, name: str, top: str, turned: bool) -> pd.DataFrame:
    """The answers of one order; turned, where the judge was asked the opposite of what is stored.

    Of who is worse the release stores who is better.
    """
    values = frame[name]
    if values.map(lambda value: isinstance(value, dict)).any():
        pair = _by_label(values, LABELS)
        mass = pair.sum(axis=1)
        odd = np.array([isinstance(v, dict) and not set(LABELS) <= set(v) for v in values])
        lost = np.isnan(mass) & ~odd
        choice = np.select([pair[:, 0] > pair[:, 1], pair[:, 0] < pair[:, 1]], [0, 1], TIED)
    else:
        choice, odd = values.eq(LABELS[1]).to_numpy(dtype=int), ~values.isin(LABELS).to_numpy()
        p = np.where(odd, np.nan, _numbers(frame, top))
        lost = values.isna().to_numpy() | (np.isnan(_numbers(frame, top)) & (top in frame))
        # Rounding lets a released probability exceed 1 by a millionth.
        pair = np.column_stack([p, 1 - p]).clip(0, 1)
        pair = np.where(choice[:, None] == 1, pair[:, ::-1], pair)
        mass = np.full(len(frame), np.nan)
    if turned:
        pair, choice = pair[:, ::-1], np.where(choice == TIED, TIED, 1 - choice)
    status = np.select([lost, odd, mass == 0], ["failed", "unparsable", "low-mass"], "ok")
    found = pd.DataFrame(pair, frame.index, ["first", "second"])
    return found.assign(mass=mass, choice=choice, status=status)


def keep_scores(file: Released, frame: pd.DataFrame, scores: Scores) -> list[pd.DataFrame]:
    """Add the scores of a file of one order to `scores`; as `read_pairs`.

    Returns:
        Its rows of foreign articles, as failed verdicts.
    """
    stored = frame.assign(stored=_numbers(frame, "self_preference")).drop_duplicates(PAIR)
    scores[file.dataset, file.condition] = stored.set_index(PAIR)["stored"]
    return read_pairs(file, frame[~frame["known"]], scores)


def read_pairs(file: Released, frame: pd.DataFrame, scores: Scores) -> list[pd.DataFrame]:
    """The verdicts of a file of pairs.

    Args:
        file: The file.
        frame: Its rows, with `item_id`, `own`, `other` and `known`.
        scores: Those of the files of one order, which raw probabilities lack.

    Returns:
        Verdict rows, a frame a question and order, the own text first and second.
    """
    if file.kind == "raw-labels":
        for (dataset, condition), stored in scores.items():
            if dataset == file.dataset:
                frame = frame.join(stored.rename(condition), on=PAIR)
    frames = []
    for question in _questions(file):
        given, variant = _answers(frame, question), pd.Series(question.variant, frame.index)
        if question.variant == CONDITIONS["random"] and "random_labels" in frame:
            # The first label is the one that the own text got.
            fallen = frame["random_labels"].str[0].eq(frame["own"])
            variant = variant + fallen.map({True: "-correct", False: "-swapped"})
        rows = frame[["item_id"]].assign(
            judge=file.evaluator,
            task=question.task,
            variant=variant,
            stored=_numbers(frame, question.score),
            order_known=file.kind == "labels" or len(given) > 1 or "{}" not in question.answer,
            repeat=frame.assign(variant=variant).groupby([*PAIR, "variant"]).cumcount(),
        )
        for offered, found in zip(ORDERS.values(), given, strict=False):
            pair, status = (
                found[["first", "second"]],
                found["status"].where(frame["known"], "failed"),
            )
            named = frame[offered].assign(tie=TIE, nobody=None).to_numpy(dtype=object)
            kept = pair.notna().all(axis=1) & status.isin(["ok", "low-mass"])
            place = found["choice"].where(status.eq("ok"), NOBODY)
            frames.append(
                rows.assign(
                    candidates=named[:, :2].tolist(),
                    probabilities=_lists(pair.to_numpy(), kept),
                    mass=found["mass"].where(kept),
                    choice=named[np.arange(len(rows)), place],
                    status=status,
                )
            )
    return frames


def read_ratings(file: Released, frame: pd.DataFrame) -> pd.DataFrame:
    """The ratings of a file of single summaries.

    Args:
        file: The file.
        frame: Its rows, with `item_id` and `known`.
    """
    rows = frame[["item_id"]].assign(responder=frame["target_model"])
    made = (_quality if file.kind == "quality" else _recognition)(frame, rows)
    foreign = made["item_id"].isin(frame.loc[~frame["known"], "item_id"])
    return made.assign(
        score=made["score"].mask(foreign),
        status=made["status"].mask(foreign, "failed"),
        judge=file.evaluator,
        task=file.kind,
        repeat=made.groupby(TEXT, sort=False).cumcount(),
    )


def _recognition(frame: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """The ratings of a file of "did you write this?"."""
    stored, split = _numbers(frame, "recognition_score"), np.full((len(frame), 2), np.nan)
    for number, tokens in enumerate(frame.get("res", ())):
        if isinstance(tokens, dict):
            meant = [(token.strip(" \t\n\"'.,").lower(), p) for token, p in tokens.items()]
            split[number] = [sum(p for word, p in meant if word == a) for a in ("yes", "no")]
    known = ~np.isnan(split[:, 0])
    score = np.where(known, split[:, 0], stored)
    status = np.where(np.isnan(score), "failed", "ok")
    rows = rows.assign(score=score, stored=stored, mass=split.sum(axis=1), status=status)
    rows = rows.assign(distribution=_lists(split, known))
    every = pd.MultiIndex.from_product([rows[name].unique() for name in TEXT], names=TEXT)
    dropped = every.difference(pd.MultiIndex.from_frame(rows[TEXT])).to_frame(index=False)
    return pd.concat([rows, dropped.assign(status="unparsable")], ignore_index=True)


def _quality(frame: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """The ratings of a file of quality scores."""
    grades = _by_label(frame["scores"], GRADES)
    mass = grades.sum(axis=1)
    status = np.select([np.isnan(mass), mass == 0], ["failed", "low-mass"], "ok")
    with np.errstate(divide="ignore", invalid="ignore"):
        score = grades @ np.arange(1, len(GRADES) + 1) / mass
    return rows.assign(
        score=np.where(status == "ok", score, np.nan),
        stored=_numbers(frame, "score"),
        mass=mass,
        distribution=_lists(grades, status != "failed"),
        status=status,
    )
