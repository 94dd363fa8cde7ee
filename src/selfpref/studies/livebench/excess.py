"""Self-preference: a judge's choices of itself beside the others' choices of it, and by answer key.

Over the rows on which judge J and at least one other judge chose among candidates with J's response

    d = [J chose J] - mean over the others K of [K chose J]          excess = mean of d, -1..1

The quality of the responses is the same for all judges, and so is their position where all read one
order; what differs is whose response it is. Zero says that J chooses itself as often as the others
choose J. p is that of a paired randomisation test: the sums of d by cluster change sign at random.
It is adjusted by Holm (1979) over a family of tests: all categories and judges together, and, apart
from these, all tasks of each judge.

Self-preference or position? A judge that picks whatever it reads first picks itself as often as it
is read first: by one order an item, drawn at random, 1 / candidates; by all cyclic orders never. A
judge that picks itself for being itself keeps its share under both. So `by_orders` measures each
judge twice, by one drawn order and by all of them.

By the answer key, on items whose candidates all have an objective score, a preference for itself is

- *harmful* where the judge's response scores below the best of the others;
- *neutral* where it scores as high as the best of the others;
- *legitimate* where it scores above all others (the word of W.-L. Chen et al., arXiv 2504.03846).

The rate of each kind is how often the judge chooses itself on such items; beside it are how often
the other judges choose the same response on the same items, and how the judge's choices of itself
divide among the kinds. The rates are shares, and their intervals Wilson's
(`selfpref.statistics.bootstrap`); the rate beyond the other judges' is the mean of d on such items.

Responses are also marked alone, so that no place in a prompt plays a part: `third_judge`.
"""

import dataclasses

import numpy as np
import pandas as pd

from selfpref.prompts.rubric import TOP
from selfpref.statistics import third
from selfpref.statistics.bootstrap import Floats, bounded, cluster_sums
from selfpref.studies.livebench.panel import (
    ALL,
    FIRST,
    PLACE,
    ROUNDING,
    VOTE,
    Panel,
    in_order,
    position,
    rated,
    with_all,
)
from selfpref.studies.livebench.scorers import READINGS

ONE, EVERY = "one drawn order", "all orders"
ORDERS = ["judge", "orders", *bounded("own", "excess", "first"), "n"]
KINDS = ["harmful", "neutral", "legitimate"]
KEY = ["category", "scoring", "judge"]


def pairs(panel: Panel) -> pd.DataFrame:
    """One row an item and judge with a response: did it choose itself (`own`), and the `others`?

    Returns:
        `item_id, category, task, cluster, judge, own, others` (0..1) and `d`, their difference,
        among others.
    """
    rows = panel.ballots.dropna(subset="picked").rename(columns={"picked": "own"})
    itself = rows["judge"].eq(rows["responder"])
    others = rows[~itself].groupby(["item_id", "responder"])["own"].mean().rename("others")
    both = rows[itself].join(others, on=["item_id", "responder"], how="inner")
    return both.assign(d=both["own"] - both["others"]).reset_index(drop=True)


def sign_flip_p(sums: Floats, flips: int, rng: np.random.Generator) -> float:
    """Two-sided p of "the sums are symmetric about zero", by random changes of their signs.

    Args:
        sums: One a cluster, `[clusters]`.
        flips: How many random assignments of signs.
        rng: Their source.

    Returns:
        (1 + assignments at least as extreme) / (1 + assignments).
    """
    sizes, counts = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    # Of c equal sums b keep their sign: their total is (2 b - c) times the size.
    kept = rng.binomial(counts, 0.5, size=(flips, len(counts)))
    totals = np.abs((2 * kept - counts) @ sizes)
    extreme = np.count_nonzero(totals >= abs(sums.sum()) - ROUNDING)
    return float((1 + extreme) / (1 + flips))


