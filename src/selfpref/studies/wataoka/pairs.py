"""What is measured on pairs: Figs. 1 and 2, Table 2, and the controls beside them.

Wataoka, Takahashi & Ri (arXiv 2410.21819) call a judge biased where it agrees with people more
often if these prefer the judge's own response than if they prefer the other one (Definition 4.1):

    EO = TP / (TP + FN) - TN / (FP + TN)                DP = 2 P(judge own) - 1       (Eq. 4)

`selfpref.statistics.bias` has these formulas and the excess over the other judges,
`selfpref.statistics.judged` the pairs that they are computed on. Each data set (`Judged`) is judged
on its own: its judges, its responders, its clusters.

A *win rate* of a responder is the share of the pairs with its response, decided by the human
majority, in which it is preferred; it needs no judge, and of a data set whose votes outnumber its
verdicts it uses all votes. What judges leave undecided is counted twice: `judge_ties` by each
reading of a judge's tie (`selfpref.statistics.bias`), of which the paper says nothing though its
prompt offers the label C; `exclusions` by what became of each verdict, failures apart from ties.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from selfpref.statistics import judged
from selfpref.statistics.bias import (
    CELLS,
    PAIR,
    TIED,
    VARIANTS,
    Ties,
    by_judge,
    cell_weights,
    demographic_parity_interval,
    equal_opportunity,
    excess_intervals,
    human_sides,
    human_votes,
    judge_decisions,
    pairs_with,
    stacked_cells,
    too_few,
    value_of,
    verdict_scores,
)
from selfpref.statistics.bootstrap import bounded
from selfpref.statistics.judged import SIDES, Judged
from selfpref.statistics.shares import share_interval

KEY = ["dataset", "judge"]
BIAS = [
    *(*KEY, "n", *CELLS, *bounded("eo", "dp", "excess"), "excess_common", "excess_half_ties"),
    *("flip_rate", "reversal_rate", "n_dropped", *SIDES, "few", *bounded("eo_others")),
    *("excess_few", "excess_common_few", "excess_half_ties_few"),
    *(*bounded(*judged.AGAINST_VOTES), "n_two_votes", "no_preference_status"),
]
BY_OPPONENT = [
    *(*KEY, "opponent", "n", *CELLS, *SIDES, "few", *bounded("eo"), "undefined", "n_dropped"),
]
# The judge's own pairs on either human side, and the fewest that another judge has.
ALL_SIDES = [*SIDES, *(f"{side}_least" for side in SIDES)]
EXCESS = [
    *(*KEY, "variant", "eo", *bounded("excess", "eo_others"), *ALL_SIDES),
    *("few", "others", "left_out", "n", "undefined"),
]
# What becomes of pairs that people tie, which the paper's text leaves open.
READINGS: dict[str, Ties] = {"decisive": "drop", "with_ties": "half"}
PARITY = [
    *KEY,
    *(
        column
        for reading in (*READINGS, "every")
        for column in (f"n_{reading}", f"n_dropped_{reading}", *bounded(f"dp_{reading}"))
    ),
]
TIES = [
    *(*KEY, "judge_tie", "n_human", "n_no_verdict", "n_ties", "n", *CELLS, *bounded("eo"), "few"),
]
# What stands for all orders, and for all statuses that are no verdict; what can be used.
ALL, FAILED, SAID = "all", "any failure", ("tie", "response")
EXCLUSIONS = [*KEY, "order", "status", "n", "of", "share"]
EXAMPLE = [
    *("dataset", "item_id", "judge", "opponent", "score", "margin"),
    *("opponent_agrees_with_human", "length"),
]
# Which pair shows the bias best, in this order; True and greater first where not ascending.
RANKED = {"opponent_agrees_with_human": False, "margin": True, "length": True}


def with_controls(
    found: pd.DataFrame, excesses: pd.DataFrame, positions: pd.DataFrame, planted: pd.DataFrame
) -> pd.DataFrame:
    """Fig. 1b and Fig. 2: EO and DP of every judge on its own pairs, with their controls.

    Args:
        found: As `judged.bias` returns it.
        excesses: As `excess_table` returns it.
        positions: As `judged.position` returns it.
        planted: As `testbed.planted` returns it.

    Returns:
        The columns `BIAS`: those of `found`, the excess in three variants, the other judges' mean
        EO (`eo_others`), flip and reversal rate. Where something was injected, also `seed, beta,
        planted, oracle_rule`.
    """
    own, common, half = (
        excesses[excesses["variant"].eq(variant)].set_index(KEY) for variant in VARIANTS
    )
    more = own[bounded("excess", "eo_others")].assign(
        excess_few=own["few"],
        excess_common=common["excess"],
        excess_common_few=common["few"],
        excess_half_ties=half["excess"],
        excess_half_ties_few=half["few"],
    )
    turns = positions[positions["pairs"].eq("own")].set_index(KEY)[["flip_rate", "reversal_rate"]]
    table = found.join(more, on=KEY).join(turns, on=KEY)[BIAS].infer_objects()
    known = planted.set_index(KEY)[["seed", "beta", "planted", "oracle_rule"]]
    return table.join(known, on=KEY) if len(planted) else table


def bias_by_opponent(sets: Sequence[Judged]) -> pd.DataFrame:
    """EO split by whose response the judge's own was compared with (columns `BY_OPPONENT`)."""
    rows = [
        {"dataset": data.name, "judge": judge, "opponent": opponent}
        | data.equal_opportunity(own, judge, str(opponent), "eo")
        for data in sets
        for judge in data.judges
        for opponent, own in data.own(judge).groupby("opponent")
    ]
    return pd.DataFrame(rows, columns=BY_OPPONENT)


