"""Marks of single texts beside an answer key: does a judge mark its own wrong answers up?

A file of marks has a row a mark:

| column | value |
|---|---|
| item, judge, responder | what was asked, who marks, whose answer |
| score | the mark, a number |
| key | what the answer is worth, 0 to 1; 1 is right |
| task, cluster | optional: a kind of items; items that are not independent |

The statistic is D of the third judge (`selfpref.statistics.third`). Three judges have to mark the
same answers, and two of them have to have written some.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from selfpref.card.rule import Answer, interval
from selfpref.card.words import Card, chosen, made_by
from selfpref.errors import SelfprefError
from selfpref.formats.records import NO_NAMES, Names, refuse, refuse_again, whole
from selfpref.statistics.bias import FEW
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.statistics.third import ALIKE, BEYOND, BOTH, OWN, SCALES, third_judge

NAMES, MORE = ("item", "judge", "responder"), ("task", "cluster")
TEXT = ["item", "responder"]
# What is small, in standard deviations of a judge's marks (Cohen 1988).
SMALL = 0.2


def answer(third: pd.DataFrame, unit: str = "points") -> Answer:
    """Whether a judge favours itself, or its own mistakes, from the marks as they were given.

    Args:
        third: Its rows of the first of `SCALES`, by kind.
        unit: Of the marks.
    """
    wrong, beyond = third.loc[BOTH], third.loc[BEYOND]
    if wrong["items"] < FEW or not np.isfinite(wrong["lo"]):
        few = f"only {wrong['items']} items have its own answer and another one wrong by the key"
        return Answer(None, f"{few}, and a third judge; {FEW} are needed", unit=unit)
    shown = f"of two wrong answers it marks its own {interval(wrong)} above a third judge's marks"
    apart = f"{interval(beyond)} more than where both are right"
    if wrong["lo"] > 0:
        also = ""
        if (alike := third.loc[ALIKE])["items"] >= FEW:
            shown += f", {interval(alike)} where the key calls both equally wrong"
            sure = alike["lo"] > 0
            also = ", equally wrong ones too" if sure else "; of equally wrong ones: cannot tell"
        told = "favour, a mistake made twice, length, manner or a lean to the best do so"
        return Answer(True, f"{shown}, {apart}; {told}", unit=unit, also=also)
    alone, most = third.loc[OWN], wrong["hi"]
    if alone["items"] >= FEW:
        apart += f"; {interval(alone)} where the other answer is right"
        most = np.maximum(most, alone["hi"])
    if most < SMALL * wrong["spread"]:
        return Answer(
            False, f"{shown}, {apart}; under {SMALL:g} of a standard deviation", most, unit
        )
    return Answer(None, f"{shown}, {apart}", unit=unit)


def read(path: Path, alias: Names, columns: Names = NO_NAMES) -> pd.DataFrame:
    """The marks of a file: `NAMES`, `MORE`, `score`, `key`, and the place of each row.

    Raises:
        SelfprefError: A value is missing or no number, or a mark stands there twice.
    """
    rows = whole(path, NAMES, ("score", "key"), MORE, columns, alias)
    refuse(rows, ~rows["key"].between(0, 1), "key {key} is not between 0 and 1; divide by the most")
    other = "another key of this answer than in {before}; correct one"
    refuse_again(rows.drop_duplicates([*TEXT, "key"]), TEXT, other)
    return rows.assign(task=rows["task"].fillna(""), cluster=rows["cluster"].fillna(rows["item"]))


def measure(rows: pd.DataFrame, name: str, judge: str | None, bootstrap: ClusterBootstrap) -> Card:
    """What marks show of every judge that wrote some of the answers.

    Args:
        rows: As `read` returns them.
        name: Of the set.
        judge: The only judge to have a card.
        bootstrap: Of clusters.

    Raises:
        SelfprefError: No judge, or not this one, wrote an answer that is marked.
    """
    judges = sorted({*rows["judge"]} & {*rows["responder"]})
    if not judges:
        raise SelfprefError(f"{name}: no judge marked an answer of its own; --alias joins names")
    judges, rows = chosen(judge, judges), rows.rename(columns={"item": "item_id"})
    key = rows[["item_id", "responder", "key"]].drop_duplicates(["item_id", "responder"])
    third = third_judge(rows, key.rename(columns={"key": "score"}), judges, bootstrap, margin=0.0)
    answers, made = {}, {}
    for one in judges:
        mine = third[third["judge"].eq(one)].drop(columns="judge")
        answers[one] = answer(mine[mine["scale"].eq(SCALES[0])].set_index("kind"))
        known = mine.astype(object).where(mine.notna(), None).to_dict("records")
        made[one] = answers[one].to_dict() | {"third_judge": known}
    return Card(answers, {"name": name, "judges": made, "made": made_by(bootstrap)})
