"""The study of Wataoka, Takahashi & Ri (arXiv 2410.21819): from the tables to the plotted numbers.

Each data set is judged on its own: its judges, its responders, its clusters. A judge's own
responses are those of the responder of the same name.
"""

from collections.abc import Callable, Mapping

import pandas as pd

from selfpref.statistics.agreement import agreement, win_rates
from selfpref.statistics.bias import (
    CELLS,
    Ties,
    cell_counts,
    cell_weights,
    demographic_parity,
    equal_opportunity,
    whole_counts,
)
from selfpref.statistics.bootstrap import bounds, cluster_sums, ratio
from selfpref.statistics.excess import VARIANTS, excess, stacked_cells
from selfpref.statistics.position import position_counts
from selfpref.statistics.scores import PAIR, Floats, by_judge, facing
from selfpref.studies.wataoka.measure.by_perplexity import own_and_other, slopes, win_rates_by_bin
from selfpref.studies.wataoka.measure.injected import oracle_agreement, planted_bias, recovery
from selfpref.studies.wataoka.measure.judged import Judged, Settings
from selfpref.studies.wataoka.measure.published import checks, paper_bias, with_published
from selfpref.tables import release

Frames = dict[str, pd.DataFrame]
BIAS = [
    *("dataset", "judge", "n", *CELLS, "eo", "eo_lo", "eo_hi", "dp", "dp_lo", "dp_hi"),
    *("excess", "excess_lo", "excess_hi", "excess_common", "excess_half_ties"),
    *("flip_rate", "n_dropped"),
]
EXAMPLE = [
    *("dataset", "item_id", "judge", "opponent", "score", "margin"),
    *("opponent_agrees_with_human", "length"),
]
# The two readings of Table 2, which the paper's text leaves open: what becomes of human ties.
READINGS: dict[str, Ties] = {"decisive": "drop", "with_ties": "half"}


def _dropped(rows: pd.DataFrame, cells: Floats) -> int:
    """Pairs with a human vote and a verdict that a tie or a status kept out."""
    return int(rows["human"].notna().sum() - (cells.sum(axis=1) > 0).sum())


def bias(data: Judged) -> pd.DataFrame:
    """Fig. 1b and Fig. 2: cells, EO and DP of every judge on its own pairs, with n and dropped."""
    rows = []
    for judge in data.judges:
        own = data.own(judge)
        cells = cell_weights(own, data.settings.human_ties, data.settings.judge_ties)
        sums = cluster_sums(cells, own["cluster"])
        rows.append(
            {"dataset": data.name, "judge": judge, **cell_counts(cells)}
            | bounds("eo", data.interval(sums, equal_opportunity, judge, "eo"))
            | bounds("dp", data.interval(sums, demographic_parity, judge, "dp"))
            | {"n_dropped": _dropped(own, cells)}
        )
    return pd.DataFrame(rows)


def bias_by_opponent(data: Judged) -> pd.DataFrame:
    """EO split by whose response the judge's own was compared with."""
    rows = []
    for judge in data.judges:
        for opponent, own in data.own(judge).groupby("opponent"):
            cells = cell_weights(own, data.settings.human_ties, data.settings.judge_ties)
            sums = cluster_sums(cells, own["cluster"])
            interval = data.interval(sums, equal_opportunity, judge, str(opponent), "eo")
            rows.append(
                {"dataset": data.name, "judge": judge, "opponent": opponent, **cell_counts(cells)}
                | bounds("eo", interval)
                | {"undefined": interval.undefined, "n_dropped": _dropped(own, cells)}
            )
    return pd.DataFrame(rows)


def excess_table(data: Judged) -> pd.DataFrame:
    """The three variants of the excess; empty where no second judge read the same responses."""
    rows = []
    for judge in data.judges:
        facing_judge = facing(data.pairs, judge)
        others = facing_judge["judge"].nunique() - 1
        if not others:
            continue
        for variant in VARIANTS:
            cells, clusters = stacked_cells(
                facing_judge, judge, variant, data.settings.human_ties, data.settings.judge_ties
            )
            interval = data.interval(cluster_sums(cells, clusters), excess, judge, variant)
            rows.append(
                {"dataset": data.name, "judge": judge, "variant": variant}
                | bounds("excess", interval)
                | {
                    "eo": float(equal_opportunity(cells.sum(axis=0))[0]),
                    "n": int((cells[:, 0].sum(axis=1) > 0).sum()),
                    "others": others,
                    "undefined": interval.undefined,
                }
            )
    return pd.DataFrame(rows)


