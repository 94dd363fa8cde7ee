"""Judged pairs, and what they say of a judge: equal opportunity, demographic parity, excess.

The score of a judge for response A over B, averaged over both orders of presentation
(Wataoka et al., Eq. 3):

    score_A = P(A) / (P(A) + P(B))

where P is the judge's probability of the label. A source that kept only the choice gives 1 for the
chosen response, 0 for the other, 1/2 for a tie. The human's vote is the majority over annotators:
the sign of (votes for - votes against), ties of the sum being ties.

Where its prompt offers a label for a tie, C, the paper does not say what a judge's tie is.
`judge_tie` is one of three readings; a pair whose mean score lies within the threshold has no
winner under any of them:

    exact             only such a pair, an exact one half by default: the label C counts for nothing
    label-c           in the mean of both orders C is no less probable than either response; of
                      verdicts in words: one of the two orders says C
    orders-disagree   the two orders name different responses, by the score of each

A response's log-perplexity is the mean negative log-likelihood of its tokens, in nats.

Over pairs that hold the responder's text, with S the human's and Y' the judge's decision
(Wataoka et al., Definition 4.1, after Hardt et al. 2016):

    TP: human own,   judge own      FN: human own,   judge other
    FP: human other, judge own      TN: human other, judge other

    EO = P(judge agrees | human prefers own) - P(judge agrees | human prefers other)
       = TP / (TP + FN) - TN / (FP + TN)

the ratio form of the same two terms is TP / (TP + FN) over TN / (FP + TN), 1 without bias;

and (Eq. 4) demographic parity, which needs no human:

    DP = P(judge own) - P(judge other) = 2 P(judge own) - 1

The second term of EO is *not* conditioned on a position in the prompt: pairs are relabelled by what
the human prefers, so both halves of the data are used. EO is neither accuracy nor DP, and it is not
zero for a judge without self-preference where its responses are simply better: judges that did not
write a strong model's answers score about as high on them as their author does. The control is the
bias beyond the other judges' towards the same responses,

    excess_j = EO_j(responses of j) - mean over k != j of EO_k(responses of j)

with all judges of the data set weighing the same. Which pairs enter decides its size, so it comes
in two variants, neither of which is to be read alone:

- `own`: each judge on the pairs that it and the human decide;
- `half-ties`: every judge on the pairs that the human decides, a judge's tie counting half.

Both terms of EO are shares of one *human side*: pairs on which the human prefers the judge's own
response (TP + FN), and pairs on which the human prefers the other one (FP + TN). A value that rests
on fewer than `FEW` pairs on one side is *too few*: hollow in pictures, marked in tables, and quoted
nowhere. For an excess both sides of every judge count; another judge with too few decided pairs
does not enter where others have enough, so that one that read a sample hides nobody's excess.

This is not the human-conditioned regression coefficient of Spiliopoulou et al. (2508.06709).

**What a judge without self-preference would show, if it erred like the people who voted.**

EO is not zero for a judge without self-preference where its responses are better than others'. Let
p be the probability that a vote on one pair is for the judge's own response. If the human's vote
and the judge's are two independent draws of the same p, whoever the judge is, then over pairs

    TP = E[p^2],  FN = FP = E[p (1 - p)],  TN = E[(1 - p)^2]

    EO_0 = E[p^2] / E[p] - E[(1 - p)^2] / E[1 - p] = D (2 m - 1) / (2 m (1 - m)),

with m = E[p] and D = 2 E[p (1 - p)], the share of pairs of votes that disagree. EO_0 is 0 where
people never disagree, or where both sides win equally often; it approaches 2 m - 1 where p is the
same for all pairs.

Two people's votes on one pair are two such draws, so EO_0 is the EO of *another person in the
judge's place*. From the votes v_1 .. v_k on one pair, the unbiased estimators of the three
moments are means over ordered pairs of distinct votes,

    p^2: v_s v_t,     p (1 - p): v_s (1 - v_t),     (1 - p)^2: (1 - v_s)(1 - v_t),     s != t,

and a pair with one vote tells nothing. Each pair weighs 1. A tied vote is dropped before counting,
or counts half, as the study's human ties do.

EO_0 is of *single* votes. The majority of k votes is less noisy than one: its cells with an
independent judge hold moments of p up to the (k + 1)-th, which k votes do not identify. So the
judge is set against single votes too: with the share of votes h for own on one pair and its
decision d, its cells are h d, h (1 - d), (1 - h) d and (1 - h)(1 - d), on the same pairs and votes.
The difference of the two EOs is what the judge shows beyond a person in its place. It need not be
self-preference: a judge that errs less than a person, or in its own way (by length, say), differs
from EO_0 as well, whoever wrote the responses.

How far that goes, a judge shows that has no self and never errs: one that always decides as most of
*all* people would. With p ~ Beta(a, b) over pairs, of mean m and correlation rho = 1 / (a + b + 1)
of two votes on a pair, and I the regularised incomplete beta function,

    EO_m = 1 - I_1/2(a + 1, b) - I_1/2(a, b + 1),      rho = 1 - E[p (1 - p)] / (m (1 - m)).

Where votes hardly agree, rho near 0, it always takes the better writer, and EO_m nears 1.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow
from pyarrow import compute
from scipy.special import betainc

from selfpref.statistics.bootstrap import (
    ClusterBootstrap,
    Clusters,
    Floats,
    Interval,
    cluster_sums,
    difference,
    divided,
    pearson,
    share_interval,
    share_intervals,
)
from selfpref.tables.schemas import TIE

Turns = Literal["all", "first", "second"]
JudgeTie = Literal["exact", "label-c", "orders-disagree"]
Ties = Literal["drop", "half"]
Variant = Literal["own", "half-ties"]
# By reading of a judge's tie, the column of the pairs that it ties beside those without a winner.
TIED: dict[JudgeTie, str] = {"exact": "", "label-c": "says_tie", "orders-disagree": "disagrees"}
PAIR = ["item_id", "first", "second"]
READ = [*PAIR, "judge"]
PAIRS = [*READ, "cluster", "human", "margin", "score", "decision"]
PAIRS += ["says_tie", "disagrees", "status"]
# What a column says for `first` and for `second` adds up to this.
BOTH_SIDES = {"human": 1, "score": 1, "decision": 1, "vote": 1, "margin": 0}
CELLS = ["tp", "fn", "fp", "tn"]
# Of a correlation of two votes estimated from few.
LEAST_RHO = 1e-6
# Pairs that each human side has to have.
FEW = 10
# Pairs of a cell below which a bootstrap of EO is too narrow.
SMALL = 5


def names_of(*columns: pd.Series) -> list[str]:
    """The names in some columns, each once, sorted; a set of all their rows takes seconds.

    >>> names_of(pd.Series(["b", "a", "b"]), pd.Series(["c"]))
    ['a', 'b', 'c']
    """
    return sorted(set[str]().union(*(column.unique() for column in columns)))


def of_two(verdicts: pd.DataFrame) -> pd.Series:
    """Which verdicts have two candidates."""
    return verdicts["candidates"].map(len, na_action="ignore").eq(2)


def both(column: pd.Series, kind: type[str] | type[float]) -> list[pd.Series]:
    """The first and the second values of lists of two; missing where no list is."""
    held = pyarrow.string() if kind is str else pyarrow.float64()
    lists = pyarrow.Array.from_pandas(column, type=pyarrow.list_(held))
    ends = (compute.list_element(lists, place) for place in (0, 1))
    return [pd.Series(pd.array(end, dtype=kind), column.index) for end in ends]


def verdict_scores(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Score of each single verdict, for the responder whose name sorts first.

    Args:
        verdicts: The verdicts table; rows of the task `preference` with two candidates are used.

    Returns:
        `item_id, judge, repeat, status`, `first, second`, `presented` (`first`, `second` or null:
        whose response the judge read first), `score` (for `first`, 0..1, NaN unless ok), `tie` (the
        share of the label for a tie, 0..1; 1 or 0 where only the choice is known; NaN unless ok),
        `won` (the share of `first`, that of the tie taken off).
    """
    rows = verdicts[of_two(verdicts)].query("task == 'preference'")
    (one, two), (p, q) = both(rows["candidates"], str), both(rows["probabilities"], float)
    swapped, ok, choice = one > two, rows["status"].eq("ok"), rows["choice"]
    given, mass = p + q, rows["mass"].astype(float)
    score = (p / given).where(given.notna(), (1.0 + choice.eq(one) - choice.eq(two)) / 2)
    # What the two responses leave of the mass is the tie's.
    left = ((mass - given) / mass.where(mass.gt(0))).clip(0, 1)
    tie = left.fillna(choice.eq(TIE).astype(float))
    score, tie = score.mask(swapped, 1 - score).where(ok), tie.where(ok)
    presented = pd.Series("first", rows.index, dtype="str").mask(swapped, "second")
    return rows[["item_id", "judge", "repeat", "status"]].assign(
        first=one.mask(swapped, two),
        second=two.mask(swapped, one),
        presented=presented.where(rows["order_known"]),
        score=score,
        tie=tie,
        won=score * (1 - tie),
    )


