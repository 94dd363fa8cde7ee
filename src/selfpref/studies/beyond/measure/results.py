"""The columns of the long table, and how a statistic that does not exist stands in it."""

import numpy as np

Row = dict[str, object]
KEY = ["study", "dataset", "judge", "gold", "statistic"]
LONG = [*KEY, "value", "lo", "hi", "n", "dropped", "unit", "interval", "reason"]
# In this order: what the studies measure, their controls, then what the papers since have added.
STATISTICS = (
    "demographic_parity",
    "equal_length",
    "paired_excess",
    "equal_opportunity",
    "excess",
    "excess_common",
    "excess_half_ties",
    "gold_gap",
    "regression",
    "regression_length",
    "equal_quality",
    "harmful",
    "neutral",
    "earned",
)
# The rows of a regression over all judges of a data set.
POOLED = "all judges"


def missing(row: Row, dropped: int, reason: str) -> Row:
    """The row of a statistic without a value: NaN, n 0, and why."""
    nothing = dict.fromkeys(("value", "lo", "hi"), np.nan)
    return row | nothing | {"n": 0, "dropped": dropped, "interval": "", "reason": reason}
