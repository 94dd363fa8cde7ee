"""The panel: whom each judge chose on every item, and how often it chose each response.

Judges choose among the responses of all candidates; a judge's own response is that of the responder
of the same name. A choice counts if it survives all orders in which the judge read the candidates;
otherwise the item is a tie of this judge (`unstable`). A verdict whose status is not ok leaves the
judge without a choice on that item. Any number of judges, candidates and orders.

    share(judge, responder) = rows on which the judge chose the responder / rows with a verdict

A tie is a verdict, so shares may sum to less than one; a verdict that failed is none. A category as
a whole is the task `all`, all categories together are the category `all`. Intervals of shares are
Wilson's, with the effective number of rows (`selfpref.statistics.bootstrap`); items are clustered
by their question.

How a choice depends on the order in which the candidates were read (`position`):

- *first position*: share of choices for the candidate read first; by chance 1 / candidates.
- *earliest of m copies*: where m candidates say word for word the same (blanks aside) and the judge
  chose one of them, the share that chose the one read first; by chance 1 / m. Nothing but the
  position tells the copies apart.
- *changed with the order*: of items that a judge read in several orders, the share on which its
  choice did not survive them.

Majority votes (`majority_votes`), with and without a tie-breaker: a responder wins a vote of m
judges with floor(m / 2) + 1 of their choices; a tie, a failed verdict and a missing one are choices
for nobody, and count in m. Four rules:

- `released`: without a majority, whom the release credited after asking its tie-breaker;
- `corrected`: without a majority, whom the tie-breaker chose (its number read in the order shown);
- `two-of-three`: no tie-breaker; a row without a majority is undecided;
- `leave-self-out`: a responder's own judge stays away from the vote on this responder.

Undecided is an outcome of its own, counted, never a win.

Agreement, for rows that all m judges of a category decided, with n_ij choices of option j on row i
(the responders, and a tie as an option of its own), is Fleiss' kappa:

    P_i = sum_j n_ij (n_ij - 1) / (m (m - 1))        P_e = sum_j (share of option j)^2
    kappa = (mean P_i - P_e) / (1 - P_e)                               (Fleiss 1971)

1 for unanimity and 0 for independent judges with these shares of options.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
import pandas as pd

from selfpref.prompts.rubric import TOP
from selfpref.statistics.bootstrap import (
    ClusterBootstrap,
    Floats,
    bounded,
    divided,
    group_shares,
    share_interval,
)
from selfpref.studies.livebench import STUDY
from selfpref.tables.schemas import TIE

TABLES = STUDY.filled
# The variants of a verdict: a judge's vote, and the tie-breaker's call in two readings.
VOTE, BREAK, RELEASED = "plain", "tie-break", "tie-break-released"
ALL = "all"
PLACE = ["category", "task"]
# Scores are sums and ratios in floating point.
ROUNDING = 1e-9
CHOICES = ["item_id", *PLACE, "cluster", "judge", "candidates", "choice", "outcome", "orders"]
FIRST = "first position"
POSITION = ["category", "judge", "quantity", "share", "lo", "hi", "n", "items", "chance"]
CHECKS = ["item", *PLACE, "judge", "responder", "published", "recomputed", "difference"]
CHECKS += ["source", "place", "how_read"]
# By rule, whose calls end what has no majority.
CALLS = {"released": RELEASED, "corrected": BREAK}
ALONE, WITHOUT = "two-of-three", "leave-self-out"
VOTES = ["category", "rule", "responder", "share", "n", "undecided", "lo", "hi"]
ENDS = ["category", "rule", "outcome", "n"]
AGREEMENT = [*PLACE, "judges", *bounded("kappa", "unanimous"), "n", "n_dropped"]
MAJORITY = "majority"
# Where no tie-breaker is asked.
NOBODY = pd.Series(dtype="str")


def settled(votes: pd.DataFrame) -> pd.DataFrame:
    """One judge's choice on one item, from all orders in which it read the candidates.

    Args:
        votes: Verdicts with the columns of their item.

    Returns:
        The columns `CHOICES`, sorted: `candidates` in alphabetical order; `choice` is a responder,
        `tie` or missing; `outcome` is `chosen`, `tie`, `unstable` where the orders disagree, or the
        status of the first verdict that failed; `orders` counts those that were read.
    """
    ok = votes["status"].eq("ok")
    read = votes.assign(choice=votes["choice"].where(ok), outcome=votes["status"].mask(ok))
    read["order"] = read["candidates"].map(tuple)
    groups = read.groupby(CHOICES[:5])
    rows = groups[["choice", "outcome"]].first()
    orders = groups["order"]
    unstable = groups["choice"].nunique().gt(1)
    lost = rows["outcome"].notna()
    ends = rows["choice"].where(rows["choice"].eq(TIE), "chosen").mask(unstable, "unstable")
    rows["outcome"] = rows["outcome"].fillna(ends)
    rows["choice"] = rows["choice"].mask(unstable, TIE).mask(lost)
    rows["candidates"] = orders.agg(lambda read: sorted({*chain(*read)}))
    return rows.assign(orders=orders.nunique()).reset_index()[CHOICES]


@dataclass(frozen=True)
class Panel:
    """The tables of the study with what every frame reads of them.

    Attributes:
        tables: By name, `TABLES`.
        margin: Two objective scores (0..1) within this are equal.
        intervals: Of clusters.
    """

    tables: Mapping[str, pd.DataFrame]
    margin: float
    intervals: ClusterBootstrap

    @cached_property
    def items(self) -> pd.DataFrame:
        """`item_id, cluster, category, task` of every item; without a task, the category is it."""
        rows = self.tables["items"]
        tasks = [json.loads(metadata).get("task") for metadata in rows["metadata"]]
        category = rows["category"].fillna("uncategorised")
        task = pd.Series(tasks, rows.index, dtype="str").fillna(category)
        return rows[["item_id", "cluster"]].assign(category=category, task=task)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """Preferences among candidates, with category, task and cluster."""
        chosen = self.tables["verdicts"].query("task == 'preference'").drop(columns="task")
        return chosen.merge(self.items, on="item_id")

    @cached_property
    def choices(self) -> pd.DataFrame:
        """One row an item and judge, as `settled` returns them."""
        return settled(self.verdicts.query("variant == @VOTE"))

    @cached_property
    def ballots(self) -> pd.DataFrame:
        """One row an item, judge and candidate (`responder`): 1 in `picked` if it was chosen.

        Missing where the judge has no choice. The index numbers the choices.
        """
        rows = self.choices.assign(responder=self.choices["candidates"]).explode("responder")
        picked = rows["choice"].eq(rows["responder"]).astype(float)
        return rows.assign(picked=picked.mask(rows["choice"].isna()))

    @cached_property
    def judges(self) -> list[str]:
        """Everyone who votes and whose response a judge could choose."""
        return sorted({*self.choices["judge"]} & {*self.ballots["responder"]})

    @cached_property
    def bootstrap(self) -> ClusterBootstrap:
        """Intervals, with the study's streams."""
        return self.intervals.within("livebench")

    def shares(self, rows: pd.DataFrame, by: list[str], value: str) -> pd.DataFrame:
        """`group_shares` at the level of the study's intervals."""
        return group_shares(rows, by, value, self.bootstrap.level)

    def means(self, rows: pd.DataFrame, by: list[str], value: str, *names: str) -> pd.DataFrame:
        """The mean of a column in each group: `by, mean, lo, hi, n`; streams `names`, then key."""
        found = []
        for key, part in rows.groupby(by):
            one = self.bootstrap.mean(part[value], part["cluster"], *names, *map(str, key))
            found.append((*key, *one[:3], part[value].count()))
        return pd.DataFrame(found, columns=[*by, "mean", "lo", "hi", "n"])


