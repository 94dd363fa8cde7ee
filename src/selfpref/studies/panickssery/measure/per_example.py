"""Whether preference follows recognition within one evaluator, pair by pair (Table A).

Kendall's tau-b, Spearman's rho and Pearson's r of the two confidences of the same pair. Scores that
are saturated or heavily tied make tau-b unstable, hence three measures; pooling sources mixes
differences between sources into all of them, hence each source too.
"""

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, pearsonr, spearmanr

from selfpref.studies.panickssery.measure.pairs import by_convention, pooled
from selfpref.studies.panickssery.measure.pairwise import plain

PER_EXAMPLE = [
    *("dataset", "evaluator", "other", "convention", "rows"),
    *("tau_b", "spearman", "pearson", "n"),
]
MEASURES = {"tau_b": kendalltau, "spearman": spearmanr, "pearson": pearsonr}


def _measured(part: pd.DataFrame) -> dict[str, float]:
    x, y = part["recognition"].to_numpy(), part["preference"].to_numpy()
    if len(part) < 3 or not np.ptp(x) or not np.ptp(y):
        return dict.fromkeys(MEASURES, np.nan) | {"n": len(part)}
    found = {name: float(measure(x, y).statistic) for name, measure in MEASURES.items()}
    return found | {"n": len(part)}


def per_example(pairs: pd.DataFrame) -> pd.DataFrame:
    """Association of the two confidences over the pairs of each evaluator.

    Args:
        pairs: As `confidences` returns them.

    Returns:
        The columns of `PER_EXAMPLE`; `rows` is `all`, or `unambiguous`: without the pairs that one
        of the two questions decides by position. NaN where one of the confidences is constant.
    """
    rows = by_convention(plain(pairs))
    key = ["dataset", "evaluator", "other", "item_id", "repeat", "convention"]
    one, two = (
        rows.loc[rows["task"].eq(task), [*key, "value", "ambiguous"]].rename(
            columns={"value": task, "ambiguous": f"ambiguous_{task}"}
        )
        for task in ("recognition", "preference")
    )
    both = one.merge(two, on=key)
    clear = both["ambiguous_recognition"].eq(0) & both["ambiguous_preference"].eq(0)
    kinds = {"all": both, "unambiguous": both[clear]}
    found = [
        dict(zip(("dataset", "evaluator", "other", "convention"), names, strict=True))
        | {"rows": kind}
        | _measured(part)
        for kind, chosen in kinds.items()
        for names, part in pooled(chosen).groupby(
            ["dataset", "evaluator", "other", "convention"], observed=True
        )
    ]
    table = pd.DataFrame(found, columns=PER_EXAMPLE)
    return table.sort_values(PER_EXAMPLE[:5]).reset_index(drop=True)
