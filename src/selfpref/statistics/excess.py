"""Excess: a judge's bias towards its own responses beyond the other judges' towards the same ones.

EO moves with the quality of the responses: judges that did not write a strong model's answers score
about as high on them as their author does. The control is

    excess_j = EO_j(responses of j) - mean over k != j of EO_k(responses of j)

with all judges of the data set weighing the same. Which pairs enter decides its size, so it comes
in three variants, none of which is to be read alone:

- `own`: each judge on the pairs that it and the human decide;
- `common`: every judge on the pairs that the human and all judges decide;
- `half-ties`: every judge on the pairs that the human decides, a judge's tie counting half.

This is not the human-conditioned regression coefficient of Spiliopoulou et al. (2508.06709).
"""

from typing import Literal

import numpy as np
import pandas as pd

from selfpref.statistics.bias import CELLS, Ties, cell_weights, equal_opportunity
from selfpref.statistics.scores import Floats

Variant = Literal["own", "common", "half-ties"]
VARIANTS: tuple[Variant, ...] = ("own", "common", "half-ties")


def excess(cells: Floats) -> Floats:
    """The first judge's EO minus the mean of the others'.

    Args:
        cells: `[..., judges, 4]`, the judge that wrote the responses first.

    Returns:
        `[...]`. Other judges whose EO does not exist are left out of the mean; NaN where none is
        left.
    """
    bias = equal_opportunity(cells)
    others = bias[..., 1:]
    known = ~np.isnan(others)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.where(known, others, 0).sum(axis=-1) / known.sum(axis=-1)
    result: Floats = bias[..., 0] - mean
    return result


def stacked_cells(
    rows: pd.DataFrame, judge: str, variant: Variant, human_ties: Ties, judge_ties: Ties
) -> tuple[Floats, pd.Series]:
    """What each pair adds to each judge's cells, one row a pair.

    Args:
        rows: The pairs with the judge's responses, all judges, as `facing` returns them.
        judge: Who wrote them.
        variant: Which pairs enter.
        human_ties: As in `cell_weights`.
        judge_ties: The same, for the variant `own`; the others say what becomes of a judge's tie.

    Returns:
        `[pairs, judges, 4]`, `judge` first, the others by name; and the cluster of each pair.
    """
    judges = [judge, *sorted(set(rows["judge"]) - {judge})]
    pair = ["item_id", "cluster", "opponent"]
    by_variant: dict[Variant, Ties] = {"own": judge_ties, "common": "drop", "half-ties": "half"}
    weights = cell_weights(rows, human_ties, by_variant[variant])
    cells = pd.DataFrame(weights, columns=CELLS, index=rows.index)
    wide = cells.assign(judge=rows["judge"], **{name: rows[name] for name in pair})
    table = wide.pivot(index=pair, columns="judge", values=CELLS).fillna(0.0).sort_index()
    stacked = np.stack(
        [table.xs(name, axis=1, level="judge")[CELLS].to_numpy(dtype=float) for name in judges],
        axis=1,
    )
    if variant == "common":
        # A pair counts where it adds one to every judge.
        stacked[~(stacked.sum(axis=2) > 0).all(axis=1)] = 0
    return stacked, table.index.to_frame(index=False)["cluster"]
