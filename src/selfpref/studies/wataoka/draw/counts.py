"""Fig. 2 and Table 2: how often judges and people prefer a judge's own response."""

import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import caption, counted, labelled_by, signed, wilson
from selfpref.plots.forest import forest
from selfpref.plots.frame import GREEN, SKY, Look, long
from selfpref.plots.heatmap import heatmap
from selfpref.plots.save import Plate, nothing
from selfpref.statistics.bias import CELLS as COUNTS
from selfpref.statistics.bias import too_few
from selfpref.studies.wataoka.draw.names import (
    AUTHOR,
    HOLLOW,
    WHY,
    called,
    none_left,
    readable,
    titled,
)

# Of Table 2, where nobody voted on some pairs.
EVERY = ["n_every", "n_dropped_every", "dp_every", "dp_every_lo", "dp_every_hi"]
CELLS = {"tp": ("own", "own"), "fn": ("own", "other"), "fp": ("other", "own"), "tn": ("other",) * 2}


def confusion(rows: pd.DataFrame, paper: pd.DataFrame) -> Plate:
    """Fig. 2: human by judge, one 2x2 table a judge, shaded by the share of the row.

    Args:
        rows: The frame `fig1b_bias`.
        paper: As `paper_bias` returns it.
    """
    columns = [name for name in paper if name in rows]
    table = pd.concat([paper[columns], rows[columns]], ignore_index=True)
    if not rows["n"].gt(0).any():
        return nothing(none_left(rows), table)
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
                f"{row.set}\n{name}\n{bias_of.get((row.dataset, row.judge), 'too few pairs')}"
                for row, name in zip(
                    titled(cells).itertuples(), called(cells["judge"]), strict=True
                )
            ],
        ),
        row="human",
        column="prefers",
        text="text",
        panel="panel",
        limits=(0, 1),
        label=("judge prefers", "people prefer"),
        height=0.5,
    )
    told = caption(
        "People against the judge on the pairs with the judge's own response; count and share of "
        f"the row; above, the EO bias with its interval, or too few pairs ({HOLLOW})",
        counted(readable(rows), "pairs", why=WHY),
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
    looks = {"decisive rows only": AUTHOR, "people's ties included": Look(SKY, "s")}
    columns = dict(zip(looks, ("dp_decisive", "dp_with_ties"), strict=True))
    some = rows["n_every"].notna()
    if some.any():
        looks["every pair, voted on or not"] = Look(GREEN, "^")
        columns["every pair, voted on or not"] = "dp_every"
    notes = ["" if pd.isna(value) else f"printed: {value:.3f}" for value in rows["published"]]
    figure = forest(
        long(titled(rows).assign(note=notes, judge=called(rows["judge"])), columns),
        row="judge",
        group="set",
        label="demographic parity (0: picks own and other alike)",
        looks=looks,
        note="note",
    )
    named = readable(rows)
    told = caption(
        "Demographic parity in both readings",
        f"Decisive rows: {counted(named, 'pairs', n='n_decisive', dropped='n_dropped_decisive')}",
        f"People's ties included: "
        f"{counted(named, 'pairs', n='n_with_ties', dropped='n_dropped_with_ties')}",
        f"Every pair: {counted(named[some], 'pairs', n='n_every', dropped='n_dropped_every')}"
        if some.any()
        else "",
        "Printed: in the paper for the judge of this name on Chatbot Arena",
        wilson("prompts", params),
    )
    return Plate(figure, rows, told)
