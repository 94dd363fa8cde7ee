"""The data and the texts: what the checks found, and feedback."""

import pandas as pd
from matplotlib import style

from selfpref.params import Params
from selfpref.plots.captions import caption, interval
from selfpref.plots.forest import forest
from selfpref.plots.frame import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    STYLE,
    Look,
    legend,
    long,
)
from selfpref.plots.lines import lines
from selfpref.plots.save import Plate, nothing
from selfpref.studies.xu.draw import SENTENCES, STEP, looks, only, scores
from selfpref.studies.xu.draw.names import AVERAGE, named

DEFECTS = {
    "contaminated": "mismatched",
    "truth_without_text": "BLEURT changes while the text does not",
    "text_without_truth": "the text changes while BLEURT does not",
    "self_decreased": "the self-score fell, which the accept rule forbids",
}
COUNTED = (
    *("boilerplate", "blocked text", "blocked", "unparsable", "unknown severity"),
    *("instruction repeated", "lost characters", "duplicate"),
)


def rows_used(translation: pd.DataFrame, audit: pd.DataFrame, params: Params) -> str:
    """What the tables hold, and what scores are compared with."""
    own = translation[translation["language"].ne(AVERAGE)]
    left = audit.loc[audit["finding"].str.startswith("left out"), "file"].nunique()
    read = audit["file"].nunique() - left
    return caption(
        f"Files read: {read}, left out: {left}" if len(audit) else "",
        f"Translation: {own['model'].nunique()} models, {own['language'].nunique()} languages, "
        f"{scores(own)}"
        if len(own)
        else "",
        f"Reference metric: {params.xu.truth}; centre of D: {params.xu.gamma:g}",
        interval(SENTENCES, params),
    )


def defects(audit: pd.DataFrame, integrity: pd.DataFrame) -> str:
    """What the checks found, each with its count."""
    if audit.empty:
        return "No released files here, and nothing to check in them."
    told = []
    for finding, part in audit[audit["finding"].str.startswith("left out")].groupby("finding"):
        # The folder says whose file it is, and of which kind.
        folders = part["file"].str.split("/").str[-2].value_counts(sort=False)
        whose = ", ".join(f"`{name}`" + (f" ({n})" if n > 1 else "") for name, n in folders.items())
        reasons = "; ".join(part["detail"].dropna())
        told.append(f"- {finding}: {whose}{f' ({reasons})' if reasons else ''}.")
    for column, meaning in DEFECTS.items():
        part = integrity[integrity[column].astype(int).gt(0)]
        cells = "; ".join(
            f"{model} in {language}{f' ({condition})' if condition else ''}, {_ranges(steps)}"
            for (condition, language, model), steps in named(part).groupby(
                ["condition", "language", "model"]
            )["step"]
        )
        if cells:
            rows = "" if column == "contaminated" else f" ({part[column].sum():g} sentences)"
            told.append(f"- {meaning}{rows}: {cells}.")
    counts = audit.groupby("finding")["affected"].agg(["size", "sum"])
    for finding in counts.index.intersection(COUNTED):
        files, rows = counts.loc[finding]
        told.append(f"- {finding}: {rows:g} rows in {files:g} files.")
    return "\n".join(told)


def _ranges(steps: pd.Series) -> str:
    """Such as `steps 1-3, 5`."""
    ordered = steps.sort_values()
    runs = ordered.groupby(ordered.diff().ne(1).cumsum()).agg(["first", "last"])
    told = [f"{a}-{b}" if a != b else f"{a}" for a, b in runs.itertuples(index=False)]
    return f"step{'s' if len(ordered) > 1 else ''} {', '.join(told)}"


@style.context(STYLE)
def format_accuracy(rows: pd.DataFrame, printed: pd.DataFrame, steps: tuple[int, ...]) -> Plate:
    """Share of feedback that keeps to the grammar, averaged over languages, at some steps.

    Args:
        rows: The frame `format`.
        printed: The rows of `checks` about `format`: the least and the greatest share of any model.
        steps: Which steps.
    """
    here = rows[rows["step"].isin(steps)] if len(rows) else rows
    if here.empty:
        return nothing("no feedback at these steps", rows)
    count = here.loc[here["language"].ne(AVERAGE), "n"].sum()
    if here["language"].eq(AVERAGE).any():
        here = only(here, language=AVERAGE)
    here = named(here).sort_values(["model", "step"], ignore_index=True)
    seen = {
        "well formed": ("well_formed", Look(BLUE)),
        "well formed but for a last line cut off": ("but_for_cut", Look(GREEN, "D")),
        "a score can be read": ("usable", Look(ORANGE, "x")),
    }
    figure = forest(
        long(
            here.assign(row=[f"{row.model}, step {row.step}" for row in here.itertuples()]),
            {name: value for name, (value, _) in seen.items()},
        ),
        row="row",
        label="share of feedback",
        looks={name: look for name, (_, look) in seen.items()},
        reference=None,
    )
    if figure and len(printed):
        figure.axes[0].axvspan(
            *(printed["published"].min(), printed["published"].max()),
            color=GREY, alpha=0.2, linewidth=0, label="range printed, quoted second-hand",
        )  # fmt: skip
        legend(figure)
    told = caption(
        f"{count:g} replies at steps {' and '.join(map(str, steps))}; mean of the languages for "
        "models that have all of them",
        "Well formed: every line is a quoted span, a severity and a category, or the whole reply "
        "says that there is no error. The paper's grammar is not known",
        f"Well formed: {here['well_formed'].min():.3f} to {here['well_formed'].max():.3f}; printed "
        f"{printed['published'].min():.2f} to {printed['published'].max():.2f}"
        if len(printed)
        else "",
        "Wilson's intervals, with the effective number of sentences",
    )
    return Plate(figure, rows, told)


def unusable(rows: pd.DataFrame) -> Plate:
    """Share of feedback that says nothing, by step.

    Args:
        rows: The frame `integrity`.
    """
    columns = ["condition", "language", "model", "step", "n", "unusable", "blocked_texts"]
    table, shown = rows.reindex(columns=columns), named(only(rows, condition=""))
    if shown.empty:
        return nothing("no feedback", table)
    figure = lines(
        shown.assign(value=shown["unusable"] / shown["n"]).sort_values("language", kind="stable"),
        x="step",
        label=(STEP, "share of feedback"),
        looks=looks(shown["model"]),
        series="model",
        panel="language",
        wrap=3,
        share_x=False,
    )
    told = caption(
        f"{shown['n'].sum():g} replies, {shown['unusable'].sum():g} of them without a score that "
        "can be read: blocked, empty, refused, or naming neither error nor the lack of one",
        "Of a translation the release's rule reads them as perfect",
    )
    return Plate(figure, table, told)
