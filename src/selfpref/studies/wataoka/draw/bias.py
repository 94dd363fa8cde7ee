"""Fig. 1b, and the same bias by opponent."""

import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import caption, counted, labelled_by
from selfpref.plots.forest import forest
from selfpref.plots.frame import COLUMN, long
from selfpref.plots.save import Plate, nothing
from selfpref.statistics.bias import FEW
from selfpref.studies.wataoka.draw.names import (
    AUTHOR,
    HOLLOW,
    INJECTED,
    ORACLE,
    OTHERS,
    PERSON,
    SIDES,
    WHY,
    called,
    none_left,
    readable,
    sides,
    titled,
)

SERIES = {
    "the judge itself": ("eo", AUTHOR),
    "other judges, in the mean": ("eo_others", OTHERS),
    "another person": ("eo_no_preference", PERSON),
    "injected": ("planted", INJECTED),
    "oracle rule (no preference)": ("oracle_rule", ORACLE),
}


def bias(rows: pd.DataFrame, paper: pd.DataFrame, params: Params) -> Plate:
    """Fig. 1b: EO bias by judge, beside the other judges', another person's, and the paper's.

    Args:
        rows: The frame `fig1b_bias` (`measure.judged.bias`, with the excess of `excess_table`);
            with `planted` and `oracle_rule` these are drawn too.
        paper: As `paper_bias` returns it.
        params: With `bootstrap`.
    """
    if not rows["n"].gt(0).any():
        return nothing(none_left(rows), rows)
    itself, others, *_ = SERIES
    drawn = {
        label: column
        for label, (column, _) in SERIES.items()
        if column in rows and rows[column].notna().any()
    }
    if not drawn:
        return nothing("no judge with both human outcomes", rows)
    some = rows[rows["n"].gt(0)]
    ordered = some.sort_values(["dataset", "eo"], ascending=[True, False], kind="stable")
    shown = pd.concat([long(paper, {itself: "eo"}), long(ordered, drawn)], ignore_index=True)
    alone = rows.groupby("dataset")["eo_others"].transform(lambda values: values.isna().all())
    lone = shown["dataset"].isin(set(rows.loc[alone, "dataset"]))
    heads = titled(shown)["set"].str.cat(lone.map({True: ": no other judge", False: ""}))
    few = shown["few"].eq(True) & shown["series"].eq(itself)
    figure = forest(
        shown.assign(
            judge=called(shown["judge"]),
            set=heads,
            note=sides(shown),
            hollow=few | (shown["excess_few"].eq(True) & shown["series"].eq(others)),
        ),
        row="judge",
        group="set",
        label="equal-opportunity bias towards the judge's responses",
        looks={label: look for label, (_, look) in SERIES.items()},
        note="note",
        hollow=HOLLOW,
        width=COLUMN,
        message=_message(rows),
    )
    told = caption(
        "Equal-opportunity bias of each judge towards its own responses, and the mean bias of the "
        f"other judges towards the same responses (of those with {FEW} pairs on each human side, "
        "where there are any)",
        counted(readable(rows), "pairs", why=WHY),
        f"On the right: {SIDES}",
        _two_votes(rows),
        labelled_by(rows),
        "First: the counts that the paper prints for Chatbot Arena, rows resampled",
        params=params,
    )
    return Plate(figure, rows, told)


def _message(rows: pd.DataFrame) -> str:
    """That others share most of the largest bias, where they do; else empty."""
    known = rows[rows["few"].eq(False) & rows["excess_few"].eq(False) & rows["eo_others"].notna()]
    for row in known.sort_values("eo").tail(1).itertuples():
        if row.eo_others_lo > 0 and row.eo_others > row.eo / 2:
            (name,) = called([row.judge])
            return f"Judges that wrote none of {name}'s responses show most of its bias"
    return ""


def _two_votes(rows: pd.DataFrame) -> str:
    """What another person's mark is, of how many pairs, and which judges have too few of them."""
    ok = rows["no_preference_status"].eq("ok")
    if not ok.any():
        return ""
    told = f"{rows.loc[ok, 'n_two_votes'].sum():g} pairs with two votes or more"
    for reason, part in rows[~ok].groupby("no_preference_status"):
        told += f"; none for {', '.join(called(part['judge']))} ({reason})"
    return (
        "Another person: one person's vote on a pair against another's, as a judge without "
        f"self-preference would vote if it erred like people ({told})"
    )


def by_opponent(rows: pd.DataFrame, params: Params) -> Plate:
    """EO of each judge split by whose response its own was compared with.

    Args:
        rows: The frame `bias_by_opponent` (`measure.judged.bias_by_opponent`).
        params: With `bootstrap`.
    """
    if not len(rows) or not rows["eo"].notna().any():
        return nothing("no judge and opponent with both human outcomes", rows)
    some = rows["eo"].notna().groupby([rows["dataset"], rows["judge"]]).transform("any")
    drawn = titled(rows[some].reset_index(drop=True))
    heads = zip(called(drawn["judge"]), drawn["set"], strict=True)
    figure = forest(
        long(drawn, {"EO bias": "eo"}).assign(
            panel=[f"{name}, {head}" for name, head in heads],
            opponent=called(drawn["opponent"]),
            note=sides(drawn),
            hollow=drawn["few"],
        ),
        row="opponent",
        panel="panel",
        wrap=2,
        rows_by_panel=True,
        label="EO bias by opponent",
        looks={"EO bias": AUTHOR},
        limits=(-1.06, 1.06),
        note="note",
        hollow=HOLLOW,
    )
    unsure = int((rows["undefined"] > 0.05).sum())
    left = called(rows.loc[~some, "judge"].unique())
    told = caption(
        "Equal-opportunity bias by opponent",
        f"On the right: {SIDES}",
        f"Not drawn, without a value: {', '.join(left)}" if left else "",
        f"{len(rows)} opponents of judges, {rows['n'].sum():g} pairs, "
        f"{rows['n_dropped'].sum():g} left out ({WHY})",
        f"{rows['few'].sum():g} marks are hollow: {HOLLOW}",
        labelled_by(rows),
        f"For {unsure} marks more than 5 % of the resamples lack one human outcome; their "
        "intervals rest on the others"
        if unsure
        else "",
        "Newcombe's intervals where a share of agreement is 0 or 1",
        params=params,
    )
    return Plate(figure, rows, told)
