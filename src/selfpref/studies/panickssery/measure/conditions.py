"""Conditions of the pairwise questions: shown labels, names for the others, new summaries."""

import pandas as pd

from selfpref.studies.panickssery.measure.pairs import by_convention, pooled
from selfpref.studies.panickssery.measure.pairwise import means
from selfpref.studies.panickssery.measure.settings import Settings

LABELS = "labels-"
NAMED = "others-named-"
GENERATIONS = "generations"
_STATISTICS = ["mean", "se", "lo", "hi", "n"]


def _asked(pairs: pd.DataFrame, condition: pd.Series) -> pd.Series:
    """All pairs of the evaluators and data sets of which some pair meets a condition."""
    who = pairs["dataset"].astype("str") + "/" + pairs["evaluator"].astype("str")
    return who.isin(who[condition].unique())


def labels(pairs: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Preference with labels shown to the evaluator (Table F).

    Returns:
        `dataset, evaluator, other, labels` (correct, swapped, random-correct, random-swapped, and
        none: the plain question on the same evaluators), `convention, mean, se, lo, hi, n,
        ambiguous, orders`. With one order, `mean` holds the position bias in full.
    """
    shown = pairs["variant"].astype("str").str.startswith(LABELS)
    without = pairs["variant"].eq("plain") & pairs["task"].eq("preference") & _asked(pairs, shown)
    rows = by_convention(pairs[shown | without])
    kind = rows["variant"].astype("str").str.removeprefix(LABELS).replace("plain", "none")
    rows = pooled(rows.assign(labels=kind))
    by = ["dataset", "evaluator", "other", "labels", "convention"]
    orders = rows.groupby(by, observed=True)["orders"].max().reset_index()
    found = means(rows, by, settings, "labels")
    return found.merge(orders.astype(dict.fromkeys(by, "str")), on=by, how="left")


def variants(pairs: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Recognition and preference with the others named in another way, beside the plain wording.

    Returns:
        `dataset, evaluator, other, task, variant, convention, mean, se, lo, hi, n, ambiguous`, of
        the evaluators and data sets that were asked in another way.
    """
    asked = pairs["variant"].astype("str").str.startswith(NAMED)
    plain = pairs["variant"].eq("plain") & pairs["task"].ne("inferiority")
    rows = by_convention(pairs[asked | (plain & _asked(pairs, asked))])
    by = ["dataset", "evaluator", "other", "task", "variant", "convention"]
    return means(pooled(rows), by, settings, "variants")


def generations(pairs: pd.DataFrame, evaluators: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Whether a tuned model prefers its new summaries to its base's (Table G).

    The new summaries are of articles that some of the models were tuned on, which is no reason to
    leave them out: the tuning showed no summary of the model's as a target.

    Args:
        pairs: As `confidences` returns them.
        evaluators: As `selfpref.studies.panickssery.evaluators` describes them, with `degenerate`.
        settings: For the intervals.

    Returns:
        `dataset, evaluator` (or `all`, and `all but degenerate`), `convention, mean, se, lo, hi,
        n, unusable` (pairs without an answer).
    """
    rows = pairs[pairs["variant"].eq(GENERATIONS)]
    both = 0.5 * (rows["forward"] + rows["backward"])
    right = both.where(both.notna(), rows["released"]).where(rows["status"].eq("ok"))
    rows = rows.assign(corrected=right, evaluator=rows["evaluator"].astype("str"))
    sound = ~rows["evaluator"].isin(evaluators.loc[evaluators["degenerate"], "evaluator"])
    every = [rows, rows.assign(evaluator="all")]
    every.append(rows[sound].assign(evaluator="all but degenerate"))
    rows = pd.concat(every, ignore_index=True)
    by = ["dataset", "evaluator", "convention"]
    found = means(by_convention(rows), by, settings, "generations")
    lost = rows["status"].ne("ok").groupby([rows["dataset"].astype("str"), rows["evaluator"]])
    unusable = lost.sum().rename("unusable").reset_index()
    table = found.merge(unusable, on=["dataset", "evaluator"], how="left")
    return table[[*by, *_STATISTICS, "unusable"]]