def demographic_parity(sets: Sequence[Judged], published: pd.DataFrame) -> pd.DataFrame:
    """Table 2 in both readings: decisive rows only; pairs that the human tied included.

    Args:
        sets: The data sets.
        published: What the papers print, data/published/wataoka.csv.

    Returns:
        `dataset, judge`, for each reading `n`, `n_dropped` and `dp` (Eq. 4, -1..1) with bounds, and
        what the paper prints as `published`. Where nobody voted on some of a judge's pairs,
        `dp_every` is that of all pairs.
    """
    rows = []
    for data in sets:
        for judge in data.judges:
            own = data.own(judge)
            row: dict[str, object] = {"dataset": data.name, "judge": judge}
            # Eq. 4 needs no human: of every pair, it is as if people preferred the judge's own.
            every = {"every": own.assign(human=1.0)} if own["human"].isna().any() else {}
            for reading, pairs in {**dict.fromkeys(READINGS, own), **every}.items():
                ties = READINGS.get(reading, "drop")
                cells = cell_weights(pairs, ties, data.settings.judge_ties)
                found = demographic_parity_interval(cells, own["cluster"], data.bootstrap.level)
                row |= {f"n_{reading}": cells.sum(), **found.columns(f"dp_{reading}")}
                row[f"n_dropped_{reading}"] = judged.dropped(pairs, cells)
            rows.append(row)
    printed = published[published["item"].eq("table2")].set_index("judge")["value"]
    found = pd.DataFrame(rows, columns=PARITY)
    return found.assign(published=found["judge"].map(printed).astype(float))


def excess_table(sets: Sequence[Judged]) -> pd.DataFrame:
    """The three variants of the excess; nothing where no second judge read the same responses.

    Returns:
        The columns `EXCESS`: the judge's `eo`; `excess` and the mean `eo_others` of the other
        judges with bounds; `n_human_own` and `n_human_other`, the judge's pairs on either human
        side, with `_least` the fewest that another judge has; `few`, whether one of the four is
        too few; `others`, how many other judges enter, and who is `left_out`; `n`, and the share of
        resamples `undefined`.
    """
    rows = []
    for data in sets:
        for judge in data.judges:
            pairs, use = data.compared(judge), data.settings
            for variant in VARIANTS if pairs["judge"].nunique() > 1 else ():
                cells, clusters = stacked_cells(
                    pairs, judge, variant, use.human_ties, use.judge_ties
                )
                over, others = excess_intervals(cells, clusters, data.bootstrap, judge, variant)
                totals = cells.sum(axis=0)
                sides = human_sides(totals)
                counts = dict(zip(ALL_SIDES, (*sides[0], *sides[1:].min(axis=0)), strict=True))
                rows.append(
                    {"dataset": data.name, "judge": judge, "variant": variant, **counts}
                    | {"eo": float(equal_opportunity(totals[0])), **over.columns("excess")}
                    | {**others.columns("eo_others"), "others": cells.shape[1] - 1}
                    | {"few": bool(too_few(totals).any()), "undefined": over.undefined}
                    | {"n": int((cells[:, 0].sum(axis=1) > 0).sum())}
                    | {"left_out": "+".join(data.left_out(judge))}
                )
    return pd.DataFrame(rows, columns=EXCESS)


def judge_ties(sets: Sequence[Judged]) -> pd.DataFrame:
    """Pairs and EO of every judge on its own pairs, under each reading of a judge's tie.

    Returns:
        `dataset, judge, judge_tie, n_human` (pairs that people decide), and of these
        `n_no_verdict` and `n_ties`, the judge's; `n` and the cells that are left, `eo` with bounds,
        and `few`, whether that is too few. The settings say whether people's and the judge's ties
        are dropped or count half.
    """
    rows = []
    for data in sets:
        for judge in data.judges:
            own = data.own(judge)
            voted = own["human"].notna() & own["human"].ne(0.5)
            for reading in TIED:
                read = own.assign(decision=judge_decisions(own, data.settings.threshold, reading))
                rows.append(
                    {"dataset": data.name, "judge": judge, "judge_tie": reading}
                    | {"n_human": voted.sum(), "n_ties": (voted & read["decision"].eq(0.5)).sum()}
                    | {"n_no_verdict": (voted & read["decision"].isna()).sum()}
                    # The stream is that of the bias, so that the setting's reading is the bias.
                    | data.equal_opportunity(read, judge, "eo")
                )
    return pd.DataFrame(rows, columns=TIES)


