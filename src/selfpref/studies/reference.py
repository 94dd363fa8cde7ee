"""What the testbed shows over several seeds: sentences on the CSVs of docs/lab-reference.

One run of the testbed is one draw of models, so no chapter quotes it. A sentence here rests on
intervals over seeds (`make lab-reference`): a column `mean` with its bounds, and `same_side`, the
number of seeds that lie where the mean does.
"""

from collections.abc import Mapping
from functools import partial

import pandas as pd

from selfpref import paths
from selfpref.statements import Statement, estimate, value

wataoka, livebench, panickssery, xu, beyond = (
    partial(estimate, study, "mean")
    for study in ("wataoka", "livebench", "panickssery", "xu", "beyond")
)

READ = partial(wataoka, number="preference a nat")

WATAOKA = {
    "recovery": Statement(
        "Over {seeds:.0f} seeds of eight models each, measured bias follows the injected one: "
        "r = {measured:.2f}, mean over seeds. With the bias of the oracle's rule, which prefers no "
        "style, the measured bias correlates at {oracle:.2f}.",
        {
            "seeds": value("wataoka", "seeds", number="r", quantity="measured with planted"),
            "measured": wataoka(number="r", quantity="measured with planted"),
            "oracle": wataoka(number="r", quantity="measured with oracle rule"),
        },
        {"follows": lambda n: n.measured.lo > n.oracle.hi},
    ),
    "distance": Statement(
        "A measured bias lies {near:.2f} from the injected one; the oracle rule's lies farther "
        "away, {far:.2f}.",
        {
            "near": wataoka(number="measured minus injected, size"),
            "far": wataoka(number="oracle rule minus injected, size"),
        },
        {"farther": lambda n: n.far.lo > n.near.hi},
    ),
    "agreement": Statement(
        "On held-out prompts the eight models agree with the oracle more often than by chance, on "
        "{agreement:.2f} of the pairs of unequal quality.",
        {"agreement": wataoka(number="agreement", prompts="held-out")},
        {"more often": lambda n: n.agreement.lo > 0.5},
    ),
    "perplexity": Statement(
        "Every model of every seed finds its own texts more probable than the others': the gap is "
        "{judge:.2f} nats a token between the texts that it reads, and {text:.2f} between it and "
        "the other readers of its texts.",
        {
            "judge": wataoka(number="gap", view="judge", conditional=True),
            "text": wataoka(number="gap", view="text", conditional=True),
            "readers": value(
                "wataoka", "mean", number="own more probable", view="judge", conditional=True
            ),
            "read": value(
                "wataoka", "mean", number="own more probable", view="text", conditional=True
            ),
        },
        {
            "more probable": lambda n: n.judge.lo > 0 and n.text.lo > 0,
            "every": lambda n: n.readers == n.read == 1,
        },
    ),
    "slopes": Statement(
        "Over all pairs {all:.2f} of the judges fall more steeply with perplexity than the human "
        "and {flat:.2f} less steeply (shares whose intervals say so, mean over seeds). On pairs "
        "without their own text these are {other:.2f} and {flat_other:.2f}.",
        {
            "all": wataoka(number="steeper", pairs="all"),
            "flat": wataoka(number="flatter", pairs="all"),
            "other": wataoka(number="steeper", pairs="other"),
            "flat_other": wataoka(number="flatter", pairs="other"),
        },
        {},
    ),
    "readers": Statement(
        "Given who wrote the responses and how long they are, the more predictable one wins, "
        "whoever reads: one nat a token more changes a judge's wins by {own:.2f} in its own "
        "reading and by {outside:.2f} in the mean reading of the other models, and the wins with "
        "people, the oracle, by {people:.2f}. Given people's vote too, {vote:.2f} and "
        "{outside_vote:.2f} are left. The slope on others' reading is at least as steep as on the "
        "judge's own: such a slope does not show that a judge follows its own perplexity.",
        {
            "own": READ(reader="own", control="length"),
            "outside": READ(reader="outside", control="length"),
            "people": wataoka(number="people's preference a nat", control="length"),
            "vote": READ(reader="own", control="vote"),
            "outside_vote": READ(reader="outside", control="vote"),
        },
        {
            "more predictable one wins": lambda n: (
                n.own.hi < 0 and n.outside.hi < 0 and n.people.hi < 0
            ),
            "left": lambda n: n.vote.hi < 0 and n.outside_vote.hi < 0,
            "at least as steep": lambda n: (
                n.outside.hi <= n.own.lo and n.outside_vote.hi <= n.vote.lo
            ),
        },
    ),
}

