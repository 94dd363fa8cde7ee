"""What the paper and others print, and what the synthetic testbed knows, beside what is computed.

`checks` holds, of released votes and verdicts, the agreement of Zheng et al. (2023, Table 5) and
the win rates that the PRD repository prints. Agreement is counted vote by vote: every annotator's
vote on a pair is compared with the judge's outcome of that pair, so a pair with three votes counts
three times. *With ties* all votes count and a tie agrees with a tie; *without ties* only votes in
which both name a response. This is not the agreement with the majority.

`without_self` tells how much of the paper's value for GPT-4 a judge with no self in it would show.
A battle of Chatbot Arena has one vote, so how people differ about one pair cannot be told from it.
The share m of decided votes that prefer GPT-4's response can; how alike two people's votes on one
pair with GPT-4's response are, beyond chance, is known from sets with several votes a pair,

    rho = 1 - D / (2 m' (1 - m')),      D = P(two votes differ),   m' = P(a vote is for GPT-4),

the intraclass correlation of the votes. With the same rho at Arena's m, another person in the
judge's place (`selfpref.statistics.bias`) shows

    EO_0 = (2 m - 1) (1 - rho).

It is set against the EO of the counts that the paper prints. That rho is the same on both sets is
an assumption, so every set that has one gives a row of its own.

How much of an injected bias is measured: beside it, that of the injected rule and the oracle's.

In the synthetic testbed the labels that a judge was trained on follow a rule: quality plus a bonus
*beta* for its own style. Run on the very pairs that enter the measured bias (a rule's tie counting
half), that rule gives the *injected* bias (the column `planted`), and the rule without bonus the
*oracle rule's*: that of a judge without any preference. The latter is not zero, because the metric
moves with the quality of the judge's responses. Agreement of measured and injected bias is a check
of the metric; since beta is confounded with a style within one seed, it is no evidence of
self-preference.
"""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from selfpref.statistics import bias
from selfpref.statistics.bias import CELLS, PAIR, vote_cells
from selfpref.statistics.bootstrap import (
    ClusterBootstrap,
    Floats,
    bounded,
    divided,
    group_shares,
    group_sums,
    intervals,
    pearson,
    ratio,
)
from selfpref.statistics.judged import STUDY, Judged
from selfpref.studies.wataoka.pairs import Sets, each_judge, of_responders, stacked

# How data/published/wataoka.csv names the paper; its other rows are printed elsewhere.
PAPER = "Wataoka et al., arXiv 2410.21819"
VALUES = ("win_rate", "agreement_beyond_chance", "eo_without_self", "share_of_printed")
CHECKED = ["dataset", "judge", "item", "quantity"]


def paper_bias(published: pd.DataFrame, bootstrap: ClusterBootstrap) -> pd.DataFrame:
    """EO and DP from the cells that the paper prints in Fig. 2, by the functions of this study.

    Args:
        published: `item, dataset, judge, quantity, value, ...`, as in data/published/wataoka.csv.
        bootstrap: Resamples rows, since the paper prints no clusters.

    Returns:
        `dataset, judge, n`, the cells, EO and DP with intervals, and the values of both that the
        paper prints, `eo_printed` and `dp_printed`.
    """
    printed = published.query("source == @PAPER").set_index(["item", "judge"])["value"]
    counts = published.query("item == 'fig2'").set_index("quantity")
    rows, stream = [], bootstrap.within(STUDY, "paper")
    for (dataset, judge), part in counts.groupby(["dataset", "judge"])["value"]:
        cells = np.repeat(np.eye(4), part[CELLS].astype(int), axis=0)
        pairs = np.arange(len(cells))
        eo = bias.equal_opportunity_interval(cells, pairs, stream, judge, "eo")
        dp = bias.demographic_parity_interval(cells, pairs, bootstrap.level)
        row = {"dataset": dataset, "judge": judge, **bias.cell_counts(cells)}
        row |= eo.columns("eo") | dp.columns("dp")
        row |= {"eo_printed": printed["fig1b", judge], "dp_printed": printed["table2", judge]}
        rows.append(row)
    return pd.DataFrame(rows)


def paper_signs(published: pd.DataFrame) -> pd.DataFrame:
    """What the paper's text says of the other models' bias towards themselves: `judge, sign`.

    The sign is 1, 0 (close to 0) or -1; the values are printed only as a picture.
    """
    rows = published.query("item == 'fig1b_sign'")[["judge", "value"]]
    return rows.set_axis(["judge", "sign"], axis=1).reset_index(drop=True)


