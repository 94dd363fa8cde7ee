"""What the studies measure of a judge, one number a row, with what no preference would give."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from selfpref.card.rule import MATTERS, answer
from selfpref.statements import Estimate, Number
from selfpref.statistics.scaled import EACH

# What the rule of `selfpref measure` reads; without votes some of it is not there.
NEEDED = {"equal_opportunity", "regression_scaled", "beyond_no_preference"}
NO_PLACEBO = pd.DataFrame(columns=["dataset", "model"])


@dataclass(frozen=True)
class Fact:
    """One number of one judge.

    Attributes:
        study: Which study.
        data: Which data set, language or category.
        measure: What is measured.
        value: With its interval, where there is one.
        null: The value where there is no difference; None where a judge without self-preference
            has no fixed value.
        pairs: What it rests on: pairs on either human side, or how many there are.
        few: Whether fewer than ten pairs of a side are behind it, too few to quote.
    """

    study: str
    data: str
    measure: str
    value: Estimate | Number
    null: float | None
    pairs: str = ""
    few: bool = False

    @property
    def reading(self) -> str:
        """Where the interval lies."""
        if self.few:
            return "too few pairs"
        if self.null is None or not isinstance(self.value, Estimate):
            return ""
        if not self.value.excludes(self.null):
            return f"includes {self.null:.2g}"
        return f"{'above' if self.value.lo > self.null else 'below'} {self.null:.2g}"

    @property
    def text(self) -> str:
        """The number as it is printed."""
        if self.few:
            return "too few pairs"
        # A small negative number would be -0.00.
        return f"{self.value:.2f}".replace("\N{MINUS SIGN}0.00", "0.00")


@dataclass(frozen=True)
class _Kind:
    """Which rows of a table hold a fact: the columns of the data set and of the value."""

    study: str
    table: str
    data: str
    column: str
    measure: str
    null: float | str | None
    where: tuple[tuple[str, str], ...] = ()


KINDS = (
    _Kind("wataoka", "fig1b_bias", "dataset", "eo", "bias towards its own responses", None),
    _Kind(
        "wataoka",
        "fig1b_bias",
        "dataset",
        "eo_no_preference",
        "another person's in its place",
        None,
    ),
    _Kind("wataoka", "fig1b_bias", "dataset", "eo_others", "other judges'", None),
    _Kind("wataoka", "fig1b_bias", "dataset", "excess", "beyond the other judges", 0),
    _Kind(
        "beyond",
        "beyond",
        "dataset",
        "value",
        "in a regression with a scale for each judge",
        0,
        (("study", "wataoka"), ("gold", "human"), ("statistic", "regression_scaled")),
    ),
    _Kind(
        "wataoka",
        "position",
        "dataset",
        "first_share",
        "verdicts for what is read first",
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
        "choices of what is read first",
        "chance",
        (("quantity", "first position"),),
    ),
    _Kind(
        "livebench",
        "excess",
        "category",
        "excess",
        "choices of its own beyond the other judges'",
        0,
        (("task", "all"),),
    ),
    _Kind(
        "xu",
        "gains",
        "language",
        "bias_change",
        "change of its self-bias from the first to the last step",
        0,
        (("convention", "corrected"),),
    ),
    _Kind(
        "xu",
        "refined_by_noise",
        "language",
        "beyond",
        "its self-bias at the last step beyond that of a judge of noise",
        0,
        (("convention", "corrected"),),
    ),
)


def _rows(kind: _Kind, frame: pd.DataFrame) -> Iterator[Fact]:
    for column, wanted in kind.where:
        frame = frame[frame[column].eq(wanted)]
    if "step" in frame:
        frame = frame[frame["step"].eq(frame.groupby(kind.data)["step"].transform("max"))]
    bounds = (f"{kind.column}_lo", f"{kind.column}_hi")
    edges = bounds if bounds[0] in frame else ("lo", "hi")
    # A bias says which of its estimates rest on too few pairs; `few` is the judge's own counts.
    few = f"{kind.column}_few" if f"{kind.column}_few" in frame else "few"
    for row in frame.dropna(subset=[kind.column]).to_dict("records"):
        number, low, high = (Number(row.get(name, math.nan)) for name in (kind.column, *edges))
        value = number if math.isnan(low) else Estimate(number, low, high)
        null = float(row[kind.null]) if isinstance(kind.null, str) else kind.null
        counts = [row.get(name, math.nan) for name in ("n_human_own", "n_human_other", "n")]
        known = [f"{count:g}" for count in counts if not math.isnan(count)]
        pairs = " + ".join(known[:2]) if len(known) > 2 else "".join(known[-1:])
        data = str(row[kind.data])
        study = kind.where[0][1] if kind.study == "beyond" else kind.study
        yield Fact(study, data, kind.measure, value, null, pairs, row.get(few) is True)


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


def answers(judge: str, own: Mapping[tuple[str, str], pd.DataFrame]) -> list[str]:
    """What `selfpref measure` says of a judge of pairs, a sentence for each data set.

    Not where the answer needs single votes, which the tables of the figures do not hold.

    Args:
        judge: How it is called.
        own: Its rows of every table, by study and table.
    """
    statistics, bias = own.get(("beyond", "beyond")), own.get(("wataoka", "fig1b_bias"))
    if statistics is None or bias is None:
        return []
    statistics = statistics.query("study == 'wataoka' and gold == 'human'")
    placebo = own.get(("beyond", "placebo"), NO_PLACEBO)
    placebo = placebo[placebo["model"].eq(EACH)]
    told = []
    for dataset in bias["dataset"]:
        rows = statistics[statistics["dataset"].eq(dataset)].set_index("statistic")
        if NEEDED - {*rows.index}:
            continue
        of_set = placebo[placebo["dataset"].eq(dataset)]
        found = answer(judge, rows, of_set, math.nan, math.nan)
        votes = rows.loc["beyond_no_preference"]
        by_votes = not rows.loc["regression_scaled", "n"] and votes["n"] and votes["hi"] < MATTERS
        if not by_votes:
            told.append(f"On {dataset}: {found.verdict}, because {found.because}.")
    return told
