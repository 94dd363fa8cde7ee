"""The study of Wataoka, Takahashi & Ri (arXiv 2410.21819): from the tables to the plotted numbers.

Each data set is judged on its own: its judges, its responders, its clusters. A judge's own
responses are those of the responder of the same name. `compute` names each frame and the function
that fills it. `judged` holds the judged pairs, EO, DP, excess and position; `by_perplexity` Figs. 3
to 6; `ties` what is left undecided; `injected` what the synthetic testbed knows; `shown` the
pairs on which the chapter computes; `example` Fig. 1a. Here are the agreement with people and what
has been printed.

*Agreement* is counted vote by vote (Zheng et al. 2023, Table 5): every annotator's vote on a pair
is compared with the judge's outcome of that pair, so a pair with three votes counts three times.
*With ties* all votes count and a tie agrees with a tie; *without ties* only votes in which both
name a response. This is not the agreement with the majority.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from selfpref.statistics.bias import (
    CELLS,
    cell_counts,
    demographic_parity_interval,
    equal_opportunity_interval,
    whole_counts,
)
from selfpref.statistics.scores import PAIR, oriented_votes, turn
from selfpref.studies.wataoka.measure.by_perplexity import own_and_other, slopes, win_rates_by_bin
from selfpref.studies.wataoka.measure.by_responder import (
    agreement_with_human,
    bias_by_judge_and_responder,
    wins_by_human,
)
from selfpref.studies.wataoka.measure.example import RANKED, example
from selfpref.studies.wataoka.measure.injected import injected_bias, oracle_agreement, recovery
from selfpref.studies.wataoka.measure.judged import (
    AGAINST_VOTES,
    STUDY,
    Judged,
    Settings,
    bias,
    bias_by_opponent,
    demographic_parities,
    excess_table,
    position,
)
from selfpref.studies.wataoka.measure.outside_reader import outside_reader, outside_win_rates
from selfpref.studies.wataoka.measure.panel import by_panel
from selfpref.studies.wataoka.measure.shown import COLUMNS, pairs_of_one_judge
from selfpref.studies.wataoka.measure.ties import (
    beside_the_paper,
    exclusions,
    judge_ties,
    with_the_paper,
)
from selfpref.studies.wataoka.measure.without_self import without_self
from selfpref.tables import release

Frames = dict[str, pd.DataFrame]
KEY = ["dataset", "judge"]
BOUNDS = ("_lo", "_hi")
BIAS = [
    *(*KEY, "n", *CELLS, "eo", "eo_lo", "eo_hi", "dp", "dp_lo", "dp_hi"),
    *("excess", "excess_lo", "excess_hi", "excess_common", "excess_half_ties"),
    *("flip_rate", "n_dropped", "n_human_own", "n_human_other", "few"),
    *("eo_others", "eo_others_lo", "eo_others_hi"),
    *("excess_few", "excess_common_few", "excess_half_ties_few"),
    *(f"{name}{bound}" for name in AGAINST_VOTES for bound in ("", *BOUNDS)),
    *("n_two_votes", "no_preference_status"),
]
# What is also computed against the labels of a panel, where people did not vote.
AGAINST_LABELS = ("bias", "bias_by_opponent", "excess", "bias_by_judge_and_responder", "pairs")
# How data/published/wataoka.csv names the paper; its other rows are printed elsewhere.
PAPER = "Wataoka et al., arXiv 2410.21819"


def compute(
    datasets: Mapping[str, Mapping[str, pd.DataFrame]], published: pd.DataFrame, settings: Settings
) -> Frames:
    """Every frame of the study.

    Args:
        datasets: By name, the tables of each data set: items, responses (with their `length`),
            labels, truths, verdicts and perplexities.
        published: What the papers print, data/published/wataoka.csv.
        settings: Rows, ties and intervals.

    Returns:
        `fig1b_bias`, `table2_demographic_parity`, `bias_by_opponent`, `excess`, `position`,
        `judge_ties`, `exclusions`, `agreement`, `win_rates`, `example` (Fig. 1a; `example.quoted`
        adds its texts), `responses`, `contents`, `paper_bias`, `paper_signs` and `checks`;
        `bias_by_judge_and_responder`, `agreement_with_human` and `wins_by_human`; `without_self`
        from Arena; from perplexities `win_rates_by_bin`, `slopes`, `log_perplexity`,
        `outside_reader` and `outside_win_rates`; `pairs`, on which the chapter computes; where the
        truth is known `planted`, `recovery` and `oracle_agreement`. A data set without any pair
        left contributes no rows; `fig1b_bias` keeps a judge whose pairs all dropped out, with their
        number. Where the settings name a panel, its labels make a data set `<name> (panel)` in
        `AGAINST_LABELS`.
    """
    judged = [Judged(name, tables, settings) for name, tables in sorted(datasets.items())]
    panels = [one for one in map(by_panel, judged) if one is not None]
    parts: dict[str, Callable[[Judged], pd.DataFrame]] = {
        "bias": bias,
        "table2_demographic_parity": demographic_parities,
        "bias_by_opponent": bias_by_opponent,
        "excess": excess_table,
        "position": position,
        "judge_ties": judge_ties,
        "exclusions": exclusions,
        "bias_by_judge_and_responder": bias_by_judge_and_responder,
        "agreement_with_human": agreement_with_human,
        "wins_by_human": wins_by_human,
        "agreement": lambda data: agreement(
            data.tables["items"], data.tables["labels"], data.pairs
        ).assign(dataset=data.name),
        "win_rates": lambda data: win_rates(data.pairs).assign(dataset=data.name),
        "example": example,
        "responses": responses,
        "contents": contents,
        "win_rates_by_bin": win_rates_by_bin,
        "slopes": slopes,
        "log_perplexity": own_and_other,
        "outside_reader": outside_reader,
        "outside_win_rates": outside_win_rates,
        "pairs": pairs_of_one_judge,
        "planted": injected_bias,
        "oracle_agreement": oracle_agreement,
    }
    frames = {}
    for name, make in parts.items():
        sets = [*judged, *panels] if name in AGAINST_LABELS else judged
        frames[name] = pd.concat([pd.DataFrame(), *map(make, sets)], ignore_index=True)
        release()
    if len(best := frames["example"]):
        frames["example"] = best.sort_values([*RANKED], ascending=[*RANKED.values()]).head(1)
    frames["fig1b_bias"] = _fig1b(frames, frames.pop("bias"))
    if len(table2 := frames["table2_demographic_parity"]):
        printed = published[published["item"].eq("table2")].set_index("judge")["value"]
        table2["published"] = table2["judge"].map(printed).astype(float)
    frames["pairs"] = frames["pairs"].reindex(columns=COLUMNS)
    frames["recovery"] = recovery(judged)
    frames["paper_bias"] = paper_bias(published, settings)
    frames["paper_signs"] = paper_signs(published)
    frames["without_self"] = without_self(judged, frames["paper_bias"])
    frames["checks"] = checks(frames, published)
    return {name: whole_counts(frame) for name, frame in frames.items()} | {
        "judge_ties": beside_the_paper(frames["judge_ties"], frames["paper_bias"]),
        "exclusions": with_the_paper(frames["exclusions"], published),
    }


def _fig1b(frames: Frames, table: pd.DataFrame) -> pd.DataFrame:
    """`judged.bias` with the excess and the flip rate beside it, in the columns `BIAS`."""
    if table.empty:
        return table.reindex(columns=BIAS)
    more = []
    if len(frames["excess"]):
        variants = dict(iter(frames["excess"].groupby("variant")))
        bounded = [f"{name}{bound}" for name in ("excess", "eo_others") for bound in ("", *BOUNDS)]
        own = variants["own"].rename(columns={"few": "excess_few"})
        more.append(own[[*KEY, *bounded, "excess_few"]])
        for name in ("common", "half-ties"):
            column = f"excess_{name.replace('-', '_')}"
            names = {"excess": column, "few": f"{column}_few"}
            more.append(variants[name].rename(columns=names)[[*KEY, *names.values()]])
    if len(frames["position"]):
        more.append(frames["position"].query("pairs == 'own'")[[*KEY, "flip_rate"]])
    for part in more:
        table = table.merge(part, on=KEY, how="left")
    table = table.reindex(columns=BIAS)
    if len(frames["planted"]):
        known = frames["planted"][[*KEY, "seed", "beta", "planted", "oracle_rule"]]
        table = table.merge(known, on=KEY, how="left")
    return table


def responses(data: Judged) -> pd.DataFrame:
    """How many texts each responder wrote, and how many were cut off at their limit."""
    texts = data.tables["responses"]
    counted = texts["status"].ne("ok").groupby(texts["responder"]).agg(["size", "sum"])
    counted = counted.rename(columns={"size": "n", "sum": "cut_off"})
    return counted.reset_index().assign(dataset=data.name)


def contents(data: Judged) -> pd.DataFrame:
    """How much of each kind a data set holds: what can be computed from it at all."""
    tables = data.tables
    row = {
        "n_items": len(tables["items"]),
        "n_responses": tables["responses"]["status"].eq("ok").sum(),
        "n_votes": len(tables["labels"]),
        "n_verdicts": len(tables["verdicts"]),
        "n_probabilities": tables["verdicts"]["probabilities"].notna().sum(),
        "n_perplexities": len(tables["perplexities"]),
        "n_own_perplexities": tables["perplexities"]["judge"].isin(data.pairs["judge"]).sum(),
    }
    return pd.DataFrame([{"dataset": data.name, **row}])


def agreement(items: pd.DataFrame, labels: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Agreement by judge, kind of annotator, turn and treatment of ties.

    Args:
        items: The items table; an item's metadata may hold `turn`.
        labels: The labels table; the kind of an annotator is what stands before `_` in its name.
        pairs: As `judged_pairs` returns them.

    Returns:
        `judge, annotators, turn, ties` (`with`, `without`), `n, agreement`.
    """
    turns = items[["item_id"]].assign(turn=turn(items))
    decided = pairs.loc[pairs["decision"].notna(), [*PAIR, "judge", "decision"]]
    votes = oriented_votes(labels)
    votes["annotators"] = votes["annotator"].str.replace(r"_.*", "", regex=True)
    both = votes.merge(decided.merge(turns, on="item_id"), on=PAIR)
    both["agreement"] = both["vote"].eq(both["decision"])
    chosen = both[both["vote"].ne(0.5) & both["decision"].ne(0.5)]
    parts = [
        rows.groupby(["judge", "annotators", "turn"])["agreement"]
        .agg(n="size", agreement="mean")
        .reset_index()
        .assign(ties=ties)
        for ties, rows in (("with", both), ("without", chosen))
    ]
    columns = ["judge", "annotators", "turn", "ties", "n", "agreement"]
    return pd.concat(parts)[columns].sort_values(columns[:4]).reset_index(drop=True)


