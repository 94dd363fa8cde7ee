"""Professional raters: own scores and the reference metric against theirs; the printed numbers."""

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import bounded
from selfpref.studies.xu import bias
from selfpref.studies.xu.selection import expected_greatest
from selfpref.studies.xu.skewness import distance_skewness

HUMAN = [
    *("model", "step", "human_mean", "self_mean", *bounded("bias"), "dskew", "n"),
    *(*bounded("bias_change", "human_change"), "noise_bias"),
]
HUMAN_TRUTH = [
    *("language", "model", "step", *bounded("human_mean"), "truth_mean", "n", "correlation"),
]
EXAMPLES = ["figure", "language", "model", "step", "sentence", "said", "truth", "bias", "dskew"]
CHECKS = [
    *("item", "model", "step", "quantity", "published", "recomputed", "difference"),
    *("source", "place", "how_read"),
]
# At which the paper tells the share of well-formed feedback.
STEPS = (1, 5)
# Gaps in points of MQM, and how many sentences have each; all true scores are the middle one.
MADE_UP = ((-2.0, 80), (8.0, 20))
MIDDLE = -12.5


def rated_by_people(rows: pd.DataFrame, truths: pd.DataFrame) -> pd.DataFrame:
    """The texts of refinement that people rated; their score is `truth`, the metric's `metric`.

    Args:
        rows: As `rated` returns them.
        truths: The truths table.
    """
    own = bias.paper_chains(rows, "mqm")
    own = own.assign(metric=own["truth"], truth=bias.truth_of(own, truths, "human-mqm"))
    return own[own["truth"].notna()]


def human(
    rows: pd.DataFrame, truths: pd.DataFrame, published: pd.DataFrame, settings: bias.Settings
) -> pd.DataFrame:
    """The human study: own scores against human MQM, and the bias that the paper prints.

    The scores are those of the release's own rule, as in the paper.

    Returns:
        The columns of `HUMAN` and `bias_published`; `noise_bias` is that of a judge of pure noise
        by the same accept rule (`selection`), on the same sentences.
    """
    own = rated_by_people(rows, truths)
    table = bias.by_group(
        bias.summary, own, settings, "human", by={"responder": "model"}, conventions=("released",)
    ).rename(columns=lambda name: str(name).replace("truth_", "human_"))
    noise, first = [], bias.read_as(own[own["step"].eq(0)], "released")
    for model, part in first.groupby("responder"):
        levels, counts = np.unique(part["score"], return_counts=True)
        for step in table.loc[table["model"].eq(model), "step"]:
            score = expected_greatest(levels, counts[:, None].astype(float), step + 1)
            noise.append((model, step, float(score[0]) - part["truth"].mean()))
    table = table.merge(pd.DataFrame(noise, columns=["model", "step", "noise_bias"]), how="left")
    printed = published[published["item"].eq("human") & published["quantity"].eq("bias")]
    printed = printed.rename(columns={"value": "bias_published"})
    return (
        table[HUMAN]
        .merge(printed[["model", "step", "bias_published"]], on=["model", "step"], how="left")
        .sort_values(["model", "step"], ignore_index=True)
    )


def human_truth(rows: pd.DataFrame, truths: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Mean human MQM by step beside the truth used here, on the same sentences.

    Returns:
        `language, model, step, human_mean` with its bounds, `truth_mean, n, correlation` (over
        sentences).
    """
    own, found = rated_by_people(rows, truths), []
    own = own[own["metric"].notna()]
    for (language, model, step), part in own.groupby(["language", "responder", "step"]):
        row = {"language": language, "model": model, "step": step}
        names = ("human truth", *map(str, row.values()))
        mean = settings.intervals.mean(part["truth"], part["cluster"], *names)
        row |= mean.columns("human_mean") | {"truth_mean": part["metric"].mean(), "n": len(part)}
        found.append(row | {"correlation": part["truth"].corr(part["metric"])})
    return pd.DataFrame(found, columns=HUMAN_TRUTH)


def examples(rows: pd.DataFrame, truths: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Rows for the paper's two schematic figures: the scores of single sentences, no texts.

    Figure 1: the human study's cell with the greatest bias at step 0. Figure 2 is made up
    (`MADE_UP`): most texts are under-rated a little, a few over-rated by much, so that a bias of 0
    hides an asymmetry. No released step shows it: where the bias is about 0, D is that of chance.

    Returns:
        `figure, language, model, step, sentence, said, truth`; the cell's `bias` and `dskew`.
    """
    own = bias.read_as(rated_by_people(rows, truths), "released")
    own = (
        own[own["step"].eq(0) & own["score"].notna()]
        .drop(columns="metric")
        .rename(columns={"responder": "model", "cluster": "sentence", "score": "said"})
    )
    made = np.concatenate([np.full(count, gap) for gap, count in MADE_UP])
    sentences = [f"made up/{n}" for n in range(1, len(made) + 1)]
    schematic = pd.DataFrame({"said": MIDDLE + made, "truth": MIDDLE, "sentence": sentences})
    names = dict.fromkeys(("language", "model"), "made up")
    found = [schematic.assign(figure=2, step=0, **names)]
    gaps = (own["said"] - own["truth"]).groupby([own["language"], own["model"]])
    if len(own):
        found.insert(0, own.loc[gaps.groups[gaps.mean().idxmax()]].assign(figure=1))
    for i, part in enumerate(found):
        gap = part["said"] - part["truth"]
        skew = float(distance_skewness(gap.to_numpy(), settings.use.gamma))
        found[i] = part.assign(bias=gap.mean(), dskew=skew)[EXAMPLES]
    return pd.concat(found, ignore_index=True)


def checks(found: pd.DataFrame, form: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """What the paper prints, as far as it is known, beside what is recomputed here.

    Args:
        found: As `human` returns it.
        form: The frame `format`.
        published: data/published/xu.csv.

    Returns:
        The columns of `CHECKS`; `recomputed` is NaN where what is counted was not released; empty
        where none of the paper's models is there.
    """
    known = found.set_index(["model", "step"])["bias"].to_dict()
    shares = form.loc[form["language"].eq(bias.AVERAGE) & form["step"].isin(STEPS), "well_formed"]
    extremes = {"least share": shares.min(), "greatest share": shares.max()}
    table = published if found["model"].isin(published["model"]).any() else published.iloc[:0]
    recomputed = [
        known.get((row.model, row.step), np.nan)
        if row.item == "human"
        else extremes.get(str(row.quantity), np.nan)
        for row in table.itertuples()
    ]
    return table.rename(columns={"value": "published"}).assign(
        recomputed=np.array(recomputed, dtype=float),
        difference=lambda both: both["recomputed"] - both["published"],
    )[CHECKS]
