"""Labels of a panel of judges, for pairs on which nobody voted.

The panel's label of a pair is the majority of its members' decisions (the sign of decisions for
minus decisions against; a sum of 0 is a tie). A member that wrote one of the two responses does not
vote, so no judge votes on pairs with its own response. Nor is a member's verdict held to a label
that it voted for: the other judges, with which an excess compares, are those that did not vote.

Judges share tastes, and a panel's label is no person's: the data set that it makes is named
`<data set> (panel)`, and no pair is in it on which people voted.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from selfpref.statistics.scores import PAIR, verdict_scores
from selfpref.studies.wataoka.measure.judged import Judged
from selfpref.tables.schemas import PANEL, TIE


def by_panel(data: Judged) -> Judged | None:
    """The pairs of a data set on which nobody voted, with the panel's labels.

    Args:
        data: The data set; its settings name the panel.

    Returns:
        Another data set, with the verdicts of all who did not vote; None where the panel votes on
        no pair.
    """
    unvoted = data.pairs[data.pairs["human"].isna() & data.pairs["decision"].notna()]
    wrote = unvoted["first"].eq(unvoted["judge"]) | unvoted["second"].eq(unvoted["judge"])
    votes = unvoted[unvoted["judge"].isin(list(data.settings.panel)) & ~wrote]
    if votes.empty:
        return None
    labels = _majority(votes)
    rows = verdict_scores(data.tables["verdicts"])
    labelled = pd.MultiIndex.from_frame(rows[PAIR]).isin(pd.MultiIndex.from_frame(labels[PAIR]))
    voted = pd.MultiIndex.from_frame(rows[[*PAIR, "judge"]]).isin(
        pd.MultiIndex.from_frame(votes[[*PAIR, "judge"]])
    )
    named = labels.rename(columns={"first": "responder_a", "second": "responder_b"})
    tables = {
        "labels": named.assign(annotator=PANEL),
        "verdicts": data.tables["verdicts"].loc[rows.index[labelled & ~voted]],
    }
    return replace(data, name=f"{data.name} ({PANEL})", tables={**data.tables, **tables})


def _majority(votes: pd.DataFrame) -> pd.DataFrame:
    """`item_id, first, second, label` of each pair."""
    margin = (2 * votes["decision"] - 1).groupby([votes[name] for name in PAIR]).sum()
    label = np.select([margin > 0, margin < 0], ["a", "b"], TIE)
    return margin.index.to_frame(index=False).assign(label=label)
