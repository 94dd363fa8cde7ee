"""One row a judged pair: the judge's score and the human's vote; each response's perplexity.

The score of a judge for response A over B, averaged over both orders of presentation
(Wataoka et al., Eq. 3):

    score_A = P(A) / (P(A) + P(B))

where P is the judge's probability of the label. A source that kept only the choice gives 1 for the
chosen response, 0 for the other, 1/2 for a tie. The human's vote is the majority over annotators:
the sign of (votes for - votes against), ties of the sum being ties.

A response's log-perplexity is the mean negative log-likelihood of its tokens, in nats.
"""

from collections.abc import Iterator
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
PAIR = ["item_id", "first", "second"]


def verdict_scores(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Score of each single verdict, for the responder whose name sorts first.

    Args:
        verdicts: The verdicts table; rows of the task `preference` with two candidates are used.

    Returns:
        `item_id, judge, first, second, repeat`, `presented` (`first`, `second` or null: whose
        response the judge read first), `score` (for `first`, 0..1, NaN unless ok), `status`.
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
    return pd.DataFrame(
        {
            "item_id": rows["item_id"],
            "judge": rows["judge"],
            "first": one.where(~swapped, two),
            "second": two.where(~swapped, one),
            "repeat": rows["repeat"],
            "presented": presented.where(rows["order_known"]),
            "score": score,
            "status": rows["status"],
        }
    )


def _lists(column: pd.Series, kind: pyarrow.DataType) -> pyarrow.Array | pyarrow.ChunkedArray:
    """A column of lists, Python's or Arrow's, as Arrow's: a tenth of the memory."""
    return pyarrow.Array.from_pandas(column, type=pyarrow.list_(kind))


def _two(lists: pyarrow.Array | pyarrow.ChunkedArray) -> list[pyarrow.Array | pyarrow.ChunkedArray]:
    """The first and the second values of lists of two; null where there is no list."""
    return [compute.list_element(lists, place) for place in (0, 1)]


def judge_scores(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Eq. 3 averaged over both orders (repeats within an order first).

    A pair with a verdict whose status is not ok has no score: half an average is another quantity.

    Args:
        verdicts: The verdicts table.

    Returns:
        `item_id, first, second, judge, score, status`: one row a pair and judge; `status` is
        `ok` or that of the first verdict that failed.
    """
    single = verdict_scores(verdicts)
    single["presented"] = single["presented"].fillna("unknown")
    pair = [*PAIR, "judge"]
    orders = single.groupby([*pair, "presented"], as_index=False)["score"].mean(skipna=False)
    scores = orders.groupby(pair, as_index=False)["score"].mean(skipna=False)
    failed = single[single["status"].ne("ok")].drop_duplicates(pair)[[*pair, "status"]]
    merged = scores.merge(failed, on=pair, how="left")
    return merged.assign(status=merged["status"].fillna("ok"))


def by_judge(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of one judge after the other: a step over all of them takes most of the memory."""
    for judge in sorted(set(rows["judge"])):
        yield judge, rows[rows["judge"].eq(judge)]
        release()


def decide(scores: Floats, threshold: float) -> Floats:
    """1 for scores above `threshold`, 0 below 1 - `threshold`, 1/2 between; NaN stays NaN."""
    decisions: Floats = np.select(
        [np.isnan(scores), scores > threshold, scores < 1 - threshold], [np.nan, 1.0, 0.0], 0.5
    )
    return decisions


def oriented_votes(labels: pd.DataFrame) -> pd.DataFrame:
    """Single votes, turned to the responder whose name sorts first.

    Args:
        labels: The labels table, in either orientation of each pair.

    Returns:
        `item_id, first, second, annotator, vote` (1 for `first`, 0 for `second`, 1/2 for a tie).
    """
    swapped = labels["responder_a"] > labels["responder_b"]
    vote = labels["label"].map({"a": 1.0, "b": 0.0, TIE: 0.5})
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
    turns: Turns = "all",
) -> pd.DataFrame:
    """Every judged pair with the judge's decision and, where there is one, the human's vote.

    Args:
        items: The items table; an item's metadata may hold `turn` and `turns`.
        labels: The labels table.
        verdicts: The verdicts table.
        threshold: The judge decides for a response above `threshold`, against it below
            1 - `threshold`, and ties between.
        turns: Which turns of multi-turn dialogues to keep.

    Returns:
        `item_id, first, second, judge, cluster, human, margin, score, decision, status`. `human`
        and `decision` are 1 for `first`, 0 for `second`, 1/2 for a tie, NaN where there is none.
    """
    votes = human_votes(labels)
    if turns != "all":
        items = items[turn(items).eq({"first": "1", "second": "2"}[turns])]
    parts = [verdicts.iloc[:0], *(rows for _, rows in by_judge(verdicts))]
    pairs = pd.concat(
        [
            judge_scores(rows)
            .merge(votes, on=PAIR, how="left")
            .merge(items[["item_id", "cluster"]], on="item_id", how="inner")
            for rows in parts
        ]
    )
    decision = decide(pairs["score"].to_numpy(dtype=float), threshold)
    columns = [*PAIR, "judge", "cluster", "human", "margin", "score", "decision", "status"]
    return (
        pairs.assign(decision=decision)[columns]
        .sort_values([*PAIR, "judge"])
        .reset_index(drop=True)
    )


def turn(items: pd.DataFrame) -> pd.Series:
    """The turn that each item's metadata names, else `1`."""
    return items["metadata"].str.extract(r'"turn": (\d+)', expand=False).fillna("1")


def pairs_with(pairs: pd.DataFrame, responder: str) -> pd.DataFrame:
    """The pairs with a responder's text, turned so that 1 means this responder.

    Args:
        pairs: As `judged_pairs` returns them.
        responder: Whose responses.

    Returns:
        `item_id, judge, cluster, opponent, human, margin, score, decision, status`.
    """
    held = pairs[pairs["first"].eq(responder) | pairs["second"].eq(responder)]
    turned = held["second"].eq(responder)
    values = {
        name: held[name].where(~turned, 1 - held[name]) for name in ("human", "score", "decision")
    }
    values["margin"] = held["margin"].where(~turned, -held["margin"])
    opponent = held["first"].where(turned, held["second"])
    columns = ["item_id", "judge", "cluster", "opponent", *values, "status"]
    return held.assign(opponent=opponent, **values)[columns].reset_index(drop=True)


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
