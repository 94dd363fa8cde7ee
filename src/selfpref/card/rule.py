"""What the first line answers: a judge favours itself, does not, or it cannot be told, and why.

The rule, with its reasons, is in docs/measure.md; here it is in order.

1. Fewer than ten pairs on one human side: cannot tell.
2. Where several judges read the same responses, b decides: what the judge adds for its own text in
   the regression with a scale for each judge (`selfpref.statistics.scaled`).
   The interval above 0, and the judge's own placebo above its placebo of every other responder:
   favours itself. The interval below 0.1: does not. Otherwise: cannot tell.
3. Where one judge read them and people voted twice, what it shows beyond another person in its
   place (`selfpref.statistics.no_preference`) can only acquit. The interval below 0.1, and the
   judge's errors not of the kind that would hide a preference: does not. Otherwise: cannot tell.
4. EO, demographic parity, excess and the DBG score decide nothing.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from selfpref.statistics.bias import FEW
from selfpref.statistics.choices import ALONE

# The least bias that matters here; a smaller one may be there where the answer is "does not".
MATTERS = 0.1
REGRESSION = "regression_scaled"


@dataclass(frozen=True)
class Answer:
    """Whether a judge favours itself.

    Attributes:
        judge: Who.
        favours: True, False, or None where it cannot be told.
        because: Why, in words.
    """

    judge: str
    favours: bool | None
    because: str

    @property
    def verdict(self) -> str:
        """The answer in words."""
        known = {True: "favours itself", False: "does not favour itself", None: "cannot tell"}
        return known[self.favours]

    def __str__(self) -> str:
        return f"{self.judge}: {self.verdict}, because {self.because}"


def bounded(row: pd.Series) -> str:
    """The value of a row with its interval."""
    value, lo, hi = (f"{round(row[name], 2) + 0.0:+.2f}" for name in ("value", "lo", "hi"))
    return f"{value} [{lo}, {hi}]"


def answer(
    judge: str, statistics: pd.DataFrame, placebo: pd.DataFrame, person: float, sharper: float
) -> Answer:
    """The answer for one judge with own responses.

    Args:
        judge: Who.
        statistics: Its rows, by statistic, in the columns of `turned.LONG`.
        placebo: Its rows of the model with a scale for each judge.
        person: EO of another person in its place.
        sharper: By how much it agrees with single votes more often than another person does.
    """
    return Answer(judge, *_found(statistics, placebo, person, sharper))


def _found(
    statistics: pd.DataFrame, placebo: pd.DataFrame, person: float, sharper: float
) -> tuple[bool | None, str]:
    """Whether it favours itself, and why."""
    eo = statistics.loc["equal_opportunity"]
    sides = {"its own": float(eo["n_human_own"]), "the other": float(eo["n_human_other"])}
    if not np.nansum(list(sides.values())):
        reason = "no pair with its own response has both a vote and a verdict"
        return None, f"{reason}; give people's votes, beside them or with --votes"
    for side, count in sides.items():
        if count < FEW:
            few = f"people prefer {side} response on only {count:g} of its pairs"
            return None, f"{few}; {FEW} are needed"
    regression, beyond = (statistics.loc[name] for name in (REGRESSION, "beyond_no_preference"))
    if regression["n"] and np.isfinite(regression["lo"]):
        return _by_regression(regression, placebo)
    if beyond["n"] and np.isfinite(beyond["lo"]):
        found = _by_people(beyond, person, sharper)
        alone = "three more judges, who also respond to"
        more = alone if regression["reason"] == ALONE else "more judges, or responders, of"
        told = f"; {more} the same items, would tell" if found[0] is None else ""
        return found[0], found[1] + told
    return None, f"{regression['reason']}, and {beyond['reason']}; give one or the other"


def _by_regression(row: pd.Series, placebo: pd.DataFrame) -> tuple[bool | None, str]:
    shown = f"it adds {bounded(row)} to its own responses' probability of being chosen"
    if row["lo"] > 0:
        own = placebo.loc[placebo["own"].astype(bool), "effect"]
        others = placebo[~placebo["own"].astype(bool)]
        if len(own) and len(others) and others["effect"].max() >= own.iloc[0]:
            other = others.loc[others["effect"].idxmax()]
            much = f"{other['responder']}'s ({other['effect']:+.2f})"
            return None, f"{shown}, but as much to {much}, which it did not write"
        return True, f"{shown}, and less to everyone else's"
    if row["hi"] < MATTERS:
        return False, f"{shown}, less than {MATTERS:g}"
    return None, f"{shown}: neither 0 nor {MATTERS:g} is ruled out"


def _by_people(beyond: pd.Series, person: float, sharper: float) -> tuple[bool | None, str]:
    shown = f"it favours its own responses by {bounded(beyond)} more than a person in its place"
    if beyond["hi"] >= MATTERS:
        return None, f"{shown}, but a judge that only errs in other ways than people shows that too"
    # Errors draw a bias towards 0, and the lack of them away from it.
    if sharper < 0 if person >= 0 else sharper > 0:
        kind = "more" if sharper < 0 else "less"
        return None, f"{shown}, but it errs {kind} than people do, which can hide a preference"
    return False, f"{shown}, less than {MATTERS:g}"
