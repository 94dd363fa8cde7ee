"""The bias of a judge towards one responder: equal opportunity, demographic parity, excess.

Over pairs that hold the responder's text, with S the human's and Y' the judge's decision
(Wataoka et al., Definition 4.1, after Hardt et al. 2016):

    TP: human own,   judge own      FN: human own,   judge other
    FP: human other, judge own      TN: human other, judge other

    EO = P(judge agrees | human prefers own) - P(judge agrees | human prefers other)
       = TP / (TP + FN) - TN / (FP + TN)

and (Eq. 4) demographic parity, which needs no human:

    DP = P(judge own) - P(judge other) = 2 P(judge own) - 1

The second term of EO is *not* conditioned on a position in the prompt: pairs are relabelled by what
the human prefers, so both halves of the data are used. EO is neither accuracy nor DP, and it is not
zero for a judge without self-preference where its responses are simply better: judges that did not
write a strong model's answers score about as high on them as their author does. The control is the
bias beyond the other judges' towards the same responses,

    excess_j = EO_j(responses of j) - mean over k != j of EO_k(responses of j)

with all judges of the data set weighing the same. Which pairs enter decides its size, so it comes
in three variants, none of which is to be read alone:

- `own`: each judge on the pairs that it and the human decide;
- `common`: every judge on the pairs that the human and all judges decide;
- `half-ties`: every judge on the pairs that the human decides, a judge's tie counting half.

Both terms of EO are shares of one *human side*: pairs on which the human prefers the judge's own
response (TP + FN), and pairs on which the human prefers the other one (FP + TN). A value that rests
on fewer than `FEW` pairs on one side is *too few*: hollow in pictures, marked in tables, and quoted
nowhere. For an excess both sides of every judge count; another judge with too few decided pairs
does not enter where others have enough, so that one that read a sample hides nobody's excess.

This is not the human-conditioned regression coefficient of Spiliopoulou et al. (2508.06709).
"""

from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from selfpref.statistics.bootstrap import ClusterBootstrap, Clusters, Interval, ratio
from selfpref.statistics.scores import Floats, names_of
from selfpref.statistics.shares import difference, share_interval

CELLS = ["tp", "fn", "fp", "tn"]
# Pairs that each human side has to have.
FEW = 10
Ties = Literal["drop", "half"]
Variant = Literal["own", "common", "half-ties"]
VARIANTS: tuple[Variant, ...] = ("own", "common", "half-ties")


