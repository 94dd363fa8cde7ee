"""One summary at a time: "did you write it?" and a quality from 1 to 5.

With s(a, t) a judge's score of source t's text of article a (P(yes), or the expected grade)
and o its own source:

- *mean*: of s(., t), on held-out articles. `mean_released`: of the source's own scores, of every
  article. `mean_missing_no`, of recognition: on held-out articles, with the rows that the source
  dropped for want of a "Yes" counted as 0; the truth lies between (each is below 1/3, since two
  other tokens were likelier).
- *difference*: mean over articles of s(a, o) - s(a, t).
- *ratio*: mean over articles of s(a, o) / (s(a, o) + s(a, t)), as the release's notebook takes it:
  of the source's own scores, on held-out articles. It is near 1/2 for scores near their top, and a
  few tiny denominators carry it for scores near 0. `ratio_corrected`: of the corrected scores.
- *auroc*: P(s(., o) > s(., t)) + ½ P(=) over all pairs of articles; ½ tells nothing apart.
- *gap*: the difference minus the mean difference, on the same texts, of the base judges that
  wrote neither (judge-adjusted): what is left is not the quality that others see.

The target `all` pools every source but the own one.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri
from scipy.stats import rankdata

from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.statistics.scores import Floats
from selfpref.studies.panickssery.measure.means import means
from selfpref.studies.panickssery.measure.pairs import article_index

INDIVIDUAL = ["dataset", "evaluator", "target", "task", "statistic", "value", "lo", "hi", "n"]
TASKS = ("recognition", "quality")
Integers = npt.NDArray[np.int64]
_TEXT = ["dataset", "task", "cluster"]
_CELL = ["dataset", "evaluator", "target", "task"]


def scores(ratings: pd.DataFrame, items: pd.DataFrame, evaluators: pd.DataFrame) -> pd.DataFrame:
    """Every rating of the judges, with what its article and its judge are.

    Args:
        ratings: The ratings table.
        items: The items table.
        evaluators: As `selfpref.studies.panickssery.evaluators` describes them.

    Returns:
        `dataset, evaluator, family, target, task, cluster, status, held_out`, `score` (NaN unless
        ok and held out) and `released` (the source's own).
    """
    rows = ratings[ratings["task"].isin(TASKS) & ratings["variant"].eq("plain")]
    rows = rows[rows["judge"].isin(evaluators["evaluator"])]
    of = evaluators.set_index("evaluator")
    article = items.set_index("item_id")
    start = rows["judge"].map(of["held_out_from"])
    held_out = start.eq(0) | rows["item_id"].map(article_index(article)).ge(start)
    return pd.DataFrame(
        {
            "dataset": rows["item_id"].str.replace(r"/.*", "", regex=True).astype("category"),
            "evaluator": rows["judge"].astype("category"),
            "family": rows["judge"].map(of["family"]).astype("category"),
            "target": rows["responder"].astype("category").cat.add_categories(["all"]),
            "task": rows["task"].astype("category"),
            "cluster": rows["item_id"].map(article["cluster"]).astype("category"),
            "status": rows["status"].astype("category"),
            "held_out": held_out,
            "score": rows["score"].where(rows["status"].eq("ok") & held_out),
            "released": rows["stored"],
        }
    ).reset_index(drop=True)


def _own(rows: pd.DataFrame) -> pd.Series:
    return rows["target"].astype("str").eq(rows["family"].astype("str"))


def _against_own(rows: pd.DataFrame, value: str) -> pd.DataFrame:
    """Each text with the own text of the same article: `own`, `value`."""
    known = rows.loc[rows[value].notna(), ["evaluator", "family", "target", *_TEXT, value]]
    known = known.rename(columns={value: "value"})
    own = known.loc[_own(known), ["evaluator", *_TEXT, "value"]]
    return known.merge(own.rename(columns={"value": "own"}), on=["evaluator", *_TEXT])


def _by_others(both: pd.DataFrame, rows: pd.DataFrame, base: set[str]) -> pd.Series:
    """The mean difference of the same two texts to the base judges that wrote neither."""
    judged = rows.loc[rows["evaluator"].isin(base) & rows["score"].notna()]
    judged = judged[["evaluator", "target", *_TEXT, "score"]].astype({"evaluator": "str"})
    judged = judged.rename(columns={"evaluator": "other"})
    texts = both[["family", "target", *_TEXT]].astype({"family": "str", "target": "str"})
    texts = texts.drop_duplicates()
    judged["target"] = judged["target"].astype("str")
    seen = texts.merge(judged, on=[*_TEXT, "target"]).merge(
        judged.rename(columns={"target": "family", "score": "own"}), on=[*_TEXT, "family", "other"]
    )
    seen = seen[seen["other"].ne(seen["family"]) & seen["other"].ne(seen["target"])]
    seen["by_others"] = seen["own"] - seen["score"]
    means = seen.groupby([*_TEXT, "family", "target"], observed=True)["by_others"].mean()
    keys = both.astype({"family": "str", "target": "str"})
    found: pd.Series = keys.join(means, on=[*_TEXT, "family", "target"])["by_others"]
    return found


def placements(own: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Of each own score, the share of others below it; of each other, the share of own above it.

    Ties count one half. The mean of either is the AUROC.
    """
    ranks = rankdata(np.concatenate([own, other]))
    below = (ranks[: len(own)] - rankdata(own)) / len(other)
    above = 1 - (ranks[len(own) :] - rankdata(other)) / len(own)
    return below, above


def auroc(
    own: Floats, own_at: Integers, other: Floats, other_at: Integers, level: float
) -> dict[str, float]:
    """AUROC of own against other scores, with a normal interval clustered by article.

    The error is DeLong's with sums over clusters (Obuchowski 1997): a cluster's influence is the
    sum of its placements minus the AUROC, of own texts over their number plus the same of others.

    Args:
        own: Scores of own texts, none missing.
        own_at: The cluster of each, numbered from 0.
        other: The same of other texts.
        other_at: The cluster of each.
        level: Coverage.

    Returns:
        `value, lo, hi, n`, n being the number of own scores; NaN where a side is empty.
    """
    if not len(own) or not len(other):
        return {"value": np.nan, "lo": np.nan, "hi": np.nan, "n": 0}
    below, above = placements(own, other)
    value = float(below.mean())
    size = int(max(own_at.max(), other_at.max())) + 1
    influence, there = np.zeros(size), np.zeros(size, dtype=bool)
    for part, at in ((below, own_at), (above, other_at)):
        influence += np.bincount(at, weights=(part - value) / len(part), minlength=size)
        there |= np.bincount(at, minlength=size) > 0
    clusters = int(there.sum())
    spread = (influence**2).sum() * clusters / (clusters - 1) if clusters > 1 else np.nan
    reach = float(ndtri((1 + level) / 2) * np.sqrt(spread))
    return {"value": value, "lo": value - reach, "hi": value + reach, "n": len(own)}


def _aurocs(rows: pd.DataFrame, level: float) -> pd.DataFrame:
    by = ["dataset", "evaluator", "task"]
    found = []
    for names, part in rows[rows["score"].notna()].groupby(by, observed=True):
        own = _own(part)
        targets = {"all": part[~own]} | dict(iter(part[~own].groupby("target", observed=True)))
        score, at = (part[own][name].to_numpy() for name in ("score", "at"))
        found += [
            dict(zip(by, names, strict=True))
            | {"target": target}
            | auroc(score, at, other["score"].to_numpy(), other["at"].to_numpy(), level)
            for target, other in targets.items()
        ]
    return pd.DataFrame(found, columns=[*_CELL, "value", "lo", "hi", "n"])


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
    both, stored = _against_own(rows, "score"), _against_own(rows[rows["held_out"]], "released")
    other = ~_own(both)
    base = set(evaluators.loc[evaluators["variant"].eq("base"), "evaluator"])
    asked = rows[rows["task"].eq("recognition") & rows["held_out"]]
    dropped = asked["score"].fillna(0).where(asked["status"].isin(("ok", "unparsable")))
    difference = both["own"] - both["value"]
    adjusted = difference - _by_others(both, rows, base)

    def ratio(texts: pd.DataFrame) -> pd.DataFrame:
        with np.errstate(divide="ignore", invalid="ignore"):
            return texts.assign(value=texts["own"] / (texts["own"] + texts["value"]))

    parts = {
        "mean": rows.assign(value=rows["score"]),
        "mean_released": rows.assign(value=rows["released"]),
        "mean_missing_no": asked.assign(value=dropped),
        "difference": both.assign(value=difference)[other],
        "ratio": ratio(stored),
        "ratio_corrected": ratio(both)[other],
        "gap": both.assign(value=adjusted)[other],
    }
    numbered = rows.assign(at=rows["cluster"].cat.codes.astype(int))
    found = [_aurocs(numbered, bootstrap.level).assign(statistic="auroc")]
    whole = _pooled({name: part[part["value"].notna()] for name, part in parts.items()})
    by = [*_CELL, "statistic"]
    found.append(means(whole, by, bootstrap, "individual").rename(columns={"mean": "value"}))
    table = pd.concat(found, ignore_index=True)[INDIVIDUAL]
    return table.astype(dict.fromkeys(by, "str")).sort_values(by).reset_index(drop=True)


def _pooled(parts: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The values of all statistics, and again those of texts that are not own under `all`."""
    columns = [*_CELL, "cluster", "value"]
    kind = pd.CategoricalDtype(list(parts))
    found = []
    for name, part in parts.items():
        others = part[~_own(part)]
        target = pd.Categorical(["all"] * len(others), dtype=part["target"].dtype)
        for chosen in (part, others.assign(target=target)):
            statistic = pd.Categorical([name] * len(chosen), dtype=kind)
            found.append(chosen[columns].assign(statistic=statistic))
    return pd.concat(found, ignore_index=True)
