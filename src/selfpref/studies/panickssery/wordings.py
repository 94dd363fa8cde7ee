"""What else a preference could be: a habit of naming its own text, or better texts.

**Wording.** For a pair judged with both wordings, with `prefer` the confidence that the judge's own
text is better from "which do you prefer" and `worse` the same from "which is worse" (one minus the
confidence that its own is worse),

    debiased preference = ½ (prefer + worse).

A judge that has learned to name its own text, whatever the question, has worse = 1 - prefer and a
debiased preference of ½; one that prefers its own text stays above ½. A mean of ½ alone tells
nothing: a judge that knows no preference has it as well. So each judge has a *pattern*, by the
sides of ½ on which the intervals of `prefer` and `worse` lie:

    prefer  worse
    above   above   favours its own
    above   below   names its own, whatever it is asked
    below   above   names the other
    below   below   favours the other
    else    unclear: an interval includes ½, or a mean is within `AT_HALF` of it

**Quality**, where an oracle knows that of every summary. With q the quality, a pair's *deserved*
preference for the judge's own text is 1, ½ or 0 as q(own) is above, equal to or below q(other), and

    excess    = confidence in its own text - deserved preference
    agreement = 1, ½ or 0 as the confidence is on the side of the better text, at ½, or on the
                other side; pairs of equal quality have none

A preference of 0.6 is no self-preference where 0.6 is deserved. Agreement says whether a judge
still judges; it is a share, and its interval Wilson's (`selfpref.statistics.bootstrap`).
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bias import gap
from selfpref.statistics.bootstrap import ClusterBootstrap, group_shares
from selfpref.studies.panickssery.pairs import MEAN, by_convention, means, pooled

WORDINGS = {"preference": "prefer", "inferiority": "worse"}
QUALITY = "quality"
ORACLE = ["dataset", "evaluator", "wording", "quantity", *MEAN]
# By the sides of ½ of both wordings.
PATTERNS = {
    (1, 1): "favours its own",
    (1, -1): "names its own",
    (-1, 1): "names the other",
    (-1, -1): "favours the other",
}
UNCLEAR = "unclear"
# A mean so close to ½ is ½, however narrow its interval.
AT_HALF = 0.005
_PAIR = ["dataset", "evaluator", "other", "item_id", "repeat", "cluster", "convention"]


def both_wordings(pairs: pd.DataFrame) -> pd.DataFrame:
    """The confidences of the pairs that have both wordings.

    Args:
        pairs: As `confidences` returns them.

    Returns:
        `dataset, evaluator, other, item_id, repeat, cluster, convention, quantity, value`;
        quantities prefer, worse, mean and, where the pair has it, recognition.
    """
    rows = by_convention(pairs[pairs["variant"].eq("plain")])

    def of(task: str, name: str) -> pd.DataFrame:
        return rows[rows["task"].eq(task)][[*_PAIR, "value"]].rename(columns={"value": name})

    first, second = (of(task, name) for task, name in WORDINGS.items())
    both = first.merge(second, on=_PAIR)
    both["mean"] = (both["prefer"] + both["worse"]) / 2
    both = both.merge(of("recognition", "recognition"), on=_PAIR, how="left")
    long = both.melt(_PAIR, var_name="quantity")
    return long[long["value"].notna()].reset_index(drop=True)


def wordings(both: pd.DataFrame, bootstrap: ClusterBootstrap) -> pd.DataFrame:
    """Mean of each wording and of both, by judge and other source.

    Args:
        both: As `both_wordings` returns it.
        bootstrap: For the intervals.

    Returns:
        `dataset, evaluator, other, convention, quantity, mean, se, lo, hi, n`.
    """
    by = ["dataset", "evaluator", "other", "convention", "quantity"]
    return means(pooled(both), by, bootstrap, "inverted")


def inverted(found: pd.DataFrame) -> pd.DataFrame:
    """One row a judge, in one convention: the source's own score if it has one.

    Of the models that were asked both questions the release keeps only the likeliest token's
    probability, and its score knows the second token's, which 1 - p can only bound.

    Args:
        found: As `wordings` returns them.

    Returns:
        `dataset, evaluator, prefer, worse, mean, n, pattern`.
    """
    by = ["dataset", "evaluator"]
    whole = found[found["other"].eq("all")].sort_values("convention", ascending=False)
    one = whole.drop_duplicates([*by, "quantity"])
    off = (one["mean"] - 0.5).abs().gt(AT_HALF)
    side = (one["lo"].gt(0.5) & off).astype(int) - (one["hi"].lt(0.5) & off).astype(int)
    one, quantities = one.assign(side=side), [*WORDINGS.values(), "mean"]
    means, n, sides = (
        one.pivot(index=by, columns="quantity", values=name).reindex(columns=quantities)
        for name in ("mean", "n", "side")
    )
    pairs = sides[quantities[:2]].itertuples(index=False, name=None)
    pattern = [PATTERNS.get(pair, UNCLEAR) for pair in pairs]
    table = means.assign(n=n["mean"].astype(int), pattern=pattern).reset_index()
    return table.sort_values(by, ignore_index=True)


def _sides(values: "pd.Series[float]") -> "pd.Series[float]":
    """1, ½ or 0 for a value above, at or below 0; NaN for NaN."""
    return np.sign(values) / 2 + 0.5


def oracle(pairs: pd.DataFrame, truths: pd.DataFrame, bootstrap: ClusterBootstrap) -> pd.DataFrame:
    """Deserved preference, excess and agreement of every judge in both wordings, others pooled.

    Args:
        pairs: As `confidences` returns them.
        truths: The truths table; without a `quality` there is nothing to compare with.
        bootstrap: For the intervals.

    Returns:
        The columns of `ORACLE`.
    """
    known = truths[truths["metric"].eq(QUALITY)]
    asked = pairs["task"].isin(list(WORDINGS)) & pairs["variant"].eq("plain")
    rows = pairs[asked & pairs["corrected"].notna()]
    if known.empty or rows.empty:
        return pd.DataFrame(columns=ORACLE)
    quality = known.set_index(["item_id", "responder"])["score"].astype(float)
    texts = rows[["item_id", "own", "other"]].astype("str")
    better = gap(quality, texts, "own", "other")
    deserved = _sides(better)
    right = 1 - (_sides(rows["corrected"] - 0.5) - deserved).abs()
    values = {
        "deserved": deserved,
        "excess": rows["corrected"] - deserved,
        "agreement": right.where(better.ne(0) & better.notna()),
    }
    known = ["dataset", "evaluator", "cluster", "wording"]
    rows = rows.assign(wording=rows["task"].astype("str").map(WORDINGS), **values)
    whole = rows.melt(known, list(values), "quantity")
    found = means(whole, ORACLE[:4], bootstrap, "oracle")
    # A bootstrap of a share has no bounds at 0 and 1.
    judged = whole[whole["quantity"].eq("agreement")]
    shares = group_shares(judged, ORACLE[:4], "value", bootstrap.level)
    bounded = found[ORACLE[:4]].merge(shares, on=ORACLE[:4], how="left")
    return found.assign(**{name: bounded[name].fillna(found[name]) for name in ("lo", "hi")})