def says_tie(shares: pd.DataFrame) -> pd.Series:
    """Where the label for a tie is no less probable than either response, by `tie` and `won`."""
    return shares.eval("tie > 0 and tie >= won and tie >= 1 - tie - won")


def judge_scores(verdicts: pd.DataFrame, threshold: float = 0.5) -> pd.DataFrame:
    """Eq. 3 averaged over both orders (repeats within an order first).

    A pair with a verdict whose status is not ok has no score: half an average is another quantity.

    Args:
        verdicts: The verdicts table.
        threshold: Above it an order names the one response, below 1 - `threshold` the other.

    Returns:
        `item_id, first, second, judge, score, says_tie, disagrees, status`: one row a pair and
        judge; `says_tie` and `disagrees` as the readings of a judge's tie in `TIED` have them,
        False without a score; `status` is `ok` or that of the first verdict that failed.
    """
    single = verdict_scores(verdicts)
    shares = ["score", "tie", "won"]
    orders = single.groupby([*READ, "presented"], dropna=False)[shares].mean(skipna=False)
    named = pd.Series(decide(orders["score"], threshold), orders.index).groupby(READ)
    scores = orders.groupby(READ).mean(skipna=False)
    failed = single.query("status != 'ok'").groupby(READ)["status"].first()
    found = scores[["score"]].assign(
        says_tie=says_tie(scores),
        disagrees=(named.max(skipna=False) - named.min()).eq(1),
        status=failed.reindex(scores.index).fillna("ok"),
    )
    return found.reset_index()


