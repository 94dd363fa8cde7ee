"""Groups of clustered rows: see `selfpref.statistics.bootstrap`."""

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import ClusterBootstrap, Groups, clustered_errors, ratio

__all__ = ["Groups", "clustered_errors", "summarised"]


def summarised(
    rows: pd.DataFrame,
    by: list[str],
    bootstrap: ClusterBootstrap,
    rng: np.random.Generator,
    value: str = "value",
) -> pd.DataFrame:
    """`ClusterBootstrap.group_means`, for callers that have not moved on."""
    if rows.empty:
        return pd.DataFrame(columns=[*by, "mean", "se", "lo", "hi", "n"])
    groups = Groups.of(rows, by, value)
    found = bootstrap.intervals(groups.sums, ratio, rng)
    return groups.keys.assign(
        mean=groups.means,
        se=clustered_errors(groups.sums),
        lo=[interval.lo for interval in found],
        hi=[interval.hi for interval in found],
        n=groups.sums[..., 1].sum(axis=0).astype(int),
    )
