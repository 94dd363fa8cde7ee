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

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from selfpref.statistics import bias, choices, judged
from selfpref.statistics.bias import CELLS, Ties
from selfpref.statistics.bootstrap import bounded, group_shares, intervals
from selfpref.statistics.judged import SIDES, Judged

Sets = Sequence[Judged]
KEY = ["dataset", "judge"]
BIAS = [*KEY, "n", *CELLS, *bounded("eo", "eo_ratio", "dp", "excess"), "flip_rate"]
BIAS += ["reversal_rate", "n_dropped", *SIDES, "few", *bounded("eo_others"), "excess_few"]
BIAS += [*bounded(*judged.AGAINST_VOTES), "n_two_votes", "no_preference_status"]
BY_OPPONENT = [*KEY, "opponent", "n", *CELLS, *SIDES, "few", *bounded("eo")]
BY_OPPONENT += ["undefined", "n_dropped"]
# The judge's own pairs on either human side, and the fewest that another judge has.
ALL_SIDES = [*SIDES, *(f"{side}_least" for side in SIDES)]
EXCESS = [*KEY, "variant", "eo", *bounded("excess", "eo_others"), *ALL_SIDES]
EXCESS += ["few", "others", "left_out", "n", "undefined"]
# What becomes of pairs that people tie, which the paper's text leaves open; `every` needs no vote.
READINGS: dict[str, Ties] = {"decisive": "drop", "with_ties": "half", "every": "drop"}
TIES = [*KEY, "judge_tie", "n_human", "n_no_verdict", "n_ties", "n", *CELLS, *bounded("eo"), "few"]
EXCLUSIONS = [*KEY, "status", "n", "of", "share"]
EXAMPLE = ["dataset", "item_id", "judge", "opponent", "score", "margin"]
EXAMPLE += ["opponent_agrees_with_human", "length"]
# Which pair shows the bias best: by these columns, in all but the first the smaller value.
RANKED = ["opponent_agrees_with_human", "margin", "length", *EXAMPLE[:4]]


def each_judge(sets: Sets) -> Iterator[tuple[dict[str, object], Judged, str, pd.DataFrame]]:
    """Every judge with own responses: its key, data set, name, and own pairs turned to it."""
    for data in sets:
        for judge in data.judges:
            yield {"dataset": data.name, "judge": judge}, data, judge, data.own(judge)