def decide(scores: npt.ArrayLike, threshold: float) -> Floats:
    """1 for scores above `threshold`, 0 below 1 - `threshold`, 1/2 between; NaN stays NaN."""
    known = np.asarray(scores, dtype=float)
    named = (1.0 + (known > threshold) - (known < 1 - threshold)) / 2
    return np.where(np.isnan(known), np.nan, named)


def judge_decisions(pairs: pd.DataFrame, threshold: float, judge_tie: JudgeTie) -> Floats:
    """`decide`, with the pairs as ties that a reading of a judge's tie adds.

    Args:
        pairs: `score, says_tie, disagrees`, as `judge_scores` returns them.
        threshold: As in `decide`.
        judge_tie: The reading.
    """
    found = decide(pairs["score"], threshold)
    if column := TIED[judge_tie]:
        found[pairs[column].astype(bool)] = 0.5
    return found


def oriented_votes(labels: pd.DataFrame) -> pd.DataFrame:
    """Single votes, turned to the responder whose name sorts first.

    Args:
        labels: The labels table, in either orientation of each pair.

    Returns:
        `item_id, annotator, first, second, vote` (1 for `first`, 0 for `second`, 1/2 for a tie).
    """
    one, two = labels["responder_a"], labels["responder_b"]
    swapped = one > two
    # Without any vote the column would stay one of texts.
    vote = labels["label"].map({"a": 1.0, "b": 0.0, TIE: 0.5}).astype(float)
    return labels[["item_id", "annotator"]].assign(
        first=one.mask(swapped, two),
        second=two.mask(swapped, one),
        vote=vote.mask(swapped, 1 - vote),
    )


