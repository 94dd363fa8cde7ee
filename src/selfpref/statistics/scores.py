"""One row a judged pair: the judge's score and the human's vote; each response's perplexity.

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
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow
from pyarrow import compute

from selfpref.tables import release
from selfpref.tables.schemas import TIE

Floats = npt.NDArray[np.float64]
Turns = Literal["all", "first", "second"]
Scale = Literal["log-perplexity", "perplexity"]
JudgeTie = Literal["exact", "label-c", "orders-disagree"]
# By reading of a judge's tie, the column of the pairs that it ties beside those without a winner.
TIED: dict[JudgeTie, str | None] = {
    "exact": None,
    "label-c": "says_tie",
    "orders-disagree": "disagrees",
}
FLAGS = [column for column in TIED.values() if column is not None]
PAIR = ["item_id", "first", "second"]


def names_of(*columns: pd.Series) -> list[str]:
    """The names in some columns, each once, sorted; a set of all their rows takes seconds.

    >>> names_of(pd.Series(["b", "a", "b"]), pd.Series(["c"]))
    ['a', 'b', 'c']
    """
    return sorted(set[str]().union(*(column.unique() for column in columns)))


def verdict_scores(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Score of each single verdict, for the responder whose name sorts first.

    Args:
        verdicts: The verdicts table; rows of the task `preference` with two candidates are used.

    Returns:
        `item_id, judge, first, second, repeat`, `presented` (`first`, `second` or null: whose
        response the judge read first), `score` (for `first`, 0..1, NaN unless ok), `tie` (the share
        of the label for a tie, 0..1; 1 or 0 where only the choice is known; NaN unless ok),
        `status`.
    """
    pairs = _lists(verdicts["candidates"], pyarrow.string())
    used = compute.equal(compute.list_value_length(pairs), 2).to_numpy(zero_copy_only=False)
    used &= verdicts["task"].eq("preference").to_numpy()
    rows = verdicts if used.all() else verdicts[used]
    one, two = (
        pd.Series(pd.array(names, dtype="str"), index=rows.index)
        for names in _two(_lists(rows["candidates"], pyarrow.string()))
    )
    swapped = (one > two).to_numpy()
    read_first = pyarrow.array(["first", "second"]).take(pyarrow.array(swapped.astype("int8")))
    presented = pd.Series(pd.array(read_first, dtype="str"), index=rows.index)
    hard = np.select([rows["choice"].eq(one), rows["choice"].eq(two)], [1.0, 0.0], 0.5)
    p, q = (
        share.to_numpy(zero_copy_only=False)
        for share in _two(_lists(rows["probabilities"], pyarrow.float64()))
    )
    total = p + q
    soft = np.divide(p, total, out=np.full(len(rows), np.nan), where=total > 0)
    score = np.where(np.isnan(total), hard, soft)
    score = np.where(rows["status"].eq("ok"), np.where(swapped, 1 - score, score), np.nan)
    mass = rows["mass"].to_numpy(dtype=float)
    # What the two responses leave of the mass is the tie's.
    left = np.divide(mass - total, mass, out=np.full(len(rows), np.nan), where=mass > 0)
    tie = np.where(np.isnan(left), rows["choice"].eq(TIE), np.clip(left, 0, 1))
    return pd.DataFrame(
        {
            "item_id": rows["item_id"],
            "judge": rows["judge"],
            "first": one.where(~swapped, two),
            "second": two.where(~swapped, one),
            "repeat": rows["repeat"],
            "presented": presented.where(rows["order_known"]),
            "score": score,
            "tie": np.where(rows["status"].eq("ok"), tie, np.nan),
            "status": rows["status"],
        }
    )


def _lists(column: pd.Series, kind: pyarrow.DataType) -> pyarrow.Array | pyarrow.ChunkedArray:
    """A column of lists, Python's or Arrow's, as Arrow's: a tenth of the memory."""
    return pyarrow.Array.from_pandas(column, type=pyarrow.list_(kind))