def holm(p: "pd.Series[float]") -> "pd.Series[float]":
    """p-values adjusted by Holm's step-down procedure: p_(i) (m - i + 1), never falling, at most 1.

    >>> holm(pd.Series([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    steps = p.sort_values(kind="stable") * np.arange(len(p), 0, -1)
    return steps.cummax().clip(upper=1).reindex(p.index)


def excess(panel: Panel) -> pd.DataFrame:
    """Excess of every judge that responds: `category, task, judge, excess, lo, hi, p_holm, n`."""
    rows = with_all(pairs(panel), "task")
    by = [*PLACE, "judge"]
    table = panel.means(rows, by, "d", "excess").rename(columns={"mean": "excess"})
    boot = panel.bootstrap
    p = []
    for key, part in rows.groupby(by):
        sums = cluster_sums(part["d"], part["cluster"])
        p.append(sign_flip_p(sums, boot.resamples, boot.rng("p", "excess", *map(str, key))))
    family = table["judge"].mask(table["task"].eq(ALL), ALL)
    table.insert(6, "p_holm", pd.Series(p, dtype=float).groupby(family).transform(holm))
    return in_order(table)


def by_orders(panel: Panel) -> pd.DataFrame:
    """Each judge by one drawn order and by all orders, over all categories.

    Returns:
        The columns `ORDERS`: share of items on which the judge chose itself (`own`), its excess
        over the other judges, and its share of choices, verdict by verdict, for the response read
        first. A source with one order an item has no rows.
    """
    verdicts = panel.tables["verdicts"]
    # The orders of an item are numbered, the drawn one 0.
    later = verdicts["variant"].eq(VOTE) & verdicts["repeat"].gt(0)
    if not later.any():
        return pd.DataFrame(columns=ORDERS)
    drawn = dataclasses.replace(panel, tables={**panel.tables, "verdicts": verdicts[~later]})
    found = []
    for orders, one in ((ONE, drawn), (EVERY, panel)):
        both = pairs(one)
        place = position(one)
        place = place[place["quantity"].eq(FIRST) & place["category"].eq(ALL)].set_index("judge")
        own = one.shares(both, ["judge"], "own").set_index("judge")
        over = one.means(both, ["judge"], "d", "excess", orders).set_index("judge")
        table = own.set_axis([*bounded("own"), "n"], axis=1).assign(orders=orders)
        table[bounded("excess")] = over.iloc[:, :3]
        table[bounded("first")] = place.reindex(own.index)[["share", "lo", "hi"]]
        found.append(table.reset_index()[ORDERS])
    return pd.concat(found, ignore_index=True)


def against_all(panel: Panel, calls: pd.DataFrame) -> pd.DataFrame:
    """How often each judge chooses its own response where no other judge does.

    Args:
        panel: The study.
        calls: As `panel.tie_breaks` returns them.

    Returns:
        `judge, share, lo, hi, n` (questions that it and another judge decided), `alone` (where no
        other chose its response), and of these `asked` (a tie-breaker was, and chose a response)
        and `elsewhere` (it chose another one too).
    """
    rows = pairs(panel)
    chosen = rows["item_id"].map(calls.set_index("item_id")["chosen"])
    rows["alone"] = rows["own"] * rows["others"].eq(0)
    rows["asked"] = rows["alone"] * chosen.notna()
    rows["elsewhere"] = rows["asked"] * chosen.ne(rows["judge"])
    counts = rows.groupby("judge")[["alone", "asked", "elsewhere"]].sum().astype(int)
    return panel.shares(rows, ["judge"], "alone").join(counts, on="judge")


def objective_scores(panel: Panel) -> pd.DataFrame:
    """The key's scores of responses, 0..1: `item_id, responder, scoring, score`, among others."""
    truths = panel.tables["truths"]
    return truths[truths["metric"].isin(READINGS)].rename(columns={"metric": "scoring"})


def true_scores(panel: Panel) -> pd.DataFrame:
    """Mean objective score by `category, task, responder, scoring` (the reading): `score, n`."""
    rows = with_all(objective_scores(panel).merge(panel.items, on="item_id"), "task")
    by = [*PLACE, "responder", "scoring"]
    return rows.groupby(by)["score"].agg(score="mean", n="size").reset_index()


def kinds(panel: Panel) -> pd.DataFrame:
    """Of items with an objective score for every response: is this one worse than the best other?

    Returns:
        `item_id, scoring, judge, kind`: `harmful` (worse), `neutral` (as good, within the margin)
        or `legitimate` (better than all), should the judge of this name choose itself.
    """
    known = objective_scores(panel)
    width = panel.margin + ROUNDING
    wide = known.pivot(index=["item_id", "scoring"], columns="responder", values="score").dropna()
    best = {judge: wide.drop(columns=judge).max(axis=1) for judge in wide}
    gap = (wide - pd.DataFrame(best, wide.index)).rename_axis(columns="judge").stack()
    kind = pd.cut(gap, [-np.inf, -width, width, np.inf], labels=KINDS)
    return kind.astype("str").reset_index(name="kind")


def objective(panel: Panel) -> pd.DataFrame:
    """Every judge by category and pooled (`all`), in both readings of the responses.

    Returns:
        `category, scoring, judge, n, n_self`; for each kind its rate with interval, `n_<kind>`, the
        mean rate of the other judges `others_<kind>` and their difference `<kind>_beyond` with its
        interval; and of the judge's choices of itself the share of each kind, `self_<kind>`.
    """
    both = pairs(panel).merge(kinds(panel), on=["item_id", "judge"])
    rows = with_all(both, "category")
    found = rows.groupby(KEY)["own"].agg(n="size", n_self="sum").astype(int)
    beyond = found[[]]
    of_self = found[[]]
    for kind in KINDS:
        mine = rows.assign(**rows[["own", "others", "d"]].where(rows["kind"].eq(kind)))
        over = panel.means(mine, KEY, "d", "beyond", kind).set_index(KEY)
        rate = panel.shares(mine, KEY, "own").set_index(KEY)
        by = mine.groupby(KEY)
        found[[*bounded(kind), f"n_{kind}"]] = rate
        found[f"others_{kind}"] = by["others"].mean()
        beyond[bounded(f"{kind}_beyond")] = over.iloc[:, :3]
        of_self[f"self_{kind}"] = by["own"].sum() / found["n_self"]
    return found.join([beyond, of_self]).reset_index()


def third_judge(panel: Panel, most: float = 1.0) -> pd.DataFrame:
    """Own responses that the key calls wrong, marked by their judge and by a third one.

    Args:
        panel: The study.
        most: A judge is left out of a category if more than this share of its totals there are the
            full ones: as a third judge it would control nothing.

    Returns:
        `category` (pooled: `all`), `scoring` (the reading of the key) and the columns `third.THIRD`
        (`selfpref.statistics.third`), in points of the rubric.
    """
    found = [pd.DataFrame(columns=["category", "scoring", *third.THIRD])]
    marks = rated(panel)
    full = marks["score"].ge(TOP).groupby([marks["category"], marks["judge"]]).transform("mean")
    marks = with_all(marks[full.le(most)], "category")
    for scoring, key in objective_scores(panel).groupby("scoring"):
        keyed = marks[marks["item_id"].isin(key["item_id"])]
        for category, rows in keyed.groupby("category"):
            boot = panel.bootstrap.within(str(scoring), str(category))
            told = third.third_judge(rows, key, panel.judges, boot, margin=panel.margin)
            found.append(told.assign(category=category, scoring=scoring))
    return pd.concat(found, ignore_index=True)[[*found[0]]]
