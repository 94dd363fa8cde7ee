"""The same bias without a self: EO of every judge towards every responder.

Definition 4.1 asks of the judge's own responses how much more often the judge agrees with the human
where the human prefers them. Nothing in it needs the responses to be its own. With "own" read as
"of responder r", EO_j(r) exists for every judge and every responder, and EO_j(j) is the bias of the
paper. If the rows of this matrix differ, judges do; if its columns differ, responders do: strong
responders get a high value, and weak ones a low value, from whoever judges.

*Agreement* is the share of pairs, decided by both, on which a judge and the human majority prefer
the same response; it exists for judges that wrote nothing. A responder's *win rate* is the share of
the pairs with its response, decided by the human majority, in which it is preferred; it needs no
judge, and of a data set whose votes outnumber its verdicts it uses all votes.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bias import (
    cell_counts,
    cell_weights,
    equal_opportunity_interval,
    human_sides,
    too_few,
)
from selfpref.statistics.scores import human_votes, names_of, pairs_with
from selfpref.statistics.shares import share_interval
from selfpref.studies.wataoka.measure.judged import Judged


def bias_by_judge_and_responder(data: Judged) -> pd.DataFrame:
    """EO of every judge towards every responder whose responses it judged.

    Args:
        data: One data set.

    Returns:
        `dataset, judge, responder, own` (whether the judge wrote the responses), `n, tp, fn, fp,
        tn, eo, eo_lo, eo_hi, n_human_own, n_human_other` (pairs on which the human prefers the
        responder's response, and the other one), `few` (see `FEW`), `n_dropped`.
    """
    use, rows = data.settings, []
    for responder in names_of(data.pairs["first"], data.pairs["second"]):
        for judge, part in pairs_with(data.pairs, responder).groupby("judge"):
            cells = cell_weights(part, use.human_ties, use.judge_ties)
            names = (str(judge), responder, "towards")
            found = equal_opportunity_interval(cells, part["cluster"], data.bootstrap, *names)
            own, other = human_sides(cells.sum(axis=0))
            rows.append(
                {"dataset": data.name, "judge": judge, "responder": responder}
                | {"own": judge == responder, **cell_counts(cells), **found.columns("eo")}
                | {"n_human_own": own, "n_human_other": other}
                | {"few": bool(too_few(cells.sum(axis=0)))}
                | {"n_dropped": int(part["human"].notna().sum() - (cells.sum(axis=1) > 0).sum())}
            )
    frame = pd.DataFrame(rows)
    return frame.sort_values(["judge", "responder"], ignore_index=True) if rows else frame


def agreement_with_human(data: Judged) -> pd.DataFrame:
    """How often each judge and the human majority prefer the same response.

    Args:
        data: One data set.

    Returns:
        `dataset, judge, responds` (whether it wrote responses among these), `agreement,
        agreement_lo, agreement_hi, n` (pairs that both decide), `n_dropped`.
    """
    use, rows = data.settings, []
    for judge, part in data.pairs.groupby("judge"):
        cells = cell_weights(part, use.human_ties, use.judge_ties)
        counts = np.stack([cells[:, 0] + cells[:, 3], cells.sum(axis=1)], axis=-1)
        found = share_interval(counts, part["cluster"], data.bootstrap.level)
        rows.append(
            {"dataset": data.name, "judge": judge, "responds": judge in data.judges}
            | found.columns("agreement")
            | {"n": cells.sum()}
            | {"n_dropped": int(part["human"].notna().sum() - (cells.sum(axis=1) > 0).sum())}
        )
    return pd.DataFrame(rows)


def wins_by_human(data: Judged) -> pd.DataFrame:
    """How often the human majority prefers each responder, judged or not.

    Args:
        data: One data set.

    Returns:
        `dataset, responder, win_rate, win_rate_lo, win_rate_hi, n` (decided pairs with its
        response), `n_won, n_lost, n_ties`.
    """
    clusters = data.tables["items"][["item_id", "cluster"]]
    votes = human_votes(data.tables["labels"]).merge(clusters, on="item_id")
    sides = pd.concat(
        [
            votes.assign(responder=votes["first"], won=votes["human"]),
            votes.assign(responder=votes["second"], won=1 - votes["human"]),
        ]
    )
    rows = []
    for responder, part in sides.groupby("responder"):
        decided = part[part["won"].ne(0.5)]
        found = share_interval(decided["won"], decided["cluster"], data.bootstrap.level)
        won = int(decided["won"].sum())
        rows.append(
            {"dataset": data.name, "responder": responder, **found.columns("win_rate")}
            | {"n": len(decided), "n_won": won, "n_lost": len(decided) - won}
            | {"n_ties": len(part) - len(decided)}
        )
    return pd.DataFrame(rows)
