"""What the studies measure of a judge, one number a row, with what no preference would give."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from selfpref.statements import Estimate, Number


@dataclass(frozen=True)
class Fact:
    """One number of one judge.

    Attributes:
        study: Which study.
        data: Which data set, language or category.
        measure: What is measured.
        value: With its interval, where there is one.
        null: The value of a judge without self-preference, or without a preference for a place.
        few: Whether fewer than ten pairs of a side are behind it, too few to quote.
    """

    study: str
    data: str
    measure: str
    value: Estimate | Number
    null: float
    few: bool = False

    @property
    def reading(self) -> str:
        """Where the interval lies."""
        if self.few:
            return "too few pairs"
        if not isinstance(self.value, Estimate):
            return ""
        if not self.value.excludes(self.null):
            return f"includes {self.null:.2g}"
        return "above" if self.value.lo > self.null else "below"

    @property
    def text(self) -> str:
        """The number as it is printed."""
        return "too few pairs" if self.few else f"{self.value:.2f}"


@dataclass(frozen=True)
class _Kind:
    """Which rows of a table hold a fact: the columns of the data set and of the value."""

    study: str
    table: str
    data: str
    column: str
    measure: str
    null: float | str
    where: tuple[tuple[str, str], ...] = ()


KINDS = (
    _Kind("wataoka", "fig1b_bias", "dataset", "eo", "bias towards its own responses", 0),
    _Kind(
        "wataoka", "fig1b_bias", "dataset", "eo_others", "other judges' towards the same ones", 0
    ),
    _Kind("wataoka", "fig1b_bias", "dataset", "excess", "its bias beyond the other judges'", 0),
    _Kind(
        "wataoka",
        "position",
        "dataset",
        "first_share",
        "verdicts for the response read first",
        0.5,
        (("pairs", "all"),),
    ),
    _Kind(
        "panickssery",
        "fig1_recognition_vs_preference",
        "dataset",
        "recognition",
        "confidence that its own summary is its own",
        0.5,
        (("convention", "corrected"),),
    ),
    _Kind(
        "panickssery",
        "fig1_recognition_vs_preference",
        "dataset",
        "preference",
        "confidence that its own summary is the better one",
        0.5,
        (("convention", "corrected"),),
    ),
    _Kind(
        "livebench",
        "position",
        "category",
        "share",
        "choices of the response read first",
        "chance",
        (("quantity", "first position"),),
    ),
    _Kind(
        "livebench",
        "excess",
        "category",
        "excess",
        "choices of its own response beyond the other judges'",
        0,
        (("task", "all"),),
    ),
    _Kind(
        "xu",
        "gains",
        "language",
        "bias_change",
        "change of its self-bias over the steps, in points",
        0,
        (("convention", "corrected"),),
    ),
)


def _rows(kind: _Kind, frame: pd.DataFrame) -> Iterator[Fact]:
    for column, wanted in kind.where:
        frame = frame[frame[column].eq(wanted)]
    bounds = (f"{kind.column}_lo", f"{kind.column}_hi")
    edges = bounds if bounds[0] in frame else ("lo", "hi")
    # A bias says which of its estimates rest on too few pairs; `few` is the judge's own counts.
    few = f"{kind.column}_few" if f"{kind.column}_few" in frame else "few"
    for row in frame.dropna(subset=[kind.column]).to_dict("records"):
        number, low, high = (Number(row.get(name, math.nan)) for name in (kind.column, *edges))
        value = number if math.isnan(low) else Estimate(number, low, high)
        null = float(row[kind.null]) if isinstance(kind.null, str) else kind.null
        data = str(row[kind.data])
        yield Fact(kind.study, data, kind.measure, value, null, row.get(few) is True)


def facts(own: Mapping[tuple[str, str], pd.DataFrame]) -> list[Fact]:
    """What the studies measure of one judge.

    Args:
        own: Its rows of every table, by study and table.
    """
    found = [
        fact
        for kind in KINDS
        if kind.column in own.get((kind.study, kind.table), ())
        for fact in _rows(kind, own[kind.study, kind.table])
    ]
    studies = list(dict.fromkeys(kind.study for kind in KINDS))
    return sorted(found, key=lambda fact: (studies.index(fact.study), fact.data))
