"""Files of pairs with both questions in both orders, and of new summaries against the base's."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from selfpref.studies.panickssery.read.audit import Audit, close, explained
from selfpref.studies.panickssery.read.files import Floats, Rows
from selfpref.studies.panickssery.read.verdicts import NOBODY, SECOND, TIED, Pairs, Reading

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
# Two top tokens need not add up to one; the implied probability is known to this much.
SLACK = 0.01


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


def note_stored(
    audit: Audit, rows: Rows, task: str, stored: Floats, formulas: Mapping[str, Floats]
) -> None:
    """Note what the stored scores turn out to be; `own` is what they should."""
    best, found = explained(stored, formulas)
    if finding := FINDINGS.get(best.partition(",")[0]):
        audit.note(rows, finding, found, f"{task}: {best}")
        return
    own = formulas["own"]
    differs = ~close(stored, own) & ~np.isnan(stored) & ~np.isnan(own)
    audit.note(rows, "stored-differs", differs, task)


def note_answers(
    audit: Audit, rows: Rows, task: str, stored: Floats, readings: Mapping[str, Reading]
) -> None:
    """Note what the answers lack, by their fields, and what is stored nevertheless."""
    status = np.array([reading.status for reading in readings.values()])
    lost, empty = ((status == name).any(axis=0) for name in ("failed", "low-mass"))
    absent = np.array([[value is None for value in rows.column(name)] for name in readings])
    without = absent.any(axis=0)
    for finding, affected in {
        "odd-tokens": (status == "unparsable").any(axis=0),
        "no-mass": empty,
        "missing-order": without,
        "not-a-number": lost & ~without,
        "nan-filled": (lost | empty) & ~np.isnan(stored),
        "missing-score": np.isnan(stored),
    }.items():
        audit.note(rows, finding, affected, task)


def note_tokens(
    audit: Audit, rows: Rows, task: str, stored: Floats, forward: Reading, backward: Reading
) -> None:
    """Note what became of the probabilities of the likeliest tokens."""
    known = [~np.isnan(reading.probabilities[:, 0]) for reading in (forward, backward)]
    if not known[0].any():
        audit.note(rows, "no-probabilities", np.ones(len(rows), dtype=bool), task)
    elif not known[1].any():
        audit.note(rows, "missing-backward-probability", np.ones(len(rows), dtype=bool), task)
        implied = 2 * stored - forward.probabilities[:, 0]
        implied = np.where(backward.choice == SECOND, implied, 1 - implied)
        against = (backward.choice != NOBODY) & (implied < 0.5 - SLACK)
        audit.note(rows, "incoherent-backward", against, task)
    else:
        own = _own(forward, backward)["own"]
        note_stored(audit, rows, task, stored, {"own": own, "inverted": 1 - own})


def _note_probabilities(
    audit: Audit,
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
    note_stored(audit, rows, task, stored, formulas)
    for order, reading in zip(ORDERS, (forward, backward), strict=True):
        name = f"{order}_{QUESTIONS[question][0]}"
        first = (reading.choice == TIED) & (rows.tokens(name) == "1")
        audit.note(rows, "ties-stored-as-first", first, name)


def read_questions(audit: Audit, rows: Rows, pairs: Pairs) -> list[pd.DataFrame]:
    """The verdicts of a file with both questions.

    Args:
        audit: Takes the findings.
        rows: The rows of a file of the kind `pairwise`, `worse` or `named`.
        pairs: Their pairs.

    Returns:
        Verdict rows, a frame a question and order.

    Raises:
        SelfprefError: Another schema; names the file.
    """
    from_probabilities = rows.has("forward_detection_output")
    ending = "_output" if from_probabilities else ""
    readings: dict[str, tuple[Reading, Reading]] = {}
    for question, (word, score) in QUESTIONS.items():
        one, two = fields = [f"{order}_{word}" for order in ORDERS]
        rows.need(score, *(name + ending for name in fields))
        read = _of_probabilities if from_probabilities else _of_tokens
        readings[question] = read(rows, one), read(rows, two)
    frames = []
    for question, (forward, backward) in readings.items():
        (task, variant), (word, score) = tasks(rows)[question], QUESTIONS[question]
        stored = rows.numbers(score)
        answers = {f"{ORDERS[0]}_{word}{ending}": forward, f"{ORDERS[1]}_{word}{ending}": backward}
        note_answers(audit, rows, task, stored, answers)
        if from_probabilities:
            _note_probabilities(audit, rows, task, stored, readings, question)
        else:
            note_tokens(audit, rows, task, stored, forward, backward)
        # The release stores who is better; the judge was asked who is worse.
        given = [r.turned() if task == "inferiority" else r for r in (forward, backward)]
        frames += pairs.verdicts(task, variant, stored, forward=given[0], backward=given[1])
    return frames


def _of_probabilities(rows: Rows, name: str) -> Reading:
    return Reading.of_probabilities(rows, f"{name}_output")


def _of_tokens(rows: Rows, name: str) -> Reading:
    return Reading.of_tokens(rows, name, f"{name}_probability")


def read_generations(audit: Audit, rows: Rows, pairs: Pairs) -> list[pd.DataFrame]:
    """The verdicts on a tuned model's new summaries against its base's.

    Args:
        audit: Takes the findings.
        rows: The rows of the file.
        pairs: Their pairs, the own text being the new one.

    Raises:
        SelfprefError: Another schema; names the file.
    """
    rows.need("new_preference")
    stored = rows.numbers("new_preference")
    if not rows.has(*ORDERS):
        audit.note(rows, "no-probabilities", np.ones(len(rows), dtype=bool))
        audit.note(rows, "missing-score", np.isnan(stored))
        return pairs.merged("preference", "generations", stored)
    answers = {name: Reading.of_probabilities(rows, name) for name in ORDERS}
    note_answers(audit, rows, "preference", stored, answers)
    note_stored(audit, rows, "preference", stored, _own(*answers.values()))
    return pairs.verdicts("preference", "generations", stored, **answers)
