"""The figures of Panickssery et al. judge by judge: rows with intervals.

A function takes the frames of the study and returns the picture with its numbers and its caption.
"""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from selfpref.params import Params
from selfpref.plots.forest import forest
from selfpref.plots.frame import BLACK, BLUE, GREY, ORANGE, SCORINGS, Look, long
from selfpref.plots.save import Plate, nothing
from selfpref.studies.panickssery.draw import (
    MARKERS,
    caption_of_articles,
    pair_counts,
    title,
    unusable,
)

Frames = Mapping[str, pd.DataFrame]
LABELS = ("none", "correct", "random-correct", "random-swapped", "swapped")


def in_order(evaluators: pd.DataFrame) -> list[str]:
    """Base models first, then by family, data set of the tuning, kind and size."""
    kinds = {name: place for place, name in enumerate(MARKERS)}
    keyed = evaluators.assign(
        base=evaluators["variant"].ne("base"), kind=evaluators["variant"].map(kinds)
    )
    columns = ["base", "family", "trained_on", "kind", "examples", "evaluator"]
    return list(keyed.sort_values(columns)["evaluator"])


def _side_by_side(
    rows: pd.DataFrame, evaluators: pd.DataFrame, looks: Mapping[str, Look], label: str
) -> Figure:
    """A panel a data set, a row a judge; `rows` have `series`, `value`, `lo` and `hi`."""
    names = pd.CategoricalDtype(in_order(evaluators), ordered=True)
    return forest(
        rows.sort_values("dataset", kind="stable").assign(
            evaluator=rows["evaluator"].astype("str").astype(names),
            panel=rows["dataset"].map(title),
        ),
        row="evaluator",
        panel="panel",
        label=label,
        looks=looks,
        reference=0.5,
    )


def pairwise(data: Frames, params: Params) -> Plate:
    """What the correction changes: recognition in both conventions.

    Where no source stored a score of its own, there is one convention.

    Args:
        data: The frames of the study.
        params: With `bootstrap`.
    """
    table = data["pairwise"]
    rows = table[table["other"].eq("all") & table["task"].eq("recognition")]
    if rows.empty:
        return nothing("no judge with pairs", table)
    shown = rows.rename(columns={"mean": "value", "convention": "series"})
    figure = _side_by_side(shown, data["evaluators"], SCORINGS, "recognition: mean confidence")
    wide = rows.pivot(index=["dataset", "evaluator"], columns="convention", values="mean")
    told = "Mean recognition by judge"
    if "released" in wide:
        moved = int((wide["released"] - wide["corrected"]).abs().gt(0.01).sum())
        told = (
            "Mean recognition as the source stored it and recomputed from the answers of both "
            f"orders. {moved} of {len(wide)} cells move by more than .01"
        )
    return Plate(figure, table, caption_of_articles(told, pair_counts(table), params=params))


def before_tuning(data: Frames, task: str, params: Params) -> Plate:
    """Figs. 2 and 3: the base judges by other source, in pairs and one text at a time.

    Args:
        data: The frames of the study.
        task: `recognition` or `preference`.
        params: With `bootstrap`.
    """
    evaluators = data["evaluators"]
    base = sorted(evaluators.loc[evaluators["variant"].eq("base"), "evaluator"])
    table, alone = data["pairwise"], data["individual"]
    table = table[table["evaluator"].isin(base) & table["task"].eq(task)]
    pairs = table[table["convention"].eq("corrected")]
    single = "quality" if task == "preference" else task
    alone = alone[alone["evaluator"].isin(base) & alone["task"].eq(single)]
    if pairs.empty and alone.empty:
        return nothing("no base judge", table)
    # Of scores that a source stored there is the ratio that the paper has.
    ratio = "ratio" if alone["statistic"].eq("ratio").any() else "ratio_corrected"
    panels = {
        "pairs": "pairs: mean confidence",
        ratio: "alone: own / (own + other)",
        "auroc": "alone: AUROC of own",
    }
    rows = pd.concat(
        [
            pairs.rename(columns={"other": "target", "mean": "value"}).assign(statistic="pairs"),
            alone,
        ],
        ignore_index=True,
    )
    rows = rows[rows["statistic"].isin(panels) & rows["target"].ne(rows["evaluator"])]
    rows = rows.assign(
        place=rows["statistic"].map(list(panels).index), whole=rows["target"].eq("all")
    ).sort_values(["place", "evaluator", "whole", "target", "dataset"])
    sets = sorted(rows["dataset"].unique())
    looks = {
        title(name): look
        for name, look in zip(sets, (Look(BLUE), Look(ORANGE, "D"), Look(BLACK, "s")), strict=False)
    }
    figure = forest(
        rows.assign(
            series=rows["dataset"].map(title),
            group=rows["evaluator"] + " against",
            panel=rows["statistic"].map(panels),
        ),
        row="target",
        group="group",
        panel="panel",
        label="½: no difference",
        looks=looks,
        reference=0.5,
        share_x=False,
    )
    asked = "P(yes) to 'did you write it?'" if task == "recognition" else "the expected grade"
    n = pairs.loc[pairs["other"].eq("all"), "n"].sum()
    told = caption_of_articles(
        "The judges before any tuning, by other source",
        f"Left: corrected {task} in pairs, {n} pairs",
        f"Middle and right: one summary at a time ({asked}), as the mean of own / (own + other) "
        "over articles, and as the AUROC of own against other texts",
        "AUROC: normal intervals, clustered by article",
        params=params,
    )
    return Plate(figure, table, told)


