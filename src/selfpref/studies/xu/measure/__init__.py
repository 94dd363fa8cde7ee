"""The study of Xu et al. (arXiv 2402.11436): from the tables to the plotted numbers.

The main table is `translation`: for a model, a language and a step, bias (Eq. 1) is the mean over
sentences of the judge's score minus the true one, and D (Eq. 2) their distance skewness. `rows`
says which score and which truth, `grid` holds both formulas.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from selfpref.studies.xu.measure import controls, curves, readings, selection, texts
from selfpref.studies.xu.measure.grid import AVERAGE, by_group, summary
from selfpref.studies.xu.measure.rows import (
    CONVENTIONS,
    Settings,
    chained,
    integrity,
    rated,
)

Frames = dict[str, pd.DataFrame]
TRANSLATION = [
    *("language", "model", "step", "convention", "self_mean", "truth_mean", "bias", "bias_lo"),
    *("bias_hi", "dskew", "dskew_lo", "dskew_hi", "n", "unusable"),
]
CHECKS = [
    *("item", "model", "step", "quantity", "published", "recomputed", "difference"),
    *("source", "place", "how_read"),
]
# At which the paper tells the share of well-formed feedback.
STEPS = (1, 5)
TABLES = ("items", "responses", "ratings", "truths", "audit")


def compute(
    tables: Mapping[str, pd.DataFrame], published: pd.DataFrame, settings: Settings
) -> Frames:
    """Every frame of the study.

    Args:
        tables: `TABLES`; the last one may be empty.
        published: What the paper prints, data/published/xu.csv.
        settings: Truths, and how intervals are made.

    Returns:
        The paper's: `translation`, `human`, `commongen` (as released) and `commongen_corrected`,
        `size`, `best_of_k`, `style`, `format`, `examples` (Figs. 1 and 2). Beside them: `change`
        and `gains` since step 0, `mathematics`, `skewness` (nulls of D), `arms`, `expected`,
        `matched`, `best_of_noise`, `refined_by_noise`, `human_truth`, `integrity`, `audit`,
        `checks`. Without rows of a kind a frame is empty.
    """
    rows = rated(tables, settings)
    truths = tables["truths"]
    found = _translation(rows, settings)
    translation = found.loc[found["condition"].eq(""), TRANSLATION].reset_index(drop=True)
    covered = curves.commongen(rows, truths, settings)
    order = [*curves.COMMONGEN, *(name for name in covered if name not in curves.COMMONGEN)]
    share = {name: covered[covered["convention"].eq(name)] for name in CONVENTIONS}
    checked = integrity(rows, truths)
    frames = {
        "translation": translation,
        "change": curves.change(found),
        "gains": curves.gains(found),
        "skewness": curves.skewness_tests(rows, settings),
        "arms": _arms(found),
        "human": curves.human(rows, truths, published, settings),
        "human_truth": texts.human_truth(rows, truths, settings),
        "commongen": share["released"][curves.COMMONGEN],
        "commongen_corrected": share["corrected"][curves.COMMONGEN],
        "commongen_intervals": covered[order],
        "mathematics": curves.mathematics(rows, settings),
        "size": curves.sizes(rows, translation, settings),
        "best_of_k": selection.best_of_k(rows, truths, settings),
        "best_of_noise": selection.best_of_noise(rows, settings),
        "refined_by_noise": selection.refined_by_noise(rows, settings),
        "style": controls.style(rows, settings),
        "format": texts.format_accuracy(rows, settings),
        "expected": curves.expected(rows, settings),
        "matched": readings.matched(rows, settings),
        "integrity": checked.rename(columns={"responder": "model"}),
        "examples": curves.example(rows, truths, settings),
        "audit": tables["audit"].drop(columns="study"),
    }
    return frames | {"checks": checks(frames, published)}


def checks(frames: Mapping[str, pd.DataFrame], published: pd.DataFrame) -> pd.DataFrame:
    """What the paper prints, as far as it is known, beside what is recomputed here.

    Args:
        frames: `human` and `format`.
        published: data/published/xu.csv.

    Returns:
        The columns of `CHECKS`; `recomputed` is NaN where what is counted was not released; empty
        where none of the paper's models is there.
    """
    human, form = frames["human"], frames["format"]
    named = human["model"].isin(published["model"]).any()
    bias = human.set_index(["model", "step"])["bias"].to_dict()
    shares = pd.Series(dtype=float)
    if len(form):
        shares = form.loc[form["language"].eq(AVERAGE) & form["step"].isin(STEPS), "well_formed"]
    extremes = {"least share": shares.min(), "greatest share": shares.max()}
    table = published if named else published.iloc[:0]
    recomputed = [
        bias.get((row.model, row.step), np.nan)
        if row.item == "human"
        else extremes.get(str(row.quantity), np.nan)
        for row in table.itertuples()
    ]
    return table.rename(columns={"value": "published"}).assign(
        recomputed=np.array(recomputed, dtype=float),
        difference=lambda both: both["recomputed"] - both["published"],
    )[CHECKS]


def _translation(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Bias and D of every model, language and step of translation, and the mean over languages.

    Returns:
        `condition`, the columns of `TRANSLATION`, and the same quantities' change since step 0
        (`bias_change`, `bias_change_lo`, ...; `self_change` and `truth_change` for the means).
    """
    own = chained(rows)
    found = by_group(
        partial(summary, averaged=True),
        own[own["task"].eq("mqm")],
        settings,
        "translation",
        by=curves.MODELS,
    )
    if found.empty:
        return pd.DataFrame(columns=["condition", *TRANSLATION])
    # Sizes of one model stand in one language only; a mean over languages needs all of the study.
    languages = found.loc[found["language"].ne(AVERAGE)].groupby("condition")["language"].nunique()
    held = found.groupby(["condition", "model"])["language"].transform(
        lambda names: names[names.ne(AVERAGE)].nunique()
    )
    whole = held.eq(found["condition"].map(languages))
    found = found[found["language"].ne(AVERAGE) | whole]
    return found.sort_values(
        ["condition", "language", "model", "step", "convention"], ignore_index=True
    )


def _arms(curves: pd.DataFrame) -> pd.DataFrame:
    """Refinement under other conditions (another run, another accept rule) beside the plain one."""
    key = ["language", "model"]
    other = curves.loc[curves["condition"].ne(""), key].drop_duplicates()
    kept = curves.merge(other, on=key)
    kept = kept[kept["language"].ne(AVERAGE)]
    return kept.assign(condition=kept["condition"].replace("", "plain"))[
        ["condition", *TRANSLATION]
    ].reset_index(drop=True)
