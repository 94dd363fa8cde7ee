"""Controls of Xu et al.: selection, wording, second readings, equally good texts."""

import pandas as pd
from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from selfpref.plots.marks import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    dots,
    legend,
    no_data,
    row_labels,
    styled,
)
from selfpref.plots.save import PAGE, STYLE
from selfpref.plots.steps import CONVENTIONS, flawed, level, line, looks, panels

AVERAGE = "average"


@style.context(STYLE)
def best_of_k(rows: pd.DataFrame, noise: pd.DataFrame) -> Figure:
    """Bias of the best of k by k, beside that of a judge whose scores are noise.

    Args:
        rows: The frame `best_of_k`.
        noise: The frame `best_of_noise`.
    """
    known = rows[rows["n"].gt(0)] if len(rows) else rows
    if known.empty:
        return no_data("no best-of-k choice with readable scores")
    models = list(looks(known["model"]))
    figure, axes_of = panels(len(models), 3, 2.1, 0.75)
    for axes, model in zip(axes_of, models, strict=True):
        for name, color, marker in (("released", BLUE, "o"), ("corrected", GREEN, "D")):
            part = known[known["model"].eq(model) & known["convention"].eq(name)]
            label = f"best of k, {CONVENTIONS[name]}"
            line(axes, part, "bias", {"color": color, "marker": marker}, label=label, x="k")
        curve = noise[noise["model"].eq(model) & noise["convention"].eq("released")]
        look = {"color": GREY, "marker": "x"}
        line(axes, curve, "noise_bias", look, label="a judge of pure noise", style="--", x="k")
        level(axes)
        axes.set_title(model)
        axes.set_xscale("log", base=2)
        ticks = sorted(set(noise["k"]))
        axes.set_xticks(ticks, [f"{k:g}" for k in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("candidates k")
    axes_of[0].set_ylabel("bias (points of MQM)")
    legend(figure, axes_of, 3)
    return figure


@style.context(STYLE)
def refined_by_noise(rows: pd.DataFrame, noise: pd.DataFrame, integrity: pd.DataFrame) -> Figure:
    """Bias by step, beside that of a judge of pure noise under the same accept rule.

    Args:
        rows: The frame `translation`.
        noise: The frame `refined_by_noise`.
        integrity: The frame `integrity`.
    """
    held = rows[rows["convention"].eq("released")] if len(rows) else rows
    if len(held) and held["language"].eq(AVERAGE).any():
        held = held[held["language"].eq(AVERAGE)]
    if held.empty:
        return no_data("no step with scores and truths")
    held = held.assign(flawed=flawed(held, integrity))
    noise = noise[noise["convention"].eq("released")]
    models, languages = list(looks(held["model"])), sorted(held["language"].unique())
    cells = [(model, language) for language in languages for model in models]
    figure, axes_of = panels(len(cells), 3, 1.7, 0.75)
    for axes, (model, language) in zip(axes_of, cells, strict=True):
        for table, value, look, dash, label in (
            (held, "bias", {"color": BLUE, "marker": "o"}, "-", "measured"),
            (noise, "noise_bias", {"color": GREY, "marker": "x"}, "--", "a judge of pure noise"),
        ):
            part = table[table["model"].eq(model) & table["language"].eq(language)]
            line(axes, part, value, look, label=label, style=dash)
        level(axes)
        axes.set_title(model if languages == [AVERAGE] else f"{model}, {language}")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    figure.supxlabel("step of refinement", fontsize=8)
    figure.supylabel("bias (points of MQM)", fontsize=8)
    legend(figure, axes_of, 2)
    return figure


@style.context(STYLE)
def paraphrase(rows: pd.DataFrame) -> Figure:
    """Score, truth and bias before and after a judge has put a translation into its own words.

    Args:
        rows: The frame `style`.
    """
    if rows.empty:
        return no_data("no translator's text that judges have paraphrased")
    pairs = rows[["system", "judge"]].drop_duplicates().sort_values(["system", "judge"])
    names = [f"{row.judge}  on {row.system}" for row in pairs.itertuples()]
    figure = styled(PAGE, 0.34 * len(names) + 1.1)
    panels_of = figure.subplots(1, 3, sharey=True)
    headings = {
        "self_mean": "the judge's score",
        "truth_mean": "the true score",
        "bias": "bias",
    }
    marks = (("translation", ORANGE, "s"), ("paraphrase", BLUE, "o"))
    for axes, (value, heading) in zip(panels_of, headings.items(), strict=True):
        for (text, color, marker), shift in zip(marks, (-0.18, 0.18), strict=True):
            for name, filled, nudge in (("released", True, -0.07), ("corrected", False, 0.07)):
                part = rows[rows["text"].eq(text) & rows["convention"].eq(name)]
                part = pairs.merge(part, on=["system", "judge"], how="left")
                dots(
                    axes,
                    part,
                    value,
                    shift=shift + nudge,
                    marker=marker,
                    color=color,
                    filled=filled,
                    label=f"{text}, {CONVENTIONS[name]}",
                )
        axes.set_title(heading)
        axes.set_xlabel("points of MQM")
        if value == "bias":
            axes.axvline(0, color=GREY, linewidth=0.8)
    row_labels(panels_of[0], names)
    legend(figure, [panels_of[0]], 4)
    return figure


@style.context(STYLE)
def rescoring(rows: pd.DataFrame) -> Figure:
    """How much of the gain in the own score came with the text unchanged.

    Args:
        rows: The frame `rescoring`.
    """
    known = rows[rows["share"].notna()] if len(rows) else rows
    if known.empty:
        return no_data("no step whose own score rose")
    parts = list(known.groupby("language"))
    heights = [part["model"].nunique() + 0.7 for _, part in parts]
    figure = styled(PAGE * 0.75, 0.2 * sum(heights) + 0.8)
    axes_of = figure.subplots(len(parts), 1, sharex=True, height_ratios=heights, squeeze=False)
    for axes, (language, part) in zip(axes_of[:, 0], parts, strict=True):
        models = sorted(part["model"].unique())
        order = pd.DataFrame({"model": models})
        for name, marker, color, shift in (
            ("released", "o", BLUE, -0.15),
            ("corrected", "D", GREEN, 0.15),
        ):
            here = order.merge(part[part["convention"].eq(name)], on="model", how="left")
            dots(
                axes,
                here,
                "share",
                shift=shift,
                marker=marker,
                color=color,
                filled=name == "released",
                label=CONVENTIONS[name],
            )
        released = part[part["convention"].eq("released")].set_index("model")
        again = released["rescored"].reindex(models).fillna(0).astype(int)
        row_labels(axes, [f"{model}  {count}" for model, count in again.items()])
        axes.set_title(str(language))
    axes_of[-1, 0].set_xlabel("share of the gain in the own score from texts that did not change")
    legend(figure, axes_of[:, 0], 2)
    return figure


@style.context(STYLE)
def second_readings(rows: pd.DataFrame) -> Figure:
    """Texts read again by another judge: its mean beside the writer's, and the difference.

    Args:
        rows: The frame `cross_judge`.
    """
    shown = rows[rows["convention"].eq("released")] if len(rows) else rows
    if shown.empty:
        return no_data("no text that a second judge read")
    shown = shown.sort_values(["model", "condition", "step", "judge", "repeat"], ignore_index=True)
    sure = shown["reads_its_text"]
    figure = styled(PAGE, 0.185 * len(shown) + 0.95)
    left, right = figure.subplots(1, 2, sharey=True)
    for part, filled, label in ((sure, True, "it quotes this text"), (~sure, False, "unsure")):
        dots(
            left,
            shown.assign(judge_mean=shown["judge_mean"].where(part)),
            "judge_mean",
            filled=filled,
            label=f"the judge ({label})",
        )
    dots(left, shown, "own_mean", marker="s", color=ORANGE, label="the writer itself")
    dots(left, shown, "truth_mean", marker="x", color=GREY, label="true score")
    for part, filled in ((sure, True), (~sure, False)):
        columns = {
            name: shown[name].where(part)
            for name in ("difference", "difference_lo", "difference_hi")
        }
        dots(right, shown.assign(**columns), "difference", color=GREEN, marker="D", filled=filled)
    right.axvline(0, color=GREY, linewidth=0.8)
    left.set_xlabel("mean score (MQM)")
    right.set_xlabel("writer's score minus the judge's")
    names = [
        f"{row.judge} on {row.model}{_aside(row.condition)}, step {row.step}"
        f"{', again' if row.repeat else ''}"
        for row in shown.itertuples()
    ]
    row_labels(left, names)
    left.tick_params(axis="y", labelsize=6.5)
    legend(figure, [left], 4)
    return figure


def _aside(condition: str) -> str:
    # A translator is named by its model already.
    return f" ({condition})" if condition and not condition.startswith("paraphrase/") else ""


@style.context(STYLE)
def matched(rows: pd.DataFrame) -> Figure:
    """Own texts against others' texts that are equally good.

    Args:
        rows: The frame `matched`.
    """
    if rows.empty:
        return no_data("no judge that read its own texts and others'")
    pairs = rows[["judge", "control"]].drop_duplicates().sort_values(["judge", "control"])
    figure = styled(PAGE * 0.78, 0.34 * len(pairs) + 1.0)
    axes = figure.subplots()
    for name, color, marker, shift in (
        ("released", BLUE, "o", -0.14),
        ("corrected", GREEN, "D", 0.14),
    ):
        part = pairs.merge(rows[rows["convention"].eq(name)], on=["judge", "control"], how="left")
        dots(
            axes, part, "matched", shift=shift, marker=marker, color=color, label=CONVENTIONS[name]
        )
        dots(
            axes,
            part,
            "difference",
            shift=shift,
            marker="|",
            color=color,
            label=f"not matched, {CONVENTIONS[name]}",
        )
    axes.axvline(0, color=GREY, linewidth=0.8)
    controls = {"none": "against the true score"}
    names = [
        f"{row.judge}, {controls.get(row.control, f'against {row.control}')}"
        for row in pairs.itertuples()
    ]
    row_labels(axes, names)
    axes.set_xlabel("over-rating of own texts, beyond others' as good (points)")
    legend(figure, [axes], 2)
    return figure
