"""Figures of Panickssery et al. along the number of examples that judges were tuned on."""

from collections.abc import Mapping

import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import beyond
from selfpref.plots.frame import BLACK, BLUE, GREY, ORANGE, Look
from selfpref.plots.lines import lines
from selfpref.plots.save import Plate, nothing
from selfpref.studies.panickssery.draw import caption_of_articles, family_colors
from selfpref.studies.panickssery.draw.names import REPLAY, title, writer

KINDS = {"self-recognition": "tuned alone", REPLAY: "with replay"}
WORDINGS = {
    "recognition": ("recognition", Look(BLACK, "s")),
    "prefer": ("better, by “which do you prefer?”", Look(BLUE)),
    "worse": ("better, by “which is worse?”", Look(ORANGE, "D")),
    "mean": ("better, mean of both", Look(GREY, "^")),
}
SIZES = "self-recognition examples (not to scale)"


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
        f"{writer(family)}, tuned on {which} data set": Look(color, marker, dash)
        for family, color in colors.items()
        for which, marker, dash in (("this", "o", "-"), ("the other", "D", "--"))
    }
    figure = lines(
        curve.assign(
            value=curve["mean"],
            examples=_sizes(curve["examples"]),
            series=curve["family"].map(writer) + ", tuned on " + own + " data set",
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
    told = caption_of_articles(
        "Corrected mean confidence by number of self-recognition examples; 0 is the base model",
        "Against its base on the same held-out articles, the fine-tuned judge is higher in "
        f"{above} of {len(cells)} cases (interval above 0), lower in {below}; "
        f"{cells['n'].min():g} to {cells['n'].max():g} pairs each",
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
            panel=here["family"].map(writer) + ", " + here["variant"].map(KINDS),
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
            f"{writer(family)}, {KINDS[variant]}: {', '.join(parts)}"
            + (f"; agreement with the oracle: {words}" if words else "")
        )
    text = caption_of_articles(
        "Confidence in its own text by number of self-recognition examples, on held-out articles "
        f"of {title(dataset)}, the data set of the tuning; 0 is the base. A judge that names its "
        "own text whatever it is asked has “prefer” near 1 and “worse” near 0",
        f"With most examples: {'; '.join(told)}",
        f"{here['n'].min():g} to {here['n'].max():g} pairs a point",
        params=params,
    )
    return Plate(figure, rows, text)
