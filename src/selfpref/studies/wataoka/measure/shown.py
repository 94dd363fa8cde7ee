"""The pairs on which the chapter computes its values in the open: of one judge in each data set."""

import pandas as pd

from selfpref.statistics.bias import cell_weights
from selfpref.statistics.scores import Floats
from selfpref.studies.wataoka.measure.judged import Judged
from selfpref.studies.wataoka.measure.outside_reader import to_outsiders

COLUMNS = [
    *("dataset", "item_id", "cluster", "judge", "responder", "opponent"),
    *("human", "decision", "enters", "x"),
]


def pairs_of_one_judge(data: Judged) -> pd.DataFrame:
    """The own pairs of the judge with most of them, or all of one where nobody judges itself.

    Args:
        data: One data set.

    Returns:
        `COLUMNS`, a row a pair: `human` and `decision` are 1 for the `responder` (the judge itself,
        where it wrote one), 0 for the `opponent`, 1/2 for a tie, NaN where there is none; `enters`,
        whether the pair counts in a bias; `x`, the log-perplexity of the responder's text minus
        that of the opponent's, to readers that are not the judge. Empty without judged pairs.
    """
    own = {judge: data.own(judge).assign(responder=judge) for judge in data.judges}
    turned = data.pairs.rename(columns={"first": "responder", "second": "opponent"})
    found = own or {str(judge): rows for judge, rows in turned.groupby("judge")}
    if not found:
        return pd.DataFrame(columns=COLUMNS)
    judge = max(found, key=lambda name: _enters(data, found[name]).any(axis=1).sum())
    rows = found[judge].reset_index(drop=True)
    sides = rows.rename(columns={"responder": "first", "opponent": "second"})
    return rows.assign(
        dataset=data.name,
        enters=_enters(data, rows).any(axis=1),
        x=to_outsiders(data, sides, judge),
    )[COLUMNS]


def _enters(data: Judged, rows: pd.DataFrame) -> Floats:
    return cell_weights(rows, data.settings.human_ties, data.settings.judge_ties)
