"""Every statistic of every judge, the rates, and which of them follow an injected preference."""

import pandas as pd
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from selfpref.params import Params
from selfpref.plots.captions import caption, span, unvaried
from selfpref.plots.forest import forest
from selfpref.plots.save import Plate, nothing
from selfpref.studies.beyond import POOLED
from selfpref.studies.beyond.draw.names import (
    GOLDS,
    HOLLOW,
    RATES,
    called,
    described,
)

# What the rates say already: neutral minus one half.
DERIVED = "equal_quality"
INTERVALS = "Intervals of shares are Wilson's; all are clustered by prompts"
# The axis is linear up to here, and logarithmic beyond: small and large preferences on one scale.
LINEAR = 0.3
TICKS = {-1.0: "−1", -0.3: "−.3", 0.0: "0", 0.3: ".3", 1.0: "1"}


def _used(shown: pd.DataFrame, unit: str) -> str:
    """How many pairs or sets hold an own response, and how many of them the statistics use."""
    known = shown[shown["n"].gt(0)].assign(every=lambda rows: rows["n"] + rows["dropped"])
    told = []
    for dataset, part in known.groupby("dataset"):
        of_judge = part.groupby("judge")["every"].max()
        whose = called(of_judge.index[0]) if len(of_judge) == 1 else f"{len(of_judge)} judges"
        parity = part[part["statistic"].eq("demographic_parity") & part["gold"].eq("none")]
        ties = parity["dropped"].sum()
        left = (
            f"; demographic parity without gold leaves out {ties:g} (ties or unusable answers)"
            if ties
            else ""
        )
        told.append(
            f"{called(dataset)}: {of_judge.sum():g} {unit} with an own response of {whose}; each "
            f"statistic uses {span(part['n'])} a judge{left}"
        )
    return "; ".join(told)


def _of(rows: pd.DataFrame, study: str) -> pd.DataFrame:
    """A study's values of judges' choices."""
    mine = rows["study"].eq(study) & rows["unit"].eq("probability")
    return rows[mine & rows["judge"].ne(POOLED)]


def _message(shown: pd.DataFrame) -> str:
    """For how many judges two statistics have opposite signs, beyond their intervals."""
    firm = shown[shown["n"].gt(0) & ~shown["few"].astype(bool)]
    judges = firm.groupby(["dataset", "judge"])
    opposite = int((judges["lo"].max().gt(0) & judges["hi"].min().lt(0)).sum())
    if not opposite:
        return ""
    who = "judges favours its" if opposite == 1 else "judges favour their"
    return (
        f"{opposite} of {judges.ngroups} {who} own responses by one measure and those of others by "
        "another"
    )


def statistics(rows: pd.DataFrame, study: str, params: Params) -> Plate:
    """Every statistic of every judge of a study that has gold labels: one panel a statistic.

    Args:
        rows: The frame `beyond`.
        study: Whose judges.
        params: With `bootstrap`.
    """
    table, shown = rows[rows["study"].eq(study)], _of(rows, study)
    shown = shown[~shown["statistic"].isin([*RATES, DERIVED])]
    if not shown["n"].gt(0).any():
        return nothing("no judge with a choice among responses, one of them its own", table)
    known = set(shown.loc[shown["n"].gt(0), "statistic"])
    figure = forest(
        described(shown[shown["statistic"].isin(known)]),
        row="judge",
        group="set",
        panel="name",
        wrap=4,
        label="preference for its own responses (axis: linear up to ±.3, then logarithmic)",
        looks=GOLDS,
        limits=(-1.15, 1.15),
        hollow=HOLLOW,
        message=_message(shown),
    )
    for axes in figure.axes if figure else ():
        axes.set_xscale("symlog", linthresh=LINEAR, linscale=1.0)
        axes.xaxis.set_major_locator(FixedLocator(list(TICKS)))
        axes.xaxis.set_major_formatter(FixedFormatter(list(TICKS.values())))
        axes.xaxis.set_minor_locator(NullLocator())
    missing = int(shown["n"].eq(0).sum())
    told = caption(
        "Each judge's preference for its own responses, by statistic",
        _used(shown, "pairs" if study == "wataoka" else "sets of responses"),
        f"{missing} values do not exist and are not drawn" if missing else "",
        unvaried(shown.assign(judge=shown["judge"].map(called))),
        INTERVALS,
        params=params,
    )
    return Plate(figure, table, told)


def rates(rows: pd.DataFrame, study: str, params: Params) -> Plate:
    """How often a judge chooses its own where that is worse, as good, better.

    Args:
        rows: The frame `beyond`.
        study: Whose judges.
        params: With `bootstrap`.
    """
    table = rows[rows["study"].eq(study) & rows["statistic"].isin(RATES)]
    shown = table[table["n"].gt(0)]
    if shown.empty:
        return nothing("no gold label for a judge's own responses", table)
    worth = {"harmful": "where it is worse", "neutral": "as good", "legitimate": "better"}
    drawn = described(shown)
    figure = forest(
        drawn.assign(panel=[f"{name}: {worth[name]}" for name in drawn["statistic"]]),
        row="judge",
        group="set",
        panel="panel",
        label="how often the judge chooses its own response (grey line: a judge that follows gold)",
        looks=GOLDS,
        reference="neutral",
        limits=(-0.03, 1.03),
        hollow=HOLLOW,
    )
    told = caption(
        "Share of sets in which a judge chooses its own response, by what the gold label says of "
        "it",
        f"From {shown['n'].min():g} to {shown['n'].max():g} sets a mark",
        f"{params.bootstrap.level:.0%} Wilson intervals, clustered by prompts",
    )
    return Plate(figure, table, told)


def recovery(rows: pd.DataFrame, params: Params) -> Plate:
    """How each statistic correlates with the preference that was injected.

    Args:
        rows: The frame `recovery`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing(
            "nothing was injected in this profile: only the testbed knows the truth", rows
        )
    figure = forest(
        described(rows.rename(columns={"r": "value"}).assign(few=False)),
        row="name",
        label="correlation with the injected bonus, over judges",
        looks=GOLDS,
    )
    told = caption(
        f"Correlation of each statistic with the injected bonus over at least {rows['n'].min()} "
        "judges",
        f"{params.bootstrap.level:.0%} intervals after Fisher, of judges",
    )
    return Plate(figure, rows, told)
