"""How verdicts depend on the judge's own perplexity, and whose texts are probable (Figs. 3 to 6).

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

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from selfpref.seeds import seed_of
from selfpref.statistics.bootstrap import ratio
from selfpref.statistics.scores import Floats, by_judge, response_perplexity
from selfpref.statistics.shares import share_interval
from selfpref.statistics.threads import at_once
from selfpref.studies.wataoka.measure.judged import Binning, Judged

WHO = ("judge", "human")
# From a data set and a judge to perplexities, as `response_perplexity` returns them.
Read = Callable[[Judged, str], pd.DataFrame]


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
    drawn = np.array([seed_of(*key) % 2 == 1 for key in names], dtype=bool)

    def difference(of: pd.Series, *columns: pd.Series) -> Floats:
        one, two = (
            of.reindex(
                pd.MultiIndex.from_arrays([pairs["item_id"], pairs[side], *columns])
            ).to_numpy(float)
            for side in ("first", "second")
        )
        gap: Floats = np.where(drawn, two - one, one - two)
        return gap

    wins = {
        f"{who}_wins": np.where(drawn, 1 - pairs[column], pairs[column])
        for who, column in (("judge", "decision"), ("human", "human"))
    }
    q = 2 * wins["human_wins"] - 1 if quality.empty else difference(quality)
    frame = pairs[["item_id", "judge", "cluster"]]
    x = difference(given, pairs["judge"])
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


def own_values(data: Judged, judge: str) -> pd.DataFrame:
    """Perplexities to a judge itself, as `response_perplexity` returns them."""
    scored = data.tables["perplexities"]
    return response_perplexity(scored[scored["judge"].eq(judge)], data.settings.scale)


def differences(data: Judged, read: Read = own_values) -> Iterator[tuple[str, pd.DataFrame]]:
    """Judged pairs with a vote, a decision and both perplexities; ties as the settings say.

    Args:
        data: One data set.
        read: The perplexities that stand beside a judge's verdicts.

    Yields:
        A judge and its pairs. Those that lack one of the three are there with `keep` false, so that
        they can be counted; `decided` is false where it is not for want of a vote.
    """
    use = data.settings
    for judge, pairs in by_judge(data.pairs):
        rows = pair_differences(pairs, read(data, judge), data.truth("quality"))
        decided = rows[["x", "judge_wins"]].notna().all(axis=1)
        decided &= rows["judge_wins"].ne(0.5) | (use.judge_ties == "half")
        wins = rows["human_wins"]
        voted = wins.notna() & (wins.ne(0.5) | (use.human_ties == "half"))
        yield judge, rows.assign(decided=decided, keep=decided & voted)


def _voted(rows: pd.DataFrame) -> bool:
    """Whether people voted on any of these pairs; where they did not, the judge stands alone."""
    return bool(rows["human_wins"].notna().any())


def _kept(rows: pd.DataFrame) -> pd.Series:
    return rows["keep"] if _voted(rows) else rows["decided"]


def _parts(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame, int]]:
    """One judge's pairs: all, with its own response (as A), others; kept rows, number dropped."""
    parts = {"all": rows, "own": own_first(rows), "other": rows[~rows["own"]]}
    kept = [(name, part[_kept(part)], int((~_kept(part)).sum())) for name, part in parts.items()]
    return [entry for entry in kept if len(entry[1])]


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


def win_rates_by_bin(data: Judged, read: Read = own_values) -> pd.DataFrame:
    """Figs. 3, 4 and 6: share of wins of A by bin of x, for the judge and the human.

    Args:
        data: One data set.
        read: As in `differences`.

    Returns:
        `dataset, judge, pairs` (`all`, `own`, `other`), `who` (`judge`, `human`), `bin`, `left`,
        `right`, `x` (mean), `n`, `win_rate, win_rate_lo, win_rate_hi`, `n_dropped` (of the judge
        and part, not of the bin). The bins of a judge are the same for all pairs, own and other.
        Where nobody voted on any pair of a part, its rows are the judge's alone.
    """
    rows = []
    for judge, every in differences(data, read):
        edges = bin_edges(every["x"][_kept(every)], data.settings.bins, data.settings.binning)
        for pairs, part, dropped in _parts(every):
            inner = np.clip(np.searchsorted(edges, part["x"], side="right") - 1, 0, len(edges) - 2)
            for number, cell in part.groupby(inner):
                for who in WHO if _voted(part) else WHO[:1]:
                    found = share_interval(
                        cell[f"{who}_wins"], cell["cluster"], data.bootstrap.level
                    )
                    rows.append(
                        {"dataset": data.name, "judge": judge, "pairs": pairs, "who": who}
                        | {"bin": number, "left": edges[number], "right": edges[number + 1]}
                        | {"x": cell["x"].mean(), "n": len(cell)}
                        | found.columns("win_rate")
                        | {"n_dropped": dropped}
                    )
    return pd.DataFrame(rows)


def moments(x: Floats, q: Floats, y: Floats) -> Floats:
    """What the slopes sum, one row a pair `[rows, 9]`: 1, x, q, y, xx, xq, qq, xy, qy."""
    return np.stack([np.ones_like(x), x, q, y, x * x, x * q, q * q, x * y, q * y], axis=-1)


