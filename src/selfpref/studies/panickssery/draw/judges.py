"""The figures of Panickssery et al. judge by judge: rows with intervals.

A function takes the frames of the study and returns the picture with its numbers and its caption.
"""

from collections.abc import Mapping
from itertools import product

import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import signed
from selfpref.plots.forest import forest
from selfpref.plots.frame import BLACK, GREY, Look
from selfpref.plots.save import Plate, nothing
from selfpref.studies.panickssery.draw import (
    caption_of_articles,
    family_colors,
    pair_counts,
    unusable,
)
from selfpref.studies.panickssery.draw.moves import MOVED, by_judge, in_order, moves, that_move
from selfpref.studies.panickssery.draw.names import (
    BASE,
    TUNED,
    judge_names,
    short,
    title,
    writer,
)

Frames = Mapping[str, pd.DataFrame]
LABELS = {"none": "no labels", "correct": "true labels", "swapped": "swapped labels"}


def pairwise(data: Frames, params: Params) -> Plate:
    """What the correction changes: recognition as stored, where it was, and corrected.

    Args:
        data: The frames of the study.
        params: With `bootstrap`.
    """
    table = data["pairwise"]
    rows = table[table["other"].eq("all") & table["task"].eq("recognition")]
    stored, corrected = (rows[rows["convention"].eq(of)] for of in ("released", "corrected"))
    if rows.empty:
        return nothing("no judge with pairs", table)
    both = corrected.rename(columns={"mean": "end"}).merge(
        stored[["dataset", "evaluator", "mean"]].rename(columns={"mean": "start"}),
        on=["dataset", "evaluator"],
        how="left",
    )
    both = by_judge(both, data["evaluators"])
    drawn, left = (both, "") if stored.empty else that_move(both)
    figure = moves(
        drawn,
        ends=("stored", "corrected"),
        label="recognition: mean confidence in its own text",
        colors=family_colors(data["evaluators"]),
    )
    moved = int((both["start"] - both["end"]).abs().gt(0.01).sum())
    told = caption_of_articles(
        "Mean recognition as the source stored it and recomputed from the answers of both orders: "
        f"{moved} of {len(both)} means move by more than .01"
        if len(stored)
        else "Mean recognition, from the answers of both orders",
        left,
        pair_counts(table),
        params=params,
    )
    return Plate(figure, table, told)


