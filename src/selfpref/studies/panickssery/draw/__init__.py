"""The figures of Panickssery et al. across judges: recognition against preference.

`sizes` draws along the size of the tuning, `judges` judge by judge. A function returns the picture
with its numbers and its caption.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import pandas as pd
from matplotlib import style
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from selfpref.params import Params
from selfpref.plots.captions import caption, lost
from selfpref.plots.frame import BLACK, BLUE, GREY, ORANGE, PALETTE, STYLE, Look, legend, order
from selfpref.plots.lines import scatter
from selfpref.plots.save import Plate, nothing
from selfpref.studies.panickssery.measure.correlation import FAMILIES

TITLES = {"xsum": "XSum", "cnn": "CNN/DailyMail"}
TASKS = ("recognition", "preference")
MARKERS = {
    "base": "*",
    "self-recognition": "o",
    "always-1": "s",
    "random": "D",
    "readability": "^",
    "length": "v",
    "vowelcount": "P",
    "self-recognition-replay": "X",
}
REPLAY = "self-recognition-replay"
NAMES = {REPLAY: "with replay"}
AXES = ("recognition: mean confidence", "preference: mean confidence")
PALE = "Pale marks were fine-tuned on the other data set"
RELATED = "The fine-tuned judges come from few models and are not independent"
# Intervals of means resample articles; those of a line over judges resample families of judges.
caption_of_articles = partial(caption, of="articles")
caption_of_families = partial(caption, of="families of judges (base model and training)")
NO_BAND = f"No interval of a line with fewer than {FAMILIES} families of judges"


def title(dataset: str) -> str:
    """The heading of a data set."""
    return TITLES.get(dataset, dataset)


def family_colors(evaluators: pd.DataFrame) -> dict[str, str]:
    """A colour a family; tuned families first, so that they keep the clearest ones."""
    tuned = sorted(evaluators.loc[evaluators["variant"].ne("base"), "family"].unique())
    names = [*tuned, *sorted(set(evaluators["family"]) - set(tuned))]
    return dict(zip(names, PALETTE * len(names), strict=False))


def pair_counts(pairwise: pd.DataFrame) -> str:
    """How many corrected pairs each data set gives, of how many judges."""
    rows = pairwise[pairwise["other"].eq("all") & pairwise["task"].eq("recognition")]
    parts = [
        f"{title(str(dataset))}: {part['n'].sum()} pairs, {part['evaluator'].nunique()} judges"
        for dataset, part in rows[rows["convention"].eq("corrected")].groupby("dataset")
    ]
    return f"Corrected: {'; '.join(parts) or 'no pairs'}"


def unusable(statuses: pd.DataFrame, tasks: Sequence[str]) -> str:
    """How many answers to the plain questions were not usable."""
    rows = statuses[statuses["variant"].eq("plain") & statuses["task"].isin(tasks)]
    return lost(rows, "answers")


def overview(
    pairwise: pd.DataFrame, evaluators: pd.DataFrame, statuses: pd.DataFrame, params: Params
) -> str:
    """What this copy of the chapter holds, in words."""
    tuned = evaluators[evaluators["variant"].ne("base")]
    stored = "with" if pairwise["convention"].eq("released").any() else "without"
    degenerate = ", ".join(evaluators.loc[evaluators["degenerate"], "evaluator"]) or "none"
    twins = sorted(evaluators.loc[evaluators["duplicate_of"].ne(""), "evaluator"])
    return caption_of_articles(
        f"Profile `{params.profile}`",
        ""
        if params.profile == "recorded"
        else "What the text says of GPT and Llama holds for the release (profile `recorded`); the "
        "figures and tables below are of this profile's judges",
        f"{len(evaluators)} judges, {len(tuned)} of them fine-tuned",
        pair_counts(pairwise),
        unusable(statuses, TASKS),
        f"The source comes {stored} scores of its own (released)",
        f"Degenerate (more than {params.panickssery.unusable:.0%} of the answers to a question are "
        f"not a number or have no mass, or every text gets the same score): {degenerate}",
        f"One model under two names: {', '.join(twins) or 'none'}",
        params=params,
    )


def points(pairwise: pd.DataFrame, evaluators: pd.DataFrame) -> pd.DataFrame:
    """One row a judge, data set and convention: mean recognition and preference, and who it is.

    Args:
        pairwise: The frame `pairwise` (`measure.means.pairwise`).
        evaluators: The frame `evaluators` (`measure.with_defects`).

    Returns:
        `dataset, convention` and the columns of `evaluators`, and each task with `_lo` and `_hi`.
    """
    key = ["dataset", "evaluator", "convention"]
    whole = pairwise[pairwise["other"].eq("all")]
    parts = [
        whole[whole["task"].eq(task)][[*key, "mean", "lo", "hi"]].set_axis(
            [*key, task, f"{task}_lo", f"{task}_hi"], axis=1
        )
        for task in TASKS
    ]
    return parts[0].merge(parts[1], on=key).merge(evaluators, on="evaluator")


def _scatter_with_lines(
    rows: pd.DataFrame, colors: Mapping[str, str], fitted: pd.DataFrame
) -> Figure:
    """Preference on recognition with its lines; paler marks were tuned on the other data set.

    Args:
        rows: As `points` returns them, with `panel` and `color`.
        colors: What the colours mean, for the legend.
        fitted: The frame `lines`, with `panel` and `color`.
    """
    transfer = ~(rows["trained_on"].eq("") | rows["trained_on"].eq(rows["dataset"]))
    shades = rows["color"].where(~transfer, rows["color"].map(_pale))
    looks = {
        f"{color} {variant}": Look(color, MARKERS.get(variant, "X"))
        for color, variant in zip(shades, rows["variant"], strict=True)
    }
    figure = scatter(
        rows.assign(series=shades + " " + rows["variant"]),
        x="recognition",
        y="preference",
        label=AXES,
        looks=looks,
        panel="panel",
    )
    for axes, panel in zip(figure.axes, order(rows["panel"]), strict=False):
        axes.axhline(0.5, color=GREY, linewidth=0.6)
        axes.axvline(0.5, color=GREY, linewidth=0.6)
        for color, line in fitted[fitted["panel"].eq(panel)].groupby("color"):
            axes.plot(line["x"], line["y"], color=color, linewidth=1)
            axes.fill_between(
                line["x"], line["lo"], line["hi"], color=color, alpha=0.18, linewidth=0
            )
    variants = [name for name in MARKERS if rows["variant"].eq(name).any()]
    handles = [_mark("o", name, color) for name, color in colors.items()]
    handles += [_mark(MARKERS[name], NAMES.get(name, name), GREY) for name in variants]
    if transfer.any():
        handles.append(_mark("o", "pale: other data set", _pale(GREY)))
    legend(figure, handles)
    return figure


def _pale(color: str) -> str:
    red, green, blue = (0.45 * part + 0.55 for part in to_rgb(color))
    return to_hex((red, green, blue))


def _mark(marker: str, label: str, color: str) -> Line2D:
    """A mark of the legend."""
    return Line2D([], [], marker=marker, label=label, color=color, linestyle="none")


@style.context(STYLE)
def recognition_vs_preference(
    data: Mapping[str, pd.DataFrame], params: Params, subset: str = "all"
) -> Plate:
    """Figs. 1 and 7: mean preference on mean recognition, one point a judge, with the line.

    Args:
        data: The frames of the study.
        params: With `bootstrap`.
        subset: Whose line; the fine-tuned ones of this kind are drawn, or all judges.
    """
    pairwise, evaluators = data["pairwise"], data["evaluators"]
    if subset != "all":
        evaluators = evaluators[evaluators["variant"].eq(subset)]
    rows = points(pairwise, evaluators)
    fits = data["correlation"]
    fits = fits[fits["subset"].eq(subset) & fits["dataset"].ne("all")]
    told = "; ".join(
        f"{title(row.dataset)}, {row.convention}: {_r(row)}, slope {row.slope:.2f}, n = {row.n} in "
        f"{row.families} families"
        for row in fits.itertuples()
    )
    if rows.empty:
        return nothing("no judge with both questions", rows)
    colors = family_colors(evaluators)
    drawn = rows.sort_values(["convention", "dataset"], ascending=[False, True], kind="stable")
    line = data["lines"][data["lines"]["subset"].eq(subset)]
    figure = _scatter_with_lines(
        drawn.assign(panel=_panel(drawn, fits), color=drawn["family"].map(colors)),
        {name: color for name, color in colors.items() if rows["family"].eq(name).any()},
        line.assign(panel=_panel(line, fits), color=GREY),
    )
    return Plate(
        figure,
        rows,
        _of_families(
            fits,
            f"Mean preference on mean recognition, one point a judge, with the least-squares line "
            f"of the judges `{subset}`",
            told or "No line",
            PALE,
            RELATED,
            pair_counts(pairwise),
            params=params,
        ),
    )


def _of_families(fits: pd.DataFrame, *told: str, params: Params) -> str:
    """A caption that says how the intervals of lines were made, or why there is none."""
    banded = bool(fits["lo"].notna().any())
    none = "" if fits["lo"].notna().all() else NO_BAND
    return caption_of_families(*told, none, params=params if banded else None)


def _r(row: Any) -> str:
    """The correlation, with its interval where it has one."""
    interval = f" [{row.lo:.3f}, {row.hi:.3f}]" if row.lo == row.lo else ""
    return f"r = {row.r:.3f}{interval}"


def _panel(rows: pd.DataFrame, fits: pd.DataFrame) -> list[str]:
    """Data set, convention and, where there is a line, the correlation."""
    told = {(fit.dataset, fit.convention): f": r = {fit.r:.2f}" for fit in fits.itertuples()}
    keys = zip(rows["dataset"], rows["convention"], strict=True)
    return [f"{title(name)}, {kind}{told.get((name, kind), '')}" for name, kind in keys]


@style.context(STYLE)
def controls(data: Mapping[str, pd.DataFrame], params: Params) -> Plate:
    """Control tasks on the line of self-recognition: corrected, by family and data set.

    Args:
        data: The frames of the study.
        params: With `bootstrap`.
    """
    rows = points(data["pairwise"], data["evaluators"]).query("convention == 'corrected'")
    tuned = sorted(rows.loc[rows["variant"].ne("base"), "family"].unique())
    if not tuned:
        return nothing("no fine-tuned judge", rows)
    drawn = rows[rows["family"].isin(tuned) & rows["variant"].ne(REPLAY)]
    drawn = drawn.sort_values(["family", "dataset"], kind="stable")
    colors = {"self-recognition": BLUE, "controls": ORANGE}
    # By subset: family and colour.
    subsets = {f"{one}-{kind}": (one, colors[kind]) for one, kind in product(tuned, colors)}
    line, fits = (
        data[name][data[name]["subset"].isin(subsets) & data[name]["convention"].eq("corrected")]
        for name in ("lines", "correlation")
    )
    family, color = (line["subset"].map(lambda name, at=at: subsets[name][at]) for at in (0, 1))
    figure = _scatter_with_lines(
        drawn.assign(
            panel=drawn["family"] + " on " + drawn["dataset"].map(title),
            color=drawn["variant"].map({"base": BLACK, "self-recognition": BLUE}).fillna(ORANGE),
        ),
        {"base model": BLACK, "on self-recognition": BLUE, "on a control task": ORANGE},
        line.assign(panel=family + " on " + line["dataset"].map(title), color=color),
    )
    told = "; ".join(
        f"{row.subset} on {title(row.dataset) if row.dataset != 'all' else 'all data'}: "
        f"{_r(row)}, slope {row.slope:.2f}, n = {row.n}"
        for row in fits.itertuples()
    )
    off = data["off_line"].assign(off=data["off_line"]["off"].abs())
    away = "; ".join(
        f"{family} on {title(str(dataset))} {part['off'].max():.3f}"
        for (family, dataset), part in off.groupby(["family", "dataset"])
    )
    sentence = (
        "Corrected means of the judges tuned on self-recognition and on control tasks, each with "
        "its own line"
    )
    farthest = f"Largest distance of a control from the line of self-recognition: {away or 'none'}"
    text = _of_families(fits, sentence, told or "No line", farthest, PALE, RELATED, params=params)
    return Plate(figure, rows, text)