def human_votes(labels: pd.DataFrame) -> pd.DataFrame:
    """The majority of each pair: the sign of (votes for - votes against), every annotator counted.

    Args:
        labels: The labels table.

    Returns:
        `item_id, first, second, human` (1 for `first`, 0 for `second`, 1/2 for a tie), `margin`
        (votes for `first` minus votes for `second`).
    """
    votes = oriented_votes(labels)
    votes["margin"] = (2 * votes["vote"] - 1).astype(int)
    majority = votes.groupby(PAIR, as_index=False)["margin"].sum()
    return majority.assign(human=(np.sign(majority["margin"]) + 1) / 2)


def judged_pairs(
    items: pd.DataFrame,
    labels: pd.DataFrame,
    verdicts: pd.DataFrame,
    threshold: float = 0.5,
    judge_tie: JudgeTie = "exact",
    turns: Turns = "all",
) -> pd.DataFrame:
    """Every judged pair with the judge's decision and, where there is one, the human's vote.

    Args:
        items: The items table; an item's metadata may hold `turn` and `turns`.
        labels: The labels table.
        verdicts: The verdicts table.
        threshold: The judge decides for a response above `threshold`, against it below
            1 - `threshold`, and ties between.
        judge_tie: Which pairs it ties besides; see `TIED`.
        turns: Which turns of multi-turn dialogues to keep.

    Returns:
        The columns `PAIRS`. `human` and `decision` are 1 for `first`, 0 for `second`, 1/2 for a
        tie, NaN where there is none.
    """
    if turns != "all":
        items = items[turn(items).eq({"first": "1", "second": "2"}[turns])]
    scores = judge_scores(verdicts, threshold).merge(human_votes(labels), on=PAIR, how="left")
    pairs = scores.merge(items[["item_id", "cluster"]], on="item_id")
    pairs["decision"] = judge_decisions(pairs, threshold, judge_tie)
    return pairs[PAIRS].sort_values(READ, ignore_index=True)


def turn(items: pd.DataFrame) -> pd.Series:
    """The turn that each item's metadata names, else `1`."""
    return items["metadata"].str.extract(r'"turn": (\d+)', expand=False).fillna("1")


def pairs_with(pairs: pd.DataFrame, responder: str) -> pd.DataFrame:
    """The pairs with a responder's text, turned so that 1 means this responder.

    Args:
        pairs: As `judged_pairs` or `oriented_votes` return them.
        responder: Whose responses.

    Returns:
        The same columns, with `opponent` in the place of `first` and `second`.
    """
    held = pairs.query("first == @responder or second == @responder").reset_index(drop=True)
    first, second = held.pop("first"), held.pop("second")
    turned = second.eq(responder)
    for name in held.columns.intersection(list(BOTH_SIDES)):
        held[name] = held[name].where(~turned, BOTH_SIDES[name] - held[name])
    return held.assign(opponent=first.where(turned, second))


def response_perplexity(perplexities: pd.DataFrame) -> pd.DataFrame:
    """Log-perplexity of each response under each judge.

    Args:
        perplexities: The perplexities table.

    Returns:
        `item_id, responder, judge, conditional, value`, in nats a token; NaN where the status is
        not ok or the response has no token.
    """
    rows = perplexities.query("step == 0")
    known = rows["status"].eq("ok") & rows["n_tokens"].gt(0)
    value = (rows["sum_nll"] / rows["n_tokens"]).where(known)
    return rows[["item_id", "responder", "judge", "conditional"]].assign(value=value)


def text_lengths(responses: pd.DataFrame) -> pd.Series:
    """ln(1 + characters) of each first text, by (item_id, responder)."""
    first = responses.query("step == 0 and sample == 0")
    return np.log1p(first.set_index(["item_id", "responder"])["length"].astype(float))


def scores_of(truths: pd.DataFrame, metric: str) -> pd.Series:
    """A true score of each text, by (item_id, responder); empty where there is none."""
    return truths.query("metric == @metric").set_index(["item_id", "responder"])["score"]


def value_of(values: pd.Series, *keys: pd.Series) -> pd.Series:
    """The value of each row by its keys, such as item_id and responder; NaN where none is known."""
    found = values.reindex(pd.MultiIndex.from_arrays(keys)).to_numpy(float)
    return pd.Series(found, keys[0].index)


