"""How much verdicts lean on the judge's own perplexity (Wataoka et al., Figs. 3 to 6).

For a pair (A, B), a judge and its log-perplexities of both responses given the prompt,

    x = lppl(A) - lppl(B)          lppl = sum of NLL / tokens, in nats   (or exp of it)
    y = 1, 0, 1/2: A wins, loses, ties (the judge's decision; the human's vote beside it)

the paper bins x and compares the share of wins of judge and human in each bin. Which response is A
is drawn from the content of the pair, so that no responder always stands on one side. Only where
pairs with the judge's own response are looked at alone (Fig. 4) that response is A.

The slope is that of the linear probability model y = a + b x, and with quality controlled
y = a + b x + c q, where q is the difference in true quality (the oracle's where there is one, else
the human's vote). Both are functions of sums, so the cluster bootstrap is exact and vectorised.
This is an association: a text may be probable to a judge for reasons that also make it good.
"""

from typing import Literal
from zlib import crc32

import numpy as np
import pandas as pd

from selfpref.statistics.scores import Floats

Scale = Literal["log-perplexity", "perplexity"]
Binning = Literal["width", "count"]


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


def pair_differences(pairs: pd.DataFrame, values: pd.DataFrame, quality: pd.Series) -> pd.DataFrame:
    """Each judged pair with the difference in the judge's perplexity.

    Args:
        pairs: As `judged_pairs` returns them.
        values: As `response_perplexity` returns them; the conditional rows are used.
        quality: True quality by (item_id, responder); may be empty.

    Returns:
        `item_id, judge, cluster, own` (the pair holds the judge's response), `own_is_b` (and it
        was drawn as B), `x`, `judge_wins`, `human_wins` (for A), `q` (difference in quality, else
        the human's vote as -1, 0, 1).
    """
    given = values[values["conditional"]].set_index(["item_id", "responder", "judge"])["value"]
    own_second = pairs["second"].eq(pairs["judge"])
    own = own_second | pairs["first"].eq(pairs["judge"])
    names = zip(pairs["item_id"], pairs["first"], pairs["second"], strict=True)
    drawn = np.array([crc32("/".join(key).encode()) % 2 == 1 for key in names], dtype=bool)
    keys = [pairs["item_id"], pairs["first"], pairs["second"], pairs["judge"]]

    def difference(of: pd.Series, *columns: pd.Series) -> Floats:
        one, two = (
            of.reindex(pd.MultiIndex.from_arrays([keys[0], keys[side], *columns])).to_numpy(float)
            for side in (1, 2)
        )
        gap: Floats = np.where(drawn, two - one, one - two)
        return gap

    wins = {
        f"{who}_wins": np.where(drawn, 1 - pairs[column], pairs[column])
        for who, column in (("judge", "decision"), ("human", "human"))
    }
    q = 2 * wins["human_wins"] - 1 if quality.empty else difference(quality)
    frame = pairs[["item_id", "judge", "cluster"]]
    x = difference(given, keys[3])
    return frame.assign(own=own, own_is_b=own & (own_second != drawn), x=x, **wins, q=q)


def own_first(rows: pd.DataFrame) -> pd.DataFrame:
    """The pairs that hold the judge's own response, turned so that it is A.

    Args:
        rows: As `pair_differences` returns them.
    """
    own = rows[rows["own"]]
    turned = {name: own[name].where(~own["own_is_b"], -own[name]) for name in ("x", "q")}
    for name in ("judge_wins", "human_wins"):
        turned[name] = own[name].where(~own["own_is_b"], 1 - own[name])
    return own.assign(**turned, own_is_b=False)


def bin_edges(x: pd.Series, bins: int, binning: Binning) -> Floats:
    """Edges of `bins` bins of equal width (between the extremes) or of equal count.

    Args:
        x: The differences, without NaN.
        bins: How many; equal counts may give fewer where many values are equal.
        binning: `width` or `count`.
    """
    if x.empty:
        return np.array([])
    if binning == "width":
        return np.linspace(x.min(), x.max(), bins + 1)
    return np.unique(np.quantile(x, np.linspace(0, 1, bins + 1)))


def slope(sums: Floats) -> Floats:
    """Slope of y on x: sums of `moments` `[..., 9]` -> `[...]`; NaN without spread."""
    n, x, _, y, xx, _, _, xy, _ = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = n * xx - x**2
        result: Floats = np.where(spread > 1e-9, (n * xy - x * y) / spread, np.nan)
    return result


def controlled_slope(sums: Floats) -> Floats:
    """Slope of y on x with q held: the sums of `moments`, `[..., 9]` -> `[...]`."""
    n, x, q, y, xx, xq, qq, xy, qy = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Centred moments; the 2x2 normal equations solved for the first coefficient.
        cxx, cqq, cxq = xx - x * x / n, qq - q * q / n, xq - x * q / n
        cxy, cqy = xy - x * y / n, qy - q * y / n
        spread = cxx * cqq - cxq**2
        result: Floats = np.where(spread > 1e-9, (cxy * cqq - cqy * cxq) / spread, np.nan)
    return result


def moments(x: Floats, q: Floats, y: Floats) -> Floats:
    """What the slopes sum, one row a pair `[rows, 9]`: 1, x, q, y, xx, xq, qq, xy, qy."""
    return np.stack([np.ones_like(x), x, q, y, x * x, x * q, q * q, x * y, q * y], axis=-1)
