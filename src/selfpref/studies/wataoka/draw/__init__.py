"""The figures of Wataoka et al. from the frames of `selfpref.studies.wataoka.measure`."""

import textwrap

import pandas as pd
from matplotlib import style

from selfpref.params import Params
from selfpref.plots.captions import (
    caption,
    counted,
    interval,
    labelled_by,
    signed,
    wilson,
)
from selfpref.plots.forest import forest
from selfpref.plots.frame import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PAGE,
    PURPLE,
    STYLE,
    Look,
    empty,
    long,
)
from selfpref.plots.heatmap import heatmap
from selfpref.plots.save import Plate, nothing
from selfpref.statistics.bias import CELLS as COUNTS
from selfpref.statistics.bias import FEW, human_sides, too_few
from selfpref.tables.asked import NO_TABLE

# How the data sets are headed; a user's own stand under their key.
TITLES = {
    "mt-bench": "MT-Bench, human majority",
    "vicuna80": "Vicuna-80, human majority",
    "arena": "Chatbot Arena",
    "chatbot-arena": "Chatbot Arena, as printed in the paper",
}
WHY = "by a tie or a status"
# Of Table 2, where nobody voted on some pairs.
EVERY = ["n_every", "n_dropped_every", "dp_every", "dp_every_lo", "dp_every_hi"]
HOLLOW = f"fewer than {FEW} pairs on one human side"
SIDES = "pairs on which the human prefers the judge's own response + the other one"
CELLS = {"tp": ("own", "own"), "fn": ("own", "other"), "fp": ("other", "own"), "tn": ("other",) * 2}


def titled(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the heading of their data set in the column `set`."""
    return rows.assign(set=[TITLES.get(name, name) for name in rows["dataset"]])


def _none_left(bias: pd.DataFrame) -> str:
    """Why there is no pair to draw."""
    if bias.empty:
        return "no judge has a pair with a response of its own"
    if not bias["n_dropped"].any():
        return "nobody voted on a pair with a judge's own response"
    return (
        f"0 of {bias['n_dropped'].sum():g} labelled own pairs are left; ties or status dropped them"
    )


def _sides(rows: pd.DataFrame) -> list[str]:
    """Pairs on either human side of each row, from its cells."""
    return [f"{own:g} + {other:g}" for own, other in human_sides(rows[COUNTS])]


def bias(rows: pd.DataFrame, paper: pd.DataFrame, params: Params) -> Plate:
    """Fig. 1b: EO bias by judge, beside the other judges', another person's, and printed values.

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
        "another person in the judge's place": ("eo_no_preference", Look(PURPLE, "v")),
        "mean of the other judges": ("eo_others", Look(GREEN, "^")),
        "excess over the other judges": ("excess", Look(ORANGE, "D")),
        "injected": ("planted", Look(BLACK, "+")),
        "oracle rule (no preference)": ("oracle_rule", Look(GREY, "x")),
    }
    printed = "EO bias from the printed counts"
    drawn = {
        label: column
        for label, (column, _) in series.items()
        if column in rows and rows[column].notna().any()
    }
    shown = pd.concat([long(rows, drawn), long(paper, {printed: "eo"})], ignore_index=True)
    weak = {
        "EO bias": shown["few"],
        "mean of the other judges": shown["excess_few"],
        "excess over the other judges": shown["excess_few"],
    }
    alone = rows.groupby("dataset")["excess"].transform(lambda values: values.isna().all())
    aside = shown["dataset"].isin(set(rows.loc[alone, "dataset"]))
    figure = forest(
        titled(shown).assign(
            note=[
                f"{n}, no other judge" if one else n
                for n, one in zip(_sides(shown), aside, strict=True)
            ],
            hollow=pd.concat(
                [few.eq(True) & shown["series"].eq(name) for name, few in weak.items()], axis=1
            ).any(axis=1),
        ),
        row="judge",
        group="set",
        label="bias towards own responses (0: none)",
        looks={label: look for label, (_, look) in series.items()} | {printed: Look(GREY, "s")},
        note="note",
        hollow=HOLLOW,
    )
    told = caption(
        "Equal-opportunity bias of each judge towards its own responses, the mean bias of the "
        "other judges towards the same responses, and the difference (excess, variant own)",
        counted(rows, "pairs", why=WHY),
        f"On the right: {SIDES}",
        _two_votes(rows),
        labelled_by(rows),
        "Squares: the counts that the paper prints for Chatbot Arena, rows resampled",
        params=params,
    )
    return Plate(figure, rows, told)


