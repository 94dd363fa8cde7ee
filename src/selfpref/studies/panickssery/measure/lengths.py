"""Is it length? The confidence with the difference in length held at zero.

Over the pairs of an evaluator, s = a + b (words of own text - words of other text) / 10 by least
squares; a is the confidence of two texts of equal length. All sums are of articles, so that the
interval resamples articles.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import bounds
from selfpref.statistics.clusters import Groups
from selfpref.statistics.scores import Floats
from selfpref.studies.panickssery.measure.pairwise import plain
from selfpref.studies.panickssery.measure.settings import Settings

WORDS = 10


def _regression(totals: Floats) -> Floats:
    """Intercept and slope from the sums of 1, x, x², y and xy: `[..., 5]` -> `[..., 2]`."""
    n, x, xx, y, xy = np.moveaxis(totals, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = xx - x**2 / n
        slope = np.where(spread > 1e-9 * np.abs(xx), (xy - x * y / n) / spread, np.nan)
        return np.stack([(y - slope * x) / n, slope], axis=-1)


def _regressions(totals: Floats) -> Floats:
    """The same of every group, one after another: `[..., groups, 5]` -> `[..., 2 groups]`."""
    return _regression(totals).reshape(*totals.shape[:-2], -1)


def lengths(pairs: pd.DataFrame, responses: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Corrected confidences at equal length.

    Args:
        pairs: As `confidences` returns them.
        responses: The responses table; pairs without both texts are left out.
        settings: For the intervals.

    Returns:
        `dataset, evaluator, task, n`, `difference` (own minus other, words), `raw` (the mean),
        `held` (at equal length) and `slope` (change for ten more words), the last two with
        `_lo` and `_hi`.
    """
    words = responses.query("step == 0 and sample == 0").set_index(["item_id", "responder"])["text"]
    words = words.str.split().str.len()
    rows = plain(pairs)
    rows = rows[rows["corrected"].notna()]
    keys = rows[["item_id", "own", "other"]].astype("str")
    own, other = (
        words.reindex(pd.MultiIndex.from_frame(keys[["item_id", name]])).to_numpy(dtype=float)
        for name in ("own", "other")
    )
    x, y = pd.Series((own - other) / WORDS, index=rows.index), rows["corrected"]
    rows = rows.assign(one=1.0, x=x, xx=x**2, y=y, xy=x * y)[x.notna()]
    by, parts = ["dataset", "evaluator", "task"], [pd.DataFrame()]
    for dataset, part in rows.groupby("dataset", observed=True):
        groups = [Groups.of(part, by, name) for name in ("one", "x", "xx", "y", "xy")]
        sums = np.stack([group.sums[..., 0] for group in groups], axis=-1)
        rng = settings.rng("lengths", str(dataset))
        found = settings.bootstrap.intervals(sums, _regressions, rng)
        values = [
            bounds(*named) for named in zip(("held", "slope") * len(sums[0]), found, strict=True)
        ]
        total = sums.sum(axis=0)
        columns = {
            "n": total[:, 0].astype(int),
            "difference": WORDS * total[:, 1] / total[:, 0],
            "raw": total[:, 3] / total[:, 0],
        }
        fits = pd.DataFrame([one | two for one, two in zip(values[::2], values[1::2], strict=True)])
        parts.append(pd.concat([groups[0].keys.assign(**columns), fits], axis=1))
    return pd.concat(parts, ignore_index=True)