def stacked(parts: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """Parts of a frame below each other; without any, its columns."""
    whole = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
    return whole[columns]


def of_responders(pairs: pd.DataFrame, value: str) -> pd.DataFrame:
    """Every pair twice, turned to either `responder`: a value of 1 means this one."""
    turned = pairs.assign(first=pairs["second"], **{value: 1 - pairs[value]})
    return pd.concat([pairs, turned], ignore_index=True).rename(columns={"first": "responder"})


def with_controls(
    found: pd.DataFrame, excesses: pd.DataFrame, positions: pd.DataFrame, planted: pd.DataFrame
) -> pd.DataFrame:
    """Fig. 1b and Fig. 2: EO and DP of every judge on its own pairs, with their controls.

    Args:
        found: As `judged.bias` returns it.
        excesses: As `excess_table` returns it.
        positions: As `judged.position` returns it.
        planted: As `checks.planted` returns it.

    Returns:
        The columns `BIAS`: those of `found`, the excess (`own`), the other judges' mean EO
        (`eo_others`), flip and reversal rate. Where something was injected, also `seed, beta,
        planted, oracle_rule`.
    """
    own = excesses.query("variant == 'own'").rename(columns={"few": "excess_few"})
    own = own[[*KEY, *bounded("excess", "eo_others"), "excess_few"]]
    turns = positions.query("pairs == 'own'")[[*KEY, "flip_rate", "reversal_rate"]]
    table = found.merge(own, "left").merge(turns, "left")[BIAS].infer_objects()
    known = planted[[*KEY, "seed", "beta", "planted", "oracle_rule"]]
    return table.merge(known, "left") if len(planted) else table


def bias_by_opponent(sets: Sets) -> pd.DataFrame:
    """EO split by whose response the judge's own was compared with (columns `BY_OPPONENT`)."""
    rows = [
        key | {"opponent": opponent} | data.equal_opportunity(part, judge, str(opponent), "eo")
        for key, data, judge, own in each_judge(sets)
        for opponent, part in own.groupby("opponent")
    ]
    return pd.DataFrame(rows, columns=BY_OPPONENT)


def demographic_parity(sets: Sets, published: pd.DataFrame) -> pd.DataFrame:
    """Table 2 in both readings: decisive rows only; pairs that the human tied included.

    Args:
        sets: The data sets.
        published: What the papers print, data/published/wataoka.csv.

    Returns:
        `dataset, judge`, for each reading `n`, `n_dropped` and `dp` (Eq. 4, -1..1) with bounds, and
        what the paper prints as `published`. Where nobody voted on some of a judge's pairs,
        `dp_every` is that of all pairs.
    """
    rows, columns = [], KEY.copy()
    for reading in READINGS:
        columns += [f"n_{reading}", f"n_dropped_{reading}", *bounded(f"dp_{reading}")]
    for row, data, _, own in each_judge(sets):
        for reading, ties in READINGS.items():
            # Eq. 4 needs no human: of every pair, it is as if people preferred the judge's own.
            pairs = own.assign(human=1.0) if reading == "every" else own
            if reading == "every" and own["human"].notna().all():
                continue
            cells = bias.cell_weights(pairs, ties, data.settings.judge_ties)
            dp = bias.demographic_parity_interval(cells, own["cluster"], data.bootstrap.level)
            row |= {f"n_{reading}": cells.sum(), **dp.columns(f"dp_{reading}")}
            row[f"n_dropped_{reading}"] = judged.dropped(pairs, cells)
        rows.append(row)
    printed = published.query("item == 'table2'").set_index("judge")["value"]
    found = pd.DataFrame(rows, columns=columns)
    return found.assign(published=found["judge"].map(printed).astype(float))


def excess_table(sets: Sets) -> pd.DataFrame:
    """Both variants of the excess; nothing where no second judge read the same responses.

    Returns:
        The columns `EXCESS`: the judge's `eo`; `excess` and the mean `eo_others` of the other
        judges with bounds; `n_human_own` and `n_human_other`, the judge's pairs on either human
        side, with `_least` the fewest that another judge has; `few`, whether one of the four is
        too few; `others`, how many other judges enter, and who is `left_out`; `n`, and the share of
        resamples `undefined`.
    """
    rows = []
    for key, data, judge, _ in each_judge(sets):
        pairs, use = data.compared(judge), data.settings
        for variant in choices.EXCESS if pairs["judge"].nunique() > 1 else ():
            ties = use.human_ties, use.judge_ties
            cells, clusters = bias.stacked_cells(pairs, judge, variant, *ties)
            over, others = bias.excess_intervals(cells, clusters, data.bootstrap, judge, variant)
            totals = cells.sum(axis=0)
            own, *rest = bias.human_sides(totals)
            row = key | dict(zip(ALL_SIDES, (*own, *np.min(rest, axis=0)), strict=True))
            row |= intervals(("excess", "eo_others"), (over, others))
            row |= {"variant": variant, "eo": float(bias.equal_opportunity(totals[0]))}
            row |= {"few": bias.too_few(totals).any(), "undefined": over.undefined}
            row |= {"others": len(rest), "left_out": "+".join(data.left_out(judge))}
            rows.append(row | {"n": (cells[:, 0].sum(axis=1) > 0).sum()})
    return pd.DataFrame(rows, columns=EXCESS)


def judge_ties(sets: Sets) -> pd.DataFrame:
    """Pairs and EO of every judge on its own pairs, under each reading of a judge's tie.

    Returns:
        `dataset, judge, judge_tie, n_human` (pairs that people decide), and of these
        `n_no_verdict` and `n_ties`, the judge's; `n` and the cells that are left, `eo` with bounds,
        and `few`, whether that is too few. The settings say whether people's and the judge's ties
        are dropped or count half.
    """
    rows = []
    for key, data, judge, own in each_judge(sets):
        voted = own["human"].isin((0.0, 1.0))
        for reading in bias.TIED:
            read = own.assign(decision=bias.judge_decisions(own, data.settings.threshold, reading))
            said = read.loc[voted, "decision"]
            row = key | {"judge_tie": reading, "n_human": len(said)}
            row |= {"n_ties": said.eq(0.5).sum(), "n_no_verdict": said.isna().sum()}
            # The stream is that of the bias, so that the setting's reading is the bias.
            rows.append(row | data.equal_opportunity(read, judge, "eo"))
    return pd.DataFrame(rows, columns=TIES)


def exclusions(sets: Sets) -> pd.DataFrame:
    """Verdicts of every judge by what became of them.

    Returns:
        `dataset, judge, status, n, of, share`. `status` is `response`, `tie` (the label for a tie,
        or an exact one half), the reason for which there is no verdict, or `any failure`, these
        reasons together; `of` are all verdicts of the judge.
    """
    found = []
    for data in sets:
        # Items that the settings leave out are not counted.
        verdicts = data.tables["verdicts"]
        rows = bias.verdict_scores(verdicts[verdicts["item_id"].isin(data.pairs["item_id"])])
        ok, tied = rows["status"].eq("ok"), bias.says_tie(rows) | rows["score"].eq(0.5)
        rows["status"] = rows["status"].mask(ok, "response").mask(ok & tied, "tie")
        every = pd.concat([rows, rows[~ok].assign(status="any failure")])
        table = every.groupby(["judge", "status"]).size().reset_index(name="n")
        table["of"] = table["judge"].map(rows["judge"].value_counts()).astype(int)
        found.append(table.assign(dataset=data.name, share=table["n"] / table["of"]))
    return stacked(found, EXCLUSIONS)


def wins_by_human(sets: Sets) -> pd.DataFrame:
    """How often the human majority prefers each responder, judged or not.

    Returns:
        `dataset, responder, win_rate, win_rate_lo, win_rate_hi, n` (decided pairs with its
        response), `n_won, n_lost, n_ties`.
    """
    counts = {1.0: "n_won", 0.0: "n_lost", 0.5: "n_ties"}
    found, rates = [], bounded("win_rate")
    for data in sets:
        clusters = data.tables["items"][["item_id", "cluster"]]
        votes = bias.human_votes(data.tables["labels"]).merge(clusters, on="item_id")
        rows = of_responders(votes, "human")
        rows["decided"] = rows["human"].where(rows["human"].ne(0.5))
        table = group_shares(rows, ["responder"], "decided", data.bootstrap.level)
        table = table.set_axis(["responder", *rates, "n"], axis=1).assign(dataset=data.name)
        for value, name in counts.items():
            ended = rows["human"].eq(value).groupby(rows["responder"]).sum()
            table[name] = table["responder"].map(ended).astype(int)
        found.append(table)
    return stacked(found, ["dataset", "responder", *rates, "n", *counts.values()])


def example(sets: Sets) -> pd.DataFrame:
    """Fig. 1a: a pair on which a judge prefers its own response, and the human majority the other.

    The rule: both texts are released; pairs whose opponent, as a judge, sides with the human come
    first (as in the paper's example), then the clearest human majority, then the shortest texts.

    Returns:
        At most one row: `dataset, item_id, judge, opponent, score, margin,
        opponent_agrees_with_human, length` (of both texts, in characters).
    """
    found, place = [], ["item_id", "opponent"]
    for _, data, judge, own in each_judge(sets):
        texts = data.tables["responses"].query("step == 0 and sample == 0")
        length = texts.set_index(["item_id", "responder"])["length"]
        against = own.query("human == 0 and decision == 1").assign(dataset=data.name)
        sided = bias.pairs_with(data.pairs, judge).query("judge == opponent and decision == 0")
        agrees = against.set_index(place).index.isin(sided.set_index(place).index)
        one, two = (
            bias.value_of(length, against["item_id"], against[who]) for who in ("judge", "opponent")
        )
        against = against.assign(opponent_agrees_with_human=agrees, length=one + two)
        found.append(against.dropna(subset="length"))
    smaller = [name != RANKED[0] for name in RANKED]
    ranked = stacked(found, EXAMPLE).sort_values(RANKED, ascending=smaller)
    return ranked.head(1).astype({"length": int, "margin": int})


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
