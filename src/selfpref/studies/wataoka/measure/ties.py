"""What judges leave undecided: ties under each reading of a tie, and verdicts that are missing.

The paper's Fig. 2 rests on 2,238 pairs of GPT-4. It says that answers without a verdict were left
out (1.07 % in the text of its submission) and nothing of ties, though its prompt offers the label
C. `judge_ties` counts the pairs and the bias that each reading of a judge's tie leaves
(`selfpref.statistics.scores`); `exclusions` counts verdicts by what became of them, failures apart
from ties.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bias import (
    CELLS,
    cell_counts,
    cell_weights,
    equal_opportunity_interval,
    too_few,
)
from selfpref.statistics.bootstrap import Interval
from selfpref.statistics.scores import PAIR, TIED, by_judge, judge_decisions, verdict_scores
from selfpref.studies.wataoka.measure.judged import Judged

# What stands for all orders, and for all statuses that are no verdict.
ALL, FAILED = "all", "any failure"
NOT_STATED = "not stated"
# What an answer is that can be used: a tie, or one of the responses.
SAID = ("tie", "response")
EXCLUSIONS = ["dataset", "judge", "order", "status", "n", "of", "share"]


def judge_ties(data: Judged) -> pd.DataFrame:
    """Pairs and EO of every judge on its own pairs, under each reading of a judge's tie.

    Returns:
        `dataset, judge, judge_tie, n_human` (pairs that people decide), and of these
        `n_no_verdict` and `n_ties`, the judge's; `n` and the cells that are left, `eo` with bounds,
        and `few`, whether that is too few. The settings say whether people's and the judge's ties
        are dropped or count half.
    """
    use, rows = data.settings, []
    for judge in data.judges:
        own = data.own(judge)
        voted = own["human"].notna() & own["human"].ne(0.5)
        found: dict[bytes, Interval] = {}
        for reading in TIED:
            decision = judge_decisions(own, use.threshold, reading)
            cells = cell_weights(own.assign(decision=decision), use.human_ties, use.judge_ties)
            # Mostly two readings tie the same pairs. The stream is that of `bias`.
            same = cells.tobytes()
            if same not in found:
                found[same] = equal_opportunity_interval(
                    cells, own["cluster"], data.bootstrap, judge, "eo"
                )
            rows.append(
                {"dataset": data.name, "judge": judge, "judge_tie": reading}
                | {"n_human": int(voted.sum())}
                | {"n_no_verdict": int((voted & np.isnan(decision)).sum())}
                | {"n_ties": int((voted & (decision == 0.5)).sum())}
                | {**cell_counts(cells), **found[same].columns("eo")}
                | {"few": bool(too_few(cells.sum(axis=0)))}
            )
    return pd.DataFrame(rows)


def beside_the_paper(found: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """`judge_ties` of every data set, and below them what the paper prints.

    Args:
        found: The rows of `judge_ties`.
        paper: The frame `paper_bias`.
    """
    printed = paper.reindex(columns=found.columns).assign(judge_tie=NOT_STATED, few=False)
    return _whole(pd.concat([found, printed], ignore_index=True)) if len(found) else found


def exclusions(data: Judged) -> pd.DataFrame:
    """Verdicts of every judge by order and by what became of them.

    Returns:
        `dataset, judge, order, status, n, of, share`. `order` is `own first` or `own second` (where
        the judge's own response was read), `no own` (none of the two is its own), `unknown`, or
        `all`; `status` is `response`, `tie` (the label for a tie, or an exact one half), the reason
        for which there is no verdict, or `any failure`, these reasons together; `of` are all
        verdicts of judge and order.
    """
    found = [pd.DataFrame(columns=EXCLUSIONS)]
    # As in `position`: items that the settings leave out are not counted.
    known = data.pairs["item_id"].unique()
    for judge, verdicts in by_judge(data.tables["verdicts"]):
        outcomes = _outcomes(judge, verdicts[verdicts["item_id"].isin(known)])
        if outcomes.empty:
            continue
        of = outcomes.groupby("order")["n"].sum().to_dict() | {ALL: outcomes["n"].sum()}
        failed = outcomes[~outcomes["status"].isin(SAID)].assign(status=FAILED)
        both = pd.concat([outcomes, failed])
        both = pd.concat([both, both.assign(order=ALL)])
        counts = both.groupby(["order", "status"], as_index=False)["n"].sum()
        found.append(
            counts.assign(
                dataset=data.name,
                judge=judge,
                of=counts["order"].map(of),
                share=counts["n"] / counts["order"].map(of),
            )
        )
    return pd.concat(found, ignore_index=True)[EXCLUSIONS]


def _outcomes(judge: str, verdicts: pd.DataFrame) -> pd.DataFrame:
    """One judge's verdicts counted: `order, status, n`."""
    single = verdict_scores(verdicts)
    won = single["score"] * (1 - single["tie"])
    tied = single["tie"].ge(np.maximum(won, 1 - single["tie"] - won)) & single["tie"].gt(0)
    said = np.where(tied | single["score"].eq(0.5), *SAID)
    mine = np.select([single[side].eq(judge) for side in PAIR[1:]], PAIR[1:], "")
    order = np.select(
        [mine == "", single["presented"].isna(), single["presented"].eq(mine)],
        ["no own", "unknown", "own first"],
        "own second",
    )
    status = single["status"].where(single["status"].ne("ok"), said)
    counted = pd.DataFrame({"order": order, "status": status})
    return counted.value_counts().reset_index(name="n")


def with_the_paper(found: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """`exclusions` of every data set, and below them the share that the paper states.

    Args:
        found: The rows of `exclusions`.
        published: What the papers print, data/published/wataoka.csv.
    """
    rows = published[published["item"].eq("exclusions")]
    stated = rows[["dataset", "judge"]].assign(order=ALL, status=FAILED, share=rows["value"])
    return _whole(pd.concat([found, stated], ignore_index=True)) if len(found) else found


def _whole(frame: pd.DataFrame) -> pd.DataFrame:
    """Counts as integers where none is a fraction, though a paper does not state all of them."""
    counts = [name for name in frame if name in {*CELLS, "of"} or name.split("_")[0] == "n"]
    whole = [name for name in counts if frame[name].dropna().mod(1).eq(0).all()]
    return frame.astype(dict.fromkeys(whole, "Int64"))
