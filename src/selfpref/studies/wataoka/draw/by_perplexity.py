"""Figs. 3 to 6 of Wataoka et al., and what the testbed injects, from their frames."""

from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import beyond, caption, signed, wilson
from selfpref.plots.forest import forest
from selfpref.plots.frame import GREY, Look, legend, long
from selfpref.plots.lines import lines, scatter
from selfpref.plots.save import Plate, nothing
from selfpref.statistics.bias import FEW
from selfpref.studies.wataoka.draw.names import AUTHOR, ORACLE, OTHERS, PERSON, TITLES, called

WHO = {"judge": AUTHOR, "people": PERSON}
PAIRS = {"own": "own response in the pair (A)", "other": "pairs of others"}
NONE = "no judged pair with both perplexities"
FITS = {"slope": "raw", "controlled": "controlling for quality"}
LOST = "ties, unusable answers, no vote or no perplexity"


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the judge's name, and its data set's where there are several, as `name`."""
    several = rows["dataset"].nunique() > 1
    names = [
        f"{judge} ({TITLES.get(dataset, dataset)})" if several else judge
        for judge, dataset in zip(called(rows["judge"]), rows["dataset"], strict=True)
    ]
    return rows.assign(name=names)


def by_bin(rows: pd.DataFrame, series: str, label: str, looks: Mapping[str, Look] = WHO) -> Plate:
    """One panel a judge: win rate of A by bin of the difference in perplexity.

    Args:
        rows: Of the frame `win_rates_by_bin`.
        series: The column of the lines.
        label: Of the horizontal axis.
        looks: The lines.
    """
    drawn = _named(long(rows, {"": "win_rate"}, into="")).assign(who=called(rows["who"]))
    figure = lines(
        drawn.assign(hollow=rows["n"].lt(FEW).to_numpy()),
        x="x",
        series=series,
        looks=looks,
        panel="name",
        label=(label, "share of pairs in which A wins"),
        reference=0.5,
        limits=(-0.04, 1.04),
        share_x=False,
        hollow=f"fewer than {FEW} pairs",
    )
    return Plate(figure, rows, "")


def lost(rows: pd.DataFrame) -> str:
    """What the pairs of Figs. 3, 4 and 6 lost; the number is the same in every bin of a judge."""
    every = rows[rows["pairs"].eq("all")].drop_duplicates(["dataset", "judge"])
    return f"{every['n_dropped'].sum():g} more left out ({LOST})"


def _own(params: Params) -> str:
    return f"{params.wataoka.scale} of A minus that of B, to the judge"


def perplexity_vs_human(rows: pd.DataFrame, params: Params) -> Plate:
    """Figs. 3 and 6: win rate of A by difference in perplexity, judge and human.

    Args:
        rows: The frame `win_rates_by_bin`, of the judges to show.
        params: With `bootstrap` and `wataoka`.
    """
    every = rows[rows["pairs"].eq("all")] if len(rows) else rows
    if every.empty:
        return nothing(NONE, every)
    one, use = every[every["who"].eq("judge")], params.wataoka
    told = caption(
        f"Share of pairs in which A wins, by difference in {use.scale} to the judge: "
        f"{use.bins} bins of equal {use.binning}",
        f"{one['judge'].nunique()} judges, {one['n'].sum():g} pairs with a vote, a decision and "
        "both perplexities",
        lost(rows),
        wilson("prompts", params),
    )
    return by_bin(every, "who", _own(params))._replace(caption=told)


def own_vs_other(rows: pd.DataFrame, params: Params) -> Plate:
    """Fig. 4: the judge's win rate of A, with and without its own response in the pair.

    Args:
        rows: The frame `win_rates_by_bin`, of judges with responses.
        params: With `bootstrap` and `wataoka`.
    """
    split = rows[rows["who"].eq("judge") & rows["pairs"].ne("all")] if len(rows) else rows
    if split.empty:
        return nothing(NONE, split)
    counts = split.groupby("pairs")["n"].sum()
    told = caption(
        f"The judge's win rate of A in {counts.get('own', 0):g} pairs with its own response (as A) "
        f"and {counts.get('other', 0):g} pairs of others, in the bins of Fig. 3",
        lost(rows),
        wilson("prompts", params),
    )
    looks = dict(zip(PAIRS.values(), (AUTHOR, OTHERS), strict=True))
    drawn = split.assign(series=split["pairs"].map(PAIRS))
    return by_bin(drawn, "series", _own(params), looks)._replace(table=split, caption=told)


def slopes(rows: pd.DataFrame, params: Params) -> Plate:
    """How steeply wins fall with perplexity: raw, and controlling for quality.

    Args:
        rows: The frame `slopes`.
        params: With `bootstrap`.
    """
    every = rows[rows["pairs"].eq("all")] if len(rows) else rows
    if every.empty:
        return nothing(NONE, rows)
    figure = forest(
        _named(long(every, {name: fit for fit, name in FITS.items()}, into="fit")).assign(
            who=lambda drawn: called(drawn["who"])
        ),
        row="name",
        series="who",
        looks=WHO,
        panel="fit",
        label="slope: change in win share per unit",
    )
    one = every[every["who"].eq("judge")]
    told = caption(
        f"Slopes of wins on the difference in perplexity, {len(one)} judges, {one['n'].sum():g} "
        f"pairs, {one['n_dropped'].sum():g} left out ({LOST})",
        "Negative: the less probable response loses",
        params=params,
    )
    return Plate(figure, rows, told)


def log_perplexity(rows: pd.DataFrame, params: Params) -> Plate:
    """Fig. 5: mean log-perplexity of own and others' texts, by judge and by text.

    Args:
        rows: The frame `log_perplexity`; its conditional rows are drawn.
        params: With `bootstrap`.
    """
    known = rows[rows["conditional"] & rows["own"].notna()] if len(rows) else rows
    if known.empty:
        return nothing("no judge with the perplexity of a response of its own", rows)
    looks = {"its own texts, read by itself": AUTHOR, "others' texts, or other readers": OTHERS}
    views = {
        "judge": "a judge reads its own and others' texts",
        "text": "a responder's texts, read by itself and by others",
    }
    figure = forest(
        _named(long(known, dict(zip(looks, ("own", "other"), strict=True)))).assign(
            panel=lambda drawn: drawn["view"].map(views)
        ),
        row="name",
        looks=looks,
        panel="panel",
        label="mean log-perplexity (nats a token)",
    )
    parts = []
    for view, heading in (("judge", "by judge"), ("text", "by text")):
        part = known[known["view"].eq(view) & known["gap"].notna()]
        parts.append(
            f"{heading}, own is lower with an interval above 0 for {beyond(part, 'gap')[1]} of "
            f"{len(part)}"
        )
    read = known[known["view"].eq("judge")]
    told = caption(
        f"Mean log-perplexity given the prompt: {'; '.join(parts)}",
        f"{read['n'].sum():g} readings of responses, {read['n_dropped'].sum():g} left out "
        "(no token, or truncated)",
        params=params,
    )
    return Plate(figure, rows, told)


def planted_vs_measured(rows: pd.DataFrame, recovery: pd.DataFrame, params: Params) -> Plate:
    """Measured against injected bias, one mark a judge, and the oracle rule against injected.

    Args:
        rows: The frame `planted`.
        recovery: The frame of this name.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing("nothing was injected in this profile", rows)
    if rows[["planted", "measured"]].isna().all().all():
        return nothing("no judge has decided pairs with its own response", rows)
    measured = "measured", rows["measured"], rows["measured_lo"], rows["measured_hi"]
    oracle = "oracle rule (no preference)", rows["oracle_rule"], np.nan, np.nan
    columns = ("series", "bias", "bias_lo", "bias_hi")
    known = rows.drop(columns=["planted_lo", "planted_hi"], errors="ignore")
    figure = scatter(
        pd.concat(
            [known.assign(**dict(zip(columns, one, strict=True))) for one in (measured, oracle)],
            ignore_index=True,
        ),
        x="planted",
        y="bias",
        label=("injected bias (the rule that made the labels)", "EO bias on the same pairs"),
        looks={measured[0]: AUTHOR, oracle[0]: ORACLE},
    )
    (axes,) = figure.axes
    axes.axline((0, 0), slope=1, color=GREY, linewidth=0.8, label="measured = injected", zorder=1)
    legend(figure)
    recovered = "; ".join(
        f"{row.quantity.replace('planted', 'injected')}: r = {signed(row.r)} "
        f"[{signed(row.lo)}, {signed(row.hi)}]"
        for row in recovery.itertuples()
    )
    told = caption(
        f"{len(rows)} judges of {rows['seed'].nunique()} seeds, {rows['n'].sum():g} pairs",
        f"{recovered} (prompts resampled, judges not)" if recovered else "",
        "Vertical: the measured bias",
        params=params,
    )
    return Plate(figure, rows, told)


