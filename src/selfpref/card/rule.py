"""What the first line answers: a judge favours itself, by so much at most, or it cannot be told.

The rule, with its reasons, is in docs/measure.md; here it is in order.

1. Fewer than ten pairs on one human side: cannot tell. Nor where, against the same opponent, its
   own response mostly stood in one place: a taste for the place looks the same then.
2. Where several judges read the same responses, b decides: what the judge adds for its own text in
   the regression with a scale for each judge (`selfpref.statistics.scaled`).
   The interval above 0, and the judge's own placebo above its placebo of every other responder:
   favours itself, and a little where the interval lies below what matters too. The interval below
   what matters: by at most its upper bound. Otherwise: cannot tell.
3. Where one judge read them and people voted twice, what it shows beyond another person in its
   place (`selfpref.statistics.bias`) can only acquit. The interval below what matters, and
   the judge's errors not of the kind that would hide a preference: by at most its upper bound.
   Otherwise: cannot tell.
   Where the order of the two responses decides more than half of its pairs, neither acquits: what
   is left to choose between is too little to show what it would take.
4. EO, demographic parity, excess and the DBG score decide nothing.

What matters depends on what a judge could take: one that chooses its own responses in 86 of 100
pairs has 0.14 left to take. It is what odds of `ODDS` times as much for its own would add to a
share p of its choices,

    p / (p + (1 - p) / ODDS) - p

0.1 where p = 1/2, 0.04 where p = 0.86. For b, p is its share of own choices, ties as halves; for
EO beyond a person it is the sum over its shares on both human sides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from selfpref.statistics.bias import FEW
from selfpref.statistics.choices import FACTOR, HALF

# The least bias that matters multiplies the odds of choosing itself by this.
ODDS = 1.5
# From this share of pairs on whose winner turns with the order, a judge is not acquitted.
REVERSED = 0.5
# From this share of verdicts on with its own response in one place, a taste for the place is open.
ONE_PLACE = 0.75
REGRESSION = "regression_scaled"
MORE = "more judges of the same pairs, who need not have written anything"
# Whether it favours itself, why, and by how much at most.
Found: TypeAlias = tuple[bool | None, str, float]


def number(value: float, sign: bool = True) -> str:
    """A number with two digits, never -0.00."""
    return f"{round(value, 2) + 0.0:{'+' if sign else ''}.2f}"


def interval(estimate: Mapping[str, Any] | pd.Series, sign: bool = True) -> str:
    """`value [lo, hi]`."""
    bounds = [number(estimate[end], sign) for end in ("lo", "hi") if estimate[end] is not None]
    return number(estimate["value"], sign) + (f" [{', '.join(bounds)}]" if bounds else "")


@dataclass(frozen=True)
class Answer:
    """Whether a judge favours itself.

    Attributes:
        judge: Who.
        favours: True, False, or None where it cannot be told.
        because: Why, in words.
        most: Where it does not, or by less than matters, by how much it may do so at most.
    """

    judge: str
    favours: bool | None
    because: str
    most: float = np.nan

    @property
    def verdict(self) -> str:
        """The answer in words."""
        if self.favours is None:
            return "cannot tell"
        if self.favours:
            return "favours itself a little" if self.most > 0 else "favours itself"
        if self.most > 0:
            return f"favours itself by at most {max(self.most, 0.01):.2f}"
        return "does not favour itself"

    def to_dict(self) -> dict[str, Any]:
        """What the first line says, as JSON has it."""
        found = {"answer": self.verdict, "favours_itself": self.favours}
        return found | {"because": self.because}


def said(verdict: str, points: str = "") -> str:
    """An answer as it is shown: marks tell of its own mistakes, and of a bound its unit.

    Args:
        verdict: As `Answer` has it.
        points: The unit of marks beside a key; without one it is of verdicts.
    """
    bound = verdict.partition("by at most ")[2]
    if bound:
        return f"by at most {bound} {points or 'in probability'}, if at all"
    return verdict.replace("favours itself", "marks its own mistakes up") if points else verdict


def matters(share: float) -> float:
    """What odds of `ODDS` times as much add to a share of 0..1."""
    return share / (share + (1 - share) / ODDS) - share


def on_both_sides(statistics: pd.DataFrame) -> float:
    """What matters of a difference of EOs, from the shares on both human sides."""
    sides = statistics.loc[["harmful", "legitimate"], "value"]
    return sum(matters(float(share)) for share in sides)


def could_show(row: pd.Series) -> str:
    """The least effect that data like these show in four files of five, in words."""
    error = (row["hi"] - row["lo"]) / 2 / HALF
    return f"these data could show {error * np.sqrt(FACTOR):.2f} or more"


def answer(
    judge: str,
    statistics: pd.DataFrame,
    placebo: pd.DataFrame,
    person: float,
    sharper: float,
    place: Mapping[str, float],
) -> Answer:
    """The answer for one judge with own responses.

    Args:
        judge: Who.
        statistics: Its rows, by statistic, in the columns of `choices.LONG`.
        placebo: Its rows of the model with a scale for each judge.
        person: EO of another person in its place.
        sharper: By how much it agrees with single votes more often than another person does.
        place: Of its own pairs, 0..1: `reversal_rate`, the share whose winner turns with the order,
            and `one_place` (`selfpref.statistics.judged`); what is not known is NaN or not there.
    """
    favours, because, most = _found(statistics, placebo, person, sharper)
    stood, turned = (place.get(name, np.nan) for name in ("one_place", "reversal_rate"))
    if favours is not None and stood > ONE_PLACE:
        told = f"{because}, but in {stood:.2f} of its verdicts its own response stood in one place"
        more = "a taste for the place looks the same; ask in both orders"
        return Answer(judge, None, f"{told}, by opponent: {more}")
    if favours is False and turned > REVERSED:
        told = f"{because}, but the order decides {turned:.2f} of its pairs, which hides the rest"
        return Answer(judge, None, told)
    return Answer(judge, favours, because, most)


def _found(statistics: pd.DataFrame, placebo: pd.DataFrame, person: float, sharper: float) -> Found:
    """Whether it favours itself, why, and by how much at most."""
    eo = statistics.loc["equal_opportunity"]
    sides = {"its own": float(eo["n_human_own"]), "the other": float(eo["n_human_other"])}
    if not np.nansum(list(sides.values())):
        reason = "no pair with its own response has both a vote and a verdict"
        return None, f"{reason}; give people's votes, beside them or with --votes", np.nan
    for side, count in sides.items():
        if count < FEW:
            few = f"people prefer {side} response on only {count:g} of its pairs"
            cure = "pairs with weaker" if side == "its own" else "pairs with stronger"
            return None, f"{few}; {FEW} are needed: add {cure} opponents", np.nan
    regression, beyond = (statistics.loc[name] for name in (REGRESSION, "beyond_no_preference"))
    if regression["n"] and np.isfinite(regression["lo"]):
        wins = statistics.loc[["harmful", "neutral", "legitimate"], ["value", "n"]].astype(float)
        share = (wins["value"] * wins["n"]).sum() / wins["n"].sum()
        return _by_regression(regression, placebo, matters(share))
    more = f"{MORE}, or opponents of other qualities, may tell"
    if beyond["n"] and np.isfinite(beyond["lo"]):
        favours, told, most = _by_people(beyond, person, sharper, on_both_sides(statistics))
        return favours, f"{told}; {more}" if favours is None else told, most
    return None, f"{regression['reason']}, and {beyond['reason']}; {more}", np.nan


def _by_regression(row: pd.Series, placebo: pd.DataFrame, least: float) -> Found:
    own = "to its own responses' probability of being chosen"
    shown = f"it adds {interval(row)} more {own} than the other judges do"
    if row["lo"] > 0:
        mine = placebo.loc[placebo["own"].astype(bool), "effect"]
        others = placebo[~placebo["own"].astype(bool)]
        if len(mine) and len(others) and others["effect"].max() >= mine.iloc[0]:
            other = others.loc[others["effect"].idxmax()]
            much = f"{other['responder']}'s ({other['effect']:+.2f})"
            return None, f"{shown}, but as much to {much}, which it did not write", np.nan
        told = f"{shown}, and less to everyone else's"
        if row["hi"] >= least:
            return True, told, np.nan
        return True, f"{told}, but under the {least:.2f} that would matter", row["hi"]
    if row["hi"] < least:
        return False, f"{shown}, less than the {least:.2f} that would matter", row["hi"]
    told = f"{shown}: neither 0 nor {least:.2f}, which would matter, is ruled out"
    return None, f"{told}; {could_show(row)}", np.nan


def _by_people(beyond: pd.Series, person: float, sharper: float, least: float) -> Found:
    shown = f"it lies {interval(beyond)} above a person in its place"
    if beyond["hi"] >= least:
        told = f"{shown}, but a judge that only errs in other ways than people shows that too"
        return None, told, np.nan
    # Errors draw a bias towards 0, and the lack of them away from it.
    if sharper < 0 if person >= 0 else sharper > 0:
        kind = "more" if sharper < 0 else "less"
        told = f"{shown}, but it errs {kind} than people do, which can hide a preference"
        return None, told, np.nan
    return False, f"{shown}, less than the {least:.2f} that would matter", beyond["hi"]