def gap(
    values: pd.Series, rows: pd.DataFrame, one: str = "first", other: str = "second"
) -> pd.Series:
    """The value of one text of each pair minus that of the other; NaN where one is not known.

    Args:
        values: By (item_id, responder).
        rows: Pairs, with `item_id` and both columns of responders.
        one: The column of the one responder.
        other: The column of the other.
    """
    mine, theirs = (value_of(values, rows["item_id"], rows[side]) for side in (one, other))
    return mine - theirs


def between(pairs: pd.DataFrame) -> pd.DataFrame:
    """A column a responder: 1 where the first text of a pair is of it, -1 where the second is."""
    first, second = (pd.get_dummies(pairs[side], dtype=float) for side in ("first", "second"))
    return first.sub(second, fill_value=0.0)


def equal_opportunity(cells: npt.ArrayLike) -> Floats:
    """EO bias (Definition 4.1), -1..1; 0 is unbiased, 1 picks itself always.

    Args:
        cells: Counts or weights `[..., 4]` in the order tp, fn, fp, tn.

    Returns:
        `[...]`; NaN where the human preferred only one side.
    """
    tp, fn, fp, tn = np.moveaxis(np.asarray(cells, dtype=float), -1, 0)
    return divided(tp, tp + fn) - divided(tn, fp + tn)


def equal_opportunity_interval(
    cells: Floats, clusters: Clusters, bootstrap: ClusterBootstrap, *names: str
) -> Interval:
    """EO with its interval: bootstrapped, or Newcombe's where a cell has fewer than `SMALL` pairs.

    With 2 agreements in 29 pairs the percentile interval covers 0.87 instead of 0.95, Newcombe's
    with the clusters' effective size 0.95 (simulated).

    Args:
        cells: What each pair adds, `[pairs, 4]`.
        clusters: The cluster of each pair.
        bootstrap: Resamples and level.
        names: Of the stream.
    """
    found = bootstrap.estimate(cells, clusters, equal_opportunity, *names)
    if enough(cells.sum(axis=0)):
        return found
    return difference(*agreement_intervals(cells, clusters, bootstrap.level))


def enough(totals: Floats) -> bool:
    """Whether each cell has `SMALL` pairs, or there is no EO: `[4]`."""
    return bool(np.isnan(equal_opportunity(totals)) or totals.min() >= SMALL)


def agreement_intervals(cells: Floats, clusters: Clusters, level: float) -> list[Interval]:
    """How often the judge agrees where the human prefers own, and where the other: both in EO."""
    terms = np.stack([cells[:, [0, -1]], human_sides(cells)], axis=-1)
    return share_intervals(cluster_sums(terms, clusters), level)


def some_of(cells: Floats, *names: str) -> Floats:
    """Some cells together, and all of them: `[..., 4]` to `[..., 2]`."""
    places = [CELLS.index(name) for name in names]
    return np.stack([cells[..., places].sum(axis=-1), cells.sum(axis=-1)], axis=-1)


def human_sides(cells: npt.ArrayLike) -> Floats:
    """TP + FN and FP + TN, on which the human prefers own, and other: `[..., 4]` to `[..., 2]`."""
    counts = np.asarray(cells, dtype=float)
    sides: Floats = counts[..., 0::2] + counts[..., 1::2]
    return sides


