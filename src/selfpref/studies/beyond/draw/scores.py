"""Scores of texts one by one, and preferences of judges that read pairs with an own text only."""

import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import caption
from selfpref.plots.forest import forest
from selfpref.plots.frame import BLUE, GREEN, ORANGE, Look, looks
from selfpref.plots.save import Plate, nothing
from selfpref.studies.beyond.draw.names import (
    HOLLOW,
    NAMES,
    by_family,
    called,
    described,
    evaluators,
)

RUBRIC = "rubric points"
# Gold scores as headings name them.
TRUTHS = {
    "human-mqm": "people's scores",
    "bleurt-mqm": "BLEURT in MQM points",
    "mqm": "errors that were put in",
    "coverage-lemma": "words covered",
    "correctness": "share of right answers",
    "key-strict": "answer key",
    "other judges": "the other judges' scores",
    "rubric": "marks that the text earns",
}
# Statistic, gold label and heading of the panels of judges without a second reader.
PREFERENCES = {
    ("demographic_parity", "none"): "demographic parity",
    ("equal_length", "none"): "P(own) − ½ at equal length",
    ("gold_gap", "oracle"): "DBG score, gold: oracle",
}


def ratings(rows: pd.DataFrame, params: Params, *, rubric: bool = False) -> Plate:
    """The statistics of scores, in the points of each scale: one panel a scale and gold score.

    Args:
        rows: The frame `beyond`.
        params: With `bootstrap`.
        rubric: Of totals of a rubric, whose table has them alone; else of judges of refinement.
    """
    scored = rows["unit"].ne("probability")
    table = rows[scored & rows["unit"].eq(RUBRIC)] if rubric else rows[scored]
    mine = table[table["unit"].eq(RUBRIC) == rubric]
    # A value of one row has no spread.
    shown = mine[mine["n"].gt(1)]
    if shown.empty:
        return nothing("no judge scored texts of its own", table)
    # Both answer keys give nearly the same coefficients.
    drawn = described(shown[shown["statistic"].eq("gold_gap") | shown["gold"].ne("key-tolerant")])
    drawn = drawn.assign(
        panel=[
            f"{unit}: minus {TRUTHS.get(gold, gold)}"
            for unit, gold in zip(drawn["unit"], drawn["gold"], strict=True)
        ],
        note=drawn["n"].map("n = {:g}".format),
        judge=pd.Categorical(drawn["judge"], by_family(drawn["judge"])),
    ).sort_values(["panel", "judge"], kind="stable")
    figure = forest(
        drawn.astype({"judge": "str"}),
        row="judge",
        series="name",
        panel="panel",
        wrap=2,
        rows_by_panel=True,
        label="the judge's scores of its own texts above gold (grey line: as gold)",
        looks={
            NAMES["gold_gap"]: Look(BLUE),
            NAMES["regression"]: Look(ORANGE, "D"),
            NAMES["regression_length"]: Look(GREEN, "s"),
        },
        share_x=False,
        note="note",
        hollow=HOLLOW,
    )
    told = caption(
        "Scores that judges give their own texts above gold scores of the same texts (DBG score), "
        "and coefficients of an own text where there are",
        f"{mine['n'].sum():g} scores, {mine['dropped'].sum():g} left out (no score or no "
        f"gold score); {int(mine['n'].eq(0).sum())} values do not exist"
        + (f"; {left} from one score, not drawn" if (left := mine["n"].eq(1).sum()) else ""),
        params=params,
    )
    return Plate(figure, table, told)


def preferences(
    rows: pd.DataFrame, who: pd.DataFrame, params: Params, *, controls: bool = False
) -> Plate:
    """Judges that read pairs with an own text only: parity, equal length, gap to the oracle.

    Args:
        rows: The frame `beyond`.
        who: The frame `evaluators`.
        params: With `bootstrap`.
        controls: Of models tuned on other tasks; else of untuned ones and of those tuned on
            self-recognition, with the table of all.
    """
    table = rows[rows["study"].eq("panickssery")]
    judges = evaluators(who)
    of_kind = table["judge"].map(judges["control"]).eq(controls)
    if controls:
        table = table[of_kind]
    mine = table[of_kind[table.index]]
    shown = mine[mine["n"].gt(1)]
    if shown.empty:
        who = "judge that its name calls a control" if controls else "judge of own summaries"
        return nothing(f"no {who} in this profile", table)
    kinds = zip(shown["statistic"], shown["gold"], strict=True)
    drawn = shown.assign(
        panel=[PREFERENCES.get(kind) for kind in kinds],
        hollow=shown["few"],
        set=shown["dataset"].map(called),
        **{name: shown["judge"].map(judges[name]) for name in ("family", "base", "name")},
    )
    drawn = drawn[drawn["panel"].notna()]
    place = {name: number for number, name in enumerate(by_family(drawn["name"]))}
    drawn = drawn.assign(place=drawn["name"].map(place))
    figure = forest(
        drawn.sort_values(["family", "base", "place"], ascending=[True, False, True]),
        row="name",
        group="family" if drawn["family"].nunique() < len(place) else None,
        series="set",
        panel="panel",
        label="preference for its own text",
        looks=looks(drawn["set"]),
        share_x=False,
        hollow=HOLLOW,
    )
    parity = mine[mine["statistic"].eq("demographic_parity") & mine["gold"].eq("none")]
    oracle = shown["gold"].eq("oracle").any()
    left = int(parity["n"].eq(1).sum())
    told = caption(
        "How often a judge prefers its own text, and the same where both are equally long",
        f"{parity['n'].sum():g} pairs decided in both orders by {parity['judge'].nunique()} "
        f"judges, {parity['dropped'].sum():g} left out (ties or unusable answers)"
        + (f"; {left} value from one pair, not drawn" if left else ""),
        "Articles that a model was tuned on are left out",
        "The gap is to the oracle" if oracle else "No gold label: quality is not controlled for",
        params=params,
    )
    return Plate(figure, table, told)