def _two_votes(rows: pd.DataFrame) -> str:
    """What another person's mark is, of how many pairs, and which judges have too few of them."""
    ok = rows["no_preference_status"].eq("ok")
    if not ok.any():
        return ""
    told = f"{rows.loc[ok, 'n_two_votes'].sum():g} pairs with two votes or more"
    for reason, part in rows[~ok].groupby("no_preference_status"):
        told += f"; none for {', '.join(part['judge'])} ({reason})"
    return (
        "Another person in the judge's place: one person's vote on a pair against another's, as a "
        f"judge without self-preference would vote if it erred like people ({told})"
    )


def confusion(rows: pd.DataFrame, paper: pd.DataFrame) -> Plate:
    """Fig. 2: human by judge, one 2x2 table a judge, shaded by the share of the row.

    Args:
        rows: The frame `fig1b_bias`.
        paper: As `paper_bias` returns it.
    """
    columns = [name for name in paper if name in rows]
    table = pd.concat([paper[columns], rows[columns]], ignore_index=True)
    if not rows["n"].gt(0).any():
        return nothing(_none_left(rows), table)
    shown = table[table["n"].gt(0)]
    cells = shown.melt(["dataset", "judge", "eo", "eo_lo", "eo_hi"], list(CELLS), "cell", "count")
    cells[["human", "prefers"]] = [CELLS[cell] for cell in cells["cell"]]
    whole = cells.groupby(["dataset", "judge", "human"])["count"].transform("sum")
    cells["value"] = cells["count"] / whole
    bias_of = {
        (row.dataset, row.judge): f"{signed(row.eo)} [{signed(row.eo_lo)}, {signed(row.eo_hi)}]"
        for row in shown[~too_few(shown[COUNTS])].itertuples()
    }
    figure = heatmap(
        cells.assign(
            text=[f"{c:g}\n{v:.0%}" for c, v in zip(cells["count"], cells["value"], strict=True)],
            panel=[
                f"{row.judge}\n{'Arena (paper)' if row.dataset == 'chatbot-arena' else row.dataset}"
                f"\n{bias_of.get((row.dataset, row.judge), 'too few pairs')}"
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
        f"row; above, the EO bias with its interval, or too few pairs ({HOLLOW})",
        counted(rows, "pairs", why=WHY),
        labelled_by(rows),
        "First: the counts that the paper prints",
    )
    return Plate(figure, table, told)


def demographic_parity(rows: pd.DataFrame, params: Params) -> Plate:
    """Table 2 as dots: DP in both readings beside the printed value.

    Args:
        rows: The frame `table2_demographic_parity` (`measure.judged.demographic_parities`).
        params: With `bootstrap`.
    """
    rows = rows.reindex(columns=[*rows.columns.union(EVERY, sort=False)])
    if rows.empty or not rows[["n_decisive", "n_every"]].gt(0).any(axis=None):
        return nothing("no judge decides a pair with a response of its own", rows)
    looks = {"decisive rows only": Look(BLUE), "human ties included": Look(ORANGE, "D")}
    columns = dict(zip(looks, ("dp_decisive", "dp_with_ties"), strict=True))
    some = rows["n_every"].notna()
    if some.any():
        looks["every pair, voted on or not"] = Look(GREEN, "^")
        columns["every pair, voted on or not"] = "dp_every"
    notes = ["" if pd.isna(value) else f"printed: {value:.3f}" for value in rows["published"]]
    figure = forest(
        long(titled(rows).assign(note=notes), columns),
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
        f"Every pair: {counted(rows[some], 'pairs', n='n_every', dropped='n_dropped_every')}"
        if some.any()
        else "",
        "Printed: in the paper for the judge of this name on Chatbot Arena",
        wilson("prompts", params),
    )
    return Plate(figure, rows, told)


def by_opponent(rows: pd.DataFrame, params: Params) -> Plate:
    """EO of each judge split by whose response its own was compared with.

    Args:
        rows: The frame `bias_by_opponent` (`measure.judged.bias_by_opponent`).
        params: With `bootstrap`.
    """
    if not len(rows) or not rows["eo"].notna().any():
        return nothing("no judge and opponent with both human outcomes", rows)
    figure = forest(
        long(rows, {"EO bias": "eo"}).assign(
            panel=rows["judge"] + " on " + rows["dataset"],
            note=_sides(rows),
            hollow=rows["few"],
        ),
        row="opponent",
        panel="panel",
        wrap=2,
        rows_by_panel=True,
        label="EO bias by opponent",
        looks={"EO bias": Look(BLUE)},
        limits=(-1.06, 1.06),
        note="note",
        hollow=HOLLOW,
    )
    unsure = int((rows["undefined"] > 0.05).sum())
    told = caption(
        "Equal-opportunity bias by opponent",
        f"On the right: {SIDES}",
        f"{len(rows)} cells, {rows['n'].sum():g} pairs, {rows['n_dropped'].sum():g} dropped by "
        "ties or status",
        f"{rows['few'].sum():g} cells are hollow",
        labelled_by(rows),
        f"In {unsure} cells more than 5 % of the resamples lack one human outcome; their intervals "
        "rest on the others"
        if unsure
        else "",
        "Newcombe's intervals where a share of agreement is 0 or 1",
        params=params,
    )
    return Plate(figure, rows, told)


def position(rows: pd.DataFrame, params: Params) -> Plate:
    """First-position share, flip rate and reversal rate of every judge.

    Args:
        rows: The frame `position` (`measure.judged.position`).
        params: With `bootstrap`.
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
        wilson("prompts", params),
    )
    return Plate(figure, rows, told)


def led_by_position(rows: pd.DataFrame) -> str:
    """Which judges follow the order more than the responses; empty where none does.

    Args:
        rows: The frame `position`.
    """
    led = rows[rows["pairs"].eq("all") & rows["reversal_rate_lo"].gt(0.5)] if len(rows) else rows
    if led.empty:
        return ""
    names = "; ".join(
        f"{row.judge} ({TITLES.get(row.dataset, row.dataset).split(',')[0]}, "
        f"{row.reversal_rate:.2f} [{row.reversal_rate_lo:.2f}, {row.reversal_rate_hi:.2f}] of "
        f"{row.n_both:g} pairs)"
        for row in led.itertuples()
    )
    return (
        "**Position explains more than content** where the winner reverses with the order in more "
        f"than half of the pairs: {names}. What is left of such a judge after averaging both "
        "orders says little about a self."
    )


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


def rows_used(
    bias: pd.DataFrame, responses: pd.DataFrame, asked: pd.DataFrame, params: Params
) -> str:
    """Which rows the parameters let in, how many there are, and which tables are missing.

    Args:
        bias: The frame `fig1b_bias`.
        responses: The frame `responses`.
        asked: The frame `asked`.
        params: Of the chapter.
    """
    gone = asked[asked["status"].eq(NO_TABLE)].sort_values(["table", "judge"])
    missing = ", ".join(gone["table"] + " of " + gone["judge"])
    missing = f" **Not there, since its stage failed: {missing}.**" if missing else ""
    use = params.wataoka
    panel = (
        f"Data sets `… (panel)`: where nobody voted, the majority of {', '.join(use.panel)}. "
        if use.panel
        else ""
    )
    texts, cut = responses["n"].sum(), responses["cut_off"].sum()
    return (
        f"Profile `{params.profile}`. Human ties: {use.human_ties}; judge ties: {use.judge_ties} "
        f"({use.judge_tie}); "
        f"turns: {use.turns}; threshold: {use.threshold:g}. Own pairs with a human vote: "
        f"{counted(bias, 'pairs', why=WHY)}. {panel}Responses: {texts:g}, of them {cut:g} cut off "
        f"at their limit. {interval('prompts', params)}.{missing}"
    )


def _bounded(rows: pd.DataFrame, name: str, few: pd.Series | None = None) -> list[str]:
    """Values with their intervals as text: empty where missing, and not quoted of too few pairs."""
    weak = [False] * len(rows) if few is None else few
    columns = (rows[part] for part in (name, f"{name}_lo", f"{name}_hi"))
    return [
        "too few"
        if one
        else f"{signed(value)} [{signed(lo)}, {signed(hi)}]"
        if pd.notna(value)
        else ""
        for one, value, lo, hi in zip(weak, *columns, strict=True)
    ]


def another_person(rows: pd.DataFrame) -> pd.DataFrame:
    """For readers: another person in the judge's place, and the judge against the same votes.

    Args:
        rows: The frame `fig1b_bias`.
    """
    return pd.DataFrame(
        {
            "data set": rows["dataset"],
            "judge": rows["judge"],
            "another person": _bounded(rows, "eo_no_preference"),
            "judge, single votes": _bounded(rows, "eo_one_vote"),
            "difference": _bounded(rows, "beyond_no_preference"),
            "pairs with two votes": rows["n_two_votes"],
            "status": rows["no_preference_status"],
        }
    )


def excess_by_variant(rows: pd.DataFrame) -> pd.DataFrame:
    """For readers: the excess in its variants with both human sides; empty without a second judge.

    Args:
        rows: The frame `excess`.
    """
    if rows.empty:
        return rows
    least = zip(rows["n_human_own_least"], rows["n_human_other_least"], strict=True)
    sides = zip(rows["n_human_own"], rows["n_human_other"], strict=True)
    return pd.DataFrame(
        {
            "data set": rows["dataset"],
            "judge": rows["judge"],
            "variant": rows["variant"],
            "excess": _bounded(rows, "excess", rows["few"]),
            "bias": [
                "too few" if few else signed(eo)
                for few, eo in zip(rows["few"], rows["eo"], strict=True)
            ],
            "other judges' mean": _bounded(rows, "eo_others", rows["few"]),
            "pairs": [f"{own:g} + {other:g}" for own, other in sides],
            "fewest of another judge": [f"{own:g} + {other:g}" for own, other in least],
        }
    )


def excess_signs(rows: pd.DataFrame) -> str:
    """Where the variants of the excess that have enough pairs agree in sign, and where not."""
    if rows.empty:
        return "No second judge read the same responses: there is no excess."
    lines = []
    for (dataset, judge), part in rows.groupby(["dataset", "judge"]):
        enough = part[~part["few"]]
        values = [
            f"{row.variant} {signed(row.excess)} [{signed(row.excess_lo)}, {signed(row.excess_hi)}]"
            for row in enough.itertuples()
        ]
        few = part.loc[part["few"], "variant"]
        told = ["; ".join(values) or "no value"]
        if len(enough) > 1:
            one = enough["excess"].gt(0).nunique() == 1
            told.append("one sign" if one else "**different signs**")
        if len(few):
            told.append(f"too few pairs: {', '.join(few)}")
        lines.append(f"- {judge} ({dataset}): {'; '.join(told)}.")
    return "\n".join(lines)
