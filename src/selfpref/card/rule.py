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
    eo = statistics.loc["equal_opportunity"]
    sides = {
        "its own": float(eo["n_human_own"]),
        "the other": float(eo["n_human_other"]),
    }
    if not np.nansum(list(sides.values())):
        reason = "no pair with its own response has both a vote and a verdict"
        return Answer(judge, None, f"{reason}; give people's votes, beside them or with --votes")
    for side, count in sides.items():
        if count < FEW:
            return Answer(
                judge,
                None,
                f"people prefer {side} response on only {count:g} of its pairs; {FEW} are needed",
            )
    regression = statistics.loc["regression_scaled"]
    if regression["n"] and np.isfinite(regression["lo"]):
        return _by_regression(judge, regression, placebo)
    beyond = statistics.loc["beyond_no_preference"]
    if beyond["n"] and np.isfinite(beyond["lo"]):
        alone = regression["reason"] == ALONE
        more = (
            "three more judges, who also respond to" if alone else "more judges, or responders, of"
        )
        return _by_people(judge, beyond, person, sharper, f"{more} the same items, would tell")
    return Answer(
        judge, None, f"{regression['reason']}, and {beyond['reason']}; give one or the other"
    )


def _by_regression(judge: str, row: pd.Series, placebo: pd.DataFrame) -> Answer:
    shown = f"it adds {bounded(row)} to its own responses' probability of being chosen"
    if row["lo"] > 0:
        own = placebo.loc[placebo["own"].astype(bool), "effect"]
        others = placebo[~placebo["own"].astype(bool)]
        if len(own) and len(others) and others["effect"].max() >= own.iloc[0]:
            other = others.loc[others["effect"].idxmax()]
            return Answer(
                judge,
                None,
                f"{shown}, but as much to {other['responder']}'s ({other['effect']:+.2f}), "
                "which it did not write",
            )
        return Answer(judge, True, f"{shown}, and less to everyone else's")
    if row["hi"] < MATTERS:
        return Answer(judge, False, f"{shown}, less than {MATTERS:g}")
    return Answer(judge, None, f"{shown}: neither 0 nor {MATTERS:g} is ruled out")


def _by_people(judge: str, beyond: pd.Series, person: float, sharper: float, remedy: str) -> Answer:
    shown = f"it favours its own responses by {bounded(beyond)} more than a person in its place"
    if beyond["hi"] < MATTERS:
        # Errors draw a bias towards 0, and the lack of them away from it.
        hidden = sharper < 0 if person >= 0 else sharper > 0
        if not hidden:
            return Answer(judge, False, f"{shown}, less than {MATTERS:g}")
        kind = "more" if sharper < 0 else "less"
        return Answer(
            judge,
            None,
            f"{shown}, but it errs {kind} than people do, which can hide a preference; {remedy}",
        )
    return Answer(
        judge,
        None,
        f"{shown}, but a judge that only errs in other ways than people shows that too; {remedy}",
    )