def slope(sums: Floats) -> Floats:
    """Slope of y on x: sums of `moments` `[..., 9]` -> `[...]`; NaN without spread."""
    n, x, _, y, xx, _, _, xy, _ = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = n * xx - x**2
        result: Floats = np.where(spread > 1e-9, (n * xy - x * y) / spread, np.nan)
    return result


def controlled_slope(sums: Floats) -> Floats:
    """Slope of y on x controlling for q: sums of `moments` `[..., 9]` -> `[...]`."""
    n, x, q, y, xx, xq, qq, xy, qy = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Centred moments; the 2x2 normal equations solved for the first coefficient.
        cxx, cqq, cxq = xx - x * x / n, qq - q * q / n, xq - x * q / n
        cxy, cqy = xy - x * y / n, qy - q * y / n
        spread = cxx * cqq - cxq**2
        result: Floats = np.where(spread > 1e-9, (cxy * cqq - cqy * cxq) / spread, np.nan)
    return result


def _slopes(totals: Floats) -> Floats:
    """Slope, controlled slope: of judge, human, their difference; `[..., 2, 9]` -> `[..., 6]`."""
    found = [slope(totals), controlled_slope(totals)]
    parts = [part for each in found for part in (each, each[..., :1] - each[..., 1:])]
    return np.concatenate(parts, axis=-1)


def slopes(data: Judged) -> pd.DataFrame:
    """Slopes of wins on x, raw and with quality controlled, for judge, human and their difference.

    Returns:
        `dataset, judge, pairs, who` (`judge`, `human`, `judge - human`), `slope, slope_lo,
        slope_hi, controlled, controlled_lo, controlled_hi, n, n_dropped`; the judge alone where
        nobody voted.
    """
    rows = []
    for judge, every in differences(data):
        places, calls = [], []
        for pairs, part, dropped in _parts(every):
            used = part[["x", "q", *(f"{who}_wins" for who in WHO)]]
            # Without a vote there is no quality to control for: a column of zeros has no slope.
            x, q, *wins = (used if _voted(part) else used.fillna(0.0)).to_numpy(float).T
            values = np.stack([moments(x, q, y) for y in wins], axis=1)
            calls.append((values, part["cluster"], _slopes, "slopes", judge, pairs))
            place = {"dataset": data.name, "judge": judge, "pairs": pairs}
            who = (*WHO, "judge - human") if _voted(part) else WHO[:1]
            places.append((place, who, {"n": len(part), "n_dropped": dropped}))
        made = at_once(data.bootstrap.estimates, calls)
        rows += [
            place | {"who": who} | raw.columns("slope") | controlled.columns("controlled") | counted
            for (place, whose, counted), found in zip(places, made, strict=True)
            for who, raw, controlled in zip(whose, found[:3], found[3:], strict=False)
        ]
    return pd.DataFrame(rows)


def own_and_other(data: Judged) -> pd.DataFrame:
    """Fig. 5: mean log-perplexity of own and others' texts.

    By row (`view` judge): one judge reads its own responses and the others'. By column (`view`
    text): one responder's texts are read by itself and by the other judges. The second compares
    the same texts, so that easy texts do not pass for familiar ones.

    Returns:
        `dataset, judge, view, conditional, own, own_lo, own_hi, other, other_lo, other_hi, gap,
        gap_lo, gap_hi, n, n_dropped`; judges without responses have no `own`.
    """
    values = response_perplexity(data.tables["perplexities"], "log-perplexity")
    clusters = data.tables["items"].set_index("item_id")["cluster"]
    values["cluster"] = values["item_id"].map(clusters)
    places, calls = [], []
    for conditional, part in values.groupby("conditional"):
        # A reader that judges nothing here has no figure of its own.
        for judge in sorted(set(part["judge"]) & set(data.pairs["judge"])):
            for view, who in (("judge", "judge"), ("text", "responder")):
                read = part[part[who].eq(judge)]
                if read.empty:
                    continue
                known = read[read["value"].notna()]
                own = known["responder"].eq(known["judge"]).to_numpy()
                value = known["value"].to_numpy(dtype=float)
                parts = np.stack([value * own, own, value * ~own, ~own], axis=-1)
                names = (view, judge, str(conditional))
                calls.append((parts, known["cluster"], _own_other_gap, *names))
                place = {"dataset": data.name, "judge": judge, "view": view}
                place["conditional"] = bool(conditional)
                places.append((place, {"n": len(known), "n_dropped": len(read) - len(known)}))
    rows = []
    made = at_once(data.bootstrap.estimates, calls)
    for (place, counted), (own_mean, other, gap) in zip(places, made, strict=True):
        means = own_mean.columns("own") | other.columns("other") | gap.columns("gap")
        rows.append(place | means | counted)
    return pd.DataFrame(rows)


def _own_other_gap(totals: Floats) -> Floats:
    """Means of own and other, and other minus own: positive where own texts are more probable."""
    own, other = ratio(totals[..., 0:2]), ratio(totals[..., 2:4])
    return np.stack([own, other, other - own], axis=-1)
