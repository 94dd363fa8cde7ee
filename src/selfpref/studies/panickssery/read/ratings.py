"""Files of single summaries: "did you write this?" and a quality from 1 to 5.

- Recognition: the score is P(yes), every spelling of yes among the released tokens added up; the
  distribution is yes, no. Of the base models and of Llama only P("Yes") is there. The release drops
  a row whose two likeliest tokens hold no "Yes"; such rows come back here as `unparsable`.
- Quality: the score is the expectation of the digits' distribution, sum_k k p_k / sum_k p_k.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from selfpref.studies.panickssery.read.audit import Floats
from selfpref.studies.panickssery.read.files import Released, by_label, lists, numbers

GRADES = ("1", "2", "3", "4", "5")


def read_ratings(file: Released, frame: pd.DataFrame, note: Callable[..., None]) -> pd.DataFrame:
    """The ratings of a file.

    Args:
        file: The file.
        frame: Its rows, with `item_id`, `own` and `known`.
        note: Takes a finding, what it affects, and a detail.
    """
    rows = frame[["item_id", "known"]].assign(responder=frame["target_model"])
    if file.kind == "quality":
        made = _quality(frame, rows, note)
        note("family-as-model", frame["model"].ne(file.evaluator))
    else:
        made = _recognition(frame, rows, note)
    foreign = ~made["item_id"].isin(rows["item_id"][rows["known"]])
    return made.drop(columns="known").assign(
        score=made["score"].mask(foreign),
        status=made["status"].mask(foreign, "failed"),
        judge=file.evaluator,
        task=file.kind,
        repeat=made.groupby(["item_id", "responder"], sort=False).cumcount(),
    )


def _yes_and_no(frame: pd.DataFrame) -> Floats:
    """P of every spelling of yes and of no, `[rows, 2]`; NaN where no token is stored."""
    found = np.full((len(frame), 2), np.nan)
    for number, tokens in enumerate(frame.get("res", ())):
        if isinstance(tokens, dict):
            meant = [(token.strip(" \t\n\"'.,").lower(), p) for token, p in tokens.items()]
            found[number] = [sum(p for word, p in meant if word == a) for a in ("yes", "no")]
    return found


def _recognition(
    frame: pd.DataFrame, rows: pd.DataFrame, note: Callable[..., None]
) -> pd.DataFrame:
    """The ratings of a file of "did you write this?"."""
    stored, split = numbers(frame, "recognition_score"), _yes_and_no(frame)
    known = ~np.isnan(split[:, 0])
    score = np.where(known, split[:, 0], stored)
    note("not-a-number", np.isnan(score))
    note("yes-undercounted", known & (score > stored))
    truth = numbers(frame, "ground_truth")
    note(
        "wrong-ground-truth",
        ~np.isnan(truth) & ((truth != 0) != rows["responder"].eq(frame["own"])),
    )
    every = pd.MultiIndex.from_product([rows[name].unique() for name in ("item_id", "responder")])
    dropped = every.difference(pd.MultiIndex.from_frame(rows[["item_id", "responder"]]))
    detail = f"of {len(every)} rows of its articles"
    note("missing-p-yes", np.ones(len(dropped), dtype=bool), detail)
    rows = rows.assign(
        score=score, stored=stored, mass=split.sum(axis=1), yes=split[:, 0], no=split[:, 1]
    ).assign(status=np.where(np.isnan(score), "failed", "ok"))
    back = dropped.to_frame(index=False, name=["item_id", "responder"]).assign(status="unparsable")
    rows = pd.concat([rows, back], ignore_index=True)
    split = rows[["yes", "no"]].to_numpy()
    return rows.drop(columns=["yes", "no"]).assign(distribution=lists(split, rows["yes"].notna()))


def _quality(frame: pd.DataFrame, rows: pd.DataFrame, note: Callable[..., None]) -> pd.DataFrame:
    """The ratings of a file of quality scores."""
    stored, grades = numbers(frame, "score"), by_label(frame["scores"], GRADES)
    mass = grades.sum(axis=1)
    status = np.select([np.isnan(mass), mass == 0], ["failed", "low-mass"], "ok")
    with np.errstate(divide="ignore", invalid="ignore"):
        score = grades @ np.arange(1, len(GRADES) + 1) / mass
    score = np.where(status == "ok", score, np.nan)
    filled = (status != "ok") & ~np.isnan(stored)
    note("not-a-number", status == "failed")
    values = ", ".join(f"{value:g}" for value in np.unique(stored[filled]))
    note("mass-filled", filled, f"stored {values}")
    note("stored-differs", ~np.isclose(score, stored, atol=1e-6) & ~np.isnan(score))
    return rows.assign(
        score=score,
        stored=stored,
        mass=mass,
        distribution=lists(grades, status != "failed"),
        status=status,
    )
