"""The study of Xu et al. (arXiv 2402.11436): from the tables to the plotted numbers.

The main table is `translation`: for a model, a language and a step, bias (Eq. 1) is the mean over
sentences of the judge's score minus the true one, and D (Eq. 2) their distance skewness. `rows`
says which score and which truth, `grid` holds both formulas.
"""

from collections.abc import Mapping
from functools import partial

import pandas as pd

from selfpref.studies.xu.measure import controls, curves, readings, texts
from selfpref.studies.xu.measure.grid import AVERAGE, by_group, summary
from selfpref.studies.xu.measure.rows import CONVENTIONS, Settings, chained, integrity, rated

Frames = dict[str, pd.DataFrame]
TRANSLATION = [
    *("language", "model", "step", "convention", "self_mean", "truth_mean", "bias", "bias_lo"),
    *("bias_hi", "dskew", "dskew_lo", "dskew_hi", "n", "unusable"),
]
TABLES = ("items", "responses", "ratings", "truths", "perplexities", "audit")


def compute(
    tables: Mapping[str, pd.DataFrame], published: pd.DataFrame, settings: Settings
) -> Frames:
    """Every frame of the study.

    Args:
        tables: `TABLES`; the last two may be empty.
        published: What the paper prints, data/published/xu.csv.
        settings: Truths, and how intervals are made.

    Returns:
        The paper's: `translation`, `human`, `commongen` (as released) and `commongen_corrected`,
        `size`, `best_of_k`, `style`, `format`, `examples` (Figs. 1 and 2). Beside them: `change`
        and `gains` since step 0, `mathematics`, `skewness` (nulls of D), `arms`, `rescoring`,
        `cross_judge`, `matched`, `best_of_noise`, `refined_by_noise`, `second_truth`,
        `human_truth`, `scale`, `fluency`, `integrity`, `audit`, `published`. Without rows of a kind
        a frame is empty.
    """
    rows = rated(tables, settings)
    truths = tables["truths"]
    found = _translation(rows, settings)
    translation = found.loc[found["condition"].eq(""), TRANSLATION].reset_index(drop=True)
    covered = curves.commongen(rows, truths, settings)
    order = [*curves.COMMONGEN, *(name for name in covered if name not in curves.COMMONGEN)]
    share = {name: covered[covered["convention"].eq(name)] for name in CONVENTIONS}
    checked = integrity(rows, truths)
    second = readings.second_readings(rows)
    return {
        "translation": translation,
        "change": curves.change(found),
        "gains": curves.gains(found),
        "skewness": curves.skewness_tests(rows, settings),
        "arms": _arms(found),
        "human": curves.human(rows, truths, published, settings),
        "human_truth": texts.human_truth(rows, truths),
        "commongen": share["released"][curves.COMMONGEN],
        "commongen_corrected": share["corrected"][curves.COMMONGEN],
        "commongen_intervals": covered[order],
        "mathematics": curves.mathematics(rows, settings),
        "size": curves.sizes(translation, settings),
        "best_of_k": controls.best_of_k(rows, truths, settings),
        "best_of_noise": controls.best_of_noise(rows),
        "refined_by_noise": controls.refined_by_noise(rows),
        "style": controls.style(rows, settings),
        "format": texts.format_accuracy(rows),
        "rescoring": controls.rescoring(rows, settings),
        "cross_judge": readings.cross_judge(rows, second, settings),
        "matched": readings.matched(rows, second, settings),
        "second_truth": texts.second_truth(rows, settings),
        "scale": texts.scale(truths),
        "fluency": texts.fluency(tables["responses"], rows, tables["perplexities"]),
        "integrity": checked.rename(columns={"responder": "model"}),
        "examples": curves.example(rows, truths, settings),
        "audit": tables["audit"].drop(columns="study"),
        "published": published,
    }


def _translation(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Bias and D of every model, language and step of translation, and the mean over languages.

    Returns:
        `condition`, the columns of `TRANSLATION`, and the same quantities' change since step 0
        (`bias_change`, `bias_change_lo`, ...; `said_change` and `truth_change` for the means).
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
