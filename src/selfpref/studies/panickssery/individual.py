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

from selfpref.statistics.bootstrap import ClusterBootstrap, Floats
from selfpref.studies.panickssery.pairs import data_set, held_out, means

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
    rows = rows[rows["judge"].isin(evaluators["evaluator"])].reset_index(drop=True)
    kept = held_out(rows["item_id"], rows["judge"], items, evaluators)
    named = {
        "dataset": data_set(rows["item_id"]),
        "evaluator": rows["judge"],
        "family": rows["judge"].map(evaluators.set_index("evaluator")["family"]),
        "target": rows["responder"].astype("category").cat.add_categories(["all"]),
        "task": rows["task"],
        "cluster": rows["item_id"].map(items.set_index("item_id")["cluster"]),
        "status": rows["status"],
    }
    return pd.DataFrame(named, dtype="category").assign(
        held_out=kept,
        score=rows["score"].where(rows["status"].eq("ok") & kept),
        released=rows["stored"],
    )


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
    rows = rows[rows["evaluator"].isin(base)].astype({"target": "str", "evaluator": "str"})
    wide = rows.pivot_table("score", [*_TEXT, "target"], "evaluator", observed=True)
    # The same two texts stand there once a judge.
    keys = ["family", "target", *_TEXT]
    texts = both[keys].drop_duplicates()

    def of(writer: str) -> pd.DataFrame:
        places = pd.MultiIndex.from_frame(texts[[*_TEXT, writer]].astype({writer: "str"}))
        found = wide.reindex(places).set_axis(texts.index)
        wrote = {judge: texts[writer].astype("str").eq(judge) for judge in wide}
        return found.mask(pd.DataFrame(wrote, texts.index))

    texts = texts.assign(by_others=(of("family") - of("target")).mean(axis=1))
    return both[keys].merge(texts, on=keys, how="left")["by_others"].set_axis(both.index)


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
    # Of each own score the share of others below it, of each other that of own above it, ties half:
    # the placements, whose mean is the AUROC.
    ranks, n = rankdata(np.concatenate([own, other])), len(own)
    below = (ranks[:n] - rankdata(own)) / len(other)
    above = 1 - (ranks[n:] - rankdata(other)) / n
    value = float(below.mean())
    parts = np.concatenate([(below - value) / n, (above - value) / len(other)])
    _, at = np.unique(np.concatenate([own_at, other_at]), return_inverse=True)
    influence = np.bincount(at, weights=parts)
    clusters = len(influence)
    spread = (influence**2).sum() * clusters / (clusters - 1) if clusters > 1 else np.nan
    reach = float(ndtri((1 + level) / 2) * np.sqrt(spread))
    return {"value": value, "lo": value - reach, "hi": value + reach, "n": n}


def _aurocs(rows: pd.DataFrame, level: float) -> pd.DataFrame:
    by, found = ["dataset", "evaluator", "task"], []
    for names, part in rows[rows["score"].notna()].groupby(by, observed=True):
        own, others = part[_own(part)], part[~_own(part)]
        score, at = (own[name].to_numpy() for name in ("score", "at"))
        for target, other in [("all", others), *others.groupby("target", observed=True)]:
            theirs = other["score"].to_numpy(), other["at"].to_numpy()
            key = dict(zip(by, names, strict=True)) | {"target": target}
            found.append(key | auroc(score, at, *theirs, level))
    return pd.DataFrame(found, columns=[*_CELL, "value", "lo", "hi", "n"])


def _of_data_set(rows: pd.DataFrame, base: set[str], bootstrap: ClusterBootstrap) -> pd.DataFrame:
    """All but the AUROC of one data set, which holds millions of values at once."""
    both, stored = _against_own(rows, "score"), _against_own(rows[rows["held_out"]], "released")
    other = ~_own(both)
    asked = rows[rows["task"].eq("recognition") & rows["held_out"]]
    difference = both["own"] - both["value"]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio, corrected = (one["own"] / (one["own"] + one["value"]) for one in (stored, both))
    missing_no = asked["score"].fillna(0).where(asked["status"].isin(("ok", "unparsable")))
    parts = {
        "mean": (rows, rows["score"]),
        "mean_released": (rows, rows["released"]),
        "mean_missing_no": (asked, missing_no),
        "difference": (both, difference.where(other)),
        "ratio": (stored, ratio),
        "ratio_corrected": (both, corrected.where(other)),
        "gap": (both, (difference - _by_others(both, rows, base)).where(other)),
    }
    # Every value counts for its target, and those of texts that are not own for `all` again.
    kind, whole = pd.CategoricalDtype(list(parts)), []
    for name, (part, values) in parts.items():
        known = part.loc[values.notna(), [*_CELL, "family", "cluster"]].assign(value=values)
        others = known[~_own(known)]
        others = others.assign(target=pd.Series("all", others.index, dtype=known["target"].dtype))
        for chosen in (known, others):
            statistic = pd.Series(name, chosen.index, dtype=kind)
            whole.append(chosen[[*_CELL, "cluster", "value"]].assign(statistic=statistic))
    by = [*_CELL, "statistic"]
    return means(pd.concat(whole, ignore_index=True), by, bootstrap, "individual")


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
    sets = rows.groupby("dataset", observed=True)
    found = [_of_data_set(part, base, bootstrap) for _, part in sets]
    numbered = rows.assign(at=rows["cluster"].cat.codes.astype(int))
    areas = _aurocs(numbered, bootstrap.level).assign(statistic="auroc")
    whole = [areas, *(part.rename(columns={"mean": "value"}) for part in found)]
    by = [*_CELL, "statistic"]
    table = pd.concat(whole, ignore_index=True)[INDIVIDUAL].astype(dict.fromkeys(by, "str"))
    return table.sort_values(by, ignore_index=True)