def demographic_parities(data: Judged) -> pd.DataFrame:
    """Table 2 in both readings: decisive rows only; pairs that the human tied included."""
    rows = []
    for judge in data.judges:
        own = data.own(judge)
        row: dict[str, object] = {"dataset": data.name, "judge": judge}
        for reading, ties in READINGS.items():
            cells = cell_weights(own, ties, data.settings.judge_ties)
            sums = cluster_sums(cells, own["cluster"])
            interval = data.interval(sums, demographic_parity, judge, reading)
            row |= {f"n_{reading}": cells.sum(), f"n_dropped_{reading}": _dropped(own, cells)}
            row |= bounds(f"dp_{reading}", interval)
        rows.append(row)
    return pd.DataFrame(rows)


def position(data: Judged) -> pd.DataFrame:
    """First-position share, flip and reversal rate of every judge, on all and on own pairs."""
    rates = {
        "first_share": ["chose_first", "decided"],
        "flip_rate": ["flipped", "both_orders"],
        "reversal_rate": ["reversed", "both_orders"],
    }
    rows = []
    for judge, verdicts in by_judge(data.tables["verdicts"]):
        counts = position_counts(verdicts, data.settings.threshold)
        # Pairs of turns that the settings leave out, and items without a cluster, are not counted.
        known = data.pairs.loc[data.pairs["judge"].eq(judge), [*PAIR, "cluster"]]
        mine = counts.merge(known, on=PAIR)
        own = mine["first"].eq(judge) | mine["second"].eq(judge)
        for scope, part in (("all", mine), ("own", mine[own])):
            if part.empty:
                continue
            row: dict[str, object] = {"dataset": data.name, "judge": judge, "pairs": scope}
            row |= {"n_decided": part["decided"].sum(), "n_both": part["both_orders"].sum()}
            for name, columns in rates.items():
                sums = cluster_sums(part[columns].to_numpy(dtype=float), part["cluster"])
                row |= bounds(name, data.interval(sums, ratio, judge, scope, name))
            rows.append(row)
    return pd.DataFrame(rows)


def example(data: Judged) -> pd.DataFrame:
    """Candidates for Fig. 1a: a judge prefers its own response, the human majority the other.

    The rule: both texts are released; pairs whose opponent, as a judge, sides with the human come
    first (as in the paper's example), then the clearest human majority, then the shortest texts.

    Returns:
        At most one row.
    """
    texts = data.tables["responses"].query("step == 0 and sample == 0")
    length = texts.set_index(["item_id", "responder"])["length"]
    found = []
    for judge in data.judges:
        rows = facing(data.pairs, judge)
        sided = rows[rows["judge"].eq(rows["opponent"]) & rows["decision"].eq(0)]
        own = rows[rows["judge"].eq(judge) & rows["human"].eq(0) & rows["decision"].eq(1)]
        mine, other = (
            length.reindex(pd.MultiIndex.from_frame(own.assign(judge=judge)[["item_id", side]]))
            for side in ("judge", "opponent")
        )
        witnesses = pd.MultiIndex.from_frame(sided[["item_id", "opponent"]])
        found.append(
            own.assign(
                dataset=data.name,
                opponent_agrees_with_human=other.index.isin(witnesses),
                length=mine.to_numpy() + other.to_numpy(),
            )
        )
    order = ["opponent_agrees_with_human", "margin", "length", "item_id", "judge", "opponent"]
    frame = pd.concat([pd.DataFrame(), *found])
    if frame.empty or frame["length"].isna().all():
        return pd.DataFrame()
    frame = frame[EXAMPLE].dropna(subset="length").astype({"length": int})
    return frame.sort_values(order, ascending=[False, True, True, True, True, True]).head(1)


