"""Which statistic follows a preference that was put in: only the laboratory knows.

There each judge's labels carried a bonus *beta* for its own style (`wataoka.measure.injected`).
Over the judges of all data sets, for each statistic and gold label,

    r = correlation of the judges' values with their betas
    interval: tanh(atanh r -+ z / sqrt(n - 3))                       (Fisher 1915), n judges

The interval takes the judges for a sample of judges; with few of them it is wide, and two
correlations of the same judges are not to be compared by it. Within one seed beta goes with a
style. A high r says that the measure orders judges by their preference, not that 0 means none.
"""

import numpy as np
import pandas as pd
from scipy.stats import norm

RECOVERY = ["gold", "statistic", "r", "lo", "hi", "n"]
# The interval needs n - 3 > 0.
FEWEST = 4
PERFECT = 1 - 1e-12


def recovery(long: pd.DataFrame, betas: pd.DataFrame, level: float) -> pd.DataFrame:
    """The columns `RECOVERY`, in the order of the long table; empty where nothing was planted.

    Args:
        long: The long table.
        betas: `dataset, judge, beta`.
        level: Coverage of the intervals.
    """
    if betas.empty:
        return pd.DataFrame(columns=RECOVERY)
    known = long[long["n"].gt(0)].merge(betas, on=["dataset", "judge"])
    z = norm.ppf((1 + level) / 2)
    rows = []
    for (gold, statistic), part in known.groupby(["gold", "statistic"], sort=False):
        if len(part) < FEWEST or not part["value"].std() > 0:
            continue
        r = float(np.corrcoef(part["value"].astype(float), part["beta"])[0, 1])
        # A perfect line has no interval: the transform of 1 is infinite.
        line = np.arctanh(r) if abs(r) < PERFECT else np.nan
        half = z / np.sqrt(len(part) - 3)
        rows.append((gold, statistic, r, np.tanh(line - half), np.tanh(line + half), len(part)))
    return pd.DataFrame(rows, columns=RECOVERY)
