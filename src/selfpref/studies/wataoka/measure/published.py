"""What the papers and others have printed, beside what is recomputed (data/published)."""

import numpy as np
import pandas as pd

from selfpref.statistics.bias import (
    CELLS,
    cell_counts,
    demographic_parity,
    equal_opportunity,
    whole_counts,
)
from selfpref.statistics.bootstrap import bounds, stream
from selfpref.studies.wataoka.measure.judged import STUDY, Settings

# How data/published/wataoka.csv names the paper; its other rows are printed elsewhere.
PAPER = "Wataoka et al., arXiv 2410.21819"


def paper_bias(published: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """EO and DP from the cells that the paper prints in Fig. 2, by the functions of this study.

    Args:
        published: `item, dataset, judge, quantity, value, ...`, as in data/published/wataoka.csv.
        settings: For the interval, which resamples rows, since the paper prints no clusters.

    Returns:
        `dataset, judge, n`, the cells, and EO and DP with intervals.
    """
    fig2 = published[published["item"].eq("fig2")]
    rows = []
    for (dataset, judge), part in fig2.groupby(["dataset", "judge"]):
        counts = part.set_index("quantity")["value"][CELLS].astype(int)
        cells = np.repeat(np.eye(4), counts, axis=0)
        row = {"dataset": dataset, "judge": judge, **cell_counts(cells)}
        for name, statistic in (("eo", equal_opportunity), ("dp", demographic_parity)):
            rng = stream(settings.seed, STUDY, "paper", str(judge), name)
            row |= bounds(name, settings.bootstrap.interval(cells, statistic, rng))
        rows.append(row)
    return whole_counts(pd.DataFrame(rows))


def with_published(table: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Table 2 with the values that the paper prints for the same judge (of other data)."""
    printed = published[published["item"].eq("table2")].set_index("judge")["value"]
    if table.empty:
        return table
    return table.assign(published=table["judge"].map(printed).astype(float))


def checks(frames: dict[str, pd.DataFrame], published: pd.DataFrame) -> pd.DataFrame:
    """What others have printed of the same releases beside what is recomputed here.

    Returns:
        `dataset, judge, item, quantity, published, recomputed, difference, source, verified`; only
        for the data sets and judges at hand.
    """
    agreed, rates = frames["agreement"], frames["win_rates"]
    if agreed.empty or rates.empty:
        return pd.DataFrame()
    agreed = agreed.assign(
        key=agreed["annotators"] + ", turn " + agreed["turn"] + ", " + agreed["ties"] + " ties"
    )
    found = []
    for row in published[published["source"].ne(PAPER)].itertuples():
        if row.item == "win rate":
            part = rates
            human = row.judge == "human"
            column = "human_win_rate" if human else "win_rate"
            hit = part[part["responder"].eq(row.quantity) & (human | part["judge"].eq(row.judge))]
        else:
            part, column = agreed, "n" if row.item == "agreement n" else "agreement"
            hit = part[part["key"].eq(row.quantity) & part["judge"].eq(row.judge)]
        hit = hit[hit["dataset"].eq(row.dataset)]
        if len(hit):
            found.append(
                {
                    "dataset": row.dataset,
                    "judge": row.judge,
                    "item": row.item,
                    "quantity": row.quantity,
                    "published": row.value,
                    "recomputed": float(hit[column].iloc[0]),
                    "difference": float(hit[column].iloc[0]) - row.value,
                    "source": row.source,
                    "verified": row.verified,
                }
            )
    return pd.DataFrame(found)
