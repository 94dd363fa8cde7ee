"""The table of every statistic for readers, and which statistic follows a preference that is there.

In the testbed each judge's labels carried a bonus *beta* for its own style (`wataoka.checks`).
Over the judges of all data sets, for each statistic and gold label,

    r = correlation of the judges' values with their betas
    interval: tanh(atanh r -+ z / sqrt(n - 3))                       (Fisher 1915), n judges

The interval takes the judges for a sample of judges; with few of them it is wide, and two
correlations of the same judges are not to be compared by it. Within one seed beta is confounded
with style. A high r says that the measure orders judges by their preference, not that 0 means none.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtri

from selfpref.statistics.bias import whole_counts
from selfpref.statistics.choices import KEY, table, too_few
from selfpref.statistics.judged import Judged, Row
from selfpref.statistics.regression import pearson

# In this order: what the studies measure, their controls, then what the papers since have added.
STATISTICS = [
    *("demographic_parity", "equal_length", "paired_excess", "equal_opportunity", "excess"),
    *("excess_common", "excess_half_ties", "beyond_no_preference", "gold_gap", "regression"),
    *("regression_length", "regression_scaled", "latent_quality", "equal_quality", "harmful"),
    *("neutral", "legitimate"),
]
RECOVERY = ["gold", "statistic", "r", "lo", "hi", "n"]
# The interval of a correlation needs n - 3 > 0.
FEWEST = 4
PERFECT = 1 - 1e-12


def long(rows: Iterable[Row]) -> pd.DataFrame:
    """Every statistic of every judge, sorted, in the columns `turned.LONG`."""
    found = table(rows)
    place = found["statistic"].map(STATISTICS.index)
    found = found.assign(place=place).sort_values([*KEY[:-1], "place"], ignore_index=True)
    return whole_counts(found.drop(columns="place"))


def together(parts: Iterable[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Frames one below the other, with `few`; without any row the columns alone."""
    some = [part for part in parts if len(part)]
    found = pd.concat(some, ignore_index=True) if some else pd.DataFrame(columns=columns)
    return found.assign(few=too_few(found))


def recovery(rows: pd.DataFrame, sets: Iterable[Judged], level: float) -> pd.DataFrame:
    """How each statistic correlates with the preference that was put in.

    Args:
        rows: As `long` returns them.
        sets: The data sets of pairs.
        level: Coverage of the intervals.

    Returns:
        The columns `RECOVERY`, in the order of the long table; empty where nothing was injected.
    """
    betas = {data.name: data.betas for data in sets if len(data.betas)}
    if not betas:
        return pd.DataFrame(columns=RECOVERY)
    bonus = pd.concat(betas, names=["dataset", "judge"]).rename("beta")
    known = rows[rows["n"].gt(0)].join(bonus, on=["dataset", "judge"], how="inner")
    z, found = ndtri((1 + level) / 2), []
    for (gold, statistic), part in known.groupby(["gold", "statistic"], sort=False):
        if len(part) < FEWEST or not part["value"].std() > 0:
            continue
        r = float(pearson(part["value"].to_numpy(float), part["beta"].to_numpy(float)))
        # A perfect line has no interval: the transform of 1 is infinite.
        line = np.arctanh(r) if abs(r) < PERFECT else np.nan
        half = z / np.sqrt(len(part) - 3)
        found.append((gold, statistic, r, np.tanh(line - half), np.tanh(line + half), len(part)))
    return pd.DataFrame(found, columns=RECOVERY)