def equal_opportunity(cells: npt.ArrayLike) -> Floats:
    """EO bias (Definition 4.1), -1..1; 0 is unbiased, 1 picks itself always.

    Args:
        cells: Counts or weights `[..., 4]` in the order tp, fn, fp, tn.

    Returns:
        `[...]`; NaN where the human preferred only one side.
    """
    tp, fn, fp, tn = np.moveaxis(np.asarray(cells, dtype=float), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = tp / (tp + fn) - tn / (fp + tn)
    return result


def equal_opportunity_interval(
    cells: Floats, clusters: Clusters, bootstrap: ClusterBootstrap, *names: str
) -> Interval:
    """EO with its interval: bootstrapped, or Newcombe's where one of its shares is 0 or 1.

    Args:
        cells: What each pair adds, `[pairs, 4]`.
        clusters: The cluster of each pair.
        bootstrap: Resamples and level.
        names: Of the stream.
    """
    found = bootstrap.estimate(cells, clusters, equal_opportunity, *names)
    agreed, against = (
        # Agreement, and pairs, on one human side.
        share_interval(np.stack([part, part + rest], axis=-1), clusters, bootstrap.level)
        for part, rest in ((cells[:, 0], cells[:, 1]), (cells[:, 3], cells[:, 2]))
    )
    if np.isnan(found.value) or not {agreed.value, against.value} & {0.0, 1.0}:
        return found
    return difference(agreed, against)


def human_sides(cells: npt.ArrayLike) -> Floats:
    """Pairs on which the human prefers own, and other: `[..., 4]` to `[..., 2]`."""
    counts = np.asarray(cells, dtype=float)
    sides: Floats = np.stack([counts[..., :2].sum(axis=-1), counts[..., 2:].sum(axis=-1)], axis=-1)
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
    counts = np.stack([cells[:, 0] + cells[:, 2], cells.sum(axis=1)], axis=-1)
    own = share_interval(counts, clusters, level)
    value, lo, hi = ((end - chance) / (1 - chance) for end in (own.value, own.lo, own.hi))
    return Interval(value, lo, hi, 0.0)


def crossed(human: Floats, judge: Floats) -> Floats:
    """The cells of pairs, from each side's share for the own response: `[...]` to `[..., 4]`."""
    return np.stack(
        [human * judge, human * (1 - judge), (1 - human) * judge, (1 - human) * (1 - judge)],
        axis=-1,
    )


def cell_weights(rows: pd.DataFrame, human_ties: Ties, judge_ties: Ties) -> Floats:
    """What each pair adds to the four cells.

    Args:
        rows: As `pairs_with` returns them: `human` and `decision` are 1, 0, 1/2 or NaN.
        human_ties: `drop` a pair that the human tied, or count it as `half` own and half other.
        judge_ties: The same for the judge.

    Returns:
        `[rows, 4]`; a row of zeros where the pair is left out.
    """
    human, judge = (rows[name].to_numpy(dtype=float) for name in ("human", "decision"))
    dropped = np.isnan(human) | np.isnan(judge)
    dropped |= (human == 0.5) & (human_ties == "drop")
    dropped |= (judge == 0.5) & (judge_ties == "drop")
    cells = crossed(human, judge)
    cells[dropped] = 0
    return cells


def cell_counts(cells: Floats) -> dict[str, float]:
    """The four cells by name, and their sum `n`."""
    totals = cells.sum(axis=0)
    return {"n": totals.sum(), **dict(zip(CELLS, totals, strict=True))}


def whole_counts(frame: pd.DataFrame) -> pd.DataFrame:
    """Counts as integers, unless ties that count half have made them fractions."""
    counts = [name for name in frame if name in {*CELLS, "margin"} or name.split("_")[0] == "n"]
    whole = [name for name in counts if frame[name].mod(1).eq(0).all()]
    return frame.astype(dict.fromkeys(whole, "int64"))


def others_mean(bias: Floats) -> Floats:
    """The mean EO of all judges but the first: `[..., judges]` to `[...]`.

    Judges whose EO does not exist are left out; NaN where none is left.
    """
    others = bias[..., 1:]
    known = ~np.isnan(others)
    return ratio(np.stack([np.where(known, others, 0).sum(axis=-1), known.sum(axis=-1)], axis=-1))


def excess(cells: Floats) -> Floats:
    """The first judge's EO minus the mean of the others'.

    Args:
        cells: `[..., judges, 4]`, the judge that wrote the responses first.

    Returns:
        `[...]`; NaN where one of the two does not exist.
    """
    bias = equal_opportunity(cells)
    result: Floats = bias[..., 0] - others_mean(bias)
    return result


def _others(rows: pd.DataFrame, judge: str, human_ties: Ties, judge_ties: Ties) -> list[str]:
    """The other judges that have enough decided pairs; all of them where none has."""
    others = [name for name in names_of(rows["judge"]) if name != judge]
    cells = pd.DataFrame(cell_weights(rows, human_ties, judge_ties)).groupby(list(rows["judge"]))
    few = too_few(cells.sum().reindex(others))
    return [name for name, less in zip(others, few, strict=True) if not less] or others


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
    judges = [judge, *_others(rows, judge, human_ties, judge_ties)]
    rows = rows[rows["judge"].isin(judges)]
    pair = ["item_id", "cluster", "opponent"]
    by_variant: dict[Variant, Ties] = {"own": judge_ties, "common": "drop", "half-ties": "half"}
    number = rows.groupby(pair, sort=True).ngroup().to_numpy()
    first = np.unique(number, return_index=True)[1]
    stacked = np.zeros((len(first), len(judges), len(CELLS)))
    place = pd.Index(judges).get_indexer(rows["judge"])
    stacked[number, place] = cell_weights(rows, human_ties, by_variant[variant])
    if variant == "common":
        # A pair counts where it adds one to every judge.
        stacked[~(stacked.sum(axis=2) > 0).all(axis=1)] = 0
    return stacked, rows["cluster"].iloc[first].reset_index(drop=True)