def with_all(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows twice: under `all` in this column, and as they are."""
    return pd.concat([rows.assign(**{column: ALL}), rows])


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows by category, each as a whole first and then its tasks; else as they were."""
    return rows.sort_values(
        PLACE, key=lambda names: names.mask(names.eq(ALL), ""), kind="stable", ignore_index=True
    )


def counted(panel: Panel) -> pd.DataFrame:
    """How much data there is: `category, task, items, clusters, keyed, failed`.

    `keyed` are items with objective scores, `failed` ratings without a total.
    """
    keyed = panel.items["item_id"].isin(panel.tables["truths"]["item_id"])
    failed = panel.tables["ratings"].query("status != 'ok'")["item_id"].value_counts()
    rows = panel.items.assign(keyed=keyed, failed=panel.items["item_id"].map(failed))
    groups = with_all(rows.assign(items=1), "task").groupby(PLACE)
    counts = groups[["items", "keyed", "failed"]].sum()
    counts.insert(1, "clusters", groups["cluster"].nunique())
    return in_order(counts.astype(int).reset_index())


def models(panel: Panel) -> pd.DataFrame:
    """Which model answered under each name: `category, responder, model`, where it is told."""
    named = {
        (category, *pair)
        for category, metadata in panel.tables["items"][["category", "metadata"]].to_numpy()
        for pair in json.loads(metadata).get("models", {}).items()
    }
    return pd.DataFrame(sorted(named), columns=["category", "responder", "model"])


def preference_shares(panel: Panel) -> pd.DataFrame:
    """How often each judge chose each response, by category and task.

    Returns:
        `category, task, judge, responder, share, lo, hi, n`; `n` counts rows with a verdict.
    """
    rows = with_all(panel.ballots, "task")
    return in_order(panel.shares(rows, [*PLACE, "judge", "responder"], "picked"))


def outcomes(panel: Panel) -> pd.DataFrame:
    """What every row of every judge came to: `category, task, judge, outcome, n`."""
    by = [*PLACE, "judge", "outcome"]
    return in_order(with_all(panel.choices, "task").groupby(by).size().reset_index(name="n"))


def position(panel: Panel) -> pd.DataFrame:
    """Every quantity by category and judge, and over all categories, in the columns `POSITION`.

    `n` counts verdicts, `items` the items that they are about (for copies: all with so many).
    """
    votes = panel.verdicts.query("variant == @VOTE and order_known and status == 'ok'")
    rows = votes.assign(responder=votes["candidates"]).reset_index(names="verdict")
    texts = panel.tables["responses"].query("step == 0 and sample == 0")
    # A row a verdict and candidate, in the order in which they were read.
    rows = rows.explode("responder").merge(texts[["item_id", "responder", "text"]], "left")
    # What is not known is nobody's copy.
    said = rows["text"].str.split().str.join(" ").fillna("\0" + rows["responder"].astype("str"))
    by_verdict = rows.groupby("verdict")
    picked = rows["choice"].eq(rows["responder"])
    place = by_verdict.cumcount()
    among = by_verdict["responder"].transform("size")
    same = place.groupby([rows["verdict"], said])
    alike = same.transform("size")
    earliest = place.eq(same.transform("min"))
    told = "earliest of " + alike.astype("str") + " copies"
    first = rows.assign(quantity=FIRST, copies=1, hit=place.eq(0), chance=1 / among)
    copies = rows.assign(quantity=told, copies=alike, hit=earliest.where(picked), chance=1 / alike)
    read = pd.concat([first[picked], copies[alike.gt(1)]])
    moved = panel.choices.dropna(subset="choice").query("orders > 1")
    moved = moved.assign(quantity="changed with the order", copies=0, chance=0.0)
    moved["hit"] = moved["outcome"].eq("unstable")
    by = ["category", "judge", "copies", "quantity"]
    found = []
    for part in (read, moved, read.assign(category=ALL), moved.assign(category=ALL)):
        groups = part.groupby(by).agg(items=("item_id", "nunique"), chance=("chance", "mean"))
        shares = panel.shares(part, by, "hit").assign(**groups.reset_index()[["items", "chance"]])
        found.append(shares.query("n > 0"))
    return pd.concat(found, ignore_index=True)[POSITION]


def rated(panel: Panel) -> pd.DataFrame:
    """The mean total over repeats of each response: `item_id, responder, judge, score`, ..."""
    rows = panel.tables["ratings"].query("task == 'rubric' and status == 'ok'")
    key = ["item_id", "responder", "judge"]
    return rows.groupby(key, as_index=False)["score"].mean().merge(panel.items, on="item_id")


def scores(panel: Panel) -> pd.DataFrame:
    """Mean rubric total of each judge for each responder.

    Returns:
        `category, judge, responder, mean, lo, hi, n`, and `saturated`, the share of totals at the
        top of the rubric.
    """
    rows = rated(panel)
    by = ["category", "judge", "responder"]
    top = rows.assign(saturated=rows["score"].ge(TOP)).groupby(by)["saturated"]
    return panel.means(rows, by, "score", "score").join(top.mean(), on=by)


def ended(choices: pd.DataFrame, calls: "pd.Series[str]", without: str = "") -> pd.DataFrame:
    """Who wins each item's vote, and how it ended.

    Args:
        choices: Of one category, as `settled` returns them: a responder, `tie`, or missing.
        calls: By item the tie-breaker's choice where it was asked, missing where it failed.
        without: A judge that has no vote.

    Returns:
        By item `winner` (missing: undecided) and `outcome`.
    """
    votes = choices.pivot(index="item_id", columns="judge", values="choice")
    votes = votes.drop(columns=without, errors="ignore")
    alike = votes.apply(lambda choice: votes.eq(choice, axis="index").sum(axis=1))
    most = votes.where(votes.ne(TIE) & alike.gt(votes.shape[1] / 2))
    winner = most.stack().groupby(level=0).first().reindex(votes.index)
    chosen = calls.where(calls.ne(TIE)).reindex(votes.index)
    how = [winner.notna(), ~votes.index.isin(calls.index), chosen.isna()]
    told = [MAJORITY, "no majority", "tie-breaker failed"]
    outcome = np.select(how, told, "tie-break")
    return pd.DataFrame({"winner": winner.fillna(chosen), "outcome": outcome})


def _calls(panel: Panel, reading: str) -> pd.DataFrame:
    """The tie-breaker's verdicts in one reading: what it was `shown`, and what was `chosen`."""
    rows = panel.verdicts[panel.verdicts["variant"].eq(reading)]
    chosen = rows["choice"].where(rows["status"].eq("ok"))
    return rows.assign(shown=rows["candidates"], chosen=chosen)


def majority_votes(panel: Panel) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every rule in every category.

    Returns:
        Shares of all rows in the columns `VOTES`, `undecided` counting rows; and how the votes
        ended: `category, rule, outcome, n`. The rule `released` is there if the source has such
        calls.
    """
    if panel.choices.empty:
        return pd.DataFrame(columns=VOTES), pd.DataFrame(columns=ENDS)
    calls = {rule: _calls(panel, of).drop_duplicates("item_id") for rule, of in CALLS.items()}
    # Only a release has a reading of its own.
    if calls["released"].empty:
        del calls["released"]
    rules = {rule: rows.set_index("item_id")["chosen"] for rule, rows in calls.items()}
    rules[ALONE] = NOBODY
    parts = []
    for _, choices in panel.choices.groupby("category"):
        ends = {rule: ended(choices, calls) for rule, calls in rules.items()}
        for name in choices["candidates"].explode().unique():
            ends[WITHOUT] = ended(choices, NOBODY, name)
            parts.append(pd.concat(ends, names=["rule"]).reset_index().assign(responder=name))
    cast = pd.concat(parts).merge(panel.items, on="item_id")
    cast["rule"] = pd.Categorical(cast["rule"], [*CALLS, ALONE, WITHOUT])
    cast["won"] = cast["winner"].eq(cast["responder"])
    cast["undecided"] = cast["winner"].isna()
    undecided = cast.groupby(VOTES[:3], observed=True)["undecided"].sum()
    table = panel.shares(cast, VOTES[:3], "won").join(undecided, on=VOTES[:3])
    whole = cast[cast["rule"].ne(WITHOUT)].drop_duplicates(["item_id", "rule"])
    ends = whole.groupby(ENDS[:3], observed=True).size().reset_index(name="n")
    return table[VOTES], ends.astype({"rule": "str"})


def tie_breaks(panel: Panel) -> pd.DataFrame:
    """The tie-breaker's calls: what it read, what it chose, and whom the release credited.

    Returns:
        `category, item_id, judge, shown` (responders in the order shown), `chosen` (missing where
        the verdict failed) and `credited` (missing but in a release that has its own reading).
    """
    key = ["category", "item_id", "judge"]
    found, later = (_calls(panel, one).set_index(key) for one in (BREAK, RELEASED))
    found = found[["shown", "chosen"]].assign(credited=later["chosen"])
    return found.sort_index().reset_index()


def fleiss(totals: Floats) -> Floats:
    """From sums over rows to kappa.

    Args:
        totals: `[..., options + 2]`: choices of each option, sum of P_i, rows.

    Returns:
        `[...]`; NaN where all choices are of one option.
    """
    options = totals[..., :-2]
    agreed = totals[..., -2]
    rows = totals[..., -1]
    parts = options / options.sum(axis=-1, keepdims=True)
    chance = (parts**2).sum(axis=-1)
    return divided(agreed / rows - chance, 1 - chance)


def agreement(panel: Panel) -> pd.DataFrame:
    """Kappa and unanimity by category and task, in the columns `AGREEMENT`.

    The interval of the share of unanimous rows is Wilson's.
    """
    rows = []
    for key, part in with_all(panel.choices, "task").groupby(PLACE):
        wide = part.pivot(index=["item_id", "cluster"], columns="judge", values="choice")
        complete = wide.dropna()
        judges = wide.shape[1]
        if judges < 2 or complete.empty:
            continue
        counts = pd.get_dummies(complete.stack()).groupby(level=[0, 1]).sum()
        agreed = (counts * (counts - 1)).sum(axis=1) / (judges * (judges - 1))
        clusters = counts.index.get_level_values("cluster")
        values = counts.assign(agreed=agreed, rows=1.0)
        kappa = panel.bootstrap.estimate(values, clusters, fleiss, "agreement", *map(str, key))
        same = share_interval(agreed.eq(1), clusters, panel.bootstrap.level)
        n = len(complete)
        rows.append((*key, judges, *kappa[:3], *same[:3], n, len(wide) - n))
    return in_order(pd.DataFrame(rows, columns=AGREEMENT))


def checks(shares: pd.DataFrame, votes: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """The percentages that the release prints beside the recomputed ones.

    They were read off its pies; one without a slice for a responder prints a share of zero.

    Args:
        shares: As `preference_shares` returns them.
        votes: As `majority_votes` returns them.
        published: data/published/livebench.csv, with the picture of each.

    Returns:
        The columns `CHECKS`, a row a percentage whose judge and responder are in the data;
        `difference` is in points, and a printed percentage is rounded to a tenth.
    """
    key = CHECKS[:5]
    released = votes.query("rule == 'released'")
    released = released.assign(task=ALL, judge="", item="vote")
    found = pd.concat([shares.assign(item="share"), released])[[*key, "share"]]
    table = published.fillna({"judge": ""}).rename(columns={"value": "published"})
    table = table.merge(found.assign(recomputed=100 * found["share"]), on=key)
    return table.assign(difference=table["recomputed"] - table["published"])[CHECKS]
