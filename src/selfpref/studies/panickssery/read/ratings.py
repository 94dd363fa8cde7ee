"""Files of single summaries: "did you write this?" and a quality from 1 to 5.

- Recognition: the score is P(yes), every spelling of yes among the released tokens added up; the
  distribution is yes, no. Of the base models and of Llama only P("Yes") is there. The release drops
  a row whose two likeliest tokens hold no "Yes"; such rows come back here as `unparsable`.
- Quality: the score is the expectation of the digits' distribution, sum_k k p_k / sum_k p_k.
"""

import itertools

import numpy as np
import pandas as pd

from selfpref.studies.panickssery.read.audit import Floats
from selfpref.studies.panickssery.read.files import Rows, Texts, lists

GRADES = ("1", "2", "3", "4", "5")
YES, NO = "yes", "no"


def _meaning(token: str) -> str:
    """A token without what surrounds its word: ` Yes` and `"Yes` are yes."""
    return token.strip(" \t\n\"'.,").lower()


def _yes_and_no(rows: Rows) -> Floats:
    """P of every spelling of yes and of no, `[rows, 2]`; NaN where no token is stored."""
    found = np.full((len(rows), 2), np.nan)
    for number, tokens in enumerate(rows.column("res")):
        if tokens is None:
            continue
        if not isinstance(tokens, dict):
            raise rows.error(number, f"'res' is {tokens!r}, not a mapping of tokens")
        meant = [(_meaning(token), probability) for token, probability in tokens.items()]
        found[number] = [sum(p for word, p in meant if word == wanted) for wanted in (YES, NO)]
    return found


def _table(
    rows: Rows, study: str, task: str, columns: dict[str, Texts | Floats | pd.Series]
) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "study": study,
            "step": 0,
            "sample": 0,
            "judge": rows.file.evaluator,
            "task": task,
            "variant": "plain",
            "marks": None,
            "reply": None,
            **columns,
        }
    )
    repeat = frame.groupby(["item_id", "responder"], sort=False).cumcount()
    return frame.assign(repeat=repeat)


def read_recognition(rows: Rows, item_ids: Texts, study: str, family: str) -> pd.DataFrame:
    """The ratings of a file of "did you write this?".

    Args:
        rows: Its rows.
        item_ids: The item of each row.
        study: The study.
        family: Whose texts are the judge's own.

    Raises:
        SelfprefError: Another schema; names the file.
    """
    rows.need("target_model", "recognition_score")
    targets, stored = rows.names("target_model"), rows.numbers("recognition_score")
    split = _yes_and_no(rows)
    known = ~np.isnan(split[:, 0])
    score = np.where(known, split[:, 0], stored)
    lost = np.isnan(score)
    rows.note("not-a-number", lost)
    rows.note("yes-undercounted", known & (score > stored))
    truths = rows.column("ground_truth")
    wrong = [
        truth is not None and bool(truth) != (target == family)
        for truth, target in zip(truths, targets, strict=True)
    ]
    rows.note("wrong-ground-truth", np.array(wrong))
    every = set(itertools.product(pd.unique(item_ids), pd.unique(targets)))
    dropped = sorted(every - set(zip(item_ids, targets, strict=True)))
    rows.count("missing-p-yes", len(dropped), f"of {len(every)} rows of its articles")

    def and_dropped(values: Floats) -> Floats:
        return np.concatenate([values, np.full((len(dropped), *values.shape[1:]), np.nan)])

    status = np.where(lost, "failed", "ok")
    return _table(
        rows,
        study,
        "recognition",
        {
            "item_id": np.array([*item_ids, *(item for item, _ in dropped)], dtype=object),
            "responder": np.array([*targets, *(target for _, target in dropped)], dtype=object),
            "score": and_dropped(score),
            "distribution": lists(and_dropped(split), ~np.isnan(and_dropped(split)[:, 0])),
            "mass": and_dropped(split.sum(axis=1)),
            "stored": and_dropped(stored),
            "status": np.array([*status, *["unparsable"] * len(dropped)], dtype=object),
        },
    )


def read_quality(rows: Rows, item_ids: Texts, study: str) -> pd.DataFrame:
    """The ratings of a file of quality scores.

    Args:
        rows: Its rows.
        item_ids: The item of each row.
        study: The study.

    Raises:
        SelfprefError: Another schema; names the file.
    """
    rows.need("target_model", "scores", "score")
    stored = rows.numbers("score", most=float(GRADES[-1]))
    grades = rows.labels("scores", GRADES)
    mass = grades.sum(axis=1)
    status = np.select([np.isnan(mass), mass == 0], ["failed", "low-mass"], "ok")
    with np.errstate(divide="ignore", invalid="ignore"):
        score = grades @ np.arange(1, len(GRADES) + 1) / mass
    score = np.where(status == "ok", score, np.nan)
    filled = (status != "ok") & ~np.isnan(stored)
    rows.note("not-a-number", status == "failed")
    rows.note("mass-filled", filled, _values(stored[filled]))
    differs = ~np.isclose(score, stored, atol=1e-6) & ~np.isnan(score)
    rows.note("stored-differs", differs)
    named = np.array([name != rows.file.evaluator for name in rows.column("model")])
    rows.note("family-as-model", named)
    return _table(
        rows,
        study,
        "quality",
        {
            "item_id": item_ids,
            "responder": rows.names("target_model"),
            "score": score,
            "distribution": lists(grades, status != "failed"),
            "mass": mass,
            "stored": stored,
            "status": status,
        },
    )


def _values(stored: Floats) -> str:
    return "stored " + ", ".join(f"{value:g}" for value in np.unique(stored))
