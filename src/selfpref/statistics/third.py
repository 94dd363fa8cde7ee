"""The third judge: who marks a text higher because it wrote it, where the key says it is wrong.

Texts are marked one at a time. Judge j marks its own text and that of another responder m, and a
third judge k, who wrote neither, marks the same two. With s the mark

    D = [s_j(own) - s_j(m)] - [s_k(own) - s_k(m)]

holds what the two texts are worth, how severe either judge is, and how well it reads this item:
each enters both terms of a bracket. A text is *wrong* where the key gives it less than full marks.
D is told by what the key says of the two texts:

    both wrong            neither deserves what it is given above the other
    both wrong, alike     and the key gives both the same part of the marks
    own wrong             the other one is right
    both right            the placebo: a text that is right needs no favour
    wrong - right         both wrong minus both right

What it cannot tell from liking: as a judge, j may repeat the mistake that it made as a writer, and
so take its own wrong answer for a right one. Marks near the top leave little to give, and a placebo
near 0 comes cheap there: `spread` is the standard deviation of the judge's marks in the rows.

Judges who spread their marks differently differ in D without any favour, so it is told twice, the
second time of marks that are `scaled`: within each judge and task from their mean, in units of that
judge's standard deviation over all tasks, times the judges' mean standard deviation (in points).

The idea of holding how hard an item is for the judge: Roytburg et al., arXiv 2601.22548.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import ClusterBootstrap, Floats, ratio

BOTH, ALIKE, OWN, RIGHT = "both wrong", "both wrong, alike", "own wrong", "both right"
BEYOND = "wrong - right"
KINDS = (BOTH, ALIKE, OWN, RIGHT)
SCALES = ("marks", "scaled")
# Marks of the key are sums and ratios in floating point.
ROUNDING = 1e-9
THIRD = ["scale", "judge", "kind", "value", "lo", "hi", "n", "items", "spread"]


def scaled(marks: pd.DataFrame) -> pd.DataFrame:
    """Marks without each judge's level in a task, in the judges' common unit.

    Args:
        marks: `judge, task, score`, among others.
    """
    centred = marks["score"] - marks.groupby(["judge", "task"])["score"].transform("mean")
    by_judge = centred.groupby(marks["judge"])
    spread, unit = by_judge.transform("std", ddof=0), by_judge.std(ddof=0).mean()
    return marks.assign(score=(centred * unit / spread).where(spread.gt(0)))


def brackets(marks: pd.DataFrame, key: pd.DataFrame) -> pd.DataFrame:
    """A row an item, judge, other responder and third judge, whose four marks are all there.

    Args:
        marks: `item_id, cluster, judge, responder, score`, one mark a judge and text.
        key: `item_id, responder, score`, 0..1 (1: right).

    Returns:
        `item_id, cluster, judge, responder, third, own, other` (the judge's two marks), `d`,
        `key_own, key_other`.
    """
    text = ["item_id", "responder"]
    marked = marks[["cluster", "judge", *text, "score"]].merge(
        key.rename(columns={"score": "key"}), on=text
    )
    # Any two texts that a judge marked, the one as if it were the own one.
    two = marked.merge(marked, on=["item_id", "cluster", "judge"], suffixes=("_own", "_other"))
    names = {"score_own": "own", "score_other": "other", "responder_other": "responder"}
    two = two.rename(columns=names)
    two["d"] = two["own"] - two["other"]
    rows = two.query("judge == responder_own != responder")
    others = two.rename(columns={"judge": "third"})[[*text, "responder_own", "third", "d"]]
    rows = rows.merge(others, on=[*text, "responder_own"], suffixes=("", "_third"))
    rows = rows.query("judge != third != responder")
    rows["d"] -= rows.pop("d_third")
    order = ["judge", "item_id", "responder", "third"]
    return rows.dropna(subset=["d", "key_own", "key_other"]).sort_values(order, ignore_index=True)


def kinds(rows: pd.DataFrame, margin: float) -> pd.DataFrame:
    """Whether each row is of each of `KINDS`, from `key_own` and `key_other`.

    Args:
        rows: As `brackets` returns them.
        margin: Two marks of the key within this are alike.
    """
    own, other = (rows[name].lt(1 - ROUNDING) for name in ("key_own", "key_other"))
    alike = (rows["key_own"] - rows["key_other"]).abs().le(margin + ROUNDING)
    found = (own & other, own & other & alike, own & ~other, ~own & ~other)
    return pd.concat(found, axis="columns", keys=KINDS)


def _with_difference(totals: Floats) -> Floats:
    """The mean of each kind, and of the first, both wrong, minus the last, both right."""
    means = ratio(totals)
    return np.concatenate([means, means[..., :1] - means[..., -1:]], axis=-1)


def third_judge(
    marks: pd.DataFrame,
    key: pd.DataFrame,
    judges: Sequence[str],
    bootstrap: ClusterBootstrap,
    *,
    margin: float,
) -> pd.DataFrame:
    """D of each judge and of all together (`all`), by kind and scale.

    Args:
        marks: `item_id, cluster, task, judge, responder, score`, one mark a judge and text.
        key: `item_id, responder, score`, 0..1.
        judges: Whose D is wanted; any judge of `marks` may be the third.
        bootstrap: Of clusters; the streams are named after scale and judge.
        margin: As for `kinds`.

    Returns:
        The columns `THIRD`: `value` in points of the marks; `n` rows of `brackets` on `items`
        items; both of the smaller side, and no `spread`, for the difference.
    """
    found = []
    for scale in SCALES:
        every = brackets(marks if scale == SCALES[0] else scaled(marks), key)
        for judge, of in {"all": judges, **{one: [one] for one in judges}}.items():
            rows = every[every["judge"].isin(of)]
            which = kinds(rows, margin)
            d = which.to_numpy(float)
            values = np.stack([d * rows[["d"]].to_numpy(), d], axis=-1)
            names = "third judge", scale, judge
            told = bootstrap.estimates(values, rows["cluster"], _with_difference, *names)
            counts = {}
            for name in KINDS:
                part = rows[which[name]]
                spread = part[["own", "other"]].stack().std(ddof=0)
                counts[name] = [len(part), part["item_id"].nunique(), spread]
            counts[BEYOND] = [*map(min, counts[BOTH][:2], counts[RIGHT][:2]), np.nan]
            for name, one in zip(counts, told, strict=True):
                found.append((scale, judge, name, *one[:3], *counts[name]))
    return pd.DataFrame(found, columns=THIRD)