def too_few(cells: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Whether one human side has fewer pairs than `FEW`: `[..., 4]` to `[...]`."""
    few: npt.NDArray[np.bool_] = human_sides(cells).min(axis=-1) < FEW
    return few


def demographic_parity_interval(
    cells: Floats, clusters: Clusters, level: float, chance: float = 0.5
) -> Interval:
    """DP with the interval of its share, P(judge own), stretched so that chance is 0 and 1 is 1.

    Args:
        cells: What each pair adds, `[pairs, 4]`.
        clusters: The cluster of each pair.
        level: Coverage, 0..1.
        chance: The share of a judge without preference: 1/2 for pairs.
    """
    share = share_interval(some_of(cells, "tp", "fp"), clusters, level)
    value, lo, hi = ((end - chance) / (1 - chance) for end in share[:3])
    return Interval(value, lo, hi, share.undefined)


def crossed(human: Floats, judge: Floats) -> Floats:
    """The cells of pairs, from each side's share for the own response: `[...]` to `[..., 4]`."""
    cells = human * judge, human * (1 - judge), (1 - human) * judge, (1 - human) * (1 - judge)
    return np.stack(cells, axis=-1)


def cell_weights(rows: pd.DataFrame, human_ties: Ties, judge_ties: Ties) -> Floats:
    """What each pair adds to the four cells.

    Args:
        rows: As `pairs_with` returns them: `human` and `decision` are 1, 0, 1/2 or NaN.
        human_ties: `drop` a pair that the human tied, or count it as `half` own and half other.
        judge_ties: The same for the judge.

    Returns:
        `[rows, 4]`; a row of zeros where the pair is left out.
    """
    human, judge = (
        rows[name].mask(rows[name].eq(0.5) & (ties == "drop")).to_numpy(float)
        for name, ties in (("human", human_ties), ("decision", judge_ties))
    )
    return np.nan_to_num(crossed(human, judge))


def cell_counts(cells: Floats) -> dict[str, float]:
    """The four cells by name, and their sum `n`."""
    totals = cells.sum(axis=0)
    return {"n": totals.sum(), **dict(zip(CELLS, totals, strict=True))}


def whole_counts(frame: pd.DataFrame) -> pd.DataFrame:
    """Counts as integers, unless ties that count half have made them fractions."""
    counts = frame.filter(regex=rf"^({'|'.join(CELLS)}|margin|n|n_.*)$")
    whole = counts.columns[counts.mod(1).eq(0).all()]
    return frame.astype(dict.fromkeys(whole, "int64"))


def excess(cells: Floats) -> Floats:
    """The first judge's EO minus the mean of the others', and this mean.

    Args:
        cells: `[..., judges, 4]`, the judge that wrote the responses first.

    Returns:
        `[..., 2]`; NaN where one of the two does not exist.
    """
    bias = equal_opportunity(cells)
    others = bias[..., 1:]
    # Judges whose EO does not exist are left out; NaN where none is left.
    mean = divided(np.nansum(others, axis=-1), (~np.isnan(others)).sum(axis=-1))
    return np.stack([bias[..., 0] - mean, mean], axis=-1)


def excess_intervals(
    cells: Floats, clusters: Clusters, bootstrap: ClusterBootstrap, *names: str
) -> tuple[Interval, Interval]:
    """The excess and the mean EO of the other judges, with their intervals.

    Where the judge, or the only other one, has too small a cell for a bootstrap, the excess has the
    interval of a difference of two dependent estimates (`selfpref.statistics.bootstrap`) from those
    of the judge's EO and of the others' mean. Their correlation is that over the data with one
    cluster left out at a time.

    Args:
        cells: What each pair adds, `[pairs, judges, 4]`, the judge that wrote the responses first.
        clusters: The cluster of each pair.
        bootstrap: Resamples and level.
        names: Of the stream.
    """
    over, others = bootstrap.estimates(cells, clusters, excess, *names)
    judges = np.moveaxis(cells, 1, 0)
    decisive = judges if len(judges) == 2 else judges[:1]
    if np.isnan(over.value) or all(map(enough, decisive.sum(axis=1))):
        return over, others
    mine, *alone = (
        equal_opportunity_interval(part, clusters, bootstrap, *names) for part in decisive
    )
    (others,) = alone or (others,)
    sums = cluster_sums(cells, clusters)
    left = sums.sum(axis=0) - sums
    alike = float(np.nan_to_num(pearson(equal_opportunity(left[:, 0]), excess(left)[:, 1])))
    return difference(mine, others, correlation=max(alike, 0.0)), others


def stacked_cells(
    rows: pd.DataFrame, judge: str, variant: Variant, human_ties: Ties, judge_ties: Ties
) -> tuple[Floats, pd.Series]:
    """What each pair adds to each judge's cells, one row a pair.

    Args:
        rows: The pairs with the judge's responses, all judges, as `pairs_with` returns them.
        judge: Who wrote them.
        variant: Which pairs enter.
        human_ties: As in `cell_weights`.
        judge_ties: The same, for the variant `own`; the others say what becomes of a judge's tie.

    Returns:
        `[pairs, judges, 4]`, `judge` first, the others that enter by name; and the cluster of each
        pair.
    """
    weights = pd.DataFrame(cell_weights(rows, human_ties, judge_ties), rows["judge"])
    others = weights.groupby(level="judge").sum().drop(index=judge, errors="ignore")
    # Judges with enough decided pairs; all of them where none has.
    decisive = others[~too_few(others)]
    judges = [judge, *(others if decisive.empty else decisive).index]
    rows = rows[rows["judge"].isin(judges)]
    number = rows.groupby(["item_id", "cluster", "opponent"]).ngroup().to_numpy()
    first = np.unique(number, return_index=True)[1]
    ties: Ties = judge_ties if variant == "own" else "half"
    stacked = np.zeros((len(first), len(judges), len(CELLS)))
    place = pd.Index(judges).get_indexer(rows["judge"])
    stacked[number, place] = cell_weights(rows, human_ties, ties)
    return stacked, rows["cluster"].iloc[first].reset_index(drop=True)


def vote_cells(votes: pd.DataFrame, by: list[str], ties: Ties) -> pd.DataFrame:
    """The cells of two different votes on the same pair, one taken as the human's, one the judge's.

    Args:
        votes: A row a vote, each of another person: the columns `by` and `vote`, 1 for the own
            response, 0 for the other, 1/2 for a tie.
        by: What tells pairs apart, such as `item_id` and `opponent`.
        ties: `drop` tied votes, or count them `half`.

    Returns:
        A row a pair with two votes or more: `by`, `votes` (how many), `share` (of votes for own),
        and the cells, which add to 1. Multiply them to weigh pairs otherwise than equally.
    """
    used = votes if ties == "half" else votes.query("vote != 0.5")
    grouped = used.assign(square=used["vote"] ** 2).groupby(by)
    found = grouped.agg(votes=("vote", "size"), won=("vote", "sum"), square=("square", "sum"))
    found = found.query("votes > 1").reset_index()
    k, won = found["votes"], found["won"]
    both, share = (won**2 - found["square"]) / (k * (k - 1)), won / k
    cells = {"tp": both, "fn": share - both, "fp": share - both, "tn": 1 - 2 * share + both}
    return found[[*by, "votes"]].assign(share=share, **cells)


def against_votes(pairs: pd.DataFrame) -> Floats:
    """Cells of another person and of the judge, against the same single votes.

    Args:
        pairs: As `vote_cells` returns them, with the judge's `decision` (1, 0, 1/2).

    Returns:
        `[pairs, 2, 4]`: another person, the judge.
    """
    judge = crossed(pairs["share"].to_numpy(float), pairs["decision"].to_numpy(float))
    return np.stack([pairs[CELLS].to_numpy(float), judge], axis=1)


def beyond_no_preference(totals: Floats) -> Floats:
    """EO_0, the judge's EO against single votes, and their difference.

    Args:
        totals: Sums of `against_votes`, `[..., 2, 4]`.

    Returns:
        `[..., 3]`.
    """
    bias = equal_opportunity(totals)
    return np.concatenate([bias, bias[..., 1:] - bias[..., :1]], axis=-1)


def beyond_majority(totals: Floats) -> Floats:
    """EO_0, the EO of a judge that decides as most of all people would, and their difference.

    Args:
        totals: Sums of the cells of another person, `[..., 4]`.

    Returns:
        `[..., 3]`.
    """
    share = totals / totals.sum(axis=-1, keepdims=True)
    mean, apart = share[..., 0] + share[..., 1], share[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = np.clip(1 - apart / (mean * (1 - mean)), LEAST_RHO, 1 - LEAST_RHO)
        size = 1 / rho - 1
        a, b = mean * size, (1 - mean) * size
        follows = 1 - betainc(a + 1, b, 0.5) - betainc(a, b + 1, 0.5)
    person = equal_opportunity(totals)
    return np.stack([person, follows, follows - person], axis=-1)
