"""The frames of Figs. 3 to 6: how verdicts go with perplexity, whose texts are probable."""

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import bounds, cluster_sums, ratio
from selfpref.statistics.perplexity import (
    bin_edges,
    controlled_slope,
    moments,
    own_first,
    pair_differences,
    response_perplexity,
    slope,
)
from selfpref.statistics.scores import Floats, by_judge
from selfpref.studies.wataoka.measure.judged import Judged

WHO = ("judge", "human")


def differences(data: Judged) -> pd.DataFrame:
    """Judged pairs with a vote, a decision and both perplexities; ties as the settings say.

    Rows that lack one of these are there with `keep` false, so that they can be counted.
    """
    use = data.settings
    truths = data.tables["truths"]
    quality = truths[truths["metric"].eq("quality")].set_index(["item_id", "responder"])["score"]
    scored = data.tables["perplexities"]
    parts = [("", data.pairs.iloc[:0]), *by_judge(data.pairs)]
    rows = pd.concat(
        [
            pair_differences(
                pairs, response_perplexity(scored[scored["judge"].eq(judge)], use.scale), quality
            )
            for judge, pairs in parts
        ],
        ignore_index=True,
    )
    keep = rows[["x", "judge_wins", "human_wins"]].notna().all(axis=1)
    for who, ties in (("judge", use.judge_ties), ("human", use.human_ties)):
        keep &= rows[f"{who}_wins"].ne(0.5) | (ties == "half")
    return rows.assign(keep=keep)


def split(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame, int]]:
    """All pairs, those with the judge's own response (as A), the others, and what each dropped.

    Args:
        rows: As `differences` returns them, of one judge.

    Returns:
        `all`, `own`, `other` with the rows kept and the number dropped; without empty parts.
    """
    parts = {"all": rows, "own": own_first(rows), "other": rows[~rows["own"]]}
    kept = [(name, part[part["keep"]], int((~part["keep"]).sum())) for name, part in parts.items()]
    return [entry for entry in kept if len(entry[1])]


def win_rates_by_bin(data: Judged) -> pd.DataFrame:
    """Figs. 3, 4 and 6: share of wins of A by bin of x, for the judge and the human.

    Returns:
        `dataset, judge, pairs` (`all`, `own`, `other`), `who` (`judge`, `human`), `bin`, `left`,
        `right`, `x` (mean), `n`, `win_rate, win_rate_lo, win_rate_hi`, `n_dropped` (of the judge
        and part, not of the bin). The bins of a judge are the same for all pairs, own and other.
    """
    rows = []
    for judge, every in differences(data).groupby("judge"):
        known = every[every["keep"]]
        edges = bin_edges(known["x"], data.settings.bins, data.settings.binning)
        for pairs, part, dropped in split(every):
            inner = np.clip(np.searchsorted(edges, part["x"], side="right") - 1, 0, len(edges) - 2)
            for number, cell in part.groupby(inner):
                place = {"bin": number, "left": edges[number], "right": edges[number + 1]}
                for who in WHO:
                    wins = cell[f"{who}_wins"].to_numpy(dtype=float)
                    values = np.stack([wins, np.ones_like(wins)], axis=-1)
                    sums = cluster_sums(values, cell["cluster"])
                    found = data.interval(sums, ratio, "bin", str(judge), pairs, who, str(number))
                    rows.append(
                        {"dataset": data.name, "judge": judge, "pairs": pairs, "who": who, **place}
                        | {"x": cell["x"].mean(), "n": len(cell)}
                        | bounds("win_rate", found)
                        | {"n_dropped": dropped}
                    )
    return pd.DataFrame(rows)


def slopes(data: Judged) -> pd.DataFrame:
    """Slopes of wins on x, raw and with quality controlled, for judge, human and their difference.

    Returns:
        `dataset, judge, pairs, who` (`judge`, `human`, `judge - human`), `slope, slope_lo,
        slope_hi, controlled, controlled_lo, controlled_hi, n, n_dropped`.
    """
    rows = []
    for judge, every in differences(data).groupby("judge"):
        for pairs, part, dropped in split(every):
            x, q = (part[name].to_numpy(dtype=float) for name in ("x", "q"))
            wins = [part[f"{who}_wins"].to_numpy(dtype=float) for who in WHO]
            values = np.stack([moments(x, q, y) for y in wins], axis=1)
            sums = cluster_sums(values, part["cluster"])
            found = data.intervals(sums, _slopes, "slopes", str(judge), pairs)
            place = {"dataset": data.name, "judge": judge, "pairs": pairs}
            counts = {"n": len(part), "n_dropped": dropped}
            for number, who in enumerate((*WHO, "judge - human")):
                raw, held = found[number], found[number + 3]
                rows.append(
                    place
                    | {"who": who}
                    | bounds("slope", raw)
                    | bounds("controlled", held)
                    | counts
                )
    return pd.DataFrame(rows)


def _slopes(totals: Floats) -> Floats:
    """Raw, then controlled: judge, human, their difference; `[..., 2, 9]` -> `[..., 6]`."""
    raw, held = slope(totals), controlled_slope(totals)
    parts = [[each, each[..., :1] - each[..., 1:]] for each in (raw, held)]
    return np.concatenate([part for pair in parts for part in pair], axis=-1)


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
    rows = []
    for conditional in sorted(set(values["conditional"])):
        part = values[values["conditional"].eq(conditional)]
        for judge in sorted(set(part["judge"])):
            views = {"judge": part[part["judge"].eq(judge)]}
            if judge in set(part["responder"]):
                views["text"] = part[part["responder"].eq(judge)]
            for view, read in views.items():
                known = read[read["value"].notna()]
                own = known["responder"].eq(known["judge"]).to_numpy()
                value = known["value"].to_numpy(dtype=float)
                sums = cluster_sums(
                    np.stack([value * own, own, value * ~own, ~own], axis=-1).astype(float),
                    known["cluster"],
                )
                row = {"dataset": data.name, "judge": judge, "view": view}
                row["conditional"] = bool(conditional)
                found = data.intervals(sums, _own_other_gap, view, judge, str(conditional))
                for name, interval in zip(("own", "other", "gap"), found, strict=True):
                    row |= bounds(name, interval)
                rows.append(row | {"n": len(known), "n_dropped": len(read) - len(known)})
    return pd.DataFrame(rows)


def _own_other_gap(totals: Floats) -> Floats:
    """Means of own and other, and other minus own: positive where own texts are more probable."""
    own, other = ratio(totals[..., 0:2]), ratio(totals[..., 2:4])
    return np.stack([own, other, other - own], axis=-1)
