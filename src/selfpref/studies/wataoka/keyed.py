"""What an answer key says of judges that read their own answers beside others'.

The annotator `key` prefers the right one of two answers; two right or two wrong ones are a tie
(`selfpref.tables.schemas`). EO and DP are those of `selfpref.statistics.bias` with the key in the
people's place. With the true labels each pair is one of four *cases*, and

    EO = P(own | own alone right) + P(own | other alone right) - 1

over the pairs that the judge decides. The second share is the harmful preference of W.-L. Chen et
al. (arXiv 2504.03846). No judge here reads another's answers, so there is no excess, and two
readings of an EO above 0 stay: the judge favours what it wrote, or it takes for right what it
itself got wrong, and would whoever had written it.

A judge whose verdict reverses with the order in nearly all pairs still has an EO: the mean of two
contradictory scores is above 1/2 where one of them is the surer. EO over the pairs in which both
orders name one response (`eo_agreed`) is free of that.

How EO goes with a judge's size is a least-squares slope a doubling of its parameters, over judges
alone, as it is and given their accuracy. Judges of three families are no sample: no interval.
`least` and `greatest` are over leaving out one family.
"""

import numpy as np
import pandas as pd

from selfpref.statistics import bias as pairs
from selfpref.statistics import judged
from selfpref.statistics.bootstrap import bounded, fit, intervals, share_interval
from selfpref.studies.wataoka.pairs import KEY, Sets, each_judge
from selfpref.studies.wataoka.perplexity import OUTSIDE, OWN, win_rates_by_bin
from selfpref.tables.schemas import CORRECT

BIAS = [*KEY, "family", "size", "n_pairs", "n", *pairs.CELLS, *judged.SIDES, "few", "n_dropped"]
BIAS += bounded("eo", "dp", "accuracy", "eo_agreed")
BIAS += ["n_agreed", "few_agreed", "margin_reversed"]
# By whether the own and the other answer are right.
CASES = {
    (1.0, 0.0): "own alone right",
    (0.0, 1.0): "other alone right",
    (1.0, 1.0): "both right",
    (0.0, 0.0): "both wrong",
}
BY_CASE = ["dataset", "judge", "case", "n_pairs", "n", "n_own", *bounded("own", "score")]
SIZES = ["dataset", "control", "slope", "least", "greatest", "n"]
CONTROLS = {"raw": ["size"], "accuracy": ["size", "accuracy"]}


def bias(sets: Sets) -> pd.DataFrame:
    """EO and DP of every judge on its own pairs, and what stands beside them.

    Returns:
        The columns `BIAS`: `family` and `size` (billions of parameters, of the name; NaN where it
        has none), `n_pairs` (all own pairs), the cells, `accuracy` (share of its own answers that
        are right), `eo_agreed` (over `n_agreed` pairs whose orders agree), `margin_reversed`
        (median |score - 1/2| of the others, 0..1/2); and the rates `reversal_rate` and
        `first_share` of `judged.position`.
    """
    rows = []
    whole = judged.bias(sets).to_dict("records")
    for (_, data, judge, own), row in zip(each_judge(sets), whole, strict=True):
        right = data.truth(CORRECT).xs(judge, level="responder")
        accuracy = share_interval(right, right.index.to_series(), data.bootstrap.level)
        turns = own["disagrees"].astype(bool)
        agreed = data.equal_opportunity(own[~turns], judge, "orders agree")
        row |= {f"{name}_agreed": agreed[name] for name in ("n", "few")}
        row |= {f"eo_agreed{end}": agreed[f"eo{end}"] for end in ("", "_lo", "_hi")}
        row["margin_reversed"] = (own.loc[turns, "score"] - 0.5).abs().median()
        rows.append(row | accuracy.columns("accuracy") | {"n_pairs": len(own)})
    found = pd.DataFrame(rows, columns=BIAS)
    names = found["judge"].astype("str").str
    found["family"] = names.replace(r"-.*", "", regex=True)
    found["size"] = names.extract(r"-([\d.]+)b$", expand=False).astype(float)
    rates = judged.position(sets).query("pairs == 'own'")
    return found.merge(rates[[*KEY, *bounded("reversal_rate", "first_share")]], "left")


def by_case(sets: Sets) -> pd.DataFrame:
    """How often a judge picks its own answer in each of the four cases.

    Returns:
        The columns `BY_CASE`: `n_pairs`, of these `n` decided ones and `n_own` for the own answer,
        the share `own` of these, and the mean `score` (Eq. 3) over all pairs, each 0..1.
    """
    rows = []
    for key, data, _, own in each_judge(sets):
        right, items = data.truth(CORRECT), own["item_id"]
        mine, theirs = (pairs.value_of(right, items, own[side]) for side in ("judge", "opponent"))
        for (is_mine, is_theirs), case in CASES.items():
            part = own[(mine == is_mine) & (theirs == is_theirs)]
            chosen = part["decision"].where(part["decision"].ne(0.5))
            counts = {"n_pairs": len(part), "n": chosen.count(), "n_own": int(chosen.sum())}
            shares = (
                share_interval(values, part["cluster"], data.bootstrap.level)
                for values in (chosen, part["score"])
            )
            rows.append(key | counts | {"case": case} | intervals(("own", "score"), shares))
    return pd.DataFrame(rows, columns=BY_CASE)


def _slope(rows: pd.DataFrame, columns: list[str]) -> float:
    """The least-squares slope of EO on the size, given the other columns and a constant."""
    design, eo = rows[columns].assign(constant=1.0), rows["eo"].to_numpy(float)
    return fit(eo, design, rows["judge"], ["size"], level=0.95)["size"].value


def sizes(found: pd.DataFrame) -> pd.DataFrame:
    """How EO goes with the doublings of a judge's size (columns `SIZES`), by data set and control.

    Args:
        found: As `bias` returns it; judges without a size or an EO do not enter.
    """
    rows = []
    known = found.dropna(subset=["size", "eo"])
    for dataset, part in known.assign(size=np.log2(known["size"])).groupby("dataset"):
        for control, columns in CONTROLS.items():
            without = [part[part["family"].ne(one)] for one in part["family"].unique()]
            slope, *slopes = (_slope(rest, columns) for rest in (part, *without))
            rows.append((dataset, control, slope, min(slopes), max(slopes), len(part)))
    return pd.DataFrame(rows, columns=SIZES)


def by_perplexity(sets: Sets) -> pd.DataFrame:
    """Fig. 3 against the key: `perplexity.win_rates_by_bin` of all pairs, with `reader`.

    The reader is the judge itself (`own`), or another model, which reads a sample (`outside`: the
    judges count together); no rows where nobody reads.
    """
    found = [
        win_rates_by_bin(sets, reader, together=reader == OUTSIDE).assign(reader=reader)
        for reader in (OWN, OUTSIDE)
    ]
    return pd.concat(found, ignore_index=True).query("pairs == 'all'")