def win_rates(pairs: pd.DataFrame) -> pd.DataFrame:
    """Each responder's share of wins, a tie counting half, by judge and by the human majority.

    Args:
        pairs: As `judged_pairs` returns them; pairs without a human vote are left out.

    Returns:
        `judge, responder, n, win_rate, human_win_rate`. The judge's wins are mean scores (Eq. 3),
        not decisions.
    """
    known = pairs[pairs["human"].notna() & pairs["score"].notna()]
    sides = [known.assign(responder=known["first"])]
    turned = {name: 1 - known[name] for name in ("human", "score")}
    sides.append(known.assign(responder=known["second"], **turned))
    return (
        pd.concat(sides)
        .groupby(["judge", "responder"])
        .agg(n=("score", "size"), win_rate=("score", "mean"), human_win_rate=("human", "mean"))
        .reset_index()
    )


def paper_bias(published: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """EO and DP from the cells that the paper prints in Fig. 2, by the functions of this study.

    Args:
        published: `item, dataset, judge, quantity, value, ...`, as in data/published/wataoka.csv.
        settings: For the interval, which resamples rows, since the paper prints no clusters.

    Returns:
        `dataset, judge, n`, the cells, EO and DP with intervals, and the values of both that the
        paper prints, `eo_printed` and `dp_printed`.
    """
    printed = published[published["source"].eq(PAPER)].set_index(["item", "judge"])["value"]
    bootstrap = settings.bootstrap.within(STUDY, "paper")
    rows = []
    for key, part in published[published["item"].eq("fig2")].groupby(KEY):
        counts = part.set_index("quantity")["value"][CELLS].astype(int)
        cells = np.repeat(np.eye(4), counts, axis=0)
        each = np.arange(len(cells))
        eo = equal_opportunity_interval(cells, each, bootstrap, key[1], "eo")
        dp = demographic_parity_interval(cells, each, bootstrap.level)
        row = {**dict(zip(KEY, key, strict=True)), **cell_counts(cells)}
        row |= {**eo.columns("eo"), **dp.columns("dp")}
        row |= {"eo_printed": printed["fig1b", key[1]], "dp_printed": printed["table2", key[1]]}
        rows.append(row)
    return whole_counts(pd.DataFrame(rows))


def paper_signs(published: pd.DataFrame) -> pd.DataFrame:
    """What the paper's text says of the other models' bias towards themselves: `judge, sign`.

    The sign is 1, 0 (close to 0) or -1; the values are printed only as a picture.
    """
    rows = published[published["item"].eq("fig1b_sign")]
    return rows[["judge", "value"]].rename(columns={"value": "sign"}).reset_index(drop=True)


def checks(frames: Frames, published: pd.DataFrame) -> pd.DataFrame:
    """What others have printed of the same releases beside what is recomputed here.

    Returns:
        `dataset, judge, item, quantity, published, recomputed, difference, source, how_read`; only
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
            human = row.judge == "human"
            column = "human_win_rate" if human else "win_rate"
            hit = rates[
                rates["responder"].eq(row.quantity) & (human | rates["judge"].eq(row.judge))
            ]
        else:
            column = "n" if row.item == "agreement n" else "agreement"
            hit = agreed[agreed["key"].eq(row.quantity) & agreed["judge"].eq(row.judge)]
        for value in hit.loc[hit["dataset"].eq(row.dataset), column].head(1).astype(float):
            found.append(
                {
                    "dataset": row.dataset,
                    "judge": row.judge,
                    "item": row.item,
                    "quantity": row.quantity,
                    "published": row.value,
                    "recomputed": value,
                    "difference": value - row.value,
                    "source": row.source,
                    "how_read": row.how_read,
                }
            )
    return pd.DataFrame(found)