def quoted(example: pd.DataFrame, items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """The example with its prompt and both texts.

    Args:
        example: As `compute` returns it.
        items: The items table, the example's item at least.
        responses: The responses table, those to this item at least.
    """
    texts = responses.query("step == 0 and sample == 0").set_index(["item_id", "responder"])["text"]
    said = items.set_index("item_id")["messages"]
    return example.assign(
        prompt=["\n\n".join(m["content"] for m in said[item]) for item in example["item_id"]],
        own_text=[texts[row.item_id, row.judge] for row in example.itertuples()],
        other_text=[texts[row.item_id, row.opponent] for row in example.itertuples()],
    )


def responses(data: Judged) -> pd.DataFrame:
    """How many texts each responder wrote, and how many were cut off at their limit."""
    texts = data.tables["responses"]
    counted = texts["status"].ne("ok").groupby(texts["responder"]).agg(["size", "sum"])
    return (
        counted.rename(columns={"size": "n", "sum": "cut_off"})
        .reset_index()
        .assign(dataset=data.name)
    )


def _fig1b(frames: Frames) -> pd.DataFrame:
    """The bias frame with excess and flip rate, in the columns that the figure's table promises."""
    key = ["dataset", "judge"]
    table = frames["bias"]
    if len(frames["excess"]):
        by_variant = frames["excess"].set_index([*key, "variant"])
        for variant, names in {
            "own": {"excess": "excess", "excess_lo": "excess_lo", "excess_hi": "excess_hi"},
            "common": {"excess": "excess_common"},
            "half-ties": {"excess": "excess_half_ties"},
        }.items():
            part = by_variant.xs(variant, level="variant")[list(names)].rename(columns=names)
            table = table.merge(part.reset_index(), on=key, how="left")
    if len(frames["position"]):
        own = frames["position"].query("pairs == 'own'")[[*key, "flip_rate"]]
        table = table.merge(own, on=key, how="left")
    table = table.reindex(columns=BIAS)
    if len(frames["planted"]):
        known = frames["planted"][[*key, "seed", "beta", "planted", "oracle_rule"]]
        table = table.merge(known, on=key, how="left")
    return table


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
        `agreement`, `win_rates`, `example` (Fig. 1a; `quoted` adds its texts), `responses`,
        `paper_bias` and `checks`; from perplexities `win_rates_by_bin`, `slopes` and
        `log_perplexity`; where the truth is known `planted`, `recovery` and `oracle_agreement`. A
        data set without any pair left contributes no rows; `fig1b_bias` keeps a judge whose pairs
        all dropped out, with their number.
    """
    judged = [Judged(name, tables, settings) for name, tables in sorted(datasets.items())]
    parts: dict[str, Callable[[Judged], pd.DataFrame]] = {
        "bias": bias,
        "table2_demographic_parity": demographic_parities,
        "bias_by_opponent": bias_by_opponent,
        "excess": excess_table,
        "position": position,
        "agreement": lambda data: agreement(
            data.tables["items"], data.tables["labels"], data.pairs
        ).assign(dataset=data.name),
        "win_rates": lambda data: win_rates(data.pairs).assign(dataset=data.name),
        "example": example,
        "responses": responses,
        "win_rates_by_bin": win_rates_by_bin,
        "slopes": slopes,
        "log_perplexity": own_and_other,
        "planted": planted_bias,
        "oracle_agreement": oracle_agreement,
    }
    frames = {}
    for name, make in parts.items():
        frames[name] = pd.concat([pd.DataFrame(), *map(make, judged)], ignore_index=True)
        release()
    best = frames["example"]
    if len(best):
        frames["example"] = best.sort_values(
            ["opponent_agrees_with_human", "margin", "length"], ascending=[False, True, True]
        ).head(1)
    frames["fig1b_bias"] = _fig1b(frames)
    del frames["bias"]
    frames["table2_demographic_parity"] = with_published(
        frames["table2_demographic_parity"], published
    )
    frames["recovery"] = recovery(judged)
    frames["paper_bias"] = paper_bias(published, settings)
    frames["checks"] = checks(frames, published)
    return {name: whole_counts(frame) for name, frame in frames.items()}