def before_tuning(data: Frames, task: str, params: Params) -> Plate:
    """Figs. 2 and 3: the base judges by other source, in pairs and one text at a time.

    Args:
        data: The frames of the study.
        task: `recognition` or `preference`.
        params: With `bootstrap`.
    """
    evaluators = data["evaluators"]
    base = sorted(evaluators.loc[evaluators["variant"].eq(BASE), "evaluator"])
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
    sets, names = sorted(rows["dataset"].unique()), judge_names(evaluators)
    looks = {
        title(name): look
        for name, look in zip(sets, (Look(BLACK), Look(GREY, "D"), Look(BLACK, "s")), strict=False)
    }
    figure = forest(
        rows.assign(
            series=rows["dataset"].map(title),
            group=rows["evaluator"].map(names) + " against",
            target=rows["target"].map(writer),
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
        "The judges before any tuning, by the generator of the other text",
        f"Left: corrected {task} in pairs, {n} pairs",
        f"Middle and right: one summary at a time ({asked}), as the mean of own / (own + other) "
        "over articles, and as the AUROC of own against other texts",
        "AUROC: normal intervals, clustered by article",
        params=params,
    )
    return Plate(figure, table, told)


def inverted(data: Frames, params: Params) -> Plate:
    """The inverted question: confidence in its own text by each wording, joined by a line.

    Args:
        data: The frames of the study.
        params: With `bootstrap`.
    """
    table, rows = data["inverted"], data["wordings"]
    rows = rows[rows["other"].eq("all") & rows["quantity"].ne("recognition")]
    if rows.empty:
        return nothing("no judge was asked which text is worse", table)
    rows = rows[rows["convention"].eq(rows["convention"].max())]
    wide = rows.pivot(
        index=["dataset", "evaluator"], columns="quantity", values=["mean", "lo", "hi"]
    )
    places = {
        "start": ("mean", "worse"),
        "end": ("mean", "prefer"),
        "middle": ("mean", "mean"),
        "start_lo": ("lo", "worse"),
        "start_hi": ("hi", "worse"),
        "lo": ("lo", "prefer"),
        "hi": ("hi", "prefer"),
    }
    drawn = pd.DataFrame({name: wide[place] for name, place in places.items()}).reset_index()
    figure = moves(
        by_judge(drawn, data["evaluators"]),
        ends=("asked which is worse", "asked which it prefers"),
        label="mean confidence that its own text is better",
        colors=family_colors(data["evaluators"]),
        begin="D",
        middle="mean of both",
        message=_turned(table, data["evaluators"]),
    )
    fits = data["inverted_correlation"]
    fits = fits[fits["subset"].eq(TUNED) & fits["convention"].eq(fits["convention"].max())]
    words = [
        f"{'all data' if dataset == 'all' else title(str(dataset))} ({part['n'].max()} cases) "
        + ", ".join(f"{row.quantity} {signed(row.r, 3)}" for row in part.itertuples())
        for dataset, part in fits.groupby("dataset", sort=False)
    ]
    patterns = table["pattern"].value_counts()
    told = caption_of_articles(
        "Confidence that its own text is better, asked which text it prefers and which is worse. A "
        "judge that prefers its own has both marks on the right; one that names its own whatever "
        "it is asked has the dot on the right and the diamond on the left",
        f"n = {len(table)} (judges and data sets), {table['n'].sum()} pairs with both answers",
        "By the intervals of both wordings: "
        + ", ".join(f"{pattern} {n}" for pattern, n in sorted(patterns.items())),
        "Correlation with recognition over the judges tuned on self-recognition: "
        f"{'; '.join(words) or 'none'}",
        params=params,
    )
    return Plate(figure, table, told)


def _turned(table: pd.DataFrame, evaluators: pd.DataFrame) -> str:
    """What most judges tuned on self-recognition do, if they do; nothing where there are none."""
    tuned = evaluators.loc[evaluators["variant"].eq(TUNED), "evaluator"]
    own = table.loc[table["evaluator"].isin(tuned), "pattern"].eq("names its own")
    told = "Most judges tuned on self-recognition name their own text as better and as worse"
    return told if own.mean() > 0.5 else ""


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
    asked, graded = (
        shown.loc[shown["task"].eq(name), ["dataset", "evaluator", "value", "lo", "hi"]]
        for name in ("recognition", "quality")
    )
    asked = asked.rename(columns={"value": "start", "lo": "start_lo", "hi": "start_hi"})
    both = asked.merge(
        graded.rename(columns={"value": "end"}), on=["dataset", "evaluator"], how="outer"
    )
    both = by_judge(both, data["evaluators"])
    far = both[["start", "end"]].sub(0.5).abs().max(axis=1).gt(MOVED)
    kept = both["variant"].eq(BASE) | both["row"].isin(both.loc[far, "row"])
    left = both.loc[~kept, "row"].nunique()
    figure = moves(
        both[kept],
        ends=("by P(yes) to “did you write it?”", "by its grade"),
        label="AUROC of own against other texts",
        colors=family_colors(data["evaluators"]),
        begin="D",
    )
    clear = rows[rows["lo"] > 0.5].groupby("task").size()
    above = [
        f"{task}: own above others in {clear.get(task, 0)} of {len(part)} cases"
        for task, part in rows.groupby("task")
    ]
    told = caption_of_articles(
        "AUROC of the texts of a judge's own family against all others, by P(yes) to 'did you "
        "write it?' and by the expected grade",
        f"{', '.join(above)} (interval above ½)",
        f"{left} tuned judges within {MOVED} of ½ by both are not drawn" if left else "",
        unusable(data["statuses"], ("recognition", "quality")),
        f"Normal intervals of {params.bootstrap.level:.0%}, clustered by article",
    )
    return Plate(figure, table, told)


def labels(data: Frames, params: Params) -> Plate:
    """Preference where labels name the generators: stored and corrected, both orders.

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
    rows = rows[rows["labels"].isin(LABELS)]
    wide = rows[rows["convention"].eq("corrected")].rename(columns={"mean": "end"})
    stored = rows.loc[rows["convention"].eq("released")].rename(columns={"mean": "start"})
    key = ["dataset", "evaluator", "labels"]
    both = by_judge(wide.merge(stored[[*key, "start"]], on=key, how="left"), evaluators)
    names, sets = judge_names(evaluators), sorted(both["dataset"].unique())
    every = product(in_order(evaluators), sets, LABELS.values())
    kind = [f"{names[one]} on {short(of)}, {words}" for one, of, words in every]
    row = both["row"].astype("str") + " on " + both["dataset"].map(short) + ", "
    row += both["labels"].map(LABELS)
    figure = moves(
        both.assign(row=row.astype(pd.CategoricalDtype(kind, ordered=True)), panel=""),
        ends=("stored", "corrected"),
        label="preference: mean confidence in its own text",
        colors=family_colors(evaluators),
    )
    single = sorted(set(whole.loc[whole["orders"].eq(1), "evaluator"].map(names)))
    told = caption_of_articles(
        "Preference for its own text with labels that tell who wrote what: none, true ones and "
        "swapped ones (random ones: see the table)",
        f"{whole.loc[whole['convention'].eq('corrected'), 'n'].sum()} corrected pairs",
        f"Asked in one order, hence not drawn: {', '.join(single) or 'none'}",
        params=params,
    )
    return Plate(figure, table, told)