LIVEBENCH = {
    "partisan": Statement(
        "The model with a bonus for its own style chooses itself more often than the others choose "
        "it: its excess is {excess:.2f} where a choice has to survive every order, and {one:.2f} "
        "where each item is read in one.",
        {
            "excess": livebench(number="excess", judge="partisan", orders="all orders"),
            "one": livebench(number="excess", judge="partisan", orders="one drawn order"),
        },
        {"more often": lambda n: n.excess.lo > 0 and n.one.lo > 0},
    ),
    "first_picker": Statement(
        "The model with a bonus for the first place takes it in most readings, {first:.2f}, and "
        "{changed:.2f} of its choices change with the order. No excess is left over all orders "
        "({excess:.2f}).",
        {
            "first": livebench(number="first", judge="first-picker", orders="all orders"),
            "changed": livebench(number="changed with the order", judge="first-picker"),
            "excess": livebench(number="excess", judge="first-picker", orders="all orders"),
        },
        {"most": lambda n: n.first.lo > 0.5, "no excess": lambda n: n.excess.lo <= 0},
    ),
    "even_handed": Statement(
        "The model without a bonus has an excess as well where a choice has to survive every "
        "order, {excess:.2f}; in one order its excess is {one:.2f}.",
        {
            "excess": livebench(number="excess", judge="even-handed", orders="all orders"),
            "one": livebench(number="excess", judge="even-handed", orders="one drawn order"),
        },
        {"as well": lambda n: n.excess.lo > 0},
    ),
    "harmful": Statement(
        "Where its response is the worse one, the model with a bonus for its style still chooses "
        "itself in {own:.2f} of the items; the others choose it less often, in {others:.2f}.",
        {
            "own": livebench(number="harmful", judge="partisan"),
            "others": livebench(number="harmful, others", judge="partisan"),
        },
        {"less": lambda n: n.others.hi < n.own.lo},
    ),
}


CONFIDENCE, ORACLE = "mean change of confidence", "mean change against the oracle"
PANICKSSERY = {
    "recognition": Statement(
        "Tuning on its own summaries raises a model's recognition of them, by {plain:.2f} without "
        "and by {replay:.2f} with replay of the other questions (means of two models and two data "
        "sets).",
        {
            "plain": panickssery(number=CONFIDENCE, quantity="recognition", replay=False),
            "replay": panickssery(number=CONFIDENCE, quantity="recognition", replay=True),
        },
        {"raises": lambda n: n.plain.lo > 0 and n.replay.lo > 0},
    ),
    "preference": Statement(
        "Without replay it also comes to prefer them beyond what they deserve, by {plain:.2f}. "
        "With replay this change is {replay:.2f}, an interval that includes 0.",
        {
            "plain": panickssery(number=ORACLE, quantity="excess", wording="prefer", replay=False),
            "replay": panickssery(number=ORACLE, quantity="excess", wording="prefer", replay=True),
        },
        {
            "prefer": lambda n: n.plain.lo > 0,
            "includes": lambda n: not n.replay.excludes(0),
        },
    ),
    "draw": Statement(
        "A single model is a draw: tuned on the notes without replay, host's preference there "
        "changes by {host:.2f}, an interval that includes 0.",
        {
            "host": panickssery(
                number="change against the oracle",
                dataset="notes",
                evaluator="host-notes-30",
                quantity="excess",
                wording="prefer",
            )
        },
        {"includes": lambda n: not n.host.excludes(0)},
    ),
    "worse": Statement(
        "Asked which summary is worse, a model tuned without replay names its own more often too "
        "(a change of {worse:.2f}, counted as preference). By both wordings together its "
        "preference changes by {mean:.2f}, which includes 0.",
        {
            "worse": panickssery(number=CONFIDENCE, quantity="worse", replay=False),
            "mean": panickssery(number=CONFIDENCE, quantity="mean", replay=False),
        },
        {
            "more often": lambda n: n.worse.hi < 0,
            "includes": lambda n: not n.mean.excludes(0),
        },
    ),
    "agreement": Statement(
        "Without replay the tuning costs judgment: agreement with the oracle falls (a change of "
        "{plain:.2f}), with replay by less ({replay:.2f}).",
        {
            "plain": panickssery(
                number=ORACLE, quantity="agreement", wording="prefer", replay=False
            ),
            "replay": panickssery(
                number=ORACLE, quantity="agreement", wording="prefer", replay=True
            ),
        },
        {
            "falls": lambda n: n.plain.hi < 0,
            "less": lambda n: n.replay.lo > n.plain.hi,
        },
    ),
}

