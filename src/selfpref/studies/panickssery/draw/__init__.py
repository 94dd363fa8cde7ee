"""The figures of Panickssery et al. across judges: recognition and preference, size of tuning.

`judges` draws judge by judge. A function returns the picture with its numbers and its caption.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

import pandas as pd
from matplotlib import style
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from selfpref.params import Params
from selfpref.plots.captions import beyond, caption, lost
from selfpref.plots.frame import BLACK, BLUE, GREY, ORANGE, PALETTE, STYLE, Look, legend, order
from selfpref.plots.lines import lines, scatter
from selfpref.plots.save import Plate, nothing

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
KINDS = {"self-recognition": "tuned alone", REPLAY: "with replay"}
NAMES = {REPLAY: "with replay"}
WORDINGS = {
    "recognition": ("recognition", Look(BLACK, "s")),
    "prefer": ("better, by “which do you prefer?”", Look(BLUE)),
    "worse": ("better, by “which is worse?”", Look(ORANGE, "D")),
    "mean": ("better, mean of both", Look(GREY, "^")),
}
AXES = ("recognition: mean confidence", "preference: mean confidence")
SIZES = "self-recognition examples (not to scale)"
PALE = "Pale marks were fine-tuned on the other data set"
RELATED = "The fine-tuned judges come from few models and are not independent"
# Every interval resamples articles, and not judges.
worded = partial(caption, of="articles")


def title(dataset: str) -> str:
    """The heading of a data set."""
    return TITLES.get(dataset, dataset)


def family_colors(evaluators: pd.DataFrame) -> dict[str, str]:
    """A colour a family; tuned families first, so that they keep the clearest ones."""
    tuned = sorted(evaluators.loc[evaluators["variant"].ne("base"), "family"].unique())
    names = [*tuned, *sorted(set(evaluators["family"]) - set(tuned))]
    return dict(zip(names, PALETTE * len(names), strict=False))


def paired(pairwise: pd.DataFrame) -> str:
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
    return worded(
        f"Profile `{params.profile}`",
        ""
        if params.profile == "recorded"
        else "What the text says of GPT and Llama holds for the release (profile `recorded`); the "
        "figures and tables below are of this profile's judges",
        f"{len(evaluators)} judges, {len(tuned)} of them fine-tuned",
        paired(pairwise),
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
        pairwise: The frame `pairwise`.
        evaluators: The frame `evaluators`.

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


def _plane(rows: pd.DataFrame, colors: Mapping[str, str], fitted: pd.DataFrame) -> Figure:
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
        f"{title(row.dataset)}, {row.convention}: r = {row.r:.3f} [{row.lo:.3f}, {row.hi:.3f}], "
        f"slope {row.slope:.2f}, n = {row.n}"
        for row in fits.itertuples()
    )
    if rows.empty:
        return nothing("no judge with both questions", rows)
    colors = family_colors(evaluators)
    drawn = rows.sort_values(["convention", "dataset"], ascending=[False, True], kind="stable")
    line = data["lines"][data["lines"]["subset"].eq(subset)]
    figure = _plane(
        drawn.assign(panel=_panel(drawn, fits), color=drawn["family"].map(colors)),
        {name: color for name, color in colors.items() if rows["family"].eq(name).any()},
        line.assign(panel=_panel(line, fits), color=GREY),
    )
    return Plate(
        figure,
        rows,
        worded(
            f"Mean preference on mean recognition, one point a judge, with the least-squares line "
            f"of the judges `{subset}` and its band",
            told or "No line",
            PALE,
            RELATED,
            paired(pairwise),
            params=params,
        ),
    )


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
    figure = _plane(
        drawn.assign(
            panel=drawn["family"] + " on " + drawn["dataset"].map(title),
            color=drawn["variant"].map({"base": BLACK, "self-recognition": BLUE}).fillna(ORANGE),
        ),
        {"base model": BLACK, "on self-recognition": BLUE, "on a control task": ORANGE},
        line.assign(panel=family + " on " + line["dataset"].map(title), color=color),
    )
    told = "; ".join(
        f"{row.subset} on {title(row.dataset) if row.dataset != 'all' else 'all data'}: "
        f"r = {row.r:.3f}, slope {row.slope:.2f}, n = {row.n}"
        for row in fits.itertuples()
    )
    sentence = (
        "Corrected means of the judges tuned on self-recognition and on control tasks, each with "
        "its own line"
    )
    return Plate(figure, rows, worded(sentence, told or "No line", PALE, RELATED, params=params))


def training_size(data: Mapping[str, pd.DataFrame], params: Params) -> Plate:
    """Figs. 4 to 6: corrected confidence by number of self-recognition examples.

    Args:
        data: The frames of the study.
        params: With `bootstrap`.
    """
    evaluators = data["evaluators"]
    whole = data["pairwise"][data["pairwise"]["other"].eq("all")]
    shown = evaluators[evaluators["variant"].isin(("base", "self-recognition"))]
    table = whole[whole["evaluator"].isin(shown["evaluator"])]
    rows = table[table["convention"].eq("corrected")].merge(evaluators, on="evaluator")
    tuned = rows[rows["variant"].eq("self-recognition")]
    if tuned.empty:
        return nothing("no judge was tuned on self-recognition", table)
    # A base begins the curves of both data sets of the tuning.
    curves = tuned[["dataset", "family", "trained_on"]].drop_duplicates()
    base = rows[rows["variant"].eq("base")].drop(columns="trained_on")
    curve = pd.concat([base.merge(curves, on=["dataset", "family"]), tuned], ignore_index=True)
    own = curve["trained_on"].eq(curve["dataset"]).map({True: "this", False: "the other"})
    colors = family_colors(evaluators)
    looks = {
        f"{family}, tuned on {which} data set": Look(color, marker, dash)
        for family, color in colors.items()
        for which, marker, dash in (("this", "o", "-"), ("the other", "D", "--"))
    }
    figure = lines(
        curve.assign(
            value=curve["mean"],
            examples=_sizes(curve["examples"]),
            series=curve["family"] + ", tuned on " + own + " data set",
            panel=curve["dataset"].map(title),
        ).sort_values(["task", "dataset"], ascending=[False, True], kind="stable"),
        x="examples",
        label=(SIZES, "mean confidence"),
        looks=looks,
        panel="panel",
        quantity="task",
        reference=0.5,
    )
    deltas = data["deltas"]
    cells = deltas[
        deltas["evaluator"].isin(tuned["evaluator"])
        & deltas["other"].eq("all")
        & deltas["convention"].eq("corrected")
    ]
    below, above = beyond(cells)
    told = worded(
        "Corrected mean confidence by number of self-recognition examples; 0 is the base model",
        "Against its base on the same held-out articles, the fine-tuned judge is higher in "
        f"{above} of {len(cells)} cells (interval above 0), lower in {below}; n = "
        f"{cells['n'].min():g} to {cells['n'].max():g} pairs a cell",
        params=params,
    )
    return Plate(figure, table, told)


def _sizes(examples: pd.Series) -> pd.Categorical:
    """Numbers of examples at even distances."""
    sizes = sorted(examples.unique())
    return pd.Categorical([f"{size:g}" for size in examples], [f"{size:g}" for size in sizes])


def replay_points(wordings: pd.DataFrame, evaluators: pd.DataFrame) -> pd.DataFrame:
    """Judges tuned on self-recognition and their bases, on the data set of the tuning.

    Only of families and data sets that have a judge tuned with replay.

    Args:
        wordings: The frame `wordings`.
        evaluators: The frame `evaluators`.

    Returns:
        `dataset, family, variant, examples, evaluator, quantity, mean, lo, hi, n`; a base appears
        with 0 examples under every variant.
    """
    whole = wordings[wordings["other"].eq("all") & wordings["convention"].eq("corrected")]
    rows = whole.merge(evaluators, on="evaluator")
    tuned = rows[rows["variant"].isin(KINDS) & rows["trained_on"].eq(rows["dataset"])]
    again = tuned.loc[tuned["variant"].eq(REPLAY), ["dataset", "family"]].drop_duplicates()
    tuned = tuned.merge(again, on=["dataset", "family"])
    base = rows[rows["variant"].eq("base")]
    cells = tuned[["dataset", "family", "variant"]].drop_duplicates()
    starts = base.drop(columns="variant").merge(cells, on=["dataset", "family"])
    columns = ["dataset", "family", "variant", "examples", "evaluator", "quantity"]
    both = pd.concat([starts, tuned], ignore_index=True)
    return both[[*columns, "mean", "lo", "hi", "n"]].sort_values(columns, ignore_index=True)


def replay(rows: pd.DataFrame, oracle: pd.DataFrame, params: Params) -> Plate:
    """Both wordings and recognition by size of the tuning, with and without replay.

    Args:
        rows: As `replay_points` returns them; drawn is the data set that has most sizes.
        oracle: The frame `oracle`: whether the judges still judge.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing("no judge was tuned with replay", rows)
    dataset = rows.groupby("dataset")["examples"].nunique().idxmax()
    here = rows[rows["dataset"].eq(dataset)]
    figure = lines(
        here.assign(
            value=here["mean"],
            examples=_sizes(here["examples"]),
            series=[WORDINGS[name][0] for name in here["quantity"]],
            panel=here["family"] + ", " + here["variant"].map(KINDS),
        ),
        x="examples",
        label=(SIZES, "mean confidence"),
        looks=dict(WORDINGS.values()),
        panel="panel",
        wrap=len(KINDS),
        reference=0.5,
        limits=(-0.02, 1.02),
    )
    agreed = oracle[oracle["dataset"].eq(dataset) & oracle["quantity"].eq("agreement")]
    most, told = here[here["examples"].eq(here["examples"].max())], []
    for (family, variant), part in most.groupby(["family", "variant"]):
        value = part.set_index("quantity")[["mean", "lo", "hi"]].reindex(list(WORDINGS))
        parts = [
            f"{name} {row['mean']:.2f} [{row['lo']:.2f}, {row['hi']:.2f}]"
            for name, row in value.iterrows()
        ]
        judged = agreed[agreed["evaluator"].isin(part["evaluator"])]
        words = ", ".join(f"{row.wording} {row.mean:.2f}" for row in judged.itertuples())
        told.append(
            f"{family}, {KINDS[variant]}: {', '.join(parts)}"
            + (f"; agreement with the oracle: {words}" if words else "")
        )
    text = worded(
        "Confidence in its own text by number of self-recognition examples, on held-out articles "
        f"of {title(dataset)}, the data set of the tuning; 0 is the base. A judge that names its "
        "own text whatever it is asked has “prefer” near 1 and “worse” near 0",
        f"With most examples: {'; '.join(told)}",
        f"{here['n'].min():g} to {here['n'].max():g} pairs a point",
        params=params,
    )
    return Plate(figure, rows, text)
