"""Marks of single texts beside an answer key: does a judge mark its own wrong answers up?

A file of marks (.jsonl, .csv or .json) has a row a mark:

| column | value |
|---|---|
| item, judge, responder | what was asked, who marks, whose answer |
| score | the mark, a number |
| key | what the answer is worth, 0 to 1; 1 is right |
| task, cluster | optional: a kind of items; items that are not independent |

The statistic is D of the third judge (`selfpref.statistics.third`). Three judges have to mark the
same answers, and two of them have to have written some.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from selfpref.card import words
from selfpref.card.numbers import made_by
from selfpref.card.rule import Answer, bounded
from selfpref.errors import SelfprefError
from selfpref.formats.judgments import MARKS
from selfpref.formats.records import records
from selfpref.formats.rows import filled, numbers, refuse, refuse_again
from selfpref.statistics.bias import FEW, names_of
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.statistics.third import BEYOND, BOTH, SCALES, third_judge

NAMES = ["item", "judge", "responder", "task", "cluster"]
SENTENCE = (
    "How much higher it marks its own answer than another one, beyond what a third judge, who "
    "wrote neither, makes of the same two, by what the key says of them. A judge without a favour "
    "is at 0. One that takes its own mistakes for right is above 0 where both are wrong, as one is "
    "that likes its own."
)
SENTENCES = dict(
    zip(SCALES, (SENTENCE, "The same of marks without each judge's level and spread."), strict=True)
)
# What is small, in standard deviations of a judge's marks (Cohen 1988).
SMALL = 0.2


@dataclass(frozen=True)
class Marked:
    """What a set of marks shows.

    Attributes:
        name: Of the set.
        answers: By judge, favours itself or not, and why.
        third: D by judge, kind and scale (the columns `selfpref.statistics.third.THIRD`).
        made: By which version, when, of which files and how (`selfpref.card.numbers.made_by`).
    """

    name: str
    answers: Mapping[str, Answer]
    third: pd.DataFrame
    made: dict[str, Any]

    def __str__(self) -> str:
        return words.text(self.parts())

    def _repr_html_(self) -> str:
        # A page needs what no number does.
        from selfpref.card.page import framed  # noqa: PLC0415

        return framed(self)

    def picture(self) -> list[tuple[str, list[tuple[str, float, float, float]]]]:
        """Nothing: marks have no scale that all files share."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """The same as `--json` writes it."""
        made: dict[str, Any] = {}
        for judge, answer in self.answers.items():
            rows = self.third[self.third["judge"].eq(judge)].astype(object)
            known = rows.where(rows.notna(), None).drop(columns="judge").to_dict("records")
            made[judge] = {"answer": answer.verdict, "favours_itself": answer.favours}
            made[judge] |= {"because": answer.because, "third_judge": known}
        return {"name": self.name, "judges": made, "made": dict(self.made)}

    def parts(self) -> words.Parts:
        """The card in words."""
        first = [(f"{one.judge}: {one.verdict}", one.because) for one in self.answers.values()]
        cards: dict[str, list[words.Block]] = {judge: [] for judge in self.answers}
        for (scale, judge), rows in self.third.groupby(["scale", "judge"]):
            lines = [
                (
                    str(row["kind"]),
                    f"{bounded(row)}, {row['items']} items"
                    if row["items"]
                    else "none: no such items",
                )
                for _, row in rows.iterrows()
            ]
            if judge in cards:
                cards[judge].append(
                    words.Block(f"The third judge, {scale}", SENTENCES[str(scale)], lines)
                )
        told = ["numbers below: D [95 % interval], items"]
        return words.Parts(first, [], told, cards, words.written(self.made))


def answer(judge: str, third: pd.DataFrame) -> Answer:
    """Whether a judge favours itself, or its own mistakes, from the marks as they were given.

    Args:
        judge: Who.
        third: Its rows of the first of `SCALES`, by kind.
    """
    wrong, beyond = third.loc[BOTH], third.loc[BEYOND]
    shown = f"it marks its own wrong answers {bounded(wrong)} above a third judge's marks of them"
    if wrong["items"] < FEW or not np.isfinite(wrong["lo"]):
        few = f"only {wrong['items']} items have its own answer and another one wrong by the key"
        return Answer(judge, None, f"{few}, and a third judge; {FEW} are needed")
    if wrong["lo"] > 0:
        more = f"{shown}, and {bounded(beyond)} above its right ones"
        return Answer(judge, True, f"{more}; it may like its own, or repeat its own mistakes")
    if wrong["hi"] < SMALL * wrong["spread"]:
        small = f"{shown}, under {SMALL:g} of a standard deviation"
        return Answer(judge, False, small, wrong["hi"])
    return Answer(judge, None, f"{shown}, and {bounded(beyond)} above its right ones")


def are(path: Path) -> bool:
    """Whether the first record of a file is a mark."""
    if path.is_dir() or not path.exists():
        return False
    _, record = next(records(path), (0, {}))
    return set(MARKS) <= set(record)


def read(path: Path, alias: Mapping[str, str]) -> pd.DataFrame:
    """The marks of a file: `NAMES`, `score`, `key`, and the place of each row.

    Raises:
        SelfprefError: A value is missing or no number, or a mark stands there twice.
    """
    numbered = list(records(path))
    raw = pd.DataFrame([row for _, row in numbered], dtype=object)
    raw = raw.assign(file=f"{path}, line", line=[number for number, _ in numbered])
    for name in MARKS:
        refuse(raw, ~filled(raw, name), f"no {name!r}; it needs {', '.join(MARKS)}")
    unknown = sorted({*raw.columns} - {*MARKS, *NAMES, "file", "line"})
    told = f"unknown column {unknown[:1]}; remove it or correct its spelling"
    refuse(raw, pd.Series(bool(unknown), index=raw.index), told)
    raw = raw.assign(task=raw.get("task", ""), cluster=raw.get("cluster", raw["item"]))
    rows = raw.astype(dict.fromkeys(NAMES, "str"))
    rows = rows.assign(score=numbers(raw, "score"), key=numbers(raw, "key"))
    refuse(raw, ~np.isfinite(rows["score"]), "score {score} is no number; remove the row")
    refuse(raw, ~rows["key"].between(0, 1), "key {key} is not between 0 and 1; divide by the most")
    rows = rows.replace({name: dict(alias) for name in ("judge", "responder")})
    place, text = rows[["item", "judge", "responder"]], rows[["item", "responder"]]
    again = "a second mark of item {item} by {judge}, as in {before}; keep one row"
    refuse_again(rows, place, place.duplicated(), again)
    other = rows["key"].ne(rows.groupby([*text])["key"].transform("first"))
    refuse_again(rows, text, other, "another key of this answer than in {before}; correct one")
    return rows


def measure(
    rows: pd.DataFrame, name: str, judge: str | None, bootstrap: ClusterBootstrap
) -> Marked:
    """What marks show of every judge that wrote some of the answers.

    Args:
        rows: As `read` returns them.
        name: Of the set.
        judge: The only judge to have a card.
        bootstrap: Of clusters.

    Raises:
        SelfprefError: No judge, or not this one, wrote an answer that is marked.
    """
    rows = rows.rename(columns={"item": "item_id"})
    key = rows.drop_duplicates(["item_id", "responder"])
    key = key[["item_id", "responder"]].assign(score=key["key"])
    judges = [one for one in names_of(rows["judge"]) if rows["responder"].eq(one).any()]
    if not judges or judge not in (None, *judges):
        told = f"--judge {judge}: no such judge" if judges else f"{name}: no judge"
        there = ", ".join(judges) or "none"
        raise SelfprefError(f"{told} with own answers, there are: {there}; --alias joins two names")
    judges = [one for one in judges if judge in (None, one)]
    third = third_judge(rows.drop(columns="key"), key, judges, bootstrap, margin=0.0)
    given = third[third["scale"].eq(SCALES[0])]
    by_kind = {one: given[given["judge"].eq(one)].set_index("kind") for one in judges}
    return Marked(
        name, {one: answer(one, part) for one, part in by_kind.items()}, third, made_by(bootstrap)
    )