def _two(lists: pyarrow.Array | pyarrow.ChunkedArray) -> list[pyarrow.Array | pyarrow.ChunkedArray]:
    """The first and the second values of lists of two; null where there is no list."""
    return [compute.list_element(lists, place) for place in (0, 1)]


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
    single["presented"] = single["presented"].fillna("unknown")
    pair, shares = [*PAIR, "judge"], ["score", "tie", "won"]
    single["won"] = single["score"] * (1 - single["tie"])
    orders = single.groupby([*pair, "presented"], as_index=False)[shares].mean(skipna=False)
    orders["named"] = decide(orders["score"].to_numpy(dtype=float), threshold)
    grouped = orders.groupby(pair, as_index=False)
    scores = grouped[shares].mean(skipna=False)
    names = [grouped["named"].agg(bound)["named"] for bound in ("min", "max")]
    tie, won = scores["tie"], scores["won"]
    scores["says_tie"] = tie.gt(0) & tie.ge(np.maximum(won, 1 - tie - won))
    scores["disagrees"] = scores["score"].notna() & names[0].eq(0) & names[1].eq(1)
    scores = scores[[*pair, "score", *FLAGS]]
    failed = single[single["status"].ne("ok")].drop_duplicates(pair)[[*pair, "status"]]
    merged = scores.merge(failed, on=pair, how="left")
    return merged.assign(status=merged["status"].fillna("ok"))


