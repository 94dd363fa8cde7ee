"""What the chapter says of the released data, and the proposal of Wataoka et al. that it tests."""

from collections.abc import Callable

import pandas as pd

from selfpref.statements import (
    AbsentError,
    Cell,
    Claim,
    Frames,
    Statement,
    estimate,
)
from selfpref.studies.beyond import AVERAGING, MEAN, OWN_VOTE

# The only released data with several judges of the same responses.
DATA = "vicuna80"
ONE, EACH = "one scale", "a scale for each judge"
# The bias for which the sentence on power plans.
BIAS = 0.1


def _rows(frames: Frames, table: str, **where: object) -> pd.DataFrame:
    """Rows of the released data that have a value.

    Raises:
        AbsentError: There is none.
    """
    frame = frames[table]
    for name, wanted in {"dataset": DATA, **where}.items():
        frame = frame[frame[name].eq(wanted)]
    if frame.empty:
        raise AbsentError(table)
    return frame


def _measured(judge: str, statistic: str) -> Cell:
    """A judge's statistic under the human's labels; nothing to say where it is too few."""
    key = {"dataset": DATA, "judge": judge, "gold": "human", "statistic": statistic}
    return estimate("beyond", "value", **key, few=False)


def _of(table: str, count: Callable[[pd.DataFrame], float], **where: object) -> Cell:
    """A number of the judges' rows of a table that are chosen."""

    def found(frames: Frames) -> float:
        rows = _rows(frames, table, **where)
        return float(count(rows[rows["judge"].ne(MEAN)]))

    return found


def _excluding(rows: pd.DataFrame) -> float:
    """How many intervals exclude 0."""
    return float((rows["effect_lo"].gt(0) | rows["effect_hi"].lt(0)).sum())


def _mean_size(rows: pd.DataFrame) -> float:
    return float(rows["effect"].abs().mean())


def _placebo(judge: str, responder: str, model: str) -> Cell:
    return estimate(
        *("placebo", "effect"),
        **{"dataset": DATA, "judge": judge, "responder": responder},
        model=model,
    )


def _change(effect: str, rule: str, measure: str, judge: str = MEAN) -> Cell:
    return estimate(
        *("mitigation_changes", "change"),
        **{"dataset": DATA, "judge": judge, "effect": effect, "rule": rule, "measure": measure},
    )


def _size(rule: str) -> Cell:
    """The mean size of the judges' bias under a rule."""
    where = {"dataset": DATA, "judge": MEAN, "measure": "size", "rule": rule}
    return estimate("mitigations", "value", **where)


def _others(judge: str, pick: str) -> Cell:
    """The smallest or largest scale of the other judges."""

    def found(frames: Frames) -> float:
        rows = _rows(frames, "scales", gold="human")
        return float(rows.loc[rows["judge"].ne(judge), "scale"].agg(pick))

    return found


PLACEBOS = {
    key: {"model": model, "own": own}
    for key, (model, own) in {
        "one": (ONE, False),
        "one_own": (ONE, True),
        "each": (EACH, False),
        "each_own": (EACH, True),
    }.items()
}
COMMON = {"gold": "human", "statistic": "excess_common"}
BY_JUDGE = {"effect": OWN_VOTE, "rule": "ensemble", "measure": "eo"}
NEEDED = {"gold": "human", "statistic": "equal_opportunity", "bias": BIAS}