def agreement(data: Judged) -> pd.DataFrame:
    """Agreement by judge, kind of annotator, turn and treatment of ties.

    The kind of an annotator is what stands before `_` in its name.

    Returns:
        `judge, quantity` (such as `expert, turn 1, with ties`), `item` and `recomputed`: of the
        item `agreement` 0..1, of `agreement n` the number of votes.
    """
    items = data.tables["items"].set_index("item_id")
    votes = bias.oriented_votes(data.tables["labels"])
    votes = votes.merge(data.pairs.dropna(subset="decision"), on=PAIR)
    kind = votes["annotator"].str.replace(r"_.*", "", regex=True)
    votes["of"] = kind + ", turn " + votes["item_id"].map(bias.turn(items))
    votes["agrees"] = votes["vote"].eq(votes["decision"])
    parts = {"with": votes, "without": votes.query("vote != 0.5 and decision != 0.5")}
    every = pd.concat([of.assign(quantity=of["of"] + f", {n} ties") for n, of in parts.items()])
    counts = {"agreement": "mean", "agreement n": "size"}
    found = every.groupby(["judge", "quantity"])["agrees"].agg(**counts)
    return found.melt(var_name="item", value_name="recomputed", ignore_index=False).reset_index()


def win_rates(data: Judged) -> pd.DataFrame:
    """Each responder's share of wins, a tie counting half: of every judge, and of `human`.

    Those pairs count that have a vote and a score: for a judge its own, for people each that some
    judge scored, once. A judge's wins are mean scores (Eq. 3), not decisions.

    Returns:
        `judge, quantity` (the responder), `item` and `recomputed` (0..1).
    """
    known = data.pairs.dropna(subset=["human", "score"])
    people = known.drop_duplicates(PAIR).assign(judge="human", score=known["human"])
    every = pd.concat([known, people])
    shares = of_responders(every, "score").groupby(["judge", "responder"])["score"].mean()
    shares = shares.rename_axis(["judge", "quantity"]).reset_index(name="recomputed")
    return shares.assign(item="win rate")


def checks(sets: Sets, published: pd.DataFrame) -> pd.DataFrame:
    """What others have printed of the same releases beside what is recomputed here.

    Returns:
        `dataset, judge, item, quantity, published, recomputed, difference, source, how_read`; only
        for the data sets and judges at hand.
    """
    ours = [of(data).assign(dataset=data.name) for data in sets for of in (agreement, win_rates)]
    rows = published.query("source != @PAPER").rename(columns={"value": "published"})
    found = rows.merge(stacked(ours, [*CHECKED, "recomputed"]), on=CHECKED)
    found["difference"] = found["recomputed"] - found["published"]
    return found[[*CHECKED, "published", "recomputed", "difference", "source", "how_read"]]


def without_self(sets: Sets, paper: pd.DataFrame) -> pd.DataFrame:
    """EO of another person in GPT-4's place on Chatbot Arena, beside the paper's.

    Args:
        sets: The data sets, `arena` among them.
        paper: As `paper_bias` returns it.

    Returns:
        A row for each set with two votes a pair: `votes_of` (the set), `win_rate` (m),
        `agreement_beyond_chance` (rho), `eo_without_self` (EO_0), `share_of_printed` (EO_0 over the
        paper's EO, whose counts are taken as they are), each with bounds; `n` (decided votes of
        Arena) and `n_two_votes` (pairs). No rows without Arena or the paper's counts.
    """
    rows = []
    printed = paper.query("judge == 'gpt-4'")["eo"]
    # Arena's votes are many, but single.
    arenas = [data for data in sets if data.name == "arena"]
    for arena, data, eo in product(arenas, sets, printed):
        single = arena.votes("gpt-4").query("vote != 0.5")
        pairs = vote_cells(data.votes("gpt-4"), ["item_id", "opponent"], "drop")
        if data is arena or pairs.empty:
            continue
        # Single votes of Arena, then the cells of two votes of the other set.
        both = pd.concat([single.assign(decided=1.0), pairs])
        items = pd.concat([one.tables["items"] for one in (arena, data)]).set_index("item_id")
        values = both[["vote", "decided", *CELLS]].fillna(0)
        clusters = both["item_id"].map(items["cluster"])
        statistics = partial(_without_self, printed=eo)
        found = data.bootstrap.estimates(values, clusters, statistics, "without self")
        row = {"votes_of": data.name, "n": len(single), "n_two_votes": len(pairs)}
        rows.append(row | intervals(VALUES, found))
    return pd.DataFrame(rows, columns=["votes_of", *bounded(*VALUES), "n", "n_two_votes"])


def _without_self(totals: Floats, printed: float) -> Floats:
    """`VALUES` from sums of votes for GPT-4, of votes and of cells: `[..., 6]` to `[..., 4]`."""
    rate = ratio(totals[..., :2])
    cells = totals[..., 2:]
    there = ratio(bias.some_of(cells, "tp", "fn"))
    differ = ratio(bias.some_of(cells, "fn", "fp"))
    alike = 1 - divided(differ, 2 * there * (1 - there))
    expected = (2 * rate - 1) * (1 - alike)
    return np.stack([rate, alike, expected, expected / printed], axis=-1)


MARKS = ("measured", "planted", "oracle_rule")
PLANTED = ["dataset", "judge", "seed", "beta", *bounded(*MARKS), "n"]
RECOVERY = ["quantity", "r", "lo", "hi", "n", "seeds"]
AGREEMENT = ["dataset", "judge", "writes", "prompts", *bounded("agreement"), "n"]


