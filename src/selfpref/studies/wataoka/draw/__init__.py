"""The figures of Wataoka et al. from the frames of `selfpref.studies.wataoka.measure`."""

import textwrap

import pandas as pd
from matplotlib import style

from selfpref.params import Params
from selfpref.plots.captions import caption, counted, interval, signed, unvaried
from selfpref.plots.forest import forest
from selfpref.plots.frame import BLACK, BLUE, GREEN, GREY, ORANGE, PAGE, STYLE, Look, empty, long
from selfpref.plots.heatmap import heatmap
from selfpref.plots.save import Plate, nothing

# How the data sets are headed; a user's own stand under their key.
TITLES = {
    "mt-bench": "MT-Bench, human majority",
    "vicuna80": "Vicuna-80, human majority",
    "arena": "Chatbot Arena",
    "chatbot-arena": "Chatbot Arena, as printed in the paper",
}
# Cells and bins with fewer pairs are hollow.
FEW = 10
WHY = "by a tie or a status"
CELLS = {"tp": ("own", "own"), "fn": ("own", "other"), "fp": ("other", "own"), "tn": ("other",) * 2}


def titled(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the heading of their data set in the column `set`."""
    return rows.assign(set=[TITLES.get(name, name) for name in rows["dataset"]])


def _none_left(bias: pd.DataFrame) -> str:
    """Why there is no pair to draw."""
    if bias.empty:
        return "no judge has a pair with a response of its own"
    return (
        f"0 of {bias['n_dropped'].sum():g} labelled own pairs are left; ties or status dropped them"
    )


def bias(rows: pd.DataFrame, paper: pd.DataFrame, params: Params) -> Plate:
    """Fig. 1b: EO bias by judge, with the excess over the other judges and the printed values.

    Args:
        rows: The frame `fig1b_bias` (`measure.judged.bias`, with the excess of `excess_table`);
            with `planted` and `oracle_rule` these are drawn too.
        paper: As `paper_bias` returns it.
        params: With `bootstrap`.
    """
    if not rows["n"].gt(0).any():
        return nothing(_none_left(rows), rows)
    series = {
        "EO bias": ("eo", Look(BLUE)),
        "excess over the other judges": ("excess", Look(ORANGE, "D")),
        "injected": ("planted", Look(BLACK, "+")),
        "oracle rule (no preference)": ("oracle_rule", Look(GREY, "x")),
    }
    printed = "EO bias from the printed counts"
    drawn = {label: column for label, (column, _) in series.items() if column in rows}
    shown = pd.concat([long(rows, drawn), long(paper, {printed: "eo"})], ignore_index=True)
    alone = rows.groupby("dataset")["excess"].transform(lambda values: values.isna().all())
    aside = shown["dataset"].isin(set(rows.loc[alone, "dataset"]))
    notes = [f"n = {n:g}" for n in shown["n"]]
    figure = forest(
        titled(shown).assign(
            note=[f"{n}, no other judge" if one else n for n, one in zip(notes, aside, strict=True)]
        ),
        row="judge",
        group="set",
        label="bias towards own responses (0: none)",
        looks={label: look for label, (_, look) in series.items()} | {printed: Look(GREY, "s")},
        note="note",
    )
    told = caption(
        "Equal-opportunity bias of each judge towards its own responses and its excess over the "
        "other judges on the same responses (variant own)",
        counted(rows, "pairs", why=WHY),
        unvaried(rows.rename(columns={"eo_lo": "lo", "eo_hi": "hi"})),
        "Squares: the counts that the paper prints for Chatbot Arena, rows resampled",
        params=params,
    )
    return Plate(figure, rows, told)


def confusion(rows: pd.DataFrame, paper: pd.DataFrame) -> Plate:
    """Fig. 2: human by judge, one 2x2 table a judge, shaded by the share of the row.

    Args:
        rows: The frame `fig1b_bias`.
        paper: As `paper_bias` returns it.
    """
    table = pd.concat([paper, rows[paper.columns]], ignore_index=True)
    if not rows["n"].gt(0).any():
        return nothing(_none_left(rows), table)
    shown = table[table["n"].gt(0)]
    cells = shown.melt(["dataset", "judge", "eo", "eo_lo", "eo_hi"], list(CELLS), "cell", "count")
    cells[["human", "prefers"]] = [CELLS[cell] for cell in cells["cell"]]
    whole = cells.groupby(["dataset", "judge", "human"])["count"].transform("sum")
    cells["value"] = cells["count"] / whole
    figure = heatmap(
        cells.assign(
            text=[f"{c:g}\n{v:.0%}" for c, v in zip(cells["count"], cells["value"], strict=True)],
            panel=[
                f"{row.judge}\n{'Arena (paper)' if row.dataset == 'chatbot-arena' else row.dataset}"
                f"\n{signed(row.eo)} [{signed(row.eo_lo)}, {signed(row.eo_hi)}]"
                for row in cells.itertuples()
            ],
        ),
        row="human",
        column="prefers",
        text="text",
        panel="panel",
        limits=(0, 1),
        label=("judge prefers", "human prefers"),
        height=0.5,
    )
    told = caption(
        "Human against judge on the pairs with the judge's own response; count and share of the "
        "row; above, the EO bias with its interval",
        counted(rows, "pairs", why=WHY),
        "First: the counts that the paper prints",
    )
    return Plate(figure, table, told)


def demographic_parity(rows: pd.DataFrame) -> Plate:
    """Table 2 as dots: DP in both readings beside the printed value.

    Args:
        rows: The frame `table2_demographic_parity` (`measure.judged.demographic_parities`).
    """
    if rows.empty or not rows["n_decisive"].gt(0).any():
        return nothing("no judge decides a pair with a response of its own", rows)
    looks = {"decisive rows only": Look(BLUE), "human ties included": Look(ORANGE, "D")}
    columns = zip(looks, ("dp_decisive", "dp_with_ties"), strict=True)
    notes = ["" if pd.isna(value) else f"printed: {value:.3f}" for value in rows["published"]]
    figure = forest(
        long(titled(rows).assign(note=notes), dict(columns)),
        row="judge",
        group="set",
        label="demographic parity (0: picks own and other alike)",
        looks=looks,
        note="note",
    )
    told = caption(
        "Demographic parity in both readings",
        f"Decisive rows: {counted(rows, 'pairs', n='n_decisive', dropped='n_dropped_decisive')}",
        f"Human ties included: "
        f"{counted(rows, 'pairs', n='n_with_ties', dropped='n_dropped_with_ties')}",
        "Printed: in the paper for the judge of this name on Chatbot Arena",
    )
    return Plate(figure, rows, told)


def by_opponent(rows: pd.DataFrame) -> Plate:
    """EO of each judge split by whose response its own was compared with.

    Args:
        rows: The frame `bias_by_opponent` (`measure.judged.bias_by_opponent`).
    """
    if not len(rows) or not rows["eo"].notna().any():
        return nothing("no judge and opponent with both human outcomes", rows)
    figure = forest(
        long(rows, {"EO bias": "eo"}).assign(
            panel=rows["judge"] + " on " + rows["dataset"],
            note=[f"{row.tp + row.fn:g} + {row.fp + row.tn:g}" for row in rows.itertuples()],
            hollow=rows[["tp", "fp"]].add(rows[["fn", "tn"]].to_numpy()).min(axis=1).lt(FEW),
        ),
        row="opponent",
        panel="panel",
        wrap=2,
        rows_by_panel=True,
        label="EO bias by opponent",
        looks={"EO bias": Look(BLUE)},
        limits=(-1.06, 1.06),
        note="note",
        hollow=f"fewer than {FEW} pairs of one kind",
    )
    bounds = {"eo_lo": "lo", "eo_hi": "hi"}
    unsure = int((rows["undefined"] > 0.05).sum())
    told = caption(
        "Equal-opportunity bias by opponent",
        "On the right: pairs on which the human preferred the judge's own response + the other one",
        f"{len(rows)} cells, {rows['n'].sum():g} pairs, {rows['n_dropped'].sum():g} dropped by "
        "ties or status",
        unvaried(rows.rename(columns=bounds)),
        f"In {unsure} cells more than 5 % of the resamples lack one human outcome; their intervals "
        "rest on the others",
    )
    return Plate(figure, rows, told)


def position(rows: pd.DataFrame) -> Plate:
    """First-position share, flip rate and reversal rate of every judge.

    Args:
        rows: The frame `position` (`measure.judged.position`).
    """
    if not len(rows) or not rows["first_share"].notna().any():
        return nothing("no verdict whose order of presentation is known", rows)
    quantities = {
        "first response chosen": "first_share",
        "outcome differs between orders": "flip_rate",
        "winner reverses with the order": "reversal_rate",
    }
    shown = long(rows, quantities, into="quantity").sort_values(["dataset", "judge"], kind="stable")
    first = shown["quantity"].eq(next(iter(quantities)))
    figure = forest(
        titled(shown).assign(
            neutral=first.map({True: 0.5, False: 0.0}), series=shown["pairs"] + " pairs"
        ),
        row="judge",
        group="set",
        panel="quantity",
        label="share of decided verdicts (left), of pairs judged in both orders",
        looks={"all pairs": Look(BLUE), "own pairs": Look(GREEN, "D")},
        reference="neutral",
        limits=(-0.03, 1.03),
    )
    every = rows[rows["n_decided"].gt(0) & rows["pairs"].eq("all")]
    told = caption(
        f"{every['n_decided'].sum():g} decided verdicts with known order and "
        f"{every['n_both'].sum():g} pairs judged in both orders, {len(every)} judges",
        "Grey lines: no position bias",
        "Data sets whose source merged the orders are not shown",
    )
    return Plate(figure, rows, told)


@style.context(STYLE)
def example(rows: pd.DataFrame) -> Plate:
    """Fig. 1a: one pair on which a judge prefers its own response and the human the other.

    Args:
        rows: The frame `example`, at most one row. It holds released text.
    """
    if rows.empty:
        return nothing(
            "no pair with released texts has a judge for its own response and the human against",
            rows,
        )
    row = rows.iloc[0]
    figure = empty(PAGE, 4.2)
    boxes = [
        (f"Prompt ({row['item_id']})", row["prompt"], GREY, 0.99, 300),
        (f"{row['judge']}: preferred by itself as a judge", row["own_text"], BLUE, 0.80, 950),
        (f"{row['opponent']}: preferred by the human", row["other_text"], ORANGE, 0.40, 950),
    ]
    for heading, text, color, top, length in boxes:
        figure.text(0.01, top, heading, va="top", fontsize=8, weight="bold", color=color)
        short = textwrap.fill(textwrap.shorten(str(text), length, placeholder=" […]"), 118)
        figure.text(0.01, top - 0.05, short, va="top", fontsize=7.5, parse_math=False)
    agrees = row["opponent_agrees_with_human"]
    sides = "sides with the human" if agrees else "does not side with the human, or is no judge"
    told = (
        f"Item {row['item_id']}: the judge {row['judge']} prefers its own response (score "
        f"{row['score']:.2f}), the human majority that of {row['opponent']} (votes for own minus "
        f"against: {row['margin']:g}); {row['opponent']} as a judge {sides}."
    )
    return Plate(figure, rows, told)


def rows_used(bias: pd.DataFrame, responses: pd.DataFrame, params: Params) -> str:
    """Which rows the parameters let in, and how many there are."""
    use = params.wataoka
    texts, cut = responses["n"].sum(), responses["cut_off"].sum()
    return (
        f"Profile `{params.profile}`. Human ties: {use.human_ties}; judge ties: {use.judge_ties}; "
        f"turns: {use.turns}; threshold: {use.threshold:g}. Own pairs with a human vote: "
        f"{counted(bias, 'pairs', why=WHY)}. Responses: {texts:g}, of them {cut:g} cut off at "
        f"their limit. {interval('prompts', params)}."
    )


def excess_signs(rows: pd.DataFrame) -> str:
    """Where the three variants of the excess agree in sign, and where not."""
    if rows.empty:
        return "No second judge read the same responses: there is no excess."
    lines = []
    for (dataset, judge), part in rows.groupby(["dataset", "judge"]):
        values = part.set_index("variant")["excess"]
        clear = part[(part["excess_lo"] > 0) | (part["excess_hi"] < 0)]["variant"]
        sign = "one sign" if (values > 0).all() or (values < 0).all() else "**different signs**"
        numbers = ", ".join(f"{name} {value:+.2f}" for name, value in values.items())
        away = f"interval without 0: {', '.join(clear) or 'none'}"
        lines.append(f"- {judge} ({dataset}): {numbers}; {sign}; {away}.")
    return "\n".join(lines)
