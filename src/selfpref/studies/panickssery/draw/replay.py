"""What replay changes in the laboratory: both wordings and recognition by size of the tuning."""

from itertools import product
from typing import Any

import pandas as pd
from matplotlib import style
from matplotlib.figure import Figure

from selfpref.plots.marks import BLACK, BLUE, GREY, ORANGE, legend, no_data, styled
from selfpref.plots.save import PAGE, STYLE
from selfpref.studies.panickssery.draw import title

REPLAY = "self-recognition-replay"
KINDS = {"self-recognition": "tuned alone", REPLAY: "with replay"}
QUANTITIES = {
    "recognition": ("recognition", BLACK, "s"),
    "prefer": ("better, by “which do you prefer?”", BLUE, "o"),
    "worse": ("better, by “which is worse?”", ORANGE, "D"),
    "mean": ("better, mean of both", GREY, "^"),
}


def points(wordings: pd.DataFrame, evaluators: pd.DataFrame) -> pd.DataFrame:
    """Evaluators tuned on self-recognition and their bases, on the data set of the tuning.

    Only of families and data sets that have an evaluator tuned with replay.

    Args:
        wordings: The frame `wordings`.
        evaluators: The frame `evaluators`.

    Returns:
        `dataset, family, variant, examples, evaluator, quantity, mean, lo, hi, n`; a base stands
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


def _drawn(rows: pd.DataFrame) -> pd.DataFrame:
    """The data set of which most sizes were tuned on."""
    sizes = rows.groupby("dataset")["examples"].nunique()
    return rows[rows["dataset"].eq(sizes.idxmax())]


@style.context(STYLE)
def replay(rows: pd.DataFrame) -> Figure:
    """A panel a family and kind of tuning, on the data set that has most sizes.

    Args:
        rows: As `points` returns them.
    """
    if rows.empty:
        return no_data("no evaluator was tuned with replay")
    here = _drawn(rows)
    families = sorted(here["family"].unique())
    ticks = sorted(here["examples"].unique())
    figure = styled(PAGE, 2.1 * len(families) + 0.8)
    grid = figure.subplots(len(families), len(KINDS), sharex=True, sharey=True, squeeze=False)
    for (line, family), (column, variant) in product(enumerate(families), enumerate(KINDS)):
        axes = grid[line, column]
        part = here[here["family"].eq(family) & here["variant"].eq(variant)]
        for quantity, (label, color, marker) in QUANTITIES.items():
            curve = part[part["quantity"].eq(quantity)].sort_values("examples")
            at = [ticks.index(size) for size in curve["examples"]]
            axes.fill_between(at, curve["lo"], curve["hi"], color=color, alpha=0.15, linewidth=0)
            axes.plot(at, curve["mean"], color=color, marker=marker, markersize=3.5, label=label)
        axes.axhline(0.5, color=GREY, linewidth=0.6)
        axes.set_ylim(-0.02, 1.02)
        axes.set_xticks(range(len(ticks)), [f"{size:g}" for size in ticks])
        axes.set_title(f"{family}, {KINDS[variant]}")
        axes.set_ylabel("mean confidence" if not column else "")
        axes.set_xlabel("examples (not to scale)" if line + 1 == len(families) else "")
    legend(figure, [grid[0, 0]], 2, below=True)
    return figure


def caption(rows: pd.DataFrame, oracle: pd.DataFrame, params: Any) -> str:
    """What the picture shows, and whether the evaluators still judge.

    Args:
        rows: As `points` returns them.
        oracle: The frame `oracle`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return "No evaluator was tuned with replay."
    here = _drawn(rows)
    dataset, told = here["dataset"].iloc[0], []
    most = here[here["examples"].eq(here["examples"].max())]
    for (family, variant), part in most.groupby(["family", "variant"]):
        value = part.set_index("quantity")[["mean", "lo", "hi"]].reindex(QUANTITIES)
        parts = ", ".join(
            f"{name} {row['mean']:.2f} [{row['lo']:.2f}, {row['hi']:.2f}]"
            for name, row in value.iterrows()
        )
        judged = oracle[
            oracle["dataset"].eq(dataset)
            & oracle["evaluator"].isin(part["evaluator"])
            & oracle["quantity"].eq("agreement")
        ]
        agreed = ", ".join(
            f"{wording} {mean:.2f}"
            for wording, mean in zip(judged["wording"], judged["mean"], strict=True)
        )
        told.append(
            f"{family}, {KINDS[variant]}: {parts}"
            + (f"; agreement with the oracle: {agreed}" if agreed else "")
        )
    boot = params.bootstrap
    return (
        "Confidence in the own text by number of self-recognition examples, on held-out articles "
        f"of {title(dataset)}, the data set of the tuning; 0 is the base. An evaluator that names "
        "its own text whatever it is asked has “prefer” near 1 and “worse” near 0. "
        f"With most examples: {'; '.join(told)}. "
        f"{here['n'].min():g} to {here['n'].max():g} pairs a point. "
        f"{boot.level:.0%} intervals, {boot.resamples} bootstrap resamples of articles."
    )