def rule_cells(data: Judged, judge: str) -> tuple[Floats, pd.Series]:
    """Cells of the judge, its injected rule and the oracle rule on the judge's decisive pairs.

    Returns:
        `[pairs, 3, 4]` in the order of `MARKS`, and the cluster of each pair.
    """
    own = data.own(judge)
    own = own[data.cells(own).sum(axis=1) > 0]
    cells = [data.cells(own)]
    for metric in (f"rule-{judge}", "quality"):
        lead = bias.gap(data.truth(metric), own, "judge", "opponent").round(9)
        decided = own.assign(decision=(np.sign(lead) + 1) / 2)
        cells.append(bias.cell_weights(decided, data.settings.human_ties, "half"))
    return np.stack(cells, axis=1), own["cluster"]


def planted(sets: Sets) -> pd.DataFrame:
    """Measured, injected and oracle rule's EO of every judge with responses of its own.

    Returns:
        `dataset, judge, seed, beta`, the three marks with their intervals, `n`; no rows where
        nothing was injected.
    """
    rows = []
    for key, data, judge, _ in each_judge([data for data in sets if len(data.betas)]):
        cells, clusters = rule_cells(data, judge)
        row = key | {"seed": int(data.name.rpartition("-")[2]), "n": len(cells)}
        row["beta"] = float(data.betas.get(judge, np.nan))
        for mark, part in zip(MARKS, np.moveaxis(cells, 1, 0), strict=True):
            place = part, clusters, data.bootstrap, judge, "planted", mark
            row |= bias.equal_opportunity_interval(*place).columns(mark)
        rows.append(row)
    return pd.DataFrame(rows, columns=PLANTED)


def recovery(sets: Sets) -> pd.DataFrame:
    """Correlation over judges of measured with injected bias, with the oracle rule and with beta.

    Prompts are resampled, judges are not: the interval is the noise of the measurement for these
    judges, not how other judges would turn out.

    Returns:
        `quantity, r, lo, hi, n` (judges with an injected bonus and a bias), `seeds`; no rows with
        fewer than three such judges.
    """
    found = []
    for _, data, judge, _ in each_judge(sets):
        cells, prompts = rule_cells(data, judge)
        # Without both human outcomes a judge has no bias to correlate.
        if judge in data.betas and not np.isnan(bias.equal_opportunity(cells.sum(axis=0))).any():
            found.append((cells, prompts, data.betas[judge], data.name))
    if len(found) < 3:
        return pd.DataFrame(columns=RECOVERY)
    blocks, clusters, bonus, seeds = zip(*found, strict=True)
    # The cells of each judge in their place among all: [pairs, marks, judges, 4].
    places = np.eye(len(blocks))[:, :, None]
    placed = [cells[:, :, None] * place for cells, place in zip(blocks, places, strict=True)]

    def correlations(totals: Floats) -> Floats:
        measured, *others = np.moveaxis(bias.equal_opportunity(totals), -2, 0)
        against = (*others, np.broadcast_to(bonus, measured.shape))
        return np.stack([pearson(measured, other) for other in against], axis=-1)

    rows = np.concatenate(placed), pd.concat(clusters)
    made = sets[0].settings.bootstrap.estimates(*rows, correlations, "recovery")
    table = pd.DataFrame([one[:3] for one in made], columns=["r", "lo", "hi"])
    table["quantity"] = [f"measured with {name}" for name in ("planted", "oracle rule", "beta")]
    return table.assign(n=len(blocks), seeds=len({*seeds}))[RECOVERY]


def oracle_agreement(sets: Sets) -> pd.DataFrame:
    """Share of pairs of unequal quality on which each judge agrees with the oracle.

    Returns:
        `dataset, judge, writes, prompts` (`held-out`, `seen`), `agreement, agreement_lo,
        agreement_hi, n`; the judge `mean of families` is the unweighted mean over those that
        write, its interval bootstrapped. No rows without a true quality.
    """
    found = []
    for data in sets:
        metadata = data.tables["items"].set_index("item_id")["metadata"]
        held_out = data.pairs["item_id"].map(metadata).str.contains('"held_out": true')
        rows = data.pairs.assign(prompts=np.where(held_out, "held-out", "seen"))
        lead = np.sign(bias.gap(data.truth("quality"), rows).round(9))
        rows["agrees"] = (rows["decision"] - 0.5) * lead + 0.5
        for prompts, part in rows[lead.ne(0)].dropna(subset="agrees").groupby("prompts"):
            table = group_shares(part, ["judge"], "agrees", data.bootstrap.level)
            table["writes"] = table["judge"].isin(data.judges)
            if table["writes"].any():
                sums = group_sums(part, ["judge"], "agrees")[1][:, table["writes"]]
                names = "mean", str(prompts), "oracle"
                (mean,) = data.bootstrap.of_sums(
                    sums, lambda totals: ratio(totals).mean(axis=-1, keepdims=True), *names
                )
                n = int(sums[..., 1].sum())
                table.loc[len(table)] = "mean of families", *mean[:3], n, True
            table.columns = ["judge", *bounded("agreement"), "n", "writes"]
            found.append(table.assign(dataset=data.name, prompts=prompts))
    return stacked(found, AGREEMENT)