FINDINGS = {
    "pairs": Statement(
        "On Vicuna-80 GPT-4's equal-opportunity bias is {eo:.2f}. It exceeds that of the other "
        "judges towards the same responses by {excess:.2f} on the pairs that each decides, and by "
        "{half:.2f} with ties counted as half. The pairs that all judges decide are too few for "
        "each of the {judges:.0f} judges.",
        {
            "eo": _measured("gpt-4", "equal_opportunity"),
            "excess": _measured("gpt-4", "excess"),
            "half": _measured("gpt-4", "excess_half_ties"),
            "judges": _of("beyond", len, **COMMON),
            "few": _of("beyond", lambda rows: rows["few"].sum(), **COMMON),
        },
        {
            "exceeds": lambda n: n.excess.lo > 0 and n.half.lo > 0,
            "each": lambda n: n.few == n.judges,
        },
    ),
    "one_scale": Statement(
        "With one scale for all judges the regression gives GPT-4 {own:.3f} for its own texts on "
        "Vicuna-80. But Vicuna-13b's coefficient for GPT-4's texts is larger in size, "
        "{vicuna:.3f}, and of the {placebos:.0f} coefficients without an own text {excluding:.0f} "
        "have intervals that exclude 0, more than one in twenty.",
        {
            "own": _placebo("gpt-4", "gpt-4", ONE),
            "vicuna": _placebo("vicuna-13b", "gpt-4", ONE),
            "placebos": _of("placebo", len, **PLACEBOS["one"]),
            "excluding": _of("placebo", _excluding, **PLACEBOS["one"]),
        },
        {
            "larger": lambda n: abs(n.vicuna.value) > abs(n.own.value),
            "more": lambda n: n.excluding > n.placebos / 20,
        },
    ),
    "placebo": Statement(
        "Coefficients of own texts are no larger in size than placebos: {one_own:.3f} against "
        "{one:.3f} in the mean with one scale, {each_own:.3f} against {each:.3f} with a scale for "
        "each judge.",
        {key: _of("placebo", _mean_size, **where) for key, where in PLACEBOS.items()},
        {"no larger": lambda n: n.one_own <= n.one and n.each_own <= n.each},
    ),
    "scales": Statement(
        "GPT-4 has the largest scale, {gpt4:.2f}, and Vicuna-13b the smallest, {vicuna:.2f} (the "
        "mean of the judges is 1).",
        {
            **{
                name: estimate("scales", "scale", dataset=DATA, gold="human", judge=judge)
                for name, judge in (("gpt4", "gpt-4"), ("vicuna", "vicuna-13b"))
            },
            "others": _others("gpt-4", "max"),
            "rest": _others("vicuna-13b", "min"),
        },
        {
            "largest": lambda n: n.gpt4.value > n.others,
            "smallest": lambda n: n.vicuna.value < n.rest,
        },
    ),
    "scaled": Statement(
        "With a scale for each judge GPT-4's coefficient for its own texts is {own:.3f}. The "
        "intervals of all {judges:.0f} judges include 0; of the {placebos:.0f} placebos, "
        "{excluding:.0f} has an interval that excludes 0.",
        {
            "own": _placebo("gpt-4", "gpt-4", EACH),
            "judges": _of("placebo", len, **PLACEBOS["each_own"]),
            "including": _of(
                "placebo", lambda rows: len(rows) - _excluding(rows), **PLACEBOS["each_own"]
            ),
            "placebos": _of("placebo", len, **PLACEBOS["each"]),
            "excluding": _of("placebo", _excluding, **PLACEBOS["each"]),
        },
        {
            "all": lambda n: n.including == n.judges and not n.own.excludes(0),
            "excludes": lambda n: n.excluding == 1,
        },
    ),
    "averaging": Statement(
        "On Vicuna-80 a panel of the four other judges agrees with the human more often than one "
        "of them, by {agreement:.3f}, and its equal-opportunity bias is larger in size, by "
        "{size:.3f}; the judge whose responses are judged votes in neither.",
        {
            "agreement": _change(AVERAGING, "ensemble without the judge", "agreement"),
            "size": _change(AVERAGING, "ensemble without the judge", "size"),
        },
        {
            "more often": lambda n: n.agreement.lo > 0,
            "larger": lambda n: n.size.lo > 0,
        },
    ),
    "own_vote": Statement(
        "The vote of this judge then changes bias by {eo:.3f} and agreement by {agreement:.3f} in "
        "the mean of the judges; both intervals include 0. By judge the bias rises for {up:.0f} of "
        "{judges:.0f} and falls for none (GPT-4: {gpt4:.3f}).",
        {
            "eo": _change(OWN_VOTE, "ensemble", "eo"),
            "agreement": _change(OWN_VOTE, "ensemble", "agreement"),
            "gpt4": _change(OWN_VOTE, "ensemble", "eo", "gpt-4"),
            "up": _of("mitigation_changes", lambda rows: rows["change_lo"].gt(0).sum(), **BY_JUDGE),
            "down": _of(
                "mitigation_changes", lambda rows: rows["change_hi"].lt(0).sum(), **BY_JUDGE
            ),
            "judges": _of("mitigation_changes", len, **BY_JUDGE),
        },
        {
            "include": lambda n: not n.eo.excludes(0) and not n.agreement.excludes(0),
            "rises": lambda n: n.up > 0 and n.gpt4.lo > 0,
            "none": lambda n: n.down == 0,
        },
    ),
    "power": Statement(
        "Seeing an equal-opportunity bias of {bias:.1f} in four of five repetitions takes "
        "{least:.0f} to {most:.0f} decided pairs a judge on Vicuna-80, which has fewer, "
        "{fewest:.0f} to {have:.0f} a judge.",
        {
            "bias": _of("power", lambda rows: rows["bias"].iloc[0], **NEEDED),
            "least": _of("power", lambda rows: rows["pairs"].min(), **NEEDED),
            "most": _of("power", lambda rows: rows["pairs"].max(), **NEEDED),
            "fewest": _of("power", lambda rows: rows["n"].min(), **NEEDED),
            "have": _of("power", lambda rows: rows["n"].max(), **NEEDED),
        },
        {"fewer": lambda n: n.have < n.least},
    ),
}

CLAIMS = [
    Claim(
        "A judge alone has a bias of {alone:.2f} in size in the mean, the panel of all judges "
        "{panel:.2f}, no smaller. In a panel the judge's own vote moves the bias towards its "
        "responses by {own:.3f} in the mean of the judges, and the interval includes 0. Alone, the "
        "judge's bias exceeds the "
        "others' by {single:.3f}, which mixes self-preference with the judges' different noise. "
        "Averaging makes the bias larger in size, by {averaging:.3f}, without the judge's vote.",
        {
            "own": _change(OWN_VOTE, "ensemble", "eo"),
            "single": _change(OWN_VOTE, "single", "eo"),
            "averaging": _change(AVERAGING, "ensemble without the judge", "size"),
            "alone": _size("single"),
            "panel": _size("ensemble"),
        },
        {
            "no smaller": lambda n: n.panel.value >= n.alone.value,
            "includes": lambda n: not n.own.excludes(0),
            "exceeds": lambda n: n.single.lo > 0,
            "larger": lambda n: n.averaging.lo > 0,
        },
        claim="Asking several models instead of one reduces self-preference bias (a proposal).",
        place="proposed mitigation",
        test=(
            "Equal-opportunity bias of a panel with the judge's vote minus the same panel's "
            "without it, on the judge's own pairs of Vicuna-80; averaging by itself"
        ),
        verdict="not identifiable",
        figure="mitigation_changes",
    )
]
