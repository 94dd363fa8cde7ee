"""Position: how much of a verdict hangs on the order in which the responses were read.

- *first-position share*: of the verdicts that choose a response, the share that chooses the one
  read first; 1/2 is unbiased.
- *flip rate*: of the pairs judged in both orders, the share whose outcome (a response, or a tie)
  differs between the orders; 0 is consistent.
- *reversal rate*: of the same pairs, the share that chooses the same *position* in both orders, so
  that the order alone decides. A flip into or out of a tie is no reversal.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.scores import PAIR, decide, verdict_scores


def position_counts(verdicts: pd.DataFrame, threshold: float = 0.5) -> pd.DataFrame:
    """Counts of each pair and judge, from rows with a known order and the status ok.

    Args:
        verdicts: The verdicts table.
        threshold: As in `judged_pairs`.

    Returns:
        `item_id, first, second, judge` and the counts `decided` (orders in which a response was
        chosen, 0..2), `chose_first` (of these, where it was the one read first), `both_orders` (1
        where the pair was judged in both), `flipped` and `reversed` (0 or 1).
    """
    single = verdict_scores(verdicts)
    single = single[single["presented"].notna() & single["score"].notna()]
    by_order = single.groupby([*PAIR, "judge", "presented"], as_index=False)["score"].mean()
    wide = by_order.pivot(index=[*PAIR, "judge"], columns="presented", values="score")
    wide = wide.reindex(columns=["first", "second"])
    # Outcome for the responder `first`: 1, 0, 1/2; NaN where that order was not judged.
    one, two = (decide(wide[name].to_numpy(dtype=float), threshold) for name in ("first", "second"))
    both = ~np.isnan(one) & ~np.isnan(two)
    return wide.index.to_frame(index=False).assign(
        chose_first=(one == 1).astype(int) + (two == 0).astype(int),
        decided=np.isin(one, (0, 1)).astype(int) + np.isin(two, (0, 1)).astype(int),
        flipped=(both & (one != two)).astype(int),
        reversed=(both & (np.abs(one - two) == 1)).astype(int),
        both_orders=both.astype(int),
    )