def slope_comparison(rows: pd.DataFrame) -> str:
    """How many judges follow perplexity more steeply than people, by kind of pair."""
    gaps = rows[rows["who"].eq("judge - human")]
    kinds = {
        "all": "all pairs",
        "own": "pairs with the judge's own response",
        "other": "pairs of others",
    }
    lines_of = []
    for (pairs, kind), (fit, heading) in product(kinds.items(), FITS.items()):
        gap = gaps[gaps["pairs"].eq(pairs)]
        if gap.empty:
            continue
        steeper, flatter = beyond(gap, fit)
        lines_of.append(
            f"- {kind}, {heading}: with {steeper} of {len(gap)} judges wins fall more steeply "
            f"with perplexity than with people, with {flatter} less steeply; no measurable "
            f"difference: {len(gap) - steeper - flatter}."
        )
    return "\n".join(lines_of)


def oracle_agreement(rows: pd.DataFrame) -> str:
    """How well the testbed's judges judge."""
    means = [
        f"- {row.dataset}, {row.prompts} prompts, mean of the models: {row.agreement:.3f} "
        f"[{row.agreement_lo:.3f}, {row.agreement_hi:.3f}], n = {row.n} verdicts on pairs of "
        "unequal quality"
        for row in rows[rows["judge"].eq("mean of families")].itertuples()
    ]
    return "Agreement of the judges with the oracle:\n\n" + "\n".join(means)
