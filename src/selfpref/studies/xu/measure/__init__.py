"""The study of Xu et al. (arXiv 2402.11436): from the tables to the plotted numbers."""

from collections.abc import Mapping

import pandas as pd

from selfpref.studies.xu.measure import controls, curves, noise, readings, texts
from selfpref.studies.xu.measure.rows import Settings, integrity, rated

Frames = dict[str, pd.DataFrame]
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
    found = curves.translation(rows, settings)
    covered = curves.commongen(rows, truths, settings)
    order = [*curves.COMMONGEN, *(name for name in covered if name not in curves.COMMONGEN)]
    conventions = {
        name: covered[covered["convention"].eq(name)].drop(columns="convention")
        for name in ("released", "corrected")
    }
    checked = integrity(rows, truths)
    return {
        "translation": curves.shown(found),
        "change": curves.change(found),
        "gains": curves.gains(found),
        "skewness": curves.skewness_tests(rows, settings),
        "arms": curves.arms(found),
        "human": curves.human(rows, truths, published, settings),
        "human_truth": texts.human_truth(rows, truths),
        "commongen": conventions["released"][curves.COMMONGEN],
        "commongen_corrected": conventions["corrected"][curves.COMMONGEN],
        "commongen_intervals": covered[order],
        "mathematics": curves.mathematics(rows, settings),
        "size": curves.sizes(found, settings),
        "best_of_k": controls.best_of_k(rows, truths, settings),
        "best_of_noise": noise.best_of_noise(rows),
        "refined_by_noise": noise.refined_by_noise(rows),
        "style": controls.style(rows, settings),
        "format": texts.format_accuracy(rows),
        "rescoring": controls.rescoring(rows, settings),
        "cross_judge": readings.cross_judge(rows, settings),
        "matched": readings.matched(rows, settings),
        "second_truth": texts.second_truth(rows, settings),
        "scale": texts.scale(truths),
        "fluency": texts.fluency(tables["responses"], rows, tables["perplexities"]),
        "integrity": checked.rename(columns={"responder": "model"}),
        "examples": curves.example(rows, truths, settings),
        "audit": tables["audit"].drop(columns="study"),
        "published": published,
    }
