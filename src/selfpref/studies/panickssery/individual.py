"""One summary at a time: "did you write it?" and a quality from 1 to 5.

With s(a, t) a judge's score of source t's text of article a (P(yes), or the expected grade)
and o its own source, on held-out articles:

- *mean*: of s(., t). `mean_released`: of the source's own scores, of every article.
- *ratio*: mean over articles of s(a, o) / (s(a, o) + s(a, t)), as the release's notebook takes it:
  of the source's own scores where it has them. It is near 1/2 for scores near their top, and a few
  tiny denominators carry it for scores near 0.
- *gap*: mean over articles of s(a, o) - s(a, t), less the mean difference, on the same texts, of
  the base judges that wrote neither (judge-adjusted): what is left is not the quality that others
  see.

The target `all` pools every source but the own one.
"""

import pandas as pd

from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.panickssery.pairs import data_set, held_out, means

INDIVIDUAL = ["dataset", "evaluator", "target", "task", "statistic", "value", "lo", "hi", "n"]
STATISTICS = pd.CategoricalDtype(["mean", "mean_released", "ratio", "gap"])
TASKS = ("recognition", "quality")
_TEXT = ["dataset", "task", "cluster"]


def scores(ratings: pd.DataFrame, items: pd.DataFrame, evaluators: pd.DataFrame) -> pd.DataFrame:
    """Every rating of the judges, with what its article and its judge are.

    Args:
        ratings: The ratings table.
        items: The items table.
        evaluators: As `selfpref.studies.panickssery.evaluators` describes them.

    Returns:
        `dataset, evaluator, family, target, task, cluster, held_out`, `mine` (whether the text is
        the judge's own), `score` (NaN unless ok and held out) and `released` (the source's own).
    """
    rows = ratings[ratings["task"].isin(TASKS) & ratings["variant"].eq("plain")]
    kept = held_out(rows["item_id"], rows["judge"], items, evaluators)
    family = rows["judge"].map(evaluators.set_index("evaluator")["family"])
    made = {
        "dataset": data_set(rows["item_id"]),
        "evaluator": rows["judge"],
        "family": family,
        "target": rows["responder"].astype("category").cat.add_categories(["all"]),
        "task": rows["task"],
        "cluster": rows["item_id"].map(items.set_index("item_id")["cluster"]),
    }
    return pd.DataFrame(made, dtype="category").assign(
        held_out=kept,
        mine=rows["responder"].eq(family),
        score=rows["score"].where(rows["status"].eq("ok") & kept),
        released=rows["stored"],
    )


def _against_own(rows: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """Each text with the own text of the same article: `value`, `own`."""
    key = ["evaluator", *_TEXT]
    known = rows[[*key, "family", "target", "mine"]].assign(value=values).dropna(subset="value")
    own = known.loc[known["mine"], [*key, "value"]].rename(columns={"value": "own"})
    return known.merge(own, on=key)


def _by_others(both: pd.DataFrame, rows: pd.DataFrame, base: set[str]) -> pd.Series:
    """The mean difference of the same two texts to the base judges that wrote neither."""
    rows = rows[rows["evaluator"].isin(base)].astype({"target": "str", "evaluator": "str"})
    rows = rows[rows["target"].ne(rows["evaluator"])]
    wide = rows.pivot_table("score", [*_TEXT, "target"], "evaluator")
    own, other = (
        both[[*_TEXT, name]].astype({name: "str"}).join(wide, on=[*_TEXT, name])[wide.columns]
        for name in ("family", "target")
    )
    return (own - other).mean(axis="columns")


def individual(
    rows: pd.DataFrame, evaluators: pd.DataFrame, bootstrap: ClusterBootstrap
) -> pd.DataFrame:
    """Every statistic of the module, by judge, target and task (Figs. 2 to 6; Table E).

    Args:
        rows: As `scores` returns them.
        evaluators: As `selfpref.studies.panickssery.evaluators` describes them.
        bootstrap: For the intervals.

    Returns:
        The columns of `INDIVIDUAL`; cells without any value are left out.
    """
    base = set(evaluators.loc[evaluators["variant"].eq("base"), "evaluator"])
    by, found = INDIVIDUAL[:5], []
    # A data set at a time: one holds millions of values.
    for _, part in rows.groupby("dataset"):
        used = part["released"].fillna(part["score"]).where(part["held_out"])
        ratio = _against_own(part, used)
        ratio["value"] = ratio["own"] / (ratio["own"] + ratio["value"])
        gap = _against_own(part, part["score"])
        gap["value"] = gap["own"] - gap["value"] - _by_others(gap, part, base)
        values = {
            "mean": part.assign(value=part["score"]),
            "mean_released": part.assign(value=part["released"]),
            "ratio": ratio,
            "gap": gap[~gap["mine"]],
        }
        whole = pd.concat(values, names=["statistic"]).reset_index("statistic")
        whole = whole.dropna(subset="value")
        whole = pd.concat([whole, whole[~whole["mine"]].assign(target="all")], ignore_index=True)
        whole = whole.astype({"statistic": STATISTICS, "target": rows["target"].dtype})
        found.append(means(whole, by, bootstrap, "individual"))
    table = pd.concat(found or [pd.DataFrame(columns=[*by, "mean", "lo", "hi", "n"])])
    table = table.rename(columns={"mean": "value"})[INDIVIDUAL].astype(dict.fromkeys(by, "str"))
    return table.sort_values(by, ignore_index=True)