def exclusions(sets: Sequence[Judged]) -> pd.DataFrame:
    """Verdicts of every judge by order and by what became of them.

    Returns:
        `dataset, judge, order, status, n, of, share`. `order` is `own first` or `own second` (where
        the judge's own response was read), `no own` (none of the two is its own), `unknown`, or
        `all`; `status` is `response`, `tie` (the label for a tie, or an exact one half), the reason
        for which there is no verdict, or `any failure`, these reasons together; `of` are all
        verdicts of judge and order.
    """
    found = []
    for data in sets:
        # Items that the settings leave out are not counted.
        known = data.pairs["item_id"].unique()
        verdicts = data.tables["verdicts"]
        for judge, told in by_judge(verdicts[verdicts["item_id"].isin(known)]):
            outcomes = _outcomes(judge, told)
            outcomes = pd.concat([outcomes, outcomes.assign(order=ALL)])
            failed = outcomes[~outcomes["status"].isin(SAID)].assign(status=FAILED)
            of = outcomes.groupby("order").size()
            counts = pd.concat([outcomes, failed]).value_counts(["order", "status"]).rename("n")
            counts = counts.sort_index().reset_index().assign(dataset=data.name, judge=judge)
            counts["of"] = counts["order"].map(of)
            found.append(counts.assign(share=counts["n"] / counts["of"])[EXCLUSIONS])
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=EXCLUSIONS)


def _outcomes(judge: str, verdicts: pd.DataFrame) -> pd.DataFrame:
    """The `order` and the `status` of each of one judge's verdicts."""
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
    return pd.DataFrame({"order": order, "status": status})


def wins_by_human(sets: Sequence[Judged]) -> pd.DataFrame:
    """How often the human majority prefers each responder, judged or not.

    Returns:
        `dataset, responder, win_rate, win_rate_lo, win_rate_hi, n` (decided pairs with its
        response), `n_won, n_lost, n_ties`.
    """
    rows = []
    for data in sets:
        clusters = data.tables["items"][["item_id", "cluster"]]
        votes = human_votes(data.tables["labels"]).merge(clusters, on="item_id")
        sides = [
            votes.assign(responder=votes["first"], won=votes["human"]),
            votes.assign(responder=votes["second"], won=1 - votes["human"]),
        ]
        for responder, part in pd.concat(sides).groupby("responder"):
            decided = part[part["won"].ne(0.5)]
            found = share_interval(decided["won"], decided["cluster"], data.bootstrap.level)
            won = int(decided["won"].sum())
            rows.append(
                {"dataset": data.name, "responder": responder, **found.columns("win_rate")}
                | {"n": len(decided), "n_won": won, "n_lost": len(decided) - won}
                | {"n_ties": len(part) - len(decided)}
            )
    columns = ["dataset", "responder", *bounded("win_rate"), "n", "n_won", "n_lost", "n_ties"]
    return pd.DataFrame(rows, columns=columns)


def example(sets: Sequence[Judged]) -> pd.DataFrame:
    """Fig. 1a: a pair on which a judge prefers its own response, and the human majority the other.

    The rule: both texts are released; pairs whose opponent, as a judge, sides with the human come
    first (as in the paper's example), then the clearest human majority, then the shortest texts.

    Returns:
        At most one row, in the columns `EXAMPLE`; `length` is that of both texts, in characters.
    """
    found = []
    for data in sets:
        texts = data.tables["responses"].query("step == 0 and sample == 0")
        length = texts.set_index(["item_id", "responder"])["length"]
        for judge in data.judges:
            rows = pairs_with(data.pairs, judge)
            sided = rows[rows["judge"].eq(rows["opponent"]) & rows["decision"].eq(0)]
            own = rows[rows["judge"].eq(judge) & rows["human"].eq(0) & rows["decision"].eq(1)]
            place = ["item_id", "opponent"]
            witnessed = pd.MultiIndex.from_frame(own[place]).isin(
                pd.MultiIndex.from_frame(sided[place])
            )
            mine, other = (
                value_of(length, own["item_id"], own[side]) for side in ("judge", "opponent")
            )
            own = own.assign(dataset=data.name, opponent_agrees_with_human=witnessed)
            found.append(own.assign(length=mine + other)[EXAMPLE].dropna(subset="length"))
    frame = pd.concat(found) if found else pd.DataFrame(columns=EXAMPLE)
    order = RANKED | dict.fromkeys(("dataset", "item_id", "judge", "opponent"), True)
    best = frame.sort_values([*order], ascending=[*order.values()]).head(1)
    return best.astype({"length": int, "margin": int})


def quoted(example: pd.DataFrame, items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """The example with its prompt and both texts.

    Args:
        example: As `example` returns it.
        items: The items table, the example's item at least.
        responses: The responses table, those to this item at least.
    """
    texts = responses.query("step == 0 and sample == 0").set_index(["item_id", "responder"])["text"]
    messages = items.set_index("item_id")["messages"]
    return example.assign(
        prompt=["\n\n".join(m["content"] for m in messages[item]) for item in example["item_id"]],
        own_text=[texts[row.item_id, row.judge] for row in example.itertuples()],
        other_text=[texts[row.item_id, row.opponent] for row in example.itertuples()],
    )
