"""The inverted question: an evaluator that prefers its own text does not name it as worse.

For a pair judged with both wordings, with `prefer` the confidence that the own text is better from
"which do you prefer" and `worse` the same from "which is worse" (one minus the confidence that the
own one is worse),

    debiased preference = ½ (prefer + worse).

An evaluator that has learned to name its own text, whatever the question, has worse = 1 - prefer
and a debiased preference of ½; one that prefers its own text keeps it above ½.

Both conventions are there. Where one number must do, it is the source's own score if it has one: of
the models that were asked both questions the release keeps only the likeliest token's probability,
and its score knows the second token's, which 1 - p can only bound.
"""

import pandas as pd

from selfpref.statistics.clusters import summarised
from selfpref.studies.panickssery.measure.pairs import CONVENTIONS, by_convention
from selfpref.studies.panickssery.measure.settings import Settings

INVERTED = ["dataset", "evaluator", "prefer", "worse", "mean", "n"]
WORDINGS = {"preference": "prefer", "inferiority": "worse"}
_KEY = ["dataset", "evaluator", "other", "item_id", "repeat", "cluster", "convention"]


def both_wordings(pairs: pd.DataFrame) -> pd.DataFrame:
    """The confidences of the pairs that have both wordings.

    Args:
        pairs: As `confidences` returns them.

    Returns:
        `dataset, evaluator, other, item_id, repeat, cluster, convention, quantity, value`;
        quantities prefer, worse, mean and, where the pair has it, recognition.
    """
    rows = by_convention(pairs[pairs["variant"].eq("plain")])

    def of(task: str, name: str) -> pd.DataFrame:
        return rows[rows["task"].eq(task)][[*_KEY, "value"]].rename(columns={"value": name})

    first, second = (of(task, name) for task, name in WORDINGS.items())
    both = first.merge(second, on=_KEY)
    both["mean"] = (both["prefer"] + both["worse"]) / 2
    both = both.merge(of("recognition", "recognition"), on=_KEY, how="left")
    long = both.melt(_KEY, var_name="quantity")
    return long[long["value"].notna()].reset_index(drop=True)


def intervals(both: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Mean of each wording and of both, by evaluator and other source.

    Args:
        both: As `both_wordings` returns it.
        settings: For the intervals.

    Returns:
        `dataset, evaluator, other, convention, quantity, mean, se, lo, hi, n`.
    """
    by = ["dataset", "evaluator", "other", "convention", "quantity"]
    rows = pd.concat([both, both.assign(other="all")], ignore_index=True)
    parts = [pd.DataFrame(columns=[*by, "mean", "se", "lo", "hi", "n"])]
    for dataset, part in rows.groupby("dataset", observed=True):
        rng = settings.rng("inverted", str(dataset))
        parts.append(summarised(part, by, settings.bootstrap, rng))
    return pd.concat(parts[len(parts) > 1 :], ignore_index=True)


def inverted(means: pd.DataFrame) -> pd.DataFrame:
    """One row an evaluator, in the one convention that the module's docstring names.

    Args:
        means: As `intervals` returns them.

    Returns:
        The columns of `INVERTED`.
    """
    by = ["dataset", "evaluator"]
    pooled = means[means["other"].eq("all")]
    pooled = pooled.assign(rank=pooled["convention"].map(list(CONVENTIONS).index))
    one = pooled.sort_values("rank").drop_duplicates([*by, "quantity"])
    wide = one.pivot(index=by, columns="quantity", values="mean")
    wide = wide.reindex(columns=["prefer", "worse", "mean"])
    n = one[one["quantity"].eq("mean")].set_index(by)["n"]
    return wide.assign(n=n).reset_index().sort_values(by, ignore_index=True)[INVERTED]
