"""Files of single summaries: "did you write this?" and a quality from 1 to 5.

- Recognition: the score is P(yes), every spelling of yes among the released tokens added up; the
  distribution is yes, no. Of the base models and of Llama only P("Yes") is there. The release drops
  a row whose two likeliest tokens hold no "Yes"; such rows come back here as `unparsable`.
- Quality: the score is the expectation of the digits' distribution, sum_k k p_k / sum_k p_k.
"""

import numpy as np
import pandas as pd

from selfpref.studies.panickssery.read.files import Floats, Released, by_label, lists, numbers

GRADES = ("1", "2", "3", "4", "5")


def read_ratings(file: Released, frame: pd.DataFrame) -> pd.DataFrame:
    """The ratings of a file.

    Args:
        file: The file.
        frame: Its rows, with `item_id` and `known`.
    """
    rows = frame[["item_id", "known"]].assign(responder=frame["target_model"])
    made = (_quality if file.kind == "quality" else _recognition)(frame, rows)
    known = rows.drop_duplicates("item_id").set_index("item_id")["known"]
    foreign = ~made["item_id"].map(known)
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


def _recognition(frame: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """The ratings of a file of "did you write this?"."""
    stored, split = numbers(frame, "recognition_score"), _yes_and_no(frame)
    score = np.where(np.isnan(split[:, 0]), stored, split[:, 0])
    rows = rows.assign(score=score, stored=stored, mass=split.sum(axis=1))
    rows = rows.assign(yes=split[:, 0], no=split[:, 1])
    rows = rows.assign(status=rows["score"].isna().map({True: "failed", False: "ok"}))
    key = ["item_id", "responder"]
    every = pd.MultiIndex.from_product([rows[name].unique() for name in key], names=key)
    dropped = every.difference(pd.MultiIndex.from_frame(rows[key])).to_frame(index=False)
    rows = pd.concat([rows, dropped.assign(status="unparsable")], ignore_index=True)
    split = rows[["yes", "no"]].to_numpy()
    return rows.drop(columns=["yes", "no"]).assign(distribution=lists(split, rows["yes"].notna()))


def _quality(frame: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """The ratings of a file of quality scores."""
    grades = by_label(frame["scores"], GRADES)
    mass = grades.sum(axis=1)
    status = np.select([np.isnan(mass), mass == 0], ["failed", "low-mass"], "ok")
    with np.errstate(divide="ignore", invalid="ignore"):
        score = grades @ np.arange(1, len(GRADES) + 1) / mass
    return rows.assign(
        score=np.where(status == "ok", score, np.nan),
        stored=numbers(frame, "score"),
        mass=mass,
        distribution=lists(grades, status != "failed"),
        status=status,
    )