XU = {
    "injected": Statement(
        "Before any refinement the model with a scoring bonus for its own style over-rates its "
        "texts, by {partial:.2f} points: {more:.2f} more than the same model without a bonus, "
        "whose bias is {fair:.2f}.",
        {
            "partial": xu(number="bias", model="partial", step=0),
            "more": xu(number="bias minus that of fair", model="partial", step=0),
            "fair": xu(number="bias", model="fair", step=0),
        },
        {"over-rates": lambda n: n.partial.lo > 0, "more": lambda n: n.more.lo > 0},
    ),
    "rise": Statement(
        "Over ten steps its bias rises by {partial:.2f}. That of the model without a bonus changes "
        "by {fair:.2f}, that of the small model by {small:.2f}.",
        {
            name: xu(number="change of bias", model=name, step=10)
            for name in ("partial", "fair", "small")
        },
        {"rises": lambda n: n.partial.lo > 0},
    ),
    "truth": Statement(
        "Its texts improve less: their true score gains {partial:.2f} points over ten steps, and "
        "that of the model without a bonus {fair:.2f}.",
        {
            name: xu(number="change of true score", model=name, step=10)
            for name in ("partial", "fair")
        },
        {"less": lambda n: n.partial.hi < n.fair.lo},
    ),
    "noise": Statement(
        "With a judge of pure noise under the same rule each ends with more bias: by "
        "{fair:.2f} for the model without a bonus, {partial:.2f} for that with one, {small:.2f} "
        "for the small one.",
        {
            name: xu(number="bias by rule minus plain", model=name, condition="noise")
            for name in ("fair", "partial", "small")
        },
        {"more": lambda n: min(n.fair.lo, n.partial.lo, n.small.lo) > 0},
    ),
    "rules": Statement(
        "Where every refinement is accepted, less bias is left: a change of {partial:.2f} for the "
        "model with a bonus and of {small:.2f} for the small one.",
        {
            name: xu(number="bias by rule minus plain", model=name, condition="accept-all")
            for name in ("partial", "small")
        },
        {"less": lambda n: max(n.partial.hi, n.small.hi) < 0},
    ),
    "external": Statement(
        "With another model as the judge, the model with a bonus ends with less bias, a change of "
        "{external:.2f}.",
        {"external": xu(number="bias by rule minus plain", model="partial", condition="external")},
        {"less": lambda n: n.external.hi < 0},
    ),
}

CHANGE = "change from a judge alone"
BEYOND = {
    "recovery": Statement(
        "Measured against the oracle, bias follows the injected bonus: r is {excess:.2f} for the "
        "excess, {eo:.2f} for equal opportunity, {gap:.2f} for the DBG score and {regression:.2f} "
        "for the regression. It is {parity:.2f} for demographic parity, which has no control for "
        "quality.",
        {
            name: beyond(number="r with the injected bonus", statistic=statistic, gold=gold)
            for name, statistic, gold in (
                ("excess", "excess", "oracle"),
                ("eo", "equal_opportunity", "oracle"),
                ("gap", "gold_gap", "oracle"),
                ("regression", "regression", "oracle"),
                ("parity", "demographic_parity", "none"),
            )
        },
        {
            "follows": lambda n: min(n.excess.lo, n.eo.lo, n.gap.lo, n.regression.lo) > 0,
        },
    ),
    "mitigations": Statement(
        "An ensemble has less bias towards a judge's responses than the judge has (a change of "
        "{size:.2f} in size) and agrees more often with the human ({agreement:.2f}). So does the "
        "ensemble without the judge: its own vote adds {adds:.3f} to the bias.",
        {
            "size": beyond(number=CHANGE, rule="ensemble", measure="size"),
            "agreement": beyond(number=CHANGE, rule="ensemble", measure="agreement"),
            "without": beyond(number=CHANGE, rule="ensemble without the judge", measure="size"),
            "adds": beyond(number="what the judge itself adds", rule="ensemble", measure="size"),
        },
        {
            "less": lambda n: n.size.hi < 0,
            "more often": lambda n: n.agreement.lo > 0,
            "So does": lambda n: n.without.hi < 0,
        },
    ),
}

FINDINGS: Mapping[str, Mapping[str, Statement]] = {
    "wataoka": WATAOKA,
    "livebench": LIVEBENCH,
    "panickssery": PANICKSSERY,
    "xu": XU,
    "beyond": BEYOND,
}


def tables() -> dict[str, pd.DataFrame]:
    """The reference's tables by study."""
    folder = paths.reference_dir()
    return {study: pd.read_csv(folder / f"{study}.csv") for study in FINDINGS}


def sentence(study: str, key: str) -> str:
    """One sentence of a study; empty where too few seeds have run."""
    return FINDINGS[study][key].said(tables())


def said(study: str) -> list[str]:
    """All sentences of a study."""
    return [text for key in FINDINGS[study] if (text := sentence(study, key))]