def inverted(data: Frames, params: Params) -> Plate:
    """The inverted question: confidence in its own text by each wording, and their mean.

    Args:
        data: The frames of the study.
        params: With `bootstrap`.
    """
    table, rows = data["inverted"], data["wordings"]
    rows = rows[rows["other"].eq("all") & rows["quantity"].ne("recognition")]
    if rows.empty:
        return nothing("no judge was asked which text is worse", table)
    rows = rows[rows["convention"].eq(rows["convention"].max())]
    looks = {"prefer": Look(BLUE), "worse": Look(ORANGE, "D"), "mean": Look(BLACK, "s")}
    figure = _side_by_side(
        rows.rename(columns={"mean": "value", "quantity": "series"}),
        data["evaluators"],
        looks,
        "mean confidence that its own text is better",
    )
    fits = data["inverted_correlation"]
    fits = fits[
        fits["subset"].eq("self-recognition") & fits["convention"].eq(fits["convention"].max())
    ]
    words = [
        f"{'all data' if dataset == 'all' else title(str(dataset))} ({part['n'].max()} cells) "
        + ", ".join(f"{row.quantity} {row.r:+.3f}" for row in part.itertuples())
        for dataset, part in fits.groupby("dataset", sort=False)
    ]
    patterns = table["pattern"].value_counts()
    told = caption_of_articles(
        "Confidence that its own text is better, asked which text it prefers and which is worse, "
        "and the mean of both (debiased preference)",
        f"{len(table)} cells of {table['evaluator'].nunique()} judges, {table['n'].sum()} pairs "
        "with both answers",
        "By the intervals of both wordings: "
        + ", ".join(f"{pattern} {n}" for pattern, n in sorted(patterns.items())),
        "Correlation with recognition over the judges tuned on self-recognition: "
        f"{'; '.join(words) or 'none'}",
        params=params,
    )
    return Plate(figure, table, told)


def individual(data: Frames, params: Params) -> Plate:
    """One summary at a time: AUROC of own against others' texts, of P(yes) and of the grade.

    Args:
        data: The frames of the study.
        params: With `bootstrap`.
    """
    table = data["individual"]
    rows = table[table["statistic"].eq("auroc") & table["target"].eq("all")]
    if rows.empty:
        return nothing("no judge rated single texts", table)
    # The normal interval of a few articles goes beyond what an AUROC can be.
    shown = rows.assign(lo=rows["lo"].clip(lower=0), hi=rows["hi"].clip(upper=1))
    figure = _side_by_side(
        shown.rename(columns={"task": "series"}),
        data["evaluators"],
        {"recognition": Look(BLUE), "quality": Look(ORANGE, "D")},
        "AUROC of own against other texts",
    )
    clear = rows[rows["lo"] > 0.5].groupby("task").size()
    above = [
        f"{task}: own above others in {clear.get(task, 0)} of {len(part)} cells"
        for task, part in rows.groupby("task")
    ]
    told = caption_of_articles(
        "AUROC of the texts of a judge's own family against all others, by P(yes) to 'did you "
        "write it?' and by the expected grade",
        f"{', '.join(above)} (interval above ½)",
        unusable(data["statuses"], ("recognition", "quality")),
        f"Normal intervals of {params.bootstrap.level:.0%}, clustered by article",
    )
    return Plate(figure, table, told)


def labels(data: Frames, params: Params) -> Plate:
    """Preference where labels told who wrote what, in both conventions and both orders.

    Args:
        data: The frames of the study.
        params: With `bootstrap`.
    """
    table, evaluators = data["labels"], data["evaluators"]
    whole = table[table["other"].eq("all")]
    rows = whole[whole["orders"].eq(2)]
    rows = rows[rows["evaluator"].isin(rows.loc[rows["labels"].ne("none"), "evaluator"])]
    if rows.empty:
        return nothing("no judge saw labels", table)
    kinds, names = (
        pd.CategoricalDtype(values, ordered=True) for values in (LABELS, in_order(evaluators))
    )
    figure = forest(
        rows.rename(columns={"mean": "value", "convention": "series"})
        .assign(panel=rows["dataset"].map(title))
        .astype({"labels": kinds, "evaluator": names})
        .sort_values(["panel", "evaluator", "labels"]),
        row="labels",
        group="evaluator",
        panel="panel",
        label="preference: mean confidence",
        looks=SCORINGS,
        reference=0.5,
    )
    single = sorted(set(whole.loc[whole["orders"].eq(1), "evaluator"]))
    told = caption_of_articles(
        "Preference for its own text with labels that tell who wrote what: none, the true ones, "
        "random ones by what fell, and swapped ones",
        f"{whole.loc[whole['convention'].eq('corrected'), 'n'].sum()} corrected pairs",
        f"Asked in one order, hence not drawn: {', '.join(single) or 'none'}",
        params=params,
    )
    return Plate(figure, table, told)


def lengths(data: Frames, params: Params) -> Plate:
    """Preference as it is and at equal length.

    Args:
        data: The frames of the study.
        params: With `bootstrap`.
    """
    table = data["lengths"]
    if table.empty:
        return nothing("no pair with both texts", table)
    rows = table[table["task"].eq("preference")]
    looks = {"as it is": Look(GREY, "x"), "at equal length": Look(BLUE)}
    figure = _side_by_side(
        long(rows, dict(zip(looks, ("raw", "held"), strict=True))),
        data["evaluators"],
        looks,
        "preference: mean confidence",
    )
    turned = int(((rows["raw"] - 0.5) * (rows["held"] - 0.5) < 0).sum())
    told = caption_of_articles(
        "Corrected preference as it is, and at equal length by least squares on the difference in "
        "words",
        f"{rows['n'].sum()} pairs; in {turned} of {len(rows)} cells the side of ½ changes",
        params=params,
    )
    return Plate(figure, table, told)
