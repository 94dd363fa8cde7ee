"""The regression with judge and responder effects (after Spiliopoulou et al., arXiv 2508.06709).

For the score s that judge j gives the text of responder r with gold score h:

    s = a_j + r_r + c_j h + b own + e            own = 1 where j = r, else 0

`regression` is b: how much more a judge gives its own texts than it would give texts of this
responder and this gold score as another judge of its severity. Once for all judges together, once
with a b for each judge. For a pair (A, B) the model is the difference of both texts' models, in
which the severity a_j cancels; what stays of the judge is how steeply it follows the gold label:

    s - 1/2 = r_A - r_B + c_j (h - 1/2) + b (own_A - own_B) + e

s is the judge's score of A (Eq. 3 of Wataoka et al., 0..1), h the gold label: 1, 0, 1/2.
`regression_length` is the length-controlled form: it also holds d_j l, with l the (difference in)
ln(1 + characters). The slope has to be the judge's own: where all judges read all texts, a slope
common to them leaves b as it is, whatever the lengths; what can pass for a preference for own texts
is a judge's taste for long ones. Intervals are robust to clusters
(`selfpref.statistics.regression`).

Their paper fits grades of experts and judges; here the model is linear throughout, so that b is in
units of the score. With one judge, or where each judge reads its own texts only, b cannot be told
from the responder: no value. n counts the rows with an own text.
"""

from collections.abc import Iterator

import pandas as pd

from selfpref.statistics.bias import gap, names_of, text_lengths
from selfpref.statistics.bootstrap import MISSING
from selfpref.statistics.choices import NO_TEXTS, key_of, told
from selfpref.statistics.judged import Judged, Row
from selfpref.statistics.regression import fit

# Among the names of judges: all judges of a data set.
POOLED = "all judges"
NOT_TOLD = "own text cannot be told from the responder"


def by_name(values: pd.Series, names: pd.Series, what: str) -> pd.DataFrame:
    """One column a name, such as a judge's: the values of its rows, else 0."""
    there = pd.get_dummies(names, dtype=float).mul(values, axis="index")
    return there.add_prefix(what)


def between(pairs: pd.DataFrame) -> pd.DataFrame:
    """Effects of the responders of pairs, 1 for the first and -1 for the second.

    The responder that sorts first is the base.
    """
    first, second = pairs["first"], pairs["second"]
    effects = {
        f"text of {name}": first.eq(name).astype(float) - second.eq(name)
        for name in names_of(first, second)[1:]
    }
    return pd.DataFrame(effects, index=pairs.index)


def own_text(
    rows: pd.DataFrame, controls: pd.DataFrame, length: pd.Series, place: Row, level: float
) -> Iterator[Row]:
    """B of all judges together, and of each judge with own texts; without length and with it.

    Args:
        rows: `judge, cluster, y, own` (1, 0; -1 where the other text of a pair is the own one).
        controls: What is held; a row with a missing value is dropped.
        length: What is held besides, a slope for each judge.
        place: The row's key, without judge and statistic, and its unit.
        level: Coverage of the intervals.
    """
    is_own, known = rows["own"].ne(0), length.notna().any()
    held = controls.join(by_name(length, rows["judge"], "length to "))
    for statistic, design, unused in (
        ("regression", controls, "no row with a score and gold"),
        ("regression_length", held, "no row with a score and gold" if known else NO_TEXTS),
    ):
        used = rows["y"].notna() & design.notna().all(axis=1)
        kept, x = rows[used], design[used]
        y, clusters = kept["y"].to_numpy(dtype=float), kept["cluster"]
        each = by_name(kept["own"], kept["judge"], "")
        found = fit(y, x.assign(**{POOLED: kept["own"]}), clusters, [POOLED], level)
        found |= fit(y, x.join(each), clusters, list(each), level)
        for judge in (POOLED, *names_of(rows.loc[is_own, "judge"])):
            mine = is_own & (rows["judge"].eq(judge) | (judge == POOLED))
            n, row = int((mine & used).sum()), place | {"judge": judge, "statistic": statistic}
            none = NOT_TOLD if n else unused
            yield told(row, found.get(judge, MISSING), n, int(mine.sum()), none)


def of_pairs(data: Judged, pairs: pd.DataFrame, gold: str) -> Iterator[Row]:
    """The rows of one data set of pairs under one gold label.

    Args:
        data: The data set.
        pairs: Its pairs, `human` being the gold label.
        gold: Where the gold label comes from.
    """
    pairs = pairs[pairs["human"].notna()].reset_index(drop=True)
    own = pairs["first"].eq(pairs["judge"]).astype(float) - pairs["second"].eq(pairs["judge"])
    rows = pairs[["judge", "cluster"]].assign(y=pairs["score"] - 0.5, own=own)
    controls = between(pairs).join(by_name(pairs["human"] - 0.5, pairs["judge"], "gold to "))
    responses, level = data.tables["responses"], data.settings.bootstrap.level
    length = gap(text_lengths(responses, responses["length"]), pairs)
    yield from own_text(rows, controls, length, key_of(data.name, gold), level)


def of_ratings(
    rated: pd.DataFrame, gold: pd.Series, length: pd.Series, place: Row, level: float
) -> Iterator[Row]:
    """The rows of one data set of ratings under one gold score.

    Args:
        rated: `judge, responder, cluster, score`.
        gold: The gold score of each row; NaN where there is none.
        length: ln(1 + characters) of each row's text.
        place: Study, data set, name of the gold score, unit.
        level: Coverage of the intervals.
    """
    own = rated["judge"].eq(rated["responder"]).astype(float)
    rows = rated[["judge", "cluster"]].assign(y=rated["score"], own=own)
    known, ones = gold.notna(), pd.Series(1.0, index=rated.index)
    severity = by_name(ones, rated["judge"], "severity of ")
    texts = by_name(ones, rated["responder"], "text of ").iloc[:, 1:]
    controls = severity.join(texts).join(by_name(gold, rated["judge"], "gold to "))
    yield from own_text(rows[known], controls[known], length[known], place, level)