def by_judge(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of one judge after the other: a step over all of them takes most of the memory."""
    for judge in names_of(rows["judge"]):
        yield judge, rows[rows["judge"].eq(judge)]
        release()


def decide(scores: Floats, threshold: float) -> Floats:
    """1 for scores above `threshold`, 0 below 1 - `threshold`, 1/2 between; NaN stays NaN."""
    decisions: Floats = np.select(
        [np.isnan(scores), scores > threshold, scores < 1 - threshold], [np.nan, 1.0, 0.0], 0.5
    )
    return decisions


def judge_decisions(pairs: pd.DataFrame, threshold: float, judge_tie: JudgeTie) -> Floats:
    """`decide`, with the pairs as ties that a reading of a judge's tie adds.

    Args:
        pairs: `score, says_tie, disagrees`, as `judge_scores` returns them.
        threshold: As in `decide`.
        judge_tie: The reading.
    """
    found, tied = decide(pairs["score"].to_numpy(dtype=float), threshold), TIED[judge_tie]
    if tied is not None:
        found[pairs[tied].to_numpy(dtype=bool) & ~np.isnan(found)] = 0.5
    return found


def oriented_votes(labels: pd.DataFrame) -> pd.DataFrame:
    """Single votes, turned to the responder whose name sorts first.

    Args:
        labels: The labels table, in either orientation of each pair.

    Returns:
        `item_id, first, second, annotator, vote` (1 for `first`, 0 for `second`, 1/2 for a tie).
    """
    swapped = labels["responder_a"] > labels["responder_b"]
    # Without any vote the column would stay one of texts.
    vote = labels["label"].map({"a": 1.0, "b": 0.0, TIE: 0.5}).astype(float)
    return pd.DataFrame(
        {
            "item_id": labels["item_id"],
            "first": labels["responder_a"].where(~swapped, labels["responder_b"]),
            "second": labels["responder_b"].where(~swapped, labels["responder_a"]),
            "annotator": labels["annotator"],
            "vote": vote.where(~swapped, 1 - vote),
        }
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
    *,
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
        `item_id, first, second, judge, cluster, human, margin, score, decision, says_tie,
        disagrees, status`. `human` and `decision` are 1 for `first`, 0 for `second`, 1/2 for a
        tie, NaN where there is none.
    """
    votes = human_votes(labels)
    if turns != "all":
        items = items[turn(items).eq({"first": "1", "second": "2"}[turns])]
    parts = [verdicts.iloc[:0], *(rows for _, rows in by_judge(verdicts))]
    pairs = pd.concat(
        [
            judge_scores(rows, threshold)
            .merge(votes, on=PAIR, how="left")
            .merge(items[["item_id", "cluster"]], on="item_id", how="inner")
            for rows in parts
        ]
    )
    decision = judge_decisions(pairs, threshold, judge_tie)
    columns = [*PAIR, "judge", "cluster", "human", "margin", "score", "decision", *FLAGS, "status"]
    return (
        pairs.assign(decision=decision)[columns]
        .sort_values([*PAIR, "judge"])
        .reset_index(drop=True)
    )


def turn(items: pd.DataFrame) -> pd.Series:
    """The turn that each item's metadata names, else `1`."""
    return items["metadata"].str.extract(r'"turn": (\d+)', expand=False).fillna("1")


def turned_to(
    responder: str, rows: pd.DataFrame, shares: Sequence[str], signed: Sequence[str] = ()
) -> pd.DataFrame:
    """The rows with a responder's text, with its `opponent`, turned so that 1 means this responder.

    Args:
        responder: Whose responses.
        rows: With `first` and `second`.
        shares: Columns of 1 for `first` and 0 for `second`.
        signed: Columns above 0 for `first` and below 0 for `second`.
    """
    held = rows[rows["first"].eq(responder) | rows["second"].eq(responder)]
    turned = held["second"].eq(responder)
    values = {name: held[name].where(~turned, 1 - held[name]) for name in shares}
    values |= {name: held[name].where(~turned, -held[name]) for name in signed}
    return held.assign(opponent=held["first"].where(turned, held["second"]), **values)


def pairs_with(pairs: pd.DataFrame, responder: str) -> pd.DataFrame:
    """The pairs with a responder's text, turned so that 1 means this responder.

    Args:
        pairs: As `judged_pairs` returns them.
        responder: Whose responses.

    Returns:
        `item_id, judge, cluster, opponent, human, score, decision, margin, says_tie, disagrees,
        status`.
    """
    shares = ["human", "score", "decision"]
    columns = ["item_id", "judge", "cluster", "opponent", *shares, "margin", *FLAGS, "status"]
    return turned_to(responder, pairs, shares, ["margin"])[columns].reset_index(drop=True)


def response_perplexity(perplexities: pd.DataFrame, scale: Scale) -> pd.DataFrame:
    """Perplexity of each response under each judge.

    Args:
        perplexities: The perplexities table.
        scale: Nats a token, or their exponential.

    Returns:
        `item_id, responder, judge, conditional, value`; NaN where the status is not ok or the
        response has no token.
    """
    rows = perplexities[perplexities["step"].eq(0)]
    tokens = rows["n_tokens"].where(rows["n_tokens"].gt(0))
    value = (rows["sum_nll"] / tokens).where(rows["status"].eq("ok"))
    if scale == "perplexity":
        value = np.exp(value)
    return rows[["item_id", "responder", "judge", "conditional"]].assign(value=value)


def text_lengths(responses: pd.DataFrame, characters: pd.Series) -> pd.Series:
    """ln(1 + characters) of each first text, by (item_id, responder)."""
    first = responses["step"].eq(0) & responses["sample"].eq(0)
    lengths = np.log1p(characters[first].astype(float))
    keys = pd.MultiIndex.from_frame(responses.loc[first, ["item_id", "responder"]])
    return pd.Series(lengths.to_numpy(), index=keys)


def value_of(values: pd.Series, items: pd.Series, responders: pd.Series) -> Floats:
    """The value of each row's text, by (item_id, responder); NaN where it is not known."""
    found: Floats = values.reindex(pd.MultiIndex.from_arrays([items, responders])).to_numpy(float)
    return found


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
    return pd.Series(mine - theirs, index=rows.index)
